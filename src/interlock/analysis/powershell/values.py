"""Values of PowerShell as far as they are known without running anything, and the variables and files of one reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice, product
from typing import Any

from msgspec import Struct, field

from interlock.analysis.facts import HOLE, hole, known
from interlock.analysis.powershell.nodes import Body, Expr, ScriptBlock
from interlock.analysis.windows import RelocatedReport, WrittenTexts, download_in, download_mark, place

MAX_TEXT = 200_000
MAX_ITEMS = 5_000
_MAX_CHOICES = 16

# A value is text (holes included), a number, a truth value, None, bytes, a list, a dict with lower-case keys,
# or one of the classes below.
Value = Any


class PsChoice(Struct, frozen=True):
    """One of several texts, after branches that differ."""

    options: tuple[str, ...]


class Script(Struct, frozen=True):
    """A script block, not run yet."""

    block: ScriptBlock


class PsObject(Struct, frozen=True):
    """An object of a known kind: a type, a web client, a stream…"""

    kind: str
    note: str = ""
    data: bytes | None = None


class Items(Struct, frozen=True):
    """Files that were listed, by the paths that name them."""

    paths: tuple[str, ...]
    recursive: bool = False
    bulk: bool = False


class Records(Struct, frozen=True):
    """What a Get- cmdlet would give: processes, users, machines."""

    noun: str
    words: tuple[str, ...]
    filtered: bool = False


def unknown(name: str = "", *sources: Value) -> str:
    """An unknown text; it stays marked where it comes from a download."""
    for source in sources:
        if (url := source_url(source)) is not None:
            return download_mark(url)
    return hole(name)


def source_url(value: Value) -> str | None:
    """Where a value was downloaded from, if it was."""
    if isinstance(value, PsObject):
        return download_in(value.note)
    for text in texts(value):
        if (url := download_in(text)) is not None:
            return url
    return None


def single(values: Sequence[Value]) -> Value:
    """What a pipeline that gave these values gives: nothing, one value, or an array."""
    return None if not values else values[0] if len(values) == 1 else list(values)


def spread(value: Value) -> list[Value]:
    """The items that a value sends down a pipeline."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def plain(value: Value) -> str:
    """One value as text, where only one text is wanted."""
    found = texts(value)
    return " ".join(found) if isinstance(value, list) else found[0] if found else ""


def texts(value: Value) -> list[str]:
    """Every text that a value stands for, as arguments of a command."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value[:MAX_ITEMS] for text in texts(item)]
    if isinstance(value, PsChoice):
        return list(value.options)
    if isinstance(value, Items):
        return list(value.paths)
    return [] if value is None else [_text(value)]


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, Script):
        return value.block.source
    if isinstance(value, PsObject):
        return value.note if value.kind in ("script", "type") else unknown(value.kind, value.note)
    return hole(value.noun if isinstance(value, Records) else "")


def combine(parts: Iterable[Value]) -> Value:
    """Texts joined one behind the other, as in a string; several when a part may be several."""
    options = [_options(part) for part in parts]
    if all(len(option) == 1 for option in options):
        return bound_text("".join(option[0] for option in options))
    several = ["".join(row) for row in islice(product(*options), _MAX_CHOICES)]
    return choice(several)


def _options(part: Value) -> list[str]:
    if isinstance(part, PsChoice):
        return list(part.options)
    if isinstance(part, (list, Items)):
        return [" ".join(texts(part))] if isinstance(part, list) else list(part.paths) or [""]
    return texts(part) or [""]


def choice(options: Sequence[str]) -> Value:
    """One of these texts."""
    several = tuple(dict.fromkeys(options))
    return several[0] if len(several) == 1 else PsChoice(several[:_MAX_CHOICES])


def merge(values: Sequence[Value]) -> Value:
    """What a variable holds after branches that left it with these values."""
    if all(value == values[0] for value in values[1:]):
        return values[0]
    found = [text for value in values for text in texts(value)]
    return choice(found) if 0 < len(found) <= _MAX_CHOICES else hole()


def bound_text(text: str) -> str:
    """The text, or a hole where it grows beyond what an action may hold."""
    return text if len(text) <= MAX_TEXT else hole()


def truth(value: Value) -> bool | None:
    """Whether a value counts as true; None when that is not known."""
    if isinstance(value, str):
        return bool(value) if known(value) else None
    if isinstance(value, (bool, int, float)) or value is None:
        return bool(value)
    if isinstance(value, list):
        return bool(value) if len(value) != 1 else truth(value[0])
    return None if isinstance(value, (Records, Items, PsChoice)) else True


def number(value: Value) -> int | float | None:
    """A value as a number, when it is one."""
    if isinstance(value, (bool, int, float)):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, str) and value and HOLE not in value and len(value) < 40:
        text = value.strip().lower()
        try:
            return int(text, 16) if text.startswith("0x") else int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            return None
    return None


MAX_ROUNDS = 6_000

_CONSTANTS: dict[str, Value] = {
    "true": True,
    "false": False,
    "null": None,
    "home": "~",
    "pwd": ".",
    "psscriptroot": ".",
    "pshome": "C:\\Windows\\System32\\WindowsPowerShell\\v1.0",
    "verbosepreference": "SilentlyContinue",
    "debugpreference": "SilentlyContinue",
    "shellid": "Microsoft.PowerShell",
    "ofs": " ",
}
_SCOPES = ("global:", "script:", "local:", "private:", "using:", "variable:")


class PsReading(Struct):
    """The known variables, and the report."""

    out: RelocatedReport
    run_block: Callable[[PsReading, Script, dict[str, Value]], list[Value]]
    run_text: Callable[[PsReading, str], list[Value]]
    invoke: Callable[[PsReading, Value, str], Value]  # calls a method without arguments
    run_body: Callable[[PsReading, Body], list[Value]]
    value_of: Callable[[PsReading, Expr], Value]
    files: WrittenTexts
    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, ScriptBlock] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)  # functions that are being read
    depth: int = 0
    rounds: int = 0
    socket: str | None = None  # where a socket was opened to
    commanded: bool = False  # something was run that came from outside

    def get(self, name: str) -> Value:
        """The value of a variable; a hole where it is unknown."""
        key = variable_key(name)
        if key in self.variables:
            return self.variables[key]
        if key.startswith("env:"):
            return place(name[4:])
        return _CONSTANTS[key] if key in _CONSTANTS else hole(name)

    def set(self, name: str, value: Value) -> None:
        """Let a variable hold a value."""
        self.variables[variable_key(name)] = value

    def more(self) -> bool:
        """Whether the budget allows one more loop or call; the first refusal is reported."""
        self.rounds += 1
        if self.rounds == MAX_ROUNDS + 1:
            self.out.unreadable("PowerShell that goes around too often to follow", "budget")
        return self.rounds <= MAX_ROUNDS


def variable_key(name: str) -> str:
    """The one spelling of a variable's name."""
    key = name.lower()
    scope = next((scope for scope in _SCOPES if key.startswith(scope)), "")
    return "_" if key == "psitem" else key[len(scope) :]
