"""Cuts SQL text into tokens as the server would, so that strings, comments and names hide nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import HOLE
from interlock.analysis.packs import load_words


class SqlWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words that statements are told by; `words.toml` says what each list means."""

    queries: frozenset[str]
    reads: frozenset[str]
    writes: frozenset[str]
    alters: frozenset[str]
    kills: frozenset[str]
    steers: frozenset[str]
    acts: frozenset[str]
    undoable: frozenset[str]
    undoable_definitions: frozenset[str]
    definitions_roll_back: frozenset[str]
    rolls_back: frozenset[str]
    modes: frozenset[str]
    adjectives: frozenset[str]
    harmless_drops: frozenset[str]
    adds: frozenset[str]
    killers: frozenset[str]
    server_files: frozenset[str]
    functions_of_sql: frozenset[str]
    procedures_of_sql: frozenset[str]
    admin: frozenset[str]
    transparent: frozenset[str]
    verbs: frozenset[str]
    client_shell: frozenset[str]
    client_script: frozenset[str]
    client_pipes: frozenset[str]
    kinds: Mapping[str, str]
    parts: Mapping[str, str]
    function_drops: Mapping[str, str]
    procedure_drops: Mapping[str, str]
    procedures: Mapping[str, str]


@cache
def words() -> SqlWords:
    """The words of `words.toml`."""
    return load_words("analysis/sql/words.toml", SqlWords)


class SqlToken(NamedTuple):
    """One piece of SQL; `word` is its upper-case spelling when it can be a keyword, else empty."""

    kind: str  # word, name, string, number, var, hole, meta, punct
    text: str
    word: str
    start: int
    end: int


class Flavour(Struct, frozen=True):
    """What the dialects disagree about when they cut text into tokens."""

    backslash: bool = False  # a backslash escapes inside a string
    nested: bool = True  # comments nest
    hash_comment: bool = False
    dash_needs_space: bool = False
    double_is_string: bool = False
    executable_comment: bool = False  # /*! … */ runs
    dollar_quotes: bool = True
    backslash_meta: bool = False  # \d, \!, \i
    dot_meta: bool = False  # .read, .shell
    client_lines: bool = False  # !!cmd, :r file, @file
    oracle_quotes: bool = False  # q'[ … ]'
    unsure: bool = False


_ANSI = Flavour()
_MYSQL = Flavour(
    backslash=True, nested=False, hash_comment=True, dash_needs_space=True, double_is_string=True,
    executable_comment=True, dollar_quotes=False, backslash_meta=True,
)  # fmt: skip
_FLAVOURS = {
    "": replace(_ANSI, backslash_meta=True, dot_meta=True, unsure=True),
    "postgres": replace(_ANSI, backslash_meta=True),
    "mysql": _MYSQL,
    "sqlite": replace(_ANSI, nested=False, dollar_quotes=False, dot_meta=True),
    "duckdb": replace(_ANSI, dot_meta=True),
    "clickhouse": replace(_ANSI, backslash=True),
    "snowflake": replace(_ANSI, backslash=True, nested=False),
    "bigquery": replace(_ANSI, backslash=True, nested=False, hash_comment=True, double_is_string=True),
    "tsql": replace(_ANSI, dollar_quotes=False, client_lines=True),
    "oracle": replace(_ANSI, nested=False, dollar_quotes=False, client_lines=True, oracle_quotes=True),
}
_DIFFERS = re.compile(r"[\\#]|--\S|/\*")  # text that MySQL would cut in another way

_SPACE = re.compile(r"\s+")
_PIECE = f"{HOLE}(?:[^{HOLE};'\"\\n]{{0,120}}{HOLE})?"  # a stray mark must not swallow the statement after it
_WORD = re.compile(rf"(?:[^\W\d]|{_PIECE})(?:[\w$]|{_PIECE})*")
_NUMBER = re.compile(r"\d[\w.]*|\.\d[\w]*")
_VAR = re.compile(r"@@?[\w$#]+|\$\d+|:[^\W\d]\w*|#{1,2}\w+|\?")
_DOLLAR = re.compile(r"\$(?:[^\W\d]\w*)?\$")
_PREFIX = re.compile(r"(?:[eEnNbBxXrR]|[uU]&|_\w{1,16})(?=')")
_COMMENT = re.compile(r"/\*|\*/")
_VERSION = re.compile(r"[Mm]?!\d*")
_OPERATOR = re.compile(r"\|\||::|:=|\+=|<=>|<>|!=|>=|<=|=>|->>?|.", re.DOTALL)
_LINE_END = re.compile(r"\n|\Z")
_META_END = re.compile(r"\n|\\\\|\Z")
_BRACKETED = re.compile(r"\[(?!\d+\])[^\[\]'\"\n]{1,128}\]")
_ORACLE_QUOTE = re.compile(r"[nN]?[qQ]'(?=\S)")
# Most of any SQL: what reads the same in every flavour, wherever it stands.
_COMMON = re.compile(rf"([A-Za-z_][\w$]*+(?!['&{HOLE}]))|(\d[\w.]*+)|([(),;])|\s+")
_COMMON_KINDS = ("word", "number", "punct")
_CLOSERS = {"[": "]", "{": "}", "(": ")", "<": ">"}


def flavours(text: str, dialect: str) -> tuple[Flavour, ...]:
    """The ways in which this text may be cut; two when the dialect is not known and it matters."""
    first = _FLAVOURS.get(dialect, _FLAVOURS[""])
    if first.unsure and _DIFFERS.search(text):
        return first, replace(_MYSQL, unsure=True)
    return (first,)


class _Cutter:
    """Cuts one text; moves forward only, so that its work is linear."""

    def __init__(self, text: str, flavour: Flavour) -> None:
        self.text, self.flavour = text, flavour
        self.at = 0
        self.tokens: list[SqlToken] = []
        self.whole = True  # False once a string or a comment has no end
        self.fresh = True  # nothing of a statement yet

    def add(self, kind: str, text: str, end: int) -> None:
        word = text.upper() if kind == "word" else ""
        self.tokens.append(SqlToken(kind, text, word, self.at, end))
        self.fresh = kind == "meta" or (text == ";" and kind == "punct")
        self.at = end

    def until(self, mark: str, start: int) -> int:
        """Where `mark` begins, or the end of the text when it never comes."""
        found = self.text.find(mark, start)
        if found < 0:
            self.whole = False
            return len(self.text)
        return found

    def line_start(self) -> bool:
        begin = max(0, self.at - 200)
        before = self.text.rfind("\n", begin, self.at)
        return (before >= 0 or not begin) and not self.text[before + 1 : self.at].strip()

    def quoted(self, quote: str, start: int, kind: str, backslash: bool) -> None:
        """A string or a name that begins at `start`, just after its opening quote."""
        text, at, parts = self.text, start, []
        stop = re.compile(r"[\\" + quote + "]" if backslash else quote)
        while True:
            found = stop.search(text, at)
            if not found:
                self.whole = False
                parts.append(text[at:])
                self.add(kind, "".join(parts), len(text))
                return
            parts.append(text[at : found.start()])
            at = found.end()
            if found.group() == "\\":
                parts.append(text[at : at + 1])
                at += 1
            elif text.startswith(quote, at):
                parts.append(quote)
                at += 1
            else:
                self.add(kind, "".join(parts), at)
                return

    def comment(self) -> None:
        """Steps over `/* … */`; what a MySQL `/*! … */` holds is left to be read."""
        if self.flavour.executable_comment and (version := _VERSION.match(self.text, self.at + 2)):
            self.at = version.end()
            return
        depth, at = 0, self.at
        while found := _COMMENT.search(self.text, at):
            at = found.end()
            if found.group() == "*/":
                depth -= 1
            elif self.flavour.nested or not depth:
                depth += 1
            if depth <= 0:
                self.at = at
                return
        self.whole = False
        self.at = len(self.text)

    def skip(self) -> bool:
        """Steps over one space or comment; False when there is none here."""
        text, at = self.text, self.at
        if space := _SPACE.match(text, at):
            self.at = space.end()
            return True
        char = text[at]
        if char == "-" and text.startswith("--", at):
            if not self.flavour.dash_needs_space or not text[at + 2 : at + 3].strip():
                self.at = self.line_end(at)
                return True
        elif char == "/" and text.startswith("/*", at):
            self.comment()
            return True
        elif char == "#" and self.flavour.hash_comment:
            if not self.flavour.unsure or text[at + 1 : at + 2].strip() in ("", "#", "!"):
                self.at = self.line_end(at)
                return True
        elif char == "*" and self.flavour.executable_comment and text.startswith("*/", at):
            self.at = at + 2
            return True
        return False

    def line_end(self, start: int) -> int:
        found = _LINE_END.search(self.text, start)
        return found.start() if found else len(self.text)

    def meta(self) -> bool:
        """A command to the client program rather than to the server."""
        text, at, flavour = self.text, self.at, self.flavour
        char = text[at]
        if char == "\\" and flavour.backslash_meta:
            whole_line = text.startswith(("\\!", "\\copy"), at)
            found = (_LINE_END if whole_line else _META_END).search(text, at + 1)
            end = found.start() if found else len(text)
            if text.startswith("\\;", at):
                self.add("punct", ";", at + 2)
                return True
            self.add("meta", text[at:end].strip(), end)
            self.at = end + 2 if text.startswith("\\\\", end) else end
            return True
        dotted = char == "." and flavour.dot_meta and text[at + 1 : at + 2].isalpha()
        client = flavour.client_lines and char in "!:@" and not text.startswith("::", at)
        if (dotted or client) and self.fresh and self.line_start():
            end = self.line_end(at)
            self.add("meta", text[at:end].strip(), end)
            return True
        return False

    def string(self) -> bool:
        """A quoted piece of any kind."""
        text, at, flavour = self.text, self.at, self.flavour
        char = text[at]
        if char == "'":
            self.quoted("'", at + 1, "string", flavour.backslash)
        elif char == '"':
            self.quoted('"', at + 1, "string" if flavour.double_is_string else "name", flavour.backslash)
        elif char == "`":
            self.quoted("`", at + 1, "name", False)
        elif char == "$" and flavour.dollar_quotes and (tag := _DOLLAR.match(text, at)):
            end = self.until(tag.group(), tag.end())
            self.add("string", text[tag.end() : end], min(end + len(tag.group()), len(text)))
        elif char == "[" and not self.subscript() and (name := _BRACKETED.match(text, at)):
            self.add("name", name.group()[1:-1], name.end())
        elif flavour.oracle_quotes and (open_ := _ORACLE_QUOTE.match(text, at)):
            close = _CLOSERS.get(text[open_.end()], text[open_.end()]) + "'"
            end = self.until(close, open_.end() + 1)
            self.add("string", text[open_.end() + 1 : end], min(end + 2, len(text)))
        elif prefix := _PREFIX.match(text, at):
            self.quoted("'", prefix.end() + 1, "string", flavour.backslash or char in "eE")
        else:
            return False
        return True

    def subscript(self) -> bool:
        """True when a `[` here indexes an array rather than opening a name."""
        last = self.tokens[-1] if self.tokens else None
        if last is None or last.end != self.at:
            return False
        return last.kind in ("word", "name", "string") or last.text in ")]"

    def plain(self) -> None:
        """A word, a number, a variable or an operator."""
        text, at = self.text, self.at
        if word := _WORD.match(text, at):
            self.add("hole" if HOLE in word.group() else "word", word.group(), word.end())
        elif number := _NUMBER.match(text, at):
            self.add("number", number.group(), number.end())
        elif text.startswith("::", at):
            self.add("punct", "::", at + 2)
        elif text[at] in "@$:#?" and (var := _VAR.match(text, at)):
            self.add("var", var.group(), var.end())
        elif operator := _OPERATOR.match(text, at):
            self.add("punct", operator.group(), operator.end())


def cut(text: str, flavour: Flavour) -> tuple[list[SqlToken], bool]:
    """The tokens of a text, and whether every string and comment in it has an end."""
    cutter = _Cutter(text, flavour)
    while cutter.at < len(text):
        if common := _COMMON.match(text, cutter.at):
            if common.lastindex is None:
                cutter.at = common.end()
            else:
                cutter.add(_COMMON_KINDS[common.lastindex - 1], common[0], common.end())
        elif not (cutter.skip() or cutter.meta() or cutter.string()):
            cutter.plain()
    return cutter.tokens, cutter.whole
