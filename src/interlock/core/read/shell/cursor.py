"""Where the reading of a shell text stands, and the small moves from there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from interlock.core.read.shell.nodes import Node, Redirect, Word

MAX_DEPTH = 60
CLOSING = re.compile(r"(?:then|do|done|fi|esac|else|elif|\})(?=[\s;&|()<>]|$)")

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")


class ShellSyntax(ValueError):
    """Text that a shell would refuse; `at` is where."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.at = at


class TooDeep(ShellSyntax):
    """Nested deeper than anything a person writes."""


class HereDocument(NamedTuple):
    """A here-document whose text follows the line."""

    redirect: Redirect
    end: str  # the line that closes it
    quoted: bool
    tabs: bool  # stripped from the start of its lines


class Grammar(NamedTuple):
    """How to read what may stand inside a word; a cursor carries it, so that no module needs one above it."""

    nodes: Callable[[Cursor, str], list[Node]]  # up to a character or a closing word, which stays unread
    command: Callable[[Cursor], Node]
    document: Callable[[Cursor, HereDocument], Word]


class Cursor:
    """A position in a text; `base` is where that text starts in the whole one."""

    __slots__ = ("base", "depth", "dialect", "grammar", "kept", "pos", "size", "step", "text", "waiting")

    def __init__(
        self, text: str, step: Callable[[int], None], dialect: str, grammar: Grammar, base: int = 0, depth: int = 0
    ) -> None:
        self.text = text
        self.size = len(text)
        self.pos = 0
        self.step = step
        self.dialect = dialect
        self.grammar = grammar
        self.base = base
        self.depth = depth
        self.waiting: list[HereDocument] = []
        self.kept: list[Node] = []  # simple commands read since the last restart, for when the text is broken

    def restart(self, at: int) -> None:
        """Go on at `at` as if nothing had been opened before it."""
        self.pos = at
        self.depth = 0
        self.waiting = []
        self.kept = []

    def inner(self, text: str, at: int) -> Cursor:
        """A cursor over a text that was taken out of this one at `at`."""
        if self.depth >= MAX_DEPTH:
            raise TooDeep("nested too deeply", self.pos)
        inner = Cursor(text, self.step, self.dialect, self.grammar, self.base + at, self.depth + 1)
        inner.kept = self.kept
        return inner

    def deeper(self) -> None:
        """Go one level down; refuses more than MAX_DEPTH of them."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep("nested too deeply", self.pos)

    # -- moves ------------------------------------------------------------------------------------------

    def at(self, text: str) -> bool:
        """True when `text` is what follows."""
        return self.text.startswith(text, self.pos)

    def blank(self) -> None:
        """Skip blanks and joined lines."""
        found = _BLANK.match(self.text, self.pos)
        if found:
            self.pos = found.end()

    def newline(self) -> None:
        """Skip a line end, and read the here-documents that waited for it."""
        self.pos += 1
        waiting, self.waiting = self.waiting, []
        for here in waiting:
            here.redirect.body = self.grammar.document(self, here)

    def lines(self) -> None:
        """Skip line ends and comments, where a command goes on behind them."""
        while True:
            self.blank()
            if self.at("\n"):
                self.newline()
            elif self.at("#"):
                self._comment()
            else:
                return

    def separators(self) -> None:
        """Skip all that may stand between two commands."""
        while True:
            self.blank()
            if self.pos >= self.size:
                return
            char = self.text[self.pos]
            if char == "\n":
                self.newline()
            elif char == "#":
                self._comment()
            elif char == ";" and not self.text.startswith((";;", ";&"), self.pos):
                self.pos += 1
            else:
                return

    def _comment(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = self.size if end < 0 else end

    def expect(self, text: str) -> None:
        """Skip `text`; refuses anything else."""
        if text.isalpha() or text == "}":
            self.separators()
        else:
            self.blank()
        if not self.at(text):
            got = self.text[self.pos : self.pos + 10] or "the end"
            raise ShellSyntax(f"expected {text!r}, got {got!r}", self.pos)
        self.pos += len(text)

    # -- nodes between two marks --------------------------------------------------------------------------

    def enclosed(self, stop: str) -> list[Node]:
        """The nodes up to the character `stop`, which is read too."""
        self.deeper()
        body = self.grammar.nodes(self, stop)
        self.depth -= 1
        self.expect(stop)
        return body

    def body(self, *closers: str) -> list[Node]:
        """The nodes up to one of the closing words, which stays unread; refuses another one."""
        body = self.grammar.nodes(self, "")
        self.separators()
        found = CLOSING.match(self.text, self.pos)
        if not found or found[0] not in closers:
            raise ShellSyntax(f"expected {' or '.join(closers)}", self.pos)
        return body

    def closing(self) -> str:
        """Read a closing word."""
        found = CLOSING.match(self.text, self.pos)
        if not found:
            raise ShellSyntax("unexpected end", self.pos)
        self.pos = found.end()
        return found[0]
