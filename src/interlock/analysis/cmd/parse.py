"""Parses cmd.exe text into commands (separators, parentheses, if and for), and these into words (variables, quotes, carets, redirections)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from interlock.analysis.facts import hole, known
from interlock.analysis.windows import WindowsSyntaxError, WindowsTooDeep, place

MAX_DEPTH = 40


class CmdPipe(Struct, frozen=True):
    parts: tuple[Node, ...]


class CmdGroup(Struct, frozen=True):
    body: tuple[Node, ...]
    tail: str = ""


class If(Struct, frozen=True):
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]


class For(Struct, frozen=True):
    switches: str
    name: str
    items: str
    body: tuple[Node, ...]


# A text is one command as written; variables, quotes and redirections are handled when it runs.
Node = str | CmdPipe | CmdGroup | If | For

_BLANK = re.compile(r"(?:[^\S\r\n]|[,;=](?=\s)|\^\r?\n)+")
_LINES = re.compile(r"\s+")
# Blanks, line ends, separators, comments and labels.
_BETWEEN = re.compile(r"(?:\s+|@?(?:::|rem(?=[\s.,;=]|$))[^\r\n]*|:[^\r\n]*|[&|@;,=])*", re.IGNORECASE)
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
_AND = re.compile(r"[^\S\r\n]*(?:&&?|\|\|)[^\S\r\n]*(?=[^\s)])")
# One command, up to a separator outside quotes; outside parentheses, one that closes is a part of it.
_RAW = r'(?:[^"^&|()\r\n<>]+|\^(?:\r\n|.)?|"[^"\r\n]*"?|[<>]>?&?|[%s])*'
_INSIDE, _OUTSIDE = re.compile(_RAW % "(", re.DOTALL), re.compile(_RAW % "()", re.DOTALL)


class CmdCursor(Struct):
    source: str
    step: Callable[[], None]
    pos: int = 0
    depth: int = 0  # of parentheses
    bodies: int = 0  # of if and for without parentheses

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if found := pattern.match(self.source, self.pos):
            self.pos = found.end()
        return found

    def peek(self) -> str:
        return self.source[self.pos : self.pos + 1]

    def skip_quoted(self) -> None:
        if self.peek() == '"' and (end := self.source.find('"', self.pos + 1)) > 0:
            self.pos = end


def parse(source: str, step: Callable[[], None]) -> tuple[tuple[Node, ...], WindowsSyntaxError | None]:
    cursor = CmdCursor(source, step)
    nodes: list[Node] = []
    try:
        while cursor.pos < len(source):
            _sequence(cursor, nodes)
            cursor.match(_STRAY)  # cmd.exe takes everything behind one for a comment
    except WindowsSyntaxError as trouble:
        return tuple(nodes), trouble
    return tuple(nodes), None


def _sequence(cursor: CmdCursor, nodes: list[Node]) -> None:
    while cursor.match(_BETWEEN) and cursor.peek() not in ("", ")"):
        cursor.step()
        nodes.append(_pipe(cursor))


def _pipe(cursor: CmdCursor) -> Node:
    parts = [_command(cursor)]
    while True:
        cursor.match(_BLANK)
        if cursor.peek() != "|" or cursor.source.startswith("||", cursor.pos):
            return parts[0] if len(parts) == 1 else CmdPipe(tuple(parts))
        cursor.pos += 1
        cursor.match(_LINES)
        if cursor.peek() in ("", "&", "|", ")"):
            raise WindowsSyntaxError("a command is missing behind |")
        parts.append(_command(cursor))


def _command(cursor: CmdCursor) -> Node:
    cursor.step()
    while cursor.peek() == "@":
        cursor.pos += 1
        cursor.match(_BLANK)
    if cursor.peek() == "(":
        body = _parens(cursor)
        tail = cursor.match(_TAIL)
        return CmdGroup(body, tail[0].strip() if tail else "")
    if cursor.match(_IF):
        _condition(cursor)
        return If(_body(cursor), _body(cursor) if cursor.match(_ELSE) else ())
    if cursor.match(_FOR):
        return _for(cursor)
    raw = cursor.match(_INSIDE if cursor.depth else _OUTSIDE)
    return raw[0].strip() if raw else ""


def _parens(cursor: CmdCursor) -> tuple[Node, ...]:
    cursor.pos += 1
    cursor.depth += 1
    if cursor.depth > MAX_DEPTH:
        raise WindowsTooDeep
    nodes: list[Node] = []
    _sequence(cursor, nodes)
    if not cursor.peek():
        raise WindowsSyntaxError("')' is missing")
    cursor.pos += 1
    cursor.depth -= 1
    return tuple(nodes)


def _body(cursor: CmdCursor) -> tuple[Node, ...]:
    cursor.match(_BLANK)
    if cursor.peek() == "(":
        return (_command(cursor),)
    cursor.bodies += 1
    if cursor.bodies > MAX_DEPTH:
        raise WindowsTooDeep
    nodes = [_pipe(cursor)]
    while cursor.match(_AND):
        nodes.append(_pipe(cursor))
    cursor.bodies -= 1
    return tuple(nodes)


def _condition(cursor: CmdCursor) -> None:
    while (word := _next_word(cursor)) in ("/i", "not"):
        pass
    if word in ("exist", "errorlevel", "defined", "cmdextversion") or cursor.match(_COMPARISON):
        _next_word(cursor)
    elif not word:
        raise WindowsSyntaxError("an if without a condition")


def _next_word(cursor: CmdCursor) -> str:
    cursor.match(_BLANK)
    found = cursor.match(_WORD)
    return found[0].lower() if found else ""


def _for(cursor: CmdCursor) -> Node:
    start = cursor.pos
    while cursor.peek() not in ("", "%"):
        if cursor.peek() in "\r\n&|":
            raise WindowsSyntaxError("for without a variable")
        cursor.skip_quoted()
        cursor.pos += 1
    switches = cursor.source[start : cursor.pos].strip()
    variable = cursor.match(_VARIABLE)
    if not variable or not cursor.match(_IN):
        raise WindowsSyntaxError("for without in")
    items = _items(cursor)
    if not cursor.match(_DO):
        raise WindowsSyntaxError("for without do")
    return For(switches, variable[1], items, _body(cursor))


def _items(cursor: CmdCursor) -> str:
    start, depth = cursor.pos, 1
    while letter := cursor.peek():
        cursor.skip_quoted()
        depth += (letter == "(") - (letter == ")")
        cursor.pos += 1
        if not depth:
            return cursor.source[start : cursor.pos - 1].strip()
    raise WindowsSyntaxError("for without ')'")


# -- words

MAX_TEXT = 100_000

_PERCENT = re.compile(r"%(~[A-Za-z]*)?([0-9*])|%([^%\s:=\"&|<>]+)(:[^%\r\n]{0,200})?%|%%")
_BANG = re.compile(r"!([^!\s:=\"&|<>]+)(:[^!\r\n]{0,200})?!")
_LOOP = re.compile(r"(?:%%|%(?![A-Za-z0-9_]+%))(~[A-Za-z]*)?([A-Za-z?#])")
_CUT = re.compile(r":~(-?\d{1,6})(?:,(-?\d{1,6}))?$")
_REDIRECT = re.compile(r"([0-9]?)(>>|>|<)(&[0-9])?")
_TARGET = re.compile(r'\s*((?:"[^"]*"?|\^.|[^\s"^<>])+)')
_PIECE = re.compile(r'\^\r?(.)|"([^"]*)"?|.', re.DOTALL)  # escaped, quoted, or as it is


class CmdLine(Struct):
    words: list[str] = []
    quoted: list[bool] = []
    outputs: list[tuple[str, bool]] = []  # file, whether appended
    inputs: list[str] = []
    text: str = ""  # the words as written, redirections left out


def expand(raw: str, names: Mapping[str, str], loops: Mapping[str, str]) -> str:
    """An unknown variable is a hole."""
    text = _LOOP.sub(lambda found: _loop(found, loops), raw) if loops else raw
    if "%" in text:
        text = _PERCENT.sub(lambda found: _percent(found, names), text)
    if "!" in text and any(f"!{name}" in text.lower() for name in names):
        text = _BANG.sub(lambda found: _filled(names, found[1], found[2]), text)
    return text if len(text) <= MAX_TEXT else hole()


def _loop(found: re.Match[str], loops: Mapping[str, str]) -> str:
    value = loops.get(found[2])
    return found[0] if value is None else value.strip('"') if found[1] else value


def _percent(found: re.Match[str], names: Mapping[str, str]) -> str:
    if found[0] == "%%":
        return "%"
    if found[2] is not None:
        here = found[1] is not None and found[2] == "0" and "n" not in found[1]
        return ".\\" if here else hole(found[0][1:])
    return _filled(names, found[3], found[4])


def _filled(names: Mapping[str, str], name: str, change: str | None) -> str:
    value = names.get(name.lower(), _DYNAMIC.get(name.lower(), place(name)))
    return _changed(value, change) if change else value


_DYNAMIC = {"cd": ".", "__cd__": ".\\", "date": hole("DATE"), "time": hole("TIME"), "random": hole("RANDOM")}


def _changed(value: str, change: str) -> str:
    """`%NAME:~start,length%` and `%NAME:old=new%`."""
    if cut := _CUT.match(change):
        start = int(cut[1])
        rest = value[start:] if start >= 0 or -start <= len(value) else value
        return rest[: int(cut[2]) if cut[2] else None] if known(value) else hole()
    old, mark, new = change[1:].partition("=")
    if not mark or not old:
        return value
    if old.startswith("*"):
        at = value.lower().find(old[1:].lower())
        return value if at < 0 else new + value[at + len(old) - 1 :]
    return re.sub(re.escape(old), lambda _: new, value, flags=re.IGNORECASE)


def split(text: str, step: Callable[[], None]) -> CmdLine:
    line, kept, at = CmdLine(), list[str](), 0
    word: str | None = None
    quoted = False
    while at < len(text):
        if (found := _REDIRECT.match(text, at)) and (not found[1] or word is None):
            at = _redirect(line, text, found)
            continue
        piece = _PIECE.match(text, at)
        assert piece is not None
        at, plain = piece.end(), piece[2]
        if plain is not None:
            quoted = True
        elif piece[1] == "\n":
            continue
        elif piece[0].isspace():
            if word is not None:
                line.words.append(word)
                line.quoted.append(quoted)
                word, quoted = None, False
                step()
        else:
            plain = piece[1] or piece[0]
        kept.append(piece[1] or piece[0])
        word = word if plain is None else (word or "") + plain
    if word is not None:
        line.words.append(word)
        line.quoted.append(quoted)
    line.text = "".join(kept).strip()
    return line


def _redirect(line: CmdLine, text: str, found: re.Match[str]) -> int:
    target = None if found[3] else _TARGET.match(text, found.end())
    path = target[1].replace('"', "").replace("^", "") if target else ""
    nowhere = path.lower().rstrip(":") == "nul"
    if path and found[2] == "<":
        line.inputs.append("nul" if nowhere else path)
    elif path and not nowhere:
        line.outputs.append((path, found[2] == ">>"))
    return (target or found).end()
