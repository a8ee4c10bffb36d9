"""What a language adds to the common walk, and what the walk remembers: sources, functions, calls, notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.read.inline.common.lexing import Token
from interlock.core.read.inline.common.values import EMPTY, Value, unknown

if TYPE_CHECKING:
    from interlock.core.read.inline.common.walk import Walk

PAIRS = "pairs"  # the ref of a value made of names and values


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens of one piece of code."""

    tokens: tuple[Token, ...]
    mates: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Body:
    """The code of a function, kept until it is called."""

    source: Source
    params: tuple[str, ...]
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the program makes."""

    name: str
    args: tuple[Value, ...] = ()
    on: Value | None = None

    @property
    def path(self) -> str:
        """The names that lead to the call, joined by dots."""
        return dotted(self.on.ref, self.name) if self.on else self.name

    def arg(self, index: int) -> Value:
        return self.args[index] if index < len(self.args) else EMPTY

    @property
    def plain(self) -> tuple[Value, ...]:
        """The arguments that are neither options nor functions."""
        return tuple(value for value in self.args if value.ref != PAIRS and value.body < 0)


def dotted(ref: str, name: str) -> str:
    """The path that goes one name further; a very long one keeps its beginning."""
    return f"{ref[:400]}.{name[:100]}" if ref else name


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one language adds to the common walk."""

    name: str
    scan: Callable[[str], list[Token]]
    call: Callable[[Walk, Call], Value | None]
    binary: Mapping[str, int]
    members: frozenset[str]
    joins: frozenset[str]
    repeats: str = ""
    forms: Mapping[str, Callable[[Walk], Value]] = field(default_factory=dict)
    noise: frozenset[str] = frozenset()
    bare: Callable[[Walk, Token], int] = lambda _walk, _token: -1  # operands without brackets: -1 no call, 0, 1, 2 many
    variable: Callable[[str], Value] = unknown
    loops: frozenset[str] = frozenset()  # words that may follow a statement and repeat it
    topic: str = ""  # the variable that such a loop sets
    braces: bool = False  # `$x{key}` is an index
    fields: bool = False  # a member without brackets is no call
    fork: str = ""  # the call that makes a second process
    endless: frozenset[str] = frozenset()  # loops that `1` or `true` makes endless
    block: Callable[[Walk], Value] | None = None  # reads a block that is handed to the call before it


@dataclass
class Notes:
    """What several calls have in common and only the end of the program can tell."""

    socket: str = ""
    shells: int = 0
    opened: dict[str, bool] = field(default_factory=dict)  # a file opened for writing, and whether anything was written

    def wrote(self, path: str) -> None:
        if path in self.opened:
            self.opened[path] = True
