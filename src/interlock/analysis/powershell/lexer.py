"""Reads PowerShell words from characters: blanks, comments, quotes, variables, here-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from interlock.analysis.code.lexing import CONTROLS, character
from interlock.analysis.code.program import nodes
from interlock.analysis.windows import WindowsSyntaxError, WindowsTooDeep

Part = str | ast.expr  # of a text: constant, or filled in at run time
_MAX_DEPTH = 32

# PowerShell takes typographic dashes and quotes for the plain ones.
_PLAIN = {ord(fancy): plain for plain, row in (("-", "–—―"), ("'", "‘’‚‛"), ('"', "“”„")) for fancy in row}
_BLANK = re.compile(r"(?s:[^\S\r\n]+|`\r?\n|<#.*?#>|#[^\r\n]*)*+")
_VARIABLE = re.compile(r"\$(?:\{((?:[^}`]|`.)+)\}|((?:\w+:(?!:)(?=\w))?(?:\w|\?(?!\.|\[|\s))+|[$^?]))")
_SINGLE = re.compile(r"'((?:[^']|'')*+)'")
_PLAIN_DOUBLE, _PLAIN_HERE = re.compile(r"[^`$\"]+"), re.compile(r"[^`$]+")
_PLAIN_WORD = re.compile(r"[^\s`$\"'(){};,|&<>#]+")
_CONTINUED = re.compile(r"`\r?\n")
_ESCAPES = {**CONTROLS, "0": "\0"}
_UNICODE = re.compile(r"u\{([0-9A-Fa-f]{1,6})\}")
_SCOPE = re.compile(r"^(?:global|script|local|private|using|variable):")
_CONSTANTS = {"true": True, "false": False, "null": None}


class PsCursor(Struct):
    source: str
    block: Callable[[PsCursor, str], list[ast.stmt]]  # reads statements up to a closing mark
    pos: int = 0
    depth: int = 0

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise WindowsTooDeep
        yield
        self.depth -= 1

    def peek(self, length: int = 1) -> str:
        return self.source[self.pos : self.pos + length]

    def at(self, mark: str) -> bool:
        return self.source.startswith(mark, self.pos)

    def next(self) -> str:
        self.pos += 1
        return self.source[self.pos - 1 : self.pos]

    def take(self, mark: str) -> bool:
        found = self.at(mark)
        self.pos += len(mark) * found
        return found

    def expect(self, mark: str) -> None:
        self.skip_lines()
        if not self.take(mark):
            raise WindowsSyntaxError(f"expected {mark!r} at {self.pos}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if found := pattern.match(self.source, self.pos):
            self.pos = found.end()
        return found

    def look(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.source, self.pos)

    def skip_blanks(self) -> None:
        """Stays on the line."""
        self.match(_BLANK)
        if self.at("<#"):
            raise WindowsSyntaxError("a comment has no end")

    def skip_lines(self, marks: str = "\r\n") -> None:
        """With ";" among the marks, over empty statements too."""
        self.skip_blanks()
        while (letter := self.peek()) and letter in marks:
            self.pos += 1
            self.skip_blanks()


def plain(source: str) -> str:
    return source.replace("\ufeff", "").translate(_PLAIN)


def variable(title: str) -> ast.expr:
    """By the one spelling of its name; the constants of the language as what they are."""
    key = title.lower()
    key = "_" if key == "psitem" else _SCOPE.sub("", key)
    return ast.Constant(_CONSTANTS[key]) if key in _CONSTANTS else ast.Name(f"${key}")


def text(parts: Sequence[Part], bare: bool = False) -> ast.expr:
    """A bare word is the value itself where it has no other part."""
    if bare and len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return nodes.joined([part if isinstance(part, str) else nodes.call("<text>", [part]) for part in parts])


def read_variable(cursor: PsCursor) -> ast.expr | None:
    """`$name`, `${name}`, `$env:NAME` or `$(…)`; None for a lone dollar sign."""
    if cursor.take("$("):
        return group(read_nested(cursor, ")"))
    found = cursor.match(_VARIABLE)
    return variable(found[1] or found[2]) if found else None


def read_nested(cursor: PsCursor, close: str) -> list[ast.stmt]:
    with cursor.deeper():
        return cursor.block(cursor, close)


def group(body: list[ast.stmt]) -> ast.expr:
    if len(body) < 2 and not any(isinstance(one, (ast.For, ast.While, ast.Try)) for one in body):
        return nodes.as_expression(body)
    return nodes.call(nodes.closure([], yielding(body)))


def yielding(body: list[ast.stmt]) -> list[ast.stmt]:
    """A block gives the value of each of its statements."""
    return [_yielding(one) for one in body]


def _yielding(node: ast.stmt) -> ast.stmt:
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.NamedExpr):
        return ast.Expr(ast.Yield(node.value))
    if isinstance(node, (ast.If, ast.For, ast.While, ast.Try)):
        node.body, node.orelse = yielding(node.body), yielding(node.orelse)
    if isinstance(node, ast.Try):
        node.finalbody = yielding(node.finalbody)
        for handler in node.handlers:
            handler.body = yielding(handler.body)
    return node


def read_escape(cursor: PsCursor) -> str:
    cursor.pos += 1
    if found := cursor.match(_UNICODE):
        return character(int(found[1], 16))
    letter = cursor.next()
    return _ESCAPES.get(letter, letter)


def read_single(cursor: PsCursor) -> str:
    if found := cursor.match(_SINGLE):
        return found[1].replace("''", "'")
    raise WindowsSyntaxError("a string has no end")


def read_double(cursor: PsCursor) -> list[Part]:
    cursor.expect('"')
    parts = _parts(cursor, _PLAIN_DOUBLE, len(cursor.source))
    cursor.expect('"')
    return parts


def _parts(cursor: PsCursor, plain: re.Pattern[str], end: int) -> list[Part]:
    """Up to the end, or to a quote that is not plain."""
    parts: list[Part] = []
    while cursor.pos < end:
        if found := plain.match(cursor.source, cursor.pos, end):
            cursor.pos = found.end()
            parts.append(found[0])
        elif cursor.at("`"):
            parts.append(read_escape(cursor))
        elif cursor.take('""'):
            parts.append('"')
        elif cursor.at('"'):
            break
        else:
            parts.append(read_variable(cursor) or cursor.next())
    return parts


_HERE_OPEN = re.compile(r"@(['\"])[^\S\r\n]*\r?\n")


def read_here(cursor: PsCursor) -> ast.expr | None:
    found = cursor.match(_HERE_OPEN)
    if not found:
        return None
    start = cursor.pos  # the line end that opens may be the one that closes
    end = re.compile(r"\r?\n" + found[1] + "@").search(cursor.source, start - 1)
    if end is None:
        raise WindowsSyntaxError("a here-string has no end")
    if found[1] == "'":
        cursor.pos = end.end()
        return nodes.text(cursor.source[start : end.start()])
    made = text(_parts(cursor, _PLAIN_HERE, end.start()))
    cursor.pos = max(end.end(), cursor.pos)
    return made


def read_bare(cursor: PsCursor, *first: ast.expr) -> ast.expr:
    """A word that may hold quotes and variables; the first part may have been read."""
    parts: list[Part] = list(first)
    start = cursor.pos
    while letter := cursor.peek():
        if found := cursor.match(_PLAIN_WORD):
            parts.append(found[0])
        elif letter == "`" and not cursor.look(_CONTINUED):
            parts.append(read_escape(cursor).replace("\x1b", "e"))  # older versions know no `e
        elif letter == '"':
            parts.extend(read_double(cursor))
        elif letter == "'":
            parts.append(read_single(cursor))
        elif letter == "$":
            parts.append(read_variable(cursor) or cursor.next())
        elif letter == "#" and cursor.pos > start:
            parts.append(cursor.next())
        else:
            break
    if cursor.pos == start:
        raise WindowsSyntaxError(f"unexpected {cursor.peek()!r} at {start}")
    return text(parts, bare=True)


_PLAIN_BODY = re.compile(r"[^(){}'\"#<`]+")


def skip_to_mate(cursor: PsCursor, opener: str, closer: str) -> None:
    depth = 1
    while depth:
        cursor.match(_PLAIN_BODY)
        letter = cursor.peek()
        if not letter:
            raise WindowsSyntaxError(f"{closer!r} is missing")
        if letter == "'":
            read_single(cursor)
        elif letter == '"':
            read_double(cursor)
        elif letter in "#<" and (cursor.at("#") or cursor.at("<#")):
            cursor.skip_blanks()
        else:
            depth += (letter == opener) - (letter == closer)
            cursor.pos += 1
