"""Names and aliases of cmdlets, and the binding of a command's words to their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

from interlock.analysis.code.program.values import Marked, Value, tagged, traits_of
from interlock.analysis.code.program.walk import ProgramEffects, ProgramWalk
from interlock.analysis.facts import known
from interlock.analysis.packs import Pack, load_packs, only_keys
from interlock.analysis.powershell.values import plain, texts

_FOLDER = Path(__file__).parent
_KEYS = ("common", "common_switches", "synonyms", "programs", "cmdlet")
_CMDLET_KEYS = ("aliases", "positional", "named", "switches")


class Spec(Struct, frozen=True):
    positional: tuple[str, ...]
    named: tuple[str, ...]
    switches: frozenset[str]


class Cmdlets(Struct, frozen=True):
    specs: Mapping[str, Spec]
    aliases: Mapping[str, str]
    synonyms: Mapping[str, str]  # of parameters
    programs: frozenset[str]  # aliases that are programs elsewhere


@cache
def cmdlets() -> Cmdlets:
    (pack,) = load_packs(_FOLDER, _checked, "cmdlets.toml")
    rows = pack["cmdlet"].items()
    specs = {name: _spec(row, pack) for name, row in rows if "positional" in row}
    aliases = {alias: name for name, row in rows for alias in row.get("aliases", "").split()}
    return Cmdlets(specs, aliases, pack["synonyms"], frozenset(pack["programs"].split()))


def _checked(packs: Sequence[Pack]) -> Sequence[Pack]:
    for pack in packs:
        only_keys("cmdlets", pack, _KEYS)
        for name, row in pack["cmdlet"].items():
            only_keys(name, row, _CMDLET_KEYS)
    return packs


def _spec(row: Pack, pack: Pack) -> Spec:
    positional = row["positional"].split()
    switches = [*row.get("switches", "").split(), *pack["common_switches"].split()]
    named = [*positional, *row.get("named", "").split(), *pack["common"].split()]
    return Spec(tuple(positional), (*named, *switches), frozenset(switches))


class CmdletWord(Struct, frozen=True):
    value: Value = None
    flag: str = ""
    has_value: bool = False

    def shown(self) -> list[str]:
        if not self.flag:
            text = _shown(self.value)
            return [f"'{text}'" if text.startswith("-") else text]  # a value, whatever it looks like
        return [f"-{self.flag}:{_shown(self.value)}" if self.has_value else f"-{self.flag}"]


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "$true" if value else "$false"
    if value is None:
        return "$null"
    return ",".join(texts(value))


class Bound(Struct):
    walk: ProgramWalk
    name: str
    words: list[CmdletWord]
    given: dict[str, Value] = {}
    rest: list[Value] = []
    strange: list[str] = []  # flags that the cmdlet does not have
    piped: list[Value] = []

    @property
    def world(self) -> ProgramEffects:
        return self.walk.world

    def report(self, *more: str) -> None:
        self.walk.out.run([str(word) for word in (*self.argv(), *more)])

    def has(self, switch: str) -> bool:
        """What only rehearses must be surely on."""
        value = self.given.get(switch, False)
        return value is True or value == 1 if switch == "whatif" else value is not False

    def texts(self, *names: str) -> list[str]:
        return [text for name in names if name in self.given for text in texts(self.given[name])]

    def text(self, *names: str) -> str:
        return next((plain(self.given[name]) for name in names if name in self.given), "")

    def fed(self, name: str) -> list[Value]:
        return [self.given[name]] if name in self.given else self.piped

    def argv(self) -> list[str]:
        return [self.name, *(text for word in self.words for text in word.shown())]


def bind(walk: ProgramWalk, name: str, words: Sequence[CmdletWord], piped: list[Value]) -> Bound:
    bound = Bound(walk, name, list(words), piped=piped)
    spec = cmdlets().specs.get(name)
    if spec is None:
        bound.rest = [word.value for word in words if not word.flag]
        bound.given = {word.flag.lower(): word.value if word.has_value else True for word in words if word.flag}
        return bound
    bound.given, loose, bound.strange = sort_words(words, lambda flag: _parameter(spec, flag), spec.switches)
    free = [name for name in spec.positional if name not in bound.given]
    bound.given.update(zip(free, loose))
    bound.rest = loose[len(free) :]
    _find_paths(spec, bound)
    return bound


def sort_words(
    words: Sequence[CmdletWord], find: Callable[[str], str], switches: frozenset[str] = frozenset()
) -> tuple[dict[str, Value], list[Value], list[str]]:
    """Parameters with values, values of none, flags of none; without a list of switches, any flag may be one."""
    given: dict[str, Value] = {}
    loose: list[Value] = []
    strange: list[str] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        name = find(word.flag.lower()) if word.flag else ""
        if not word.flag:
            loose.append(word.value)
        elif not name:
            strange.append(word.flag)
        elif name in switches or word.has_value:
            given[name] = word.value if word.has_value else True
        elif queue and not queue[-1].flag:
            given[name] = queue.pop().value
        elif not switches:
            given[name] = True
    return given, loose, strange


def _find_paths(spec: Spec, bound: Bound) -> None:
    """What is piped into a cmdlet that takes paths are its paths; filters pick files in them."""
    if "literalpath" in bound.given:
        bound.given.setdefault("path", bound.given["literalpath"])
    if "path" in spec.positional and "value" not in spec.positional and "path" not in bound.given and bound.piped:
        bound.given["path"] = [
            tagged(item, "bulk") if isinstance(item, str) and not known(item) else item for item in bound.piped
        ]
    if bound.name == "get-childitem":
        bound.given.setdefault("path", ".")
    patterns = bound.texts("filter") or bound.texts("include")
    if "path" in bound.given and patterns:
        bound.given["path"] = [_narrowed(path, pattern) for path in bound.texts("path") for pattern in patterns]


def _narrowed(path: str, pattern: str) -> str:
    base = path.rstrip("*").rstrip("\\/")
    made = path if pattern == "*" else f"{base}\\{pattern}" if base else pattern
    return Marked(made, traits_of(path))


def _parameter(spec: Spec, flag: str) -> str:
    """Abbreviations count, and a switch wins over a parameter with a value."""
    if flag in spec.named:
        meant = cmdlets().synonyms.get(flag, flag)
        return meant if meant in spec.named else flag
    found = [name for name in spec.named if name.startswith(flag)]
    return next((name for name in found if name in spec.switches), found[0] if found else "")
