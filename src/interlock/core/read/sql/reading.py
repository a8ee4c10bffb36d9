"""One batch that is being read: what every statement reader needs, and the names in a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from interlock.core.read.facts import Report
from interlock.core.read.sql.batch import Statement
from interlock.core.read.sql.text import Token
from interlock.core.read.sql.where import few, filters

_BEFORE_NAMES = frozenset({"IF", "EXISTS", "NOT", "ONLY", "TABLE", "CONCURRENTLY", "ONLINE"})
_AFTER_WHERE = ("RETURNING", "ORDER", "LIMIT", "OPTION", "WHEN", "ON", "LOG", "END", "FETCH")
_ROLLS_BACK = frozenset({
    "sql_drop", "sql_truncate", "sql_delete", "sql_update", "sql_grant", "sql_revoke", "sql_alter", "sql_write",
})  # fmt: skip
_NAMELIKE = frozenset({"word", "name", "hole", "var", "string"})


@dataclass(slots=True)
class Reading:
    """The state of reading one batch; effects go out through it, each only once."""

    out: Report
    text: str
    dialect: str
    again: Callable[[str, Reading, bool], None]  # reads SQL that a statement carries
    depth: int = 0
    traits: tuple[str, ...] = ()
    batch: Sequence[Statement] = ()
    temporary: set[str] = field(default_factory=set)
    bodies: dict[str, str] = field(default_factory=dict)  # routines defined in this batch
    told: set[tuple[str, ...]] = field(default_factory=set)
    undone: bool = False  # a ROLLBACK takes the present statement back

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if self.undone and verb in _ROLLS_BACK:
            verb, target, traits = "sql_read", "", ()
        fact = (verb, target, *traits, *self.traits)
        if fact not in self.told:
            self.told.add(fact)
            self.out.effect(verb, target, *traits, *self.traits)

    def unreadable(self, what: str, trait: str) -> None:
        if ("unreadable", what) not in self.told:
            self.told.add(("unreadable", what))
            self.out.unreadable(what, trait)

    def inner(self, sql: str, bulk: bool = False) -> None:
        """Reads SQL that a statement runs; `bulk` when its text names more than one object."""
        self.again(sql, self, bulk)

    def inside(self, item: Statement, index: int) -> Statement:
        """What stands in the parentheses at a place; paid for, because they can nest."""
        found = group(item, index)
        self.out.step(1 + len(found.tokens) // 32)
        return found

    def filtered(self, item: Statement, table: str, after: int = 0) -> bool:
        """True when a WHERE, a LIMIT or an inner join narrows what is hit."""
        where = item.top("WHERE", after=after)
        if where >= 0:
            end = item.top(*_AFTER_WHERE, after=where + 1)
            condition = item.tokens[where + 1 : end if end > 0 else None]
            self.out.step(1 + len(condition) // 8)  # a tree costs more than a scan
            if filters(condition, self.text, table, self.dialect):
                return True
        limit = item.top("LIMIT", after=after)
        if limit >= 0 and few(_at(item, limit + 1)):
            return True
        return where < 0 and _inner_join(item)


def _at(item: Statement, index: int) -> Token | None:
    return item.tokens[index] if index < len(item.tokens) else None


def _inner_join(item: Statement) -> bool:
    join = item.top("JOIN")
    before = {item.word(join - 1), item.word(join - 2)}
    return join > 0 and not before & {"LEFT", "RIGHT", "FULL", "CROSS"} and item.top("ON", "USING", after=join) > 0


def name_at(item: Statement, index: int) -> tuple[str, int]:
    """The possibly qualified name at a place, as written but without quotes, and where it ends."""
    while item.word(index) in _BEFORE_NAMES:
        index += 1
    parts: list[str] = []
    while index < len(item.tokens) and item.tokens[index].kind in _NAMELIKE:
        parts.append(item.tokens[index].text)
        index += 1
        while index < len(item.tokens) and item.tokens[index].text == "." and item.tokens[index].kind == "punct":
            index += 1
            if index < len(item.tokens) and item.tokens[index].text == ".":
                parts.append("")  # db..table
        if item.tokens[index - 1].text != ".":
            break
    return ".".join(parts), index


def names_at(item: Statement, index: int) -> list[str]:
    """A list of names with commas between them; what stands in parentheses after a name is skipped."""
    names: list[str] = []
    while index < len(item.tokens):
        name, index = name_at(item, index)
        if not name:
            break
        names.append(name)
        while index < len(item.tokens) and not (item.depths[index] == 0 and item.tokens[index].text == ","):
            index += 1
        index += 1
    return names


def calls(item: Statement) -> Iterator[tuple[str, int]]:
    """Every function called in a statement: its name in lower case, and the place of its parenthesis."""
    for index in range(len(item.tokens) - 1):
        token, following = item.tokens[index], item.tokens[index + 1]
        if token.kind in ("word", "name") and following.kind == "punct" and following.text == "(":
            yield token.text.lower(), index + 1


def group(item: Statement, index: int) -> Statement:
    """What stands between the parenthesis at a place and its partner."""
    end = index + 1
    while end < len(item.tokens) and item.depths[end] > item.depths[index]:
        end += 1
    return item.part(index + 1, end)
