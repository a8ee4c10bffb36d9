"""The scanner that the small languages share: strings, comments, here-documents and code told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

from msgspec import Struct

CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPENERS = {")": "(", "]": "[", "}": "{"}
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b", "f": "\f", "v": "\v", "b": "\b"}
_HEX = re.compile(r"x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{1,2})|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})")
_OCTAL = re.compile(r"[0-7]{1,3}")
_DECIMAL = re.compile(r"[0-9]{1,3}")
_SPACE = re.compile(r"[ \t\r\f\v]+")

Kind = Literal["name", "var", "text", "words", "glob", "ticks", "regex", "code", "number", "op", "end"]


class Unparsed(Exception):
    """The text is not a program of its language, or more than is read."""

    def __init__(self, problem: str = "that does not parse", trait: str = "syntax") -> None:
        super().__init__(problem)
        self.trait = trait


class Splice(Struct, frozen=True):
    """Code inside a string, to be put in its place when the string is made."""

    code: str


Part = str | Splice


class CodeToken(Struct, frozen=True):
    """One word of a program; the parts of a text are its pieces and the code between them."""

    kind: Kind
    text: str
    parts: tuple[Part, ...] = ()
    spaced: bool = False

    def ends_value(self, words: frozenset[str]) -> bool:
        """True when an operator is expected after this token; `words` are the names that an operand follows."""
        if self.kind == "name":
            return self.text not in words
        return self.kind not in ("op", "end") or self.text in (")", "]", "}")


NOTHING = CodeToken("end", "")
SEPARATORS = frozenset({",", ";", "=>", ":"})  # between statements and items


@cache
def _first_of(known: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join([*map(re.escape, known), "."]), re.DOTALL)


class Scanner:
    """A position in source text, and the tokens that were seen before it."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.tokens: list[CodeToken] = []
        self.spaced = False

    @property
    def more(self) -> bool:
        return self.at < len(self.source)

    @property
    def last(self) -> CodeToken:
        return self.tokens[-1] if self.tokens else NOTHING

    def peek(self, ahead: int = 0) -> str:
        return self.source[self.at + ahead : self.at + ahead + 1]

    def starts(self, text: str) -> bool:
        return self.source.startswith(text, self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match here, stepped over."""
        found = pattern.match(self.source, self.at)
        if found:
            self.at = found.end()
        return found

    def emit(self, kind: Kind, text: str, parts: Iterable[Part] = ()) -> None:
        self.tokens.append(CodeToken(kind, text, tuple(parts), self.spaced))
        self.spaced = False

    def skip_space(self) -> bool:
        """Step over blanks that do not end a line."""
        if self.take(_SPACE):
            self.spaced = True
            return True
        return False

    def skip_line(self) -> None:
        """Step to the end of this line, not over it."""
        end = self.source.find("\n", self.at)
        self.at = len(self.source) if end < 0 else end

    def skip_past(self, text: str) -> None:
        """Step over everything up to the end of `text`, or refuse."""
        end = self.source.find(text, self.at)
        if end < 0:
            raise Unparsed(f"no {text!r}")
        self.at = end + len(text)

    def skip_block(self, opening: re.Pattern[str], closing: str) -> None:
        """Step over a block of documentation, if one opens here, to the end of the line that `closing` begins."""
        if opening.match(self.source, self.at):
            end = self.source.find(f"\n{closing}", self.at)
            self.at = len(self.source) if end < 0 else end + 1 + len(closing)
            self.skip_line()

    def operator(self, known: tuple[str, ...]) -> None:
        """Take the first of the known operators that stands here, or one character."""
        found = self.take(_first_of(known))
        self.emit("op", found.group() if found else "")

    def delimited(self, nested_code: str = "") -> str:
        """The raw text between the delimiter here and its mate; `nested_code` opens code that may hold it."""
        opener = self.peek()
        closer = CLOSERS.get(opener, opener)
        self.at += 1
        start, depth = self.at, 1
        while self.more:
            char = self.peek()
            if char == "\\":
                self.at += 2
                continue
            if nested_code and self.starts(nested_code):
                self.at = balanced(self.source, self.at + nested_code.index("{"))
                continue
            if char == closer:
                depth -= 1
                if not depth:
                    self.at += 1
                    return self.source[start : self.at - 1]
            elif char == opener:
                depth += 1
            self.at += 1
        raise Unparsed(f"no closing {closer!r}")


def balanced(source: str, at: int) -> int:
    """The offset after the bracket that closes the one at `at`; quoted text inside is stepped over."""
    depth, quote = 0, ""
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    raise Unparsed("no closing bracket")


def unescape(text: str, at: int, octal: bool = True) -> tuple[str, int]:
    """The character that the escape at `at` (a backslash) stands for, and where to go on."""
    nxt = text[at + 1 : at + 2]
    found = _HEX.match(text, at + 1)
    if found:
        return _character(int(next(group for group in found.groups() if group), 16)), found.end()
    digits = (_OCTAL if octal else _DECIMAL).match(text, at + 1)
    if digits:
        return _character(int(digits.group(), 8 if octal else 10)), digits.end()
    if nxt == "\n":
        return "", at + 2
    return _SIMPLE.get(nxt, nxt), at + 2


def _character(number: int) -> str:
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def literal(raw: str, delimiter: str = "'") -> str:
    """A text without interpolation: only the backslash and the delimiter can be escaped."""
    keep = {"\\", delimiter, CLOSERS.get(delimiter, delimiter)}
    out: list[str] = []
    at = 0
    while at < len(raw):
        if raw[at] == "\\" and raw[at + 1 : at + 2] in keep and at + 1 < len(raw):
            at += 1
        out.append(raw[at])
        at += 1
    return "".join(out)


def template(
    raw: str,
    splice: Callable[[str, int], tuple[Part, int] | None],
    escape: Callable[[str, int], tuple[str, int]] = unescape,
) -> tuple[Part, ...]:
    """The pieces of a text with escapes and code in it; `splice` answers for code that begins at an offset."""
    parts: list[Part] = []
    plain: list[str] = []
    at = 0
    while at < len(raw):
        if raw[at] == "\\":
            char, at = escape(raw, at)
            plain.append(char)
            continue
        found = splice(raw, at) if raw[at] in "$@#{" else None
        if found is None:
            plain.append(raw[at])
            at += 1
            continue
        part, at = found
        if plain:
            parts.append("".join(plain))
            plain = []
        parts.append(part)
    if plain:
        parts.append("".join(plain))
    return tuple(parts)


def no_splice(_raw: str, _at: int) -> None:
    """For languages whose strings hold no code."""
    return


def mates(tokens: list[CodeToken]) -> dict[int, int]:
    """Which bracket closes which; a program with a stray or missing bracket is refused."""
    found: dict[int, int] = {}
    open_at: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in ("(", "[", "{"):
            open_at.append(index)
        elif token.text in _OPENERS:
            if not open_at or tokens[open_at[-1]].text != _OPENERS[token.text]:
                raise Unparsed(f"stray {token.text!r}")
            found[open_at.pop()] = index
    if open_at:
        raise Unparsed("a bracket is not closed")
    return found


class Heredocs:
    """The here-documents that a line announces; their text begins on the next one."""

    def __init__(self, scanner: Scanner, splice: Callable[[str, int], tuple[Part, int] | None]) -> None:
        self.scanner = scanner
        self.splice = splice
        self.waiting: list[tuple[int, re.Match[str]]] = []

    def announce(self, found: re.Match[str]) -> None:
        """Leave a place for a text; the first group says that it is indented, the others hold its mark."""
        self.waiting.append((len(self.scanner.tokens), found))
        self.scanner.emit("text", "")

    def fill(self) -> None:
        """Take the texts that begin here; a mark in the group `plain` keeps code out, one in `ticks` makes a command."""
        scanner = self.scanner
        for index, found in self.waiting:
            quotes = found.groupdict()
            mark = next(group for group in found.groups()[1:] if group is not None)
            body, scanner.at = heredoc_body(scanner.source, scanner.at, mark, bool(found[1]))
            parts = (body,) if quotes["plain"] is not None else template(body, self.splice)
            scanner.tokens[index] = CodeToken("text" if quotes.get("ticks") is None else "ticks", body, parts, True)
        self.waiting.clear()

    def finish(self) -> None:
        """Refuse a program that ends before its here-documents."""
        if self.waiting:
            raise Unparsed("no here-document")


def heredoc_body(source: str, at: int, mark: str, indented: bool) -> tuple[str, int]:
    """The lines from `at` up to the mark, and the offset after the mark."""
    lines: list[str] = []
    while at < len(source):
        end = source.find("\n", at)
        end = len(source) if end < 0 else end
        line = source[at:end]
        stripped = line.strip() if indented else line.rstrip("\r")
        if stripped.rstrip(";") == mark:
            return _dedent(lines) if indented else "".join(lines), at + len(line) - len(line.lstrip()) + len(mark)
        lines.append(line + "\n")
        at = end + 1
    raise Unparsed(f"no end of here-document {mark!r}")


def _dedent(lines: list[str]) -> str:
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "".join(line[margin:] if line.strip() else line for line in lines)
