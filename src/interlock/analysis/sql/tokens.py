"""Cuts SQL text into tokens as the server would, so that strings, comments and names hide nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from interlock.analysis.facts import HOLE
from interlock.analysis.packs import own_words

WORDS = own_words("analysis/sql/words.toml")  # by which statements are told


class SqlToken(Struct, frozen=True):
    kind: str  # word, name, string, number, var, hole, meta, punct
    text: str
    word: str  # its upper-case spelling when it can be a keyword
    mark: str  # its text when it is an operator or a bracket
    start: int
    end: int


_DIFFERS = re.compile(r"[\\#]|--\S|/\*")  # text that MySQL would cut in another way
_COMMENT = re.compile(r"/\*|\*/")
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}
PIECE = f"{HOLE}(?:[^{HOLE};'\"\\n]{{0,120}}{HOLE})?"  # a stray mark must not swallow the statement after it


def flavours(text: str, dialect: str) -> Sequence[str]:
    """Two ways to cut when the dialect is not known and it matters."""
    if dialect in WORDS.dialects:
        return (dialect,)
    return ("unknown", "perhaps_mysql") if _DIFFERS.search(text) else ("unknown",)


@cache
def _pattern(flavour: str) -> re.Pattern[str]:
    """Of the kinds that match, the first counts; the frequent ones come first."""
    escapes = flavour in WORDS.backslash
    skipped = [r"\s+", r"--(?!\S)[^\n]*" if flavour in WORDS.dash_needs_space else r"--[^\n]*"]
    if flavour in WORDS.hash_comment:
        skipped.append(r"#(?![^\s#!])[^\n]*" if flavour == "perhaps_mysql" else r"#[^\n]*")
    if flavour in WORDS.executable_comment:  # what it holds is left to be read
        skipped += [r"/\*[Mm]?!\d*", r"\*/"]
    kinds = [
        rf"(?P<word>[A-Za-z_][\w$]*+(?!['&{HOLE}]))",
        r"(?P<number>\d[\w.]*+|\.\d\w*)",
        r"(?P<punct>[(),;]|::)",
        f"(?P<skipped>{'|'.join(skipped)})",
        r"(?P<comment>/\*)",
        *([r"\\(?P<ends>;)", r"(?P<meta>\\(?:(?:!|copy)[^\n]*|(?:(?!\\\\)[^\n])*))(?:\\\\)?"] * (flavour in WORDS.backslash_meta)),
        _quoted("string", "(?:[nNbBxXrR]|[uU]&|_\\w{1,16})?'", "'", escapes),
        _quoted("escaped", "[eE]'", "'", True),
        _quoted("double", '"', '"', escapes),
        _quoted("name", "`", "`", False),
        *([r"(?P<dollar>(?P<tag>\$(?:[^\W\d]\w*)?\$)(?P<dollar_text>.*?)(?P<dollar_end>(?P=tag)|\Z))"] * (flavour in WORDS.dollar_quotes)),
        r"\[(?=(?P<bracketed>(?!\d+\])[^\[\]'\"\n]{1,128})\])",
        *([r"[nN]?[qQ]'(?P<oracle>\S)"] * (flavour in WORDS.oracle_quotes)),
        rf"(?P<spelled>(?:[^\W\d]|{PIECE})(?:[\w$]|{PIECE})*)",
        r"(?P<var>@@?[\w$#]+|\$\d+|:[^\W\d]\w*|#{1,2}\w+|\?)",
        r"(?P<operator>\|\||:=|\+=|<=>|<>|!=|>=|<=|=>|->>?|.)",
    ]  # fmt: skip
    return re.compile(rf"(?:{'|'.join(kinds)})\s*+", re.DOTALL)


def _quoted(kind: str, opens: str, quote: str, escapes: bool) -> str:
    """Two quotes in a text stand for one; its end may be missing."""
    inner = rf"[^{quote}\\]|\\.?|{quote}{quote}" if escapes else f"[^{quote}]|{quote}{quote}"
    return rf"(?P<{kind}>{opens}(?P<{kind}_text>(?:{inner})*+)(?P<{kind}_end>{quote}|\Z))"


@cache
def _client_line(flavour: str) -> re.Pattern[str]:
    """A line at the beginning of a statement, for the client program."""
    begins = [r"\.(?=[^\W\d_])"] * (flavour in WORDS.dot_meta) + ["(?!::)[!:@]"] * (flavour in WORDS.client_lines)
    return re.compile(rf"(?:{'|'.join(begins)})[^\n]*" if begins else r"(?!)")


class _Cutter(Struct):
    """Moves forward only, so that the work is linear."""

    text: str
    flavour: str
    at: int = 0
    tokens: list[SqlToken] = []
    whole: bool = True  # False once a string or a comment has no end
    fresh: bool = True  # nothing of a statement yet

    def add(self, kind: str, text: str, end: int) -> None:
        word, mark = text.upper() if kind == "word" else "", text if kind == "punct" else ""
        self.tokens.append(SqlToken(kind, text, word, mark, self.at, end))
        self.fresh = kind == "meta" or mark == ";"
        self.at = end

    def cut(self) -> None:
        pattern, client_line, text = _pattern(self.flavour), _client_line(self.flavour), self.text
        while self.at < len(text):
            if self.fresh and (line := client_line.match(text, self.at)) and self._begins_line():
                self.add("meta", line[0].strip(), line.end())
                continue
            found = pattern.match(text, self.at)
            assert found is not None and found.lastgroup is not None
            kind = found.lastgroup
            if kind in WORDS.plain_kinds:
                self.add(kind, found[kind], found.end(kind))
            elif kind != "skipped":
                self._add_other(kind, found)
            self.at = max(self.at, found.end())

    def _begins_line(self) -> bool:
        begin = max(0, self.at - 200)
        before = self.text.rfind("\n", begin, self.at)
        return (before >= 0 or not begin) and not self.text[before + 1 : self.at].strip()

    def _add_other(self, kind: str, found: re.Match[str]) -> None:
        text, end = found[kind], found.end(kind)
        if kind == "comment":
            self._skip_comment()
        elif kind == "meta":
            self.add("meta", text.strip(), end)
        elif kind == "bracketed":
            self.add(*(("punct", "[", self.at + 1) if self._is_subscript() else ("name", text, end + 1)))
        elif kind == "oracle":
            close = self.text.find(_CLOSERS.get(text, text) + "'", end)
            self.whole &= close >= 0
            close = close if close >= 0 else len(self.text)
            self.add("string", self.text[end:close], min(close + 2, len(self.text)))
        elif kind == "spelled":
            self.add("hole" if HOLE in text else "word", text, end)
        elif kind in ("operator", "ends"):
            self.add("punct", text, end)
        else:
            self._add_quoted(kind, found)

    def _add_quoted(self, kind: str, found: re.Match[str]) -> None:
        inner = found[f"{kind}_text"]
        self.whole &= bool(found[f"{kind}_end"])
        if kind != "dollar":
            quote = {"double": '"', "name": "`"}.get(kind, "'")
            escapes = kind == "escaped" or (kind != "name" and self.flavour in WORDS.backslash)
            pairs = rf"\\(.?)|({quote}){quote}" if escapes else f"()({quote}){quote}"
            inner = re.sub(pairs, r"\1\2", inner, flags=re.DOTALL) if quote in inner or escapes else inner
        names = kind == "name" or (kind == "double" and self.flavour not in WORDS.double_is_string)
        self.add("name" if names else "string", inner, found.end(kind))

    def _skip_comment(self) -> None:
        depth = 0
        for found in _COMMENT.finditer(self.text, self.at):
            if found[0] == "*/":
                depth -= 1
            elif self.flavour in WORDS.nested or not depth:
                depth += 1
            if depth <= 0:
                self.at = found.end()
                return
        self.whole, self.at = False, len(self.text)

    def _is_subscript(self) -> bool:
        last = self.tokens[-1] if self.tokens else None
        return (
            last is not None and last.end == self.at and (last.kind in ("word", "name", "string") or last.text in ")]")
        )


def cut(text: str, flavour: str) -> tuple[list[SqlToken], bool]:
    """The tokens of a text, and whether every string and comment in it has an end."""
    cutter = _Cutter(text, flavour)
    cutter.cut()
    return cutter.tokens, cutter.whole
