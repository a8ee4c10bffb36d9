"""The scanner that the small languages share, and the texts of all: escapes, code inside them, brackets and their mates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPENERS = {")": "(", "]": "[", "}": "{"}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "e": "\x1b", "f": "\f", "v": "\v", "b": "\b"}
ESCAPE = re.compile(
    r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{1,2})|u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|([0-7]{1,3})|(\n)|(.?))",
    re.S,
)
SPACE = re.compile(r"[ \t\r\f\v]+")  # that does not end a line

Kind = Literal["name", "var", "text", "words", "glob", "ticks", "regex", "code", "number", "op", "end"]


class Unparsed(Exception):
    """The text is not a program of its language, or more than is read."""

    def __init__(self, problem: str = "that does not parse", trait: str = "syntax") -> None:
        super().__init__(problem)
        self.trait = trait


class TooDeep(Unparsed):
    def __init__(self) -> None:
        super().__init__("nested too deeply", "nesting")


class Splice(Struct, frozen=True):
    code: str


Part = str | Splice
Splicer = Callable[[str, int], tuple[Part, int] | None]  # the code that begins at an offset of a text, and its end


class CodeToken(Struct, frozen=True):
    """The parts of a text are its pieces and the code between them."""

    kind: Kind
    text: str
    parts: tuple[Part, ...] = ()
    spaced: bool = False

    def is_op(self, *texts: str) -> bool:
        return self.kind == "op" and self.text in texts

    def ends_value(self, words: frozenset[str]) -> bool:
        """`words` are those that an operand follows."""
        if self.kind in ("op", "end"):
            return self.text in _OPENERS and self.text not in words
        return self.kind != "name" or self.text not in words


NOTHING = CodeToken("end", "")
SEPARATORS = frozenset({",", ";", "=>", ":"})  # between statements and items


class Scanner(Struct):
    source: str
    at: int = 0
    tokens: list[CodeToken] = []
    opened: list[int] = []  # the places of the brackets around this one
    mates: dict[int, int] = {}  # which bracket closes which
    spaced: bool = False
    resume: int = 0  # where the next line begins, if not behind this one

    @property
    def more(self) -> bool:
        return self.at < len(self.source)

    @property
    def last(self) -> CodeToken:
        return self.tokens[-1] if self.tokens else NOTHING

    def peek(self) -> str:
        return self.source[self.at : self.at + 1]

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.source, self.at)
        if found:
            self.at = found.end()
        return found

    def emit(self, kind: Kind, text: str, parts: Iterable[Part] = ()) -> None:
        if kind == "op" and text in "([{":
            self.opened.append(len(self.tokens))
        elif kind == "op" and text in _OPENERS:
            if self.around != _OPENERS[text]:
                raise Unparsed
            self.mates[self.opened.pop()] = len(self.tokens)
        self.tokens.append(CodeToken(kind, text, tuple(parts), self.spaced))
        self.spaced = False

    @property
    def around(self) -> str:
        return self.tokens[self.opened[-1]].text if self.opened else ""

    def up_to(self, text: str) -> str:
        start, end = self.at, self.source.find(text, self.at)
        if end < 0:
            raise Unparsed
        self.at = end + len(text)
        return self.source[start:end]

    def pattern(self) -> str:
        """Up to a delimiter that is neither escaped nor in square brackets."""
        mark = re.escape(self.peek())
        ends = re.compile(rf"{mark}((?>\\.|\[\^?\]?[^\]\n]{{0,200}}\]|[^\\\n{mark}])*){mark}", re.DOTALL)
        if not self.more or not (found := self.take(ends)):
            raise Unparsed
        return found[1]

    def delimited(self, nested: str = "") -> str:
        """Up to the mate of the delimiter here; `nested` opens code that may hold it."""
        start, opener = self.at, self.peek()
        self.at = balanced(self.source, start, opener, CLOSERS.get(opener, opener), "", nested)
        return self.source[start + 1 : self.at - 1]


@cache
def _any_of(signs: str) -> re.Pattern[str]:
    return re.compile(rf"\\.|[{re.escape(signs)}]", re.DOTALL)


def balanced(
    source: str, at: int, openers: str = "([{", closers: str = ")]}", quotes: str = "\"'`", nested: str = ""
) -> int:
    """The offset after the bracket that closes the one at `at`; steps over quoted text and nested code."""
    depth, quote = 0, ""
    signs = _any_of(openers + closers + quotes + nested) if openers else None
    while signs and (found := signs.search(source, at)):
        sign, at = found[0], found.end()
        if quote:
            quote = "" if sign == quote else quote
        elif sign in quotes:
            quote = sign
        elif nested and source.startswith(nested, found.start()):
            at = balanced(source, at)
        elif depth and sign in closers:
            depth -= 1
            if not depth:
                return at
        elif sign in openers:
            depth += 1
    raise Unparsed


def unescape(found: re.Match[str]) -> str:
    for digits, base in zip(found.groups(), (16, 16, 16, 16, 8), strict=False):
        if digits:
            return character(int(digits, base))
    return "" if found[6] else CONTROLS.get(found[7], found[7])


def character(number: int) -> str:
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


def literal(raw: str, delimiter: str = "'") -> str:
    """Only the backslash and the delimiter can be escaped."""
    kept = re.escape(f"\\{delimiter}{CLOSERS.get(delimiter, '')}")
    return re.sub(rf"\\([{kept}])", r"\1", raw)


def unescaped(raw: str) -> str:
    return ESCAPE.sub(unescape, raw) if "\\" in raw else raw


def function_of(module: str, key: str, name: str) -> Any:
    """Of a language's module, perhaps with the language before its name."""
    own = vars(import_module(f"interlock.analysis.code.{module}"))
    return own.get(f"_{key}_{name}") or own.get(f"_{name}") or own.get(name)


# How the texts of a language are read, by what their quotes allow.
READS: Mapping[str, Callable[[str], str]] = {
    "raw": str,
    "plain": literal,
    "doubled": lambda raw: raw.replace('""', '"'),
    "doubled_single": lambda raw: raw.replace("''", "'"),
    "escapes": unescaped,
    "decimal": lambda raw: unescaped(re.sub(r"\\([0-9]{1,3})", lambda found: character(int(found[1])), raw)),
    "letters": lambda raw: unescaped(re.sub(r"(?<!\\)((?:\\\\)*)\\([ae])", r"\1\2", raw)),  # are themselves
}


def template(raw: str, splice: Splicer | None = None) -> tuple[Part, ...]:
    parts: list[Part] = []
    plain: list[str] = []
    at = 0
    while at < len(raw):
        escape = ESCAPE.match(raw, at) if raw[at] == "\\" else None
        found = splice(raw, at) if splice and raw[at] in "$@#{" else None
        if found is None:
            plain.append(unescape(escape) if escape else raw[at])
            at = escape.end() if escape else at + 1
            continue
        part, at = found
        parts += ["".join(plain)] * bool(plain)
        plain = []
        parts.append(part)
    return (*parts, "".join(plain)) if plain or not parts else tuple(parts)
