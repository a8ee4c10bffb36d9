"""Splits SQL tokens into statements, finds those that a ROLLBACK undoes and conditions that filter nothing; the state of one batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import HOLE, Report
from interlock.analysis.sql.tokens import PIECE, WORDS, SqlToken

_DEEPEST_BATCH = 5


class SqlStatement(Struct, frozen=True):
    """Its tokens, with the depth of parentheses that each stands at."""

    tokens: tuple[SqlToken, ...]
    depths: tuple[int, ...]

    @property
    def head(self) -> str:
        return self.tokens[0].word if self.tokens else ""

    def word(self, index: int) -> str:
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""

    def text(self, index: int) -> str:
        return self.tokens[index].text if index < len(self.tokens) else ""

    def top(self, *words: str, after: int = 0) -> int:
        """The first place at the outer level where one of these words stands, or -1."""
        for index in range(after, len(self.tokens)):
            if self.depths[index] == 0 and self.tokens[index].word in words:
                return index
        return -1

    def part(self, start: int, end: int | None = None) -> SqlStatement:
        """A piece as a statement; one that begins at the outer level has been counted."""
        tokens, depths = self.tokens[start:end], self.depths[start:end]
        return SqlStatement(tokens, depths) if depths[:1] == (0,) else statement(tokens)

    def words(self) -> frozenset[str]:
        return frozenset(token.word for token in self.tokens)

    def up_to(self, *words: str, start: int) -> SqlStatement:
        end = self.top(*words, after=start)
        return self.part(start, end if end > 0 else None)

    def pieces(self) -> list[SqlStatement]:
        commas = [at for at, token in enumerate(self.tokens) if token.mark == "," and not self.depths[at]]
        return [self.part(start + 1, end) for start, end in zip([-1, *commas], [*commas, None], strict=True)]

    def group(self, index: int) -> SqlStatement:
        end = index + 1
        while end < len(self.tokens) and self.depths[end] > self.depths[index]:
            end += 1
        return self.part(index + 1, end)

    def name_at(self, index: int) -> tuple[str, int]:
        """The possibly qualified name, without quotes, and where it ends."""
        while self.word(index) in WORDS.before_names:
            index += 1
        parts: list[str] = []
        while index < len(self.tokens) and self.tokens[index].kind in WORDS.name_kinds:
            parts.append(self.tokens[index].text)
            index += 1
            while index < len(self.tokens) and self.tokens[index].mark == ".":
                index += 1
                if self.text(index) == ".":
                    parts.append("")  # db..table
            if self.tokens[index - 1].text != ".":
                break
        return ".".join(parts), index

    def name(self, index: int) -> str:
        return self.name_at(index)[0]

    def names(self, index: int) -> list[str]:
        """Those of a list; what stands in parentheses after a name is skipped."""
        return list(takewhile(bool, (piece.name(0) for piece in self.part(index).pieces())))


def strings(tokens: Iterable[SqlToken]) -> list[str]:
    return [token.text for token in tokens if token.kind == "string"]


def statement(tokens: Sequence[SqlToken]) -> SqlStatement:
    """Counts the parentheses; one that never opened does not go below the outer level."""
    depths, depth = [], 0
    for token in tokens:
        if token.mark == ")":
            depth = max(0, depth - 1)
        depths.append(depth)
        depth += token.mark == "("
    return SqlStatement(tuple(tokens), tuple(depths))


class _Splitter(Struct):
    """Closes a statement where the server or the client would."""

    dialect: str
    done: list[SqlStatement] = []
    open: list[SqlToken] = []
    routine: bool = False  # inside CREATE TRIGGER/PROCEDURE/…, whose body is not run now
    blocks: int = 0
    cases: int = 0

    def close(self) -> None:
        if self.open:
            self.done.append(statement(self.open))
        self.open, self.routine, self.blocks, self.cases = [], False, 0, 0

    def count(self, token: SqlToken, following: str) -> None:
        """Follows BEGIN … END inside the definition of a routine."""
        word = token.word
        if not self.routine:
            self.routine = word in WORDS.routines and self.open[0].word in ("CREATE", "ALTER") and len(self.open) <= 8
        elif word == "CASE" and self.open[-2].word != "END":
            self.cases += 1
        elif word == "BEGIN" and following not in ("TRAN", "TRANSACTION"):
            self.blocks += 1
        elif word == "END" and following not in WORDS.ends_of:
            if self.cases:
                self.cases -= 1
            else:
                self.blocks = max(0, self.blocks - 1)

    def take(self, token: SqlToken, following: str, alone: bool) -> None:
        if token.kind == "meta":
            if not self.routine or token.text.startswith("\\"):
                self.close()
                self.done.append(statement([token]))
        elif alone or (token.mark == ";" and not (self.routine and (self.blocks or self.dialect == "tsql"))):
            self.close()
        else:
            self.open.append(token)
            if token.word:
                self.count(token, following)


def split(tokens: Sequence[SqlToken], text: str, dialect: str) -> list[SqlStatement]:
    """Every statement of a batch, also where T-SQL lets the semicolon go."""
    splitter = _Splitter(dialect)
    mark, skip_to = "", 0  # what DELIMITER set, for the mysql client
    for index, token in enumerate(tokens):
        if token.start < skip_to:
            continue
        if token.word == "DELIMITER" and dialect in ("", "mysql"):
            splitter.close()
            line = text[token.end : token.end + 64].split("\n", 1)[0]
            mark, skip_to = line.strip().strip(";"), token.end + len(line)
        elif mark and text.startswith(mark, token.start):
            splitter.close()
            skip_to = token.start + len(mark)
        else:
            following = tokens[index + 1].word if index + 1 < len(tokens) else ""
            splitter.take(token, following, token.word == "GO" and _alone(tokens, index, text))
    splitter.close()
    if dialect not in ("", "tsql"):
        return splitter.done
    return [piece for whole in splitter.done for piece in _run_together(whole)]


def _alone(tokens: Sequence[SqlToken], index: int, text: str) -> bool:
    token = tokens[index]
    before = index == 0 or "\n" in text[tokens[index - 1].end : token.start]
    after = index + 1 == len(tokens) or "\n" in text[token.end : tokens[index + 1].start]
    return before and after


def _run_together(whole: SqlStatement) -> list[SqlStatement]:
    """`SELECT 1 DROP TABLE x` is two statements where semicolons are optional."""
    if whole.head in WORDS.nesting or not whole.head:
        return [whole]
    cuts = [0]
    first_main = whole.head == "WITH"  # the first verb after a CTE list belongs to it
    for index in range(1, len(whole.tokens)):
        if whole.depths[index] == 0 and _begins(whole, index):
            if not first_main:
                cuts.append(index)
            first_main = False
    return [whole.part(start, end) for start, end in zip(cuts, [*cuts[1:], None], strict=True)]


def _begins(whole: SqlStatement, index: int) -> bool:
    word, following, before = whole.word(index), whole.word(index + 1), whole.word(index - 1)
    if before in WORDS.no_statement_after:
        return False
    if word == "DROP":
        return following in WORDS.dropped
    if (word, following) in (("TRUNCATE", "TABLE"), ("DELETE", "FROM")):
        return True
    if word in ("EXEC", "EXECUTE"):
        return whole.head not in ("INSERT", "EXEC", "EXECUTE", "DO")
    return word == "UPDATE" and whole.word(index + 2) == "SET" and following != "SET"


def undone_statements(statements: Sequence[SqlStatement], dialect: str) -> frozenset[int]:
    """The places of those that a ROLLBACK in the same batch surely takes back."""
    result: set[int] = set()
    begun, sure = -1, False
    for index, item in enumerate(statements):
        if _opens(item):
            begun, sure = index, begun < 0
        elif item.head in ("ROLLBACK", "ABORT") and begun >= 0:
            if item.word(1) == "TO" or item.top("SAVEPOINT") >= 0:
                continue
            if sure:
                result.update(range(begun + 1, index))
            begun = -1
        elif begun >= 0 and not _undoable(item, dialect):
            sure = False
    return frozenset(result)


def _opens(item: SqlStatement) -> bool:
    if item.head == "START":
        return item.word(1) == "TRANSACTION"
    return item.head == "BEGIN" and (not item.word(1) or item.word(1) in WORDS.modes)


def _undoable(item: SqlStatement, dialect: str) -> bool:
    """Whether it can stand in a transaction without ending it or reaching out of it."""
    if not item.head:
        return item.tokens[0].kind == "meta" and not item.tokens[0].text.startswith(
            ("\\c", "\\i", "\\!", "\\g", "\\e", ".")
        )
    if item.head in WORDS.undoable:
        return True
    if item.head == "SET":
        return item.word(1) != "AUTOCOMMIT"
    undone = item.head in WORDS.undoable_definitions and dialect in WORDS.definitions_roll_back
    return undone and item.word(1) not in WORDS.not_undone


class SqlBatch(Struct):
    """Each effect goes out only once."""

    out: Report
    text: str
    dialect: str
    read: Callable[[SqlBatch], None]  # a batch that a statement carries
    depth: int = 0
    traits: tuple[str, ...] = ()
    statements: Sequence[SqlStatement] = ()
    temporary: set[str] = set()
    bodies: dict[str, str] = {}  # routines defined in this batch
    told: set[tuple[str, ...]] = set()
    undone: bool = False  # a ROLLBACK takes the present statement back

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if self.undone and verb in WORDS.rolls_back:
            verb, target, traits = "sql_read", "", ()
        fact = (verb, target, *traits, *self.traits)
        if fact not in self.told:
            self.told.add(fact)
            self.out.effect(verb, target, *traits, *self.traits)

    def is_temporary(self, name: str) -> bool:
        return name.lower() in self.temporary or name.startswith("#")

    def unreadable(self, what: str, trait: str) -> None:
        if ("unreadable", what) not in self.told:
            self.told.add(("unreadable", what))
            self.out.unreadable(what, trait)

    def inner(self, sql: str, bulk: bool = False) -> None:
        """Reads SQL that a statement runs; `bulk` when its text names more than one object."""
        if self.depth >= _DEEPEST_BATCH:
            self.unreadable("SQL nested too deep", "nesting")
        else:
            self.read(replace(self, text=sql, depth=self.depth + 1, traits=("bulk",) if bulk else self.traits))

    def inside(self, item: SqlStatement, index: int) -> SqlStatement:
        """What stands in the parentheses at a place; paid for, because they can nest."""
        found = item.group(index)
        self.out.step(1 + len(found.tokens) // 32)
        return found

    def filtered(self, item: SqlStatement, table: str, after: int = 0) -> bool:
        where = item.top("WHERE", after=after)
        if where >= 0:
            condition = item.up_to(*WORDS.after_where, start=where + 1)
            self.out.step(1 + len(condition.tokens) // 8)  # a tree costs more than a scan
            if filters(condition, self.text, table, self.dialect):
                return True
        limit = item.top("LIMIT", after=after)
        if limit >= 0 and any(map(few, item.tokens[limit + 1 : limit + 2])):
            return True
        join = item.top("JOIN")
        inner = {"LEFT", "RIGHT", "FULL", "CROSS"}.isdisjoint((item.word(join - 1), item.word(join - 2)))
        return where < 0 < join and inner and item.top("ON", "USING", after=join) > 0


# -- whether a WHERE clause holds for every row, so that it filters nothing

_LONGEST = 20_000  # characters of one condition that are given to a parser
_DEEPEST = 60
_ROWS_THAT_ARE_FEW = 10_000


def filters(condition: SqlStatement, text: str, table: str, dialect: str) -> bool:
    """False when a condition lets every row through, or has no words at all."""
    tokens = condition.tokens
    if not tokens:
        return False
    if condition.head == "CURRENT" or _PLAIN.fullmatch("".join(map(_letter, tokens))):
        return True
    source = text[tokens[0].start : tokens[-1].end]
    if len(source) > _LONGEST:
        return _has_column(tokens)
    signs = sum(token.word == "NOT" or token.text in ("-", "~", "+") for token in tokens)
    if max(*condition.depths, signs // 4) > _DEEPEST:
        return False
    from interlock.analysis.sql.tautology import UnreadCondition, always_true  # sqlglot: 160 modules

    try:
        return not always_true(re.sub(PIECE, "hole_", source) if HOLE in source else source, table, dialect)
    except UnreadCondition:  # no tree, and so by its words
        return _has_column(tokens)


# `column = literal`, joined by AND: a filter without a doubt, and no need of a tree.
_PLAIN = re.compile(r"n(?:\.[nc])*=v(?:&n(?:\.[nc])*=v)*")


def _letter(token: SqlToken) -> str:
    if token.kind in ("word", "name"):
        return "&" if token.word == "AND" else "c" if token.word in WORDS.no_column else "n"
    return "v" if token.kind in WORDS.value_kinds else token.mark if token.mark in ("=", ".") else "?"


def _has_column(condition: Sequence[SqlToken]) -> bool:
    """Whether a word could be a column that makes rows differ, and no OR can undo it."""
    spelled = {token.word for token in condition if token.kind == "word"}
    names = any(token.kind == "name" for token in condition)
    return "OR" not in spelled and (names or bool(spelled - WORDS.no_column - {"AND", "IS", "LIKE", "IN"}))


def few(limit: SqlToken) -> bool:
    return limit.kind == "number" and limit.text.isdecimal() and int(limit.text[:9]) <= _ROWS_THAT_ARE_FEW
