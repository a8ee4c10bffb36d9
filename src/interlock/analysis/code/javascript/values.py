"""Values of JavaScript expressions that are known without running anything."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.facts import hole, known

if TYPE_CHECKING:
    from tree_sitter import Node

LONGEST = 65_536  # a text or list that grows past this is not followed any further
_CHOICES = 8


class JsPath(Struct, frozen=True):
    """A thing known by the path that leads to it: `fs.rmSync`, `knex().where`; "?" when nothing is known."""

    name: str
    chain: tuple[tuple[str, tuple[Any, ...]], ...] = ()  # the calls made on the way, with their arguments

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


class JsOrigin(Struct, frozen=True):
    """A value whose origin matters: an entry of a folder, fetched text, a file's content, a process, a socket."""

    kind: str
    source: str = ""
    text: str = field(default_factory=hole)
    deep: bool = False


class JsChoice(Struct, frozen=True):
    """One of several values, depending on something that only a run would tell."""

    options: tuple[Any, ...]


class JsScope(Struct, eq=False):
    """Names and what they stand for, inside another scope."""

    names: dict[str, Any] = field(default_factory=dict)
    outer: JsScope | None = None
    branch: int = 0

    def holder(self, name: str) -> JsScope | None:
        scope: JsScope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.outer
        return scope


class JsFunction(Struct, eq=False):
    """A function of the code itself, with the scope it closes over."""

    node: Node
    scope: JsScope
    name: str = ""


class Regex(Struct, eq=False):
    """A regular expression literal."""

    pattern: str
    flags: str = ""


Value: TypeAlias = (
    "str | int | float | bool | list[Any] | dict[str, Any] | JsPath | JsOrigin | JsChoice | JsFunction | Regex | None"
)

UNKNOWN = JsPath("?")
_STRENGTH = {"fetched": 5, "environment": 4, "socket": 3, "content": 3, "process": 2, "entry": 1, "item": 0}


def options(value: Value) -> tuple[Value, ...]:
    """Every value that this one may be."""
    return value.options if isinstance(value, JsChoice) else (value,)


def either(*values: Value) -> Value:
    """The value that is one of these."""
    flat: list[Value] = []
    for value in values:
        flat += [option for option in options(value) if not any(same(option, other) for other in flat)][:_CHOICES]
    return flat[0] if len(flat) == 1 else JsChoice(tuple(flat[:_CHOICES]))


def same(one: Value, other: Value) -> bool:
    """Whether two values are surely equal; never looks into lists and objects, which may be endless."""
    if isinstance(one, JsPath) and isinstance(other, JsPath):
        return one is other or (one.name == other.name and not one.chain and not other.chain)
    plain = (str, int, float, bool, type(None), JsOrigin)
    return one is other or (isinstance(one, plain) and isinstance(other, plain) and one == other)


def to_text(value: Value) -> str:
    """The value as JavaScript would print it, with holes where it is not known."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number_text(value)
    if isinstance(value, JsOrigin):
        return value.text
    if isinstance(value, list):
        flat = not any(isinstance(item, list | JsChoice) for item in value)
        return clipped(",".join(map(to_text, value))) if flat else hole()
    if isinstance(value, JsChoice):
        return to_text(value.options[0])
    return hole()


def _number_text(value: float) -> str:
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
        return hole()
    return str(int(value)) if value == int(value) and abs(value) < 1e21 else repr(value)


def clipped(text: str, longest: int = LONGEST) -> str:
    """The text, or a hole when it grew too long to follow."""
    return text if len(text) <= longest else hole()


def _weight(made: JsOrigin) -> tuple[int, bool]:
    return _STRENGTH.get(made.kind, 0), made.deep


def strongest(values: Iterable[Value]) -> JsOrigin | None:
    """The origin that counts most among these values and what they hold."""
    found: JsOrigin | None = None
    stack, left = list(values), 2_000
    while stack and left:
        left -= 1
        value = stack.pop()
        if isinstance(value, list):
            stack += value[:200]
        elif isinstance(value, dict):
            stack += list(value.values())[:200]
        elif isinstance(value, JsChoice):
            stack += value.options
        elif value == JsPath("process.env"):
            value = JsOrigin("environment")
        if isinstance(value, JsOrigin) and (found is None or _weight(value) > _weight(found)):
            found = value
    return found


def _unfolded(values: Sequence[Value]) -> Iterator[list[list[Value]]]:
    """The lists of values without choices that these may be, if there is a choice among them; two choices at most."""
    places = [at for at, value in enumerate(values) if isinstance(value, JsChoice)]
    if places:
        plain = [_short(options(value)[0]) for value in values]
        ways = [plain]
        for at in places[:2]:
            ways = [[*way[:at], option, *way[at + 1 :]] for way in ways for option in map(_short, options(values[at]))]
        yield ways


def _short(value: Value) -> Value:
    return clipped(value, 4_096) if isinstance(value, str) else value


def concat(*values: Value) -> Value:
    """The texts of the values, one after the other; an origin among them is kept."""
    for chosen in _unfolded(values):
        return either(*(concat(*value) for value in chosen))
    text = clipped("".join(map(to_text, values)))
    origin = strongest(value for value in values if isinstance(value, JsOrigin))
    return replace(origin, text=text) if origin else text


def join_path(parts: list[Value], absolute: bool) -> Value:
    """What path.join or path.resolve would give, as far as it is known."""
    for chosen in _unfolded(parts):
        return either(*(join_path(value, absolute) for value in chosen))
    texts = [text for text in map(to_text, parts) if text]
    if absolute:
        start = max((at for at, text in enumerate(texts) if text[0] in "/~"), default=0)
        texts = texts[start:]
    text = clipped("/".join(texts) or ".")
    text = posixpath.normpath(text) if known(text) else text
    text = text[1:] if text.startswith("//") else text
    origin = strongest(parts)
    return replace(origin, text=text) if origin else text


def truth(value: Value) -> bool | None:
    """Whether a condition holds, None when that is not known."""
    if isinstance(value, bool | int | float):
        return bool(value)
    if isinstance(value, str) and known(value):
        return bool(value)
    return True if isinstance(value, list | dict | JsFunction) else None


# Names that stand for the same in every program.
NAMED: dict[str, Value] = {
    "__dirname": ".", "path.sep": "/", "path.delimiter": ":", "os.EOL": "\n", "import.meta.dirname": ".",
    "import.meta.dir": ".", "import.meta.url": "./\ufffc\ufffc", "__filename": "./\ufffc\ufffc", "undefined": None,
    "NaN": hole(), "os.userInfo().homedir": "~", "process.execPath": "node",
}  # fmt: skip
HOMES = frozenset({"HOME", "USERPROFILE"})
