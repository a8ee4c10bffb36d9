"""The interface between the shared walk and a language: sources, functions, calls, and notes for the end of the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.analysis.code.lexing import CodeToken
from interlock.analysis.code.values import EMPTY, Value, unknown

if TYPE_CHECKING:
    from interlock.analysis.code.walk import CodeWalk

PAIRS = "pairs"  # the ref of a value made of names and values


class CodeSource(Struct, frozen=True):
    """The tokens of one piece of code."""

    tokens: tuple[CodeToken, ...]
    mates: Mapping[int, int]


class FunctionBody(Struct, frozen=True):
    """The code of a function, kept until it is called."""

    source: CodeSource
    params: tuple[str, ...]
    start: int
    stop: int


class CodeCall(Struct, frozen=True):
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


class CodeDialect(Struct, frozen=True):
    """What one language adds to the common walk."""

    name: str
    scan: Callable[[str], list[CodeToken]]
    call: Callable[[CodeWalk, CodeCall], Value | None]
    binary: Mapping[str, int]
    members: frozenset[str]
    joins: frozenset[str]
    repeats: str = ""
    forms: Mapping[str, Callable[[CodeWalk], Value]] = field(default_factory=dict)
    noise: frozenset[str] = frozenset()
    bare: Callable[[CodeWalk, CodeToken], int] = lambda _walk, _token: (
        -1
    )  # operands without brackets: -1 no call, 0, 1, 2 many
    variable: Callable[[str], Value] = unknown
    loops: frozenset[str] = frozenset()  # words that may follow a statement and repeat it
    topic: str = ""  # the variable that such a loop sets
    braces: bool = False  # `$x{key}` is an index
    fields: bool = False  # a member without brackets is no call
    fork: str = ""  # the call that makes a second process
    endless: frozenset[str] = frozenset()  # loops that `1` or `true` makes endless
    block: Callable[[CodeWalk], Value] | None = None  # reads a block that is handed to the call before it


class Notes(Struct):
    """What several calls have in common and only the end of the program can tell."""

    socket: str = ""
    shells: int = 0
    opened: dict[str, bool] = field(default_factory=dict)  # a file opened for writing, and whether anything was written

    def wrote(self, path: str) -> None:
        if path in self.opened:
            self.opened[path] = True
