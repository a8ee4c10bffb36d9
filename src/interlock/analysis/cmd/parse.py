"""Parses cmd.exe text into commands: separators, parentheses, if and for."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

MAX_DEPTH = 40


class CmdSyntaxError(Exception):
    """The text is not valid for cmd.exe; the argument gives the reason."""


class CmdTooDeep(CmdSyntaxError):
    """The text nests deeper than a reader follows."""


class CmdCommand(Struct, frozen=True):
    """One command as written; variables, quotes and redirections are handled when it runs."""

    raw: str


class CmdPipe(Struct, frozen=True):
    parts: tuple[Node, ...]


class CmdGroup(Struct, frozen=True):
    """Commands in parentheses, and what is redirected behind them."""

    body: tuple[Node, ...]
    tail: str = ""


class If(Struct, frozen=True):
    condition: str
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


class For(Struct, frozen=True):
    switches: str
    name: str
    items: str
    body: tuple[Node, ...]


Node = CmdCommand | CmdPipe | CmdGroup | If | For

_BLANK = re.compile(r"(?:[^\S\r\n]|[,;=](?=\s)|\^\r?\n)+")
_LINES = re.compile(r"\s+")
_COMMENT = re.compile(r"@?(?:::|rem(?=[\s.,;=]|$))[^\r\n]*", re.IGNORECASE)
_LABEL = re.compile(r":[^\r\n]*")
_WORD = re.compile(r'(?:"[^"\r\n]*"?|\^.|[^\s"^()&|<>=])+', re.DOTALL)
_FOR = re.compile(r"for(?=[\s/])", re.IGNORECASE)
_IF = re.compile(r"if(?=[\s(])", re.IGNORECASE)
_ELSE = re.compile(r"\s*else(?=[\s(])", re.IGNORECASE)
_IN = re.compile(r"\s+in\s*\(", re.IGNORECASE)
_DO = re.compile(r"\s*do(?=[\s(@])", re.IGNORECASE)
_VARIABLE = re.compile(r"%%?([A-Za-z?#])")
_COMPARISON = re.compile(r"\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*", re.IGNORECASE)
_TAIL = re.compile(r'(?:[^\S\r\n]*[0-9]?(?:>>|>|<)(?:&[0-9]|[^\S\r\n]*(?:"[^"\r\n]*"?|[^\s"&|()<>])+))+')
_STRAY = re.compile(r"\)[^\r\n]*")
_PLAIN = re.compile(r'[^"^&|()\r\n<>]+')


class CmdCursor(Struct):
    """A place in cmd.exe text."""

    source: str
    step: Callable[[], None]
    pos: int = 0
    depth: int = 0  # of parentheses
    bodies: int = 0  # of if and for without parentheses

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over a pattern if it stands here."""
        if found := pattern.match(self.source, self.pos):
            self.pos = found.end()
        return found

    def peek(self) -> str:
        return self.source[self.pos : self.pos + 1]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CmdTooDeep("nested too deeply")


def parse(source: str, step: Callable[[], None]) -> tuple[tuple[Node, ...], CmdSyntaxError | None]:
    """Every command up to the first trouble, and that trouble."""
    cursor = CmdCursor(source, step)
    nodes: list[Node] = []
    try:
        while cursor.pos < len(source):
            _sequence(cursor, nodes, inside=False)
            if cursor.peek() == ")":  # cmd.exe takes everything behind a stray one for a comment
                cursor.match(_STRAY)
    except CmdSyntaxError as trouble:
        return tuple(nodes), trouble
    return tuple(nodes), None


def _sequence(cursor: CmdCursor, nodes: list[Node], inside: bool) -> None:
    """Commands up to the end, or up to the closing parenthesis."""
    while True:
        _skip(cursor)
        if cursor.pos >= len(cursor.source):
            if inside:
                raise CmdSyntaxError("')' is missing")
            return
        if cursor.peek() == ")":
            return
        cursor.step()
        nodes += _pipe(cursor)


def _skip(cursor: CmdCursor) -> None:
    """Step over blanks, line ends, separators, comments and labels."""
    while cursor.pos < len(cursor.source):
        before = cursor.pos
        cursor.match(_LINES)
        cursor.match(_COMMENT)
        cursor.match(_LABEL)
        if cursor.peek() in ("&", "|", "@", ";", ",", "="):
            cursor.pos += 1
        if cursor.pos == before:
            return


def _pipe(cursor: CmdCursor) -> list[Node]:
    parts = [_command(cursor)]
    while True:
        cursor.match(_BLANK)
        if cursor.peek() != "|" or cursor.source.startswith("||", cursor.pos):
            break
        cursor.pos += 1
        cursor.match(_LINES)
        if cursor.peek() in ("", "&", "|", ")"):
            raise CmdSyntaxError("a command is missing behind |")
        parts.append(_command(cursor))
    return [parts[0] if len(parts) == 1 else CmdPipe(tuple(parts))]


def _command(cursor: CmdCursor) -> Node:
    cursor.step()
    while cursor.peek() == "@":
        cursor.pos += 1
        cursor.match(_BLANK)
    if cursor.peek() == "(":
        body = _parens(cursor)
        tail = cursor.match(_TAIL)
        return CmdGroup(body, tail.group().strip() if tail else "")
    if cursor.match(_IF):
        return _if(cursor)
    if cursor.match(_FOR):
        return _for(cursor)
    return CmdCommand(_raw(cursor))


def _parens(cursor: CmdCursor) -> tuple[Node, ...]:
    cursor.pos += 1
    cursor.deeper()
    nodes: list[Node] = []
    _sequence(cursor, nodes, inside=True)
    cursor.pos += 1
    cursor.depth -= 1
    return tuple(nodes)


def _raw(cursor: CmdCursor) -> str:
    """One command as written, up to a separator outside quotes."""
    start = cursor.pos
    while cursor.pos < len(cursor.source):
        if cursor.match(_PLAIN):
            continue
        letter = cursor.source[cursor.pos]
        if letter == "^":
            cursor.pos += 3 if cursor.source.startswith("^\r\n", cursor.pos) else 2
        elif letter == '"':
            end = re.compile(r'["\r\n]').search(cursor.source, cursor.pos + 1)
            cursor.pos = len(cursor.source) if end is None else end.end() if end.group() == '"' else end.start()
        elif letter in "<>":
            cursor.pos += 1
            if cursor.source.startswith(">", cursor.pos):
                cursor.pos += 1
            if cursor.peek() == "&":
                cursor.pos += 1
        elif letter in "&|\r\n" or (letter == ")" and cursor.depth):
            break
        else:
            cursor.pos += 1
    return cursor.source[start : cursor.pos].strip()


def _body(cursor: CmdCursor) -> tuple[Node, ...]:
    """What if and for run: parentheses, or everything up to the end of the line."""
    cursor.match(_BLANK)
    if cursor.peek() == "(":
        return (_command(cursor),)
    cursor.bodies += 1
    if cursor.bodies > MAX_DEPTH:
        raise CmdTooDeep("nested too deeply")
    nodes = _pipe(cursor)
    while cursor.match(_AND):
        nodes += _pipe(cursor)
    cursor.bodies -= 1
    return tuple(nodes)


_AND = re.compile(r"[^\S\r\n]*(?:&&?|\|\|)[^\S\r\n]*(?=[^\s)])")


def _if(cursor: CmdCursor) -> Node:
    start = cursor.pos
    _condition(cursor)
    condition = cursor.source[start : cursor.pos].strip()
    then = _body(cursor)
    otherwise: tuple[Node, ...] = ()
    if cursor.match(_ELSE):
        otherwise = _body(cursor)
    return If(condition, then, otherwise)


def _condition(cursor: CmdCursor) -> None:
    """Skips the condition of an `if`."""
    word = _next_word(cursor)
    while word in ("/i", "not"):
        word = _next_word(cursor)
    if word in ("exist", "errorlevel", "defined", "cmdextversion") or cursor.match(_COMPARISON):
        _next_word(cursor)
    elif not word:
        raise CmdSyntaxError("an if without a condition")


def _next_word(cursor: CmdCursor) -> str:
    cursor.match(_BLANK)
    found = cursor.match(_WORD)
    return found.group().lower() if found else ""


def _for(cursor: CmdCursor) -> Node:
    start = cursor.pos
    while cursor.pos < len(cursor.source) and not cursor.source.startswith("%", cursor.pos):
        if cursor.peek() in "\r\n&|":
            raise CmdSyntaxError("for without a variable")
        if cursor.peek() == '"' and (end := cursor.source.find('"', cursor.pos + 1)) > 0:
            cursor.pos = end
        cursor.pos += 1
    switches = cursor.source[start : cursor.pos].strip()
    variable = cursor.match(_VARIABLE)
    if not variable or not cursor.match(_IN):
        raise CmdSyntaxError("for without in")
    items = _items(cursor)
    if not cursor.match(_DO):
        raise CmdSyntaxError("for without do")
    return For(switches, variable.group(1), items, _body(cursor))


def _items(cursor: CmdCursor) -> str:
    start, depth = cursor.pos, 1
    while cursor.pos < len(cursor.source):
        letter = cursor.source[cursor.pos]
        if letter == '"' and (end := cursor.source.find('"', cursor.pos + 1)) > 0:
            cursor.pos = end
        depth += (letter == "(") - (letter == ")")
        cursor.pos += 1
        if not depth:
            return cursor.source[start : cursor.pos - 1].strip()
    raise CmdSyntaxError("for without ')'")
