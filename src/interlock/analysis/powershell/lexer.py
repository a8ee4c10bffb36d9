"""Reads PowerShell words from characters: blanks, comments, quotes, variables, here-strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from interlock.analysis.code.program import nodes
from interlock.analysis.windows import WindowsSyntaxError, WindowsTooDeep

Part = str | ast.expr  # of a text: constant, or filled in at run time


MAX_DEPTH = 32

# PowerShell takes typographic dashes and quotes for the plain ones.
_PLAIN = {ord(fancy): plain for plain, row in (("-", "–—―"), ("'", "‘’‚‛"), ('"', "“”„")) for fancy in row}
_BLANK = re.compile(r"(?:[^\S\r\n]|`\r?\n)+")
_LINE = re.compile(r"[^\r\n]*")
_VARIABLE = re.compile(r"\$(?:\{((?:[^}`]|`.)+)\}|((?:\w+:(?!:)(?=\w))?(?:\w|\?(?!\.|\[|\s))+|[$^?]))")
_PLAIN_DOUBLE = re.compile(r"[^`$\"]+")
_PLAIN_WORD = re.compile(r"[^\s`$\"'(){};,|&<>#]+")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_UNICODE = re.compile(r"u\{([0-9A-Fa-f]{1,6})\}")
_SCOPES = ("global:", "script:", "local:", "private:", "using:", "variable:")
_CONSTANTS = {"true": True, "false": False, "null": None}


class PsCursor(Struct):
    """A place in PowerShell text, and how to read statements from there."""

    source: str
    block: Callable[[PsCursor, str], list[ast.stmt]]  # reads statements up to a closing mark
    pos: int = 0
    depth: int = 0

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """One level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise WindowsTooDeep("nested too deeply")
        yield
        self.depth -= 1

    def peek(self, length: int = 1) -> str:
        return self.source[self.pos : self.pos + length]

    def at(self, mark: str) -> bool:
        return self.source.startswith(mark, self.pos)

    def done(self) -> bool:
        return self.pos >= len(self.source)

    def take(self, mark: str) -> bool:
        """Step over a mark if it stands here."""
        if self.source.startswith(mark, self.pos):
            self.pos += len(mark)
            return True
        return False

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise WindowsSyntaxError(f"expected {mark!r} at {self.pos}, got {self.peek(8)!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over a pattern if it stands here."""
        if found := pattern.match(self.source, self.pos):
            self.pos = found.end()
        return found

    def look(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        return pattern.match(self.source, self.pos)

    def skip_blanks(self) -> None:
        """Step over blanks and comments, but stay on the line."""
        while not self.done():
            if self.match(_BLANK):
                continue
            if self.at("<#"):
                end = self.source.find("#>", self.pos)
                if end < 0:
                    raise WindowsSyntaxError("a comment has no end")
                self.pos = end + 2
            elif self.at("#"):
                self.match(_LINE)
            else:
                return

    def skip_lines(self, marks: str = "\r\n") -> None:
        """Step over blanks, comments and line ends; with ";" among the marks, over empty statements too."""
        self.skip_blanks()
        while not self.done() and self.source[self.pos] in marks:
            self.pos += 1
            self.skip_blanks()


def plain(source: str) -> str:
    """The text with ASCII dashes and quotes in place of typographic ones."""
    return source.replace("\ufeff", "").translate(_PLAIN)


def variable(title: str) -> ast.expr:
    """`$title`, by the one spelling of its name; the constants of the language as what they are."""
    key = title.lower()
    scope = next((scope for scope in _SCOPES if key.startswith(scope)), "")
    key = "_" if key == "psitem" else key[len(scope) :]
    return ast.Constant(_CONSTANTS[key]) if key in _CONSTANTS else nodes.name(f"${key}")


def text(parts: Sequence[Part], bare: bool = False) -> ast.expr:
    """A string, or a bare word, which is the value itself where it has no other part."""
    if bare and len(parts) == 1 and not isinstance(parts[0], str):
        return parts[0]
    return nodes.joined([part if isinstance(part, str) else nodes.call("<text>", [part]) for part in parts])


def read_variable(cursor: PsCursor) -> ast.expr | None:
    """`$name`, `${name}`, `$env:NAME` or `$(…)`; None for a lone dollar sign."""
    if cursor.take("$("):
        return group(read_nested(cursor, ")"))
    found = cursor.match(_VARIABLE)
    if not found:
        return None
    return variable(found[1] or found[2])


def read_nested(cursor: PsCursor, close: str) -> list[ast.stmt]:
    """Statements up to a closing mark, one level down."""
    with cursor.deeper():
        return cursor.block(cursor, close)


def group(body: list[ast.stmt]) -> ast.expr:
    """`( )` and `$( )`: everything that the statements in it give."""
    if len(body) < 2 and not any(isinstance(one, (ast.For, ast.While, ast.Try)) for one in body):
        return nodes.as_expression(body)
    return nodes.call(nodes.closure([], yielding(body)))


def yielding(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a block, which gives the value of each of them."""
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
    """What a backtick and the character behind it stand for."""
    cursor.pos += 1
    if found := cursor.match(_UNICODE):
        number = int(found[1], 16)
        return chr(number) if number < 0x110000 else ""
    letter = cursor.peek()
    cursor.pos += 1
    return _ESCAPES.get(letter, letter)


def read_single(cursor: PsCursor) -> str:
    """A '…' string."""
    parts: list[str] = []
    cursor.expect("'")
    while True:
        end = cursor.source.find("'", cursor.pos)
        if end < 0:
            raise WindowsSyntaxError("a string has no end")
        parts.append(cursor.source[cursor.pos : end])
        cursor.pos = end + 1
        if not cursor.take("'"):
            return "".join(parts)
        parts.append("'")


def read_double(cursor: PsCursor) -> list[Part]:
    """A "…" string, as its parts."""
    parts: list[Part] = []
    cursor.expect('"')
    while not cursor.done():
        if found := cursor.match(_PLAIN_DOUBLE):
            parts.append(found[0])
        elif cursor.at("`"):
            parts.append(read_escape(cursor))
        elif cursor.take('""'):
            parts.append('"')
        elif cursor.take('"'):
            return parts
        else:
            parts.append(_filled(cursor))
    raise WindowsSyntaxError("a string has no end")


def _filled(cursor: PsCursor) -> Part:
    value = read_variable(cursor)
    if value is None:
        cursor.pos += 1
        return "$"
    return value


_HERE_OPEN = re.compile(r"@(['\"])[^\S\r\n]*\r?\n")


def read_here(cursor: PsCursor) -> ast.expr | None:
    """A here-string, if one starts here."""
    found = cursor.match(_HERE_OPEN)
    if not found:
        return None
    close = re.compile(r"\r?\n" + found[1] + "@")
    cursor.pos -= 1  # the line end that opens may be the one that closes
    end = close.search(cursor.source, cursor.pos)
    if end is None:
        raise WindowsSyntaxError("a here-string has no end")
    start, stop = min(cursor.pos + 1, end.start()), end.start()
    if found[1] == "'":
        cursor.pos = end.end()
        return nodes.text(cursor.source[start:stop])
    return text(_here_parts(cursor, max(start, cursor.pos + 1), stop, end.end()))


def _here_parts(cursor: PsCursor, start: int, stop: int, after: int) -> list[Part]:
    parts: list[Part] = []
    cursor.pos = start
    while cursor.pos < stop:
        at = next((i for i in range(cursor.pos, stop) if cursor.source[i] in "`$"), stop)
        parts.append(cursor.source[cursor.pos : at])
        cursor.pos = at
        if at < stop:
            parts.append(read_escape(cursor) if cursor.at("`") else _filled(cursor))
    cursor.pos = max(after, cursor.pos)
    return parts


def read_bare(cursor: PsCursor, *first: ast.expr) -> ast.expr:
    """A bare word of a command, which may hold quotes and variables; the first part may have been read."""
    parts: list[Part] = list(first)
    start = cursor.pos
    while not cursor.done():
        letter = cursor.source[cursor.pos]
        if found := cursor.match(_PLAIN_WORD):
            parts.append(found[0])
        elif letter == "`":
            if cursor.look(_BLANK):
                break
            parts.append(read_escape(cursor).replace("\x1b", "e"))  # older versions know no `e
        elif letter == '"':
            parts.extend(read_double(cursor))
        elif letter == "'":
            parts.append(read_single(cursor))
        elif letter == "$":
            parts.append(_filled(cursor))
        elif letter == "#" and cursor.pos > start:
            parts.append("#")
            cursor.pos += 1
        else:
            break
    if cursor.pos == start:
        raise WindowsSyntaxError(f"unexpected {cursor.peek()!r} at {start}")
    return text(parts, bare=True)


_PLAIN_BODY = re.compile(r"[^{}'\"#<`]+")


def skip_braces(cursor: PsCursor) -> None:
    """Step over everything up to the brace that closes the one just read."""
    depth = 1
    while depth:
        cursor.match(_PLAIN_BODY)
        if cursor.done():
            raise WindowsSyntaxError("'}' is missing")
        letter = cursor.peek()
        if letter == "'":
            read_single(cursor)
        elif letter == '"':
            read_double(cursor)
        elif letter in "#<" and (cursor.at("#") or cursor.at("<#")):
            cursor.skip_blanks()
        else:
            depth += (letter == "{") - (letter == "}")
            cursor.pos += 1
