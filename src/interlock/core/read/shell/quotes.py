"""Where quoted and bracketed text ends, and what its escapes stand for; nothing inside is expanded."""

from __future__ import annotations

import re

from interlock.core.read.shell.cursor import Cursor, ShellSyntax
from interlock.core.read.shell.nodes import Part, Text

MAX_ARITHMETIC = 4_096  # characters; nobody calculates longer
_PAREN_OR_QUOTE = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[()\n]", re.DOTALL)
_ANSI_PLAIN = re.compile(r"[^'\\]*")
_ANSI_CODE = re.compile(r"x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.", re.DOTALL)
_ANSI = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def single(cursor: Cursor, parts: list[Part]) -> None:
    """'…'"""
    end = cursor.text.find("'", cursor.pos + 1)
    if end < 0:
        raise ShellSyntax("a single quote is not closed", cursor.pos)
    parts.append(Text(cursor.text[cursor.pos + 1 : end], True))
    cursor.pos = end + 1


def escape(cursor: Cursor, parts: list[Part]) -> None:
    """A backslash outside quotes: the next character as it is, nothing for a line end."""
    after = cursor.text[cursor.pos + 1 : cursor.pos + 2]
    if after == "\r" and cursor.text.startswith("\n", cursor.pos + 2):
        cursor.pos += 3
        return
    cursor.pos += 2
    if after != "\n":
        parts.append(Text(after or "\\", True))


def ansi(cursor: Cursor, parts: list[Part]) -> None:
    """$'…' with its escapes worked out."""
    text = cursor.text
    pos = cursor.pos + 2
    out: list[str] = []
    while True:
        plain = _ANSI_PLAIN.match(text, pos)
        if plain is None or plain.end() >= cursor.size:
            raise ShellSyntax("a $' is not closed", cursor.pos)
        out.append(plain[0])
        pos = plain.end() + 1
        if text[pos - 1] == "'":
            break
        code = _ANSI_CODE.match(text, pos)
        if code:
            out.append(_ansi_char(code[0]))
            pos = code.end()
        else:
            after = text[pos : pos + 1]
            out.append(_ANSI.get(after, "\\" + after))
            pos += 1
    parts.append(Text("".join(out), True))
    cursor.pos = pos


def _ansi_char(code: str) -> str:
    if code[0] == "c":
        return chr(ord(code[1]) & 0x1F)
    value = int(code[1:], 16) if code[0] in "xuU" else int(code, 8) & 0xFF
    return chr(value) if value <= 0x10FFFF else ""


def balanced(cursor: Cursor) -> str:
    """The text from `(` to the `)` that closes it, on one line."""
    start = cursor.pos
    depth = 0
    for found in _PAREN_OR_QUOTE.finditer(cursor.text, start):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            depth -= 1
            if depth == 0:
                cursor.pos = found.end()
                return cursor.text[start : cursor.pos]
        elif found[0] == "\n":
            break
    raise ShellSyntax("a parenthesis is not closed", start)


def arithmetic_end(cursor: Cursor, start: int) -> int:
    """Where `))` closes; -1 when parentheses say that this is no arithmetic."""
    depth = 0
    for found in _PAREN_OR_QUOTE.finditer(cursor.text, start, start + MAX_ARITHMETIC):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")":
            if depth == 0:
                return found.start() if cursor.text.startswith("))", found.start()) else -1
            depth -= 1
    return -1


def backtick_end(cursor: Cursor) -> int:
    """Where the backtick that opens here is closed by one that is not escaped."""
    text = cursor.text
    start = cursor.pos + 1
    end = text.find("`", start)
    while end >= 0:
        run = end
        while run > start and text[run - 1] == "\\":
            run -= 1
        if (end - run) % 2 == 0:
            return end
        end = text.find("`", end + 1)
    raise ShellSyntax("a backtick is not closed", cursor.pos)
