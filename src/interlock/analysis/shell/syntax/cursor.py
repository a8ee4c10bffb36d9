"""Position in shell text: moves, the ends of quoted and bracketed text, escapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from msgspec import Struct

from interlock.analysis.shell.syntax.nodes import Node, Part, ShellRedirect, ShellText, ShellWord

MAX_DEPTH = 60
CLOSING = re.compile(r"(?:then|do|done|fi|esac|else|elif|\})(?=[\s;&|()<>]|$)")

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_BLANKS = frozenset(" \t\r\\")  # what it begins with


class ShellSyntax(ValueError):
    """Text that a shell would refuse; `at` is where."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.at = at


class ShellTooDeep(ShellSyntax):
    """Nested deeper than anything a person writes."""


class HereDocument(NamedTuple):
    redirect: ShellRedirect
    end: str  # the line that closes it
    quoted: bool
    tabs: bool  # stripped from the start of its lines


class Grammar(NamedTuple):
    """How to read what is inside a word; carried by cursors, so that no module needs one above it."""

    nodes: Callable[[ShellCursor, str], list[Node]]  # up to a character or a closing word, which stays unread
    command: Callable[[ShellCursor], Node]
    document: Callable[[ShellCursor, HereDocument], ShellWord]


class ShellCursor(Struct):
    """`base` is where its text starts in the whole one."""

    text: str
    step: Callable[[int], None]
    dialect: str
    grammar: Grammar
    base: int = 0
    depth: int = 0
    pos: int = 0
    size: int = 0
    waiting: list[HereDocument] = []
    kept: list[Node] = []  # simple commands read since the last restart, for when the text is broken

    def __post_init__(self) -> None:
        self.size = len(self.text)

    def restart(self, at: int) -> None:
        self.pos, self.depth, self.waiting, self.kept = at, 0, [], []

    def inner(self, text: str, at: int) -> ShellCursor:
        if self.depth >= MAX_DEPTH:
            raise ShellTooDeep("nested too deeply", self.pos)
        return ShellCursor(text, self.step, self.dialect, self.grammar, self.base + at, self.depth + 1, kept=self.kept)

    def refuse(self, what: str, at: int | None = None) -> NoReturn:
        raise ShellSyntax(what, self.pos if at is None else at)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ShellTooDeep("nested too deeply", self.pos)

    # -- moves

    def at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos)

    def take(self, text: str) -> bool:
        found = self.at(text)
        self.pos += len(text) * found
        return found

    def peek(self) -> str:
        """Empty at the end, and so `in` any text."""
        return self.text[self.pos : self.pos + 1]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if found := pattern.match(self.text, self.pos):
            self.pos = found.end()
        return found

    def blank(self) -> None:
        if self.peek() in _BLANKS and (found := _BLANK.match(self.text, self.pos)):
            self.pos = found.end()

    def newline(self) -> None:
        """A line end, and the here-documents that waited for it."""
        self.pos += 1
        waiting, self.waiting = self.waiting, []
        for here in waiting:
            here.redirect.body = self.grammar.document(self, here)

    def lines(self) -> None:
        """Line ends and comments, where a command goes on behind them."""
        self.blank()
        while self.at("\n") or self.at("#"):
            self.newline() if self.at("\n") else self._comment()
            self.blank()

    def separators(self) -> None:
        while True:
            self.blank()
            char = self.peek()
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
        self.separators() if text.isalpha() or text == "}" else self.blank()
        if not self.take(text):
            got = self.text[self.pos : self.pos + 10] or "the end"
            self.refuse(f"expected {text!r}, got {got!r}")

    # -- nodes between two marks

    def enclosed(self) -> list[Node]:
        """The closing parenthesis is read too."""
        self.deeper()
        body = self.grammar.nodes(self, ")")
        self.depth -= 1
        self.expect(")")
        return body

    def body(self, *closers: str) -> tuple[list[Node], str]:
        """The nodes up to one of the closing words, and that word; refuses another one."""
        body = self.grammar.nodes(self, "")
        self.separators()
        found = CLOSING.match(self.text, self.pos)
        if not found or found[0] not in closers:
            self.refuse(f"expected {' or '.join(closers)}")
        self.pos = found.end()
        return body, found[0]


MAX_ARITHMETIC = 4_096  # characters; nobody calculates longer
_PAREN_OR_QUOTE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[()\n]", re.DOTALL)
_BRACKET = re.compile(r"[][]")
_ANSI_TEXT = re.compile(r"\$'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_ANSI_CODE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def single(cursor: ShellCursor, parts: list[Part]) -> None:
    end = cursor.text.find("'", cursor.pos + 1)
    if end < 0:
        cursor.refuse("a single quote is not closed")
    parts.append(ShellText(cursor.text[cursor.pos + 1 : end], True))
    cursor.pos = end + 1


def escape(cursor: ShellCursor, parts: list[Part]) -> None:
    """Nothing for a line end."""
    after = cursor.text[cursor.pos + 1 : cursor.pos + 2]
    if after == "\r" and cursor.text.startswith("\n", cursor.pos + 2):
        cursor.pos += 3
        return
    cursor.pos += 2
    if after != "\n":
        parts.append(ShellText(after or "\\", True))


def ansi(cursor: ShellCursor, parts: list[Part]) -> None:
    found = cursor.match(_ANSI_TEXT)
    if not found:
        cursor.refuse("a $' is not closed")
    parts.append(ShellText(_ANSI_CODE.sub(_ansi_char, found[1]), True))


def _ansi_char(found: re.Match[str]) -> str:
    code = found[1]
    return chr(ord(code[1]) & 0x1F) if code[0] == "c" and len(code) > 1 else escaped(code)


def escaped(code: str) -> str:
    """The character that an escape stands for, by the text behind its backslash."""
    if code[0] not in "01234567" and len(code) == 1:
        return _ANSI.get(code, "\\" + code)
    value = int(code[1:], 16) if code[0] in "xuU" else int(code, 8) & 0xFF
    return chr(value) if value <= 0x10FFFF else ""


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|0?[0-7]{1,3}|[ntrabefv\\'\"c])")


def unescape(text: str) -> str:
    """Of printf and echo -e."""
    return _ESCAPE.sub(lambda found: "" if found[1] == "c" else escaped(found[1]), text) if "\\" in text else text


def _closing(pattern: re.Pattern[str], text: str, start: int, stop: int, on_line: bool = False) -> int:
    """Where the bracket at `start` is closed; -1 when it is not, or not on its line."""
    depth = 0
    for found in pattern.finditer(text, start, stop):
        if found[0] in ("(", "["):
            depth += 1
        elif found[0] in (")", "]"):
            depth -= 1
            if not depth:
                return found.start()
        elif on_line and found[0] == "\n":
            break
    return -1


def balanced(cursor: ShellCursor) -> str:
    """From `(` to its `)`, on one line."""
    start = cursor.pos
    end = _closing(_PAREN_OR_QUOTE, cursor.text, start, cursor.size, on_line=True)
    if end < 0:
        cursor.refuse("a parenthesis is not closed", start)
    cursor.pos = end + 1
    return cursor.text[start : cursor.pos]


def arithmetic_end(cursor: ShellCursor, start: int) -> int:
    """Where `))` closes what begins here; -1 when parentheses say that this is no arithmetic."""
    end = _closing(_PAREN_OR_QUOTE, cursor.text, start - 1, start + MAX_ARITHMETIC)
    return end if cursor.text.startswith("))", end) and end >= 0 else -1


def subscript_end(cursor: ShellCursor) -> int:
    end = _closing(_BRACKET, cursor.text, cursor.pos, cursor.size)
    if end < 0:
        cursor.refuse("a [ is not closed")
    return end


def backtick_end(cursor: ShellCursor) -> int:
    start = cursor.pos + 1
    end = cursor.text.find("`", start)
    while end >= 0 and is_escaped(cursor.text, end, start):
        end = cursor.text.find("`", end + 1)
    if end < 0:
        cursor.refuse("a backtick is not closed")
    return end


def is_escaped(text: str, at: int, start: int = 0) -> bool:
    """Whether an odd number of backslashes stands before a character."""
    run = at
    while run > start and text[run - 1] == "\\":
        run -= 1
    return (at - run) % 2 == 1
