"""SQL text -> the effects of each of its statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from interlock.analysis.facts import Report
from interlock.analysis.sql.batch import SqlBatch, SqlStatement, name_at, split, undone_statements
from interlock.analysis.sql.dynamic import CLIENT_WORDS, acts_in, read_do, read_execute, read_meta, read_text
from interlock.analysis.sql.statements import (
    ROWS,
    read_alter,
    read_calls,
    read_copy,
    read_create,
    read_drop,
    read_nested,
    read_purge,
    read_rights,
    read_select,
    read_truncate,
    read_with,
)
from interlock.analysis.sql.tokens import WORDS, Flavour, SqlToken, cut, flavours

_LONGEST = 200_000
_DEEPEST = 5
_DESTRUCTIVE = frozenset({"DROP", "TRUNCATE", "DELETE", "PURGE"})
_SCARY = re.compile(r"\b(?:drop|truncate|delete|update|grant|revoke|alter|exec|execute)\b", re.IGNORECASE)


# A line of SQL*Plus ends without a semicolon.
_CLIENT_LINE = re.compile(
    r"^[ \t]*(?:whenever|conn(?:ect)?(?!\s+by\b)|prompt|spool|define|column|show|rem(?:ark)?|host"
    r"|set\s+(?:echo|feedback|heading|pages\w*|lines\w*|serveroutput|verify|timing|trim\w*|term\w*|sqlblanklines))\b[^\n;]*$",
    re.IGNORECASE | re.MULTILINE,
)


def read_sql(text: str, out: Report, dialect: str = "") -> None:
    """Reports every statement of a batch, and the text that cannot be read."""
    text = _CLIENT_LINE.sub(r"\g<0>;", text) if dialect == "oracle" else text
    reading = SqlBatch(out, text, dialect, _again)
    try:
        _read(text, reading)
    except RecursionError:
        reading.unreadable("SQL nested too deep", "nesting")


def _again(text: str, outer: SqlBatch, bulk: bool) -> None:
    """Reads SQL that a statement carries, no deeper than a few levels."""
    if outer.depth >= _DEEPEST:
        outer.unreadable("SQL nested too deep", "nesting")
        return
    traits = ("bulk",) if bulk or outer.traits else ()
    _read(text, SqlBatch(
        outer.out, text, outer.dialect, _again, outer.depth + 1, traits,
        temporary=outer.temporary, bodies=outer.bodies, told=outer.told, undone=outer.undone,
    ))  # fmt: skip


def _read(text: str, reading: SqlBatch) -> None:
    if len(text) > _LONGEST:
        reading.out.step(len(text) // 1000)
        if _SCARY.search(text):
            reading.unreadable("SQL that is too long to read", "budget")
        else:
            reading.effect("sql_write")
        return
    cuts = [(flavour, *cut(text, flavour)) for flavour in flavours(text, reading.dialect)]
    whole = [(flavour, tokens) for flavour, tokens, complete in cuts if complete]
    if not whole:
        flavour, tokens, _ = cuts[0]
        if tokens and tokens[-1].kind == "string" and _SCARY.search(tokens[-1].text):
            reading.unreadable("SQL that does not parse", "syntax")
        whole = [(flavour, tokens)]
    for flavour, tokens in whole:
        _read_batch(reading, tokens, flavour)


def _read_batch(reading: SqlBatch, tokens: Sequence[SqlToken], flavour: Flavour) -> None:
    """Reads the statements in turn, each with the state of the batch."""
    dialect = "mysql" if flavour.unsure and flavour.executable_comment else reading.dialect
    batch = split(tokens, reading.text, dialect)
    reading.batch = batch
    outer = reading.undone
    taken_back = undone_statements(batch, dialect)
    before: SqlStatement | None = None
    for index, item in enumerate(batch):
        reading.out.step(1 + len(item.tokens) // 32)
        reading.undone = outer or index in taken_back
        if item.tokens[0].kind == "meta":
            read_meta(reading, item.tokens[0].text, before)
        else:
            read_statement(reading, item)
        before = item
    reading.undone = outer
    if not batch:
        reading.effect("sql_read")


def read_statement(reading: SqlBatch, item: SqlStatement) -> None:
    """One statement: its verb decides, then what stands inside it."""
    at = 0  # behind the parentheses and braces that it begins with
    while at < len(item.tokens) and item.tokens[at].kind == "punct" and item.tokens[at].text in "({<>":
        at += 1
    item = item.part(at) if at else item
    if not item.tokens:
        return
    first = item.tokens[0]
    if item.head == "EXPLAIN" or item.head in ("DESC", "DESCRIBE"):
        _explain(reading, item)
        return
    if first.kind in ("hole", "var") and not _assigns(item):
        reading.unreadable("SQL made at run time", "payload")
        return
    if item.head in CLIENT_WORDS.get(reading.dialect, ()):
        read_meta(reading, reading.text[first.start : item.tokens[-1].end].replace("\n", " "), None)
        return
    if item.head in WORDS.steers:
        _steer(reading, item)
        return
    _verbs().get(item.head, _unknown)(reading, item)
    if item.head != "DO" and not (item.head == "CREATE" and item.words() & WORDS.routines):  # a body is not run now
        read_nested(reading, item)
        _outside(reading, item, read_calls)


def _assigns(item: SqlStatement) -> bool:
    return len(item.tokens) > 1 and item.tokens[1].text in (":=", "=", "+=")


def _explain(reading: SqlBatch, item: SqlStatement) -> None:
    """EXPLAIN only plans, unless ANALYZE makes it run."""
    at, runs = 1, False
    while at < len(item.tokens):
        token = item.tokens[at]
        if item.depths[at] == 0 and token.word in _verbs() and token.word not in ("ANALYZE", "ANALYSE", "TABLE"):
            break
        off = at + 1 < len(item.tokens) and item.tokens[at + 1].text.lower() in ("false", "off", "0")
        runs = runs or (token.word in ("ANALYZE", "ANALYSE") and not off)
        at += 1
    if runs and at < len(item.tokens):
        read_statement(reading, item.part(at))
    else:
        reading.effect("sql_read")


def _steer(reading: SqlBatch, item: SqlStatement) -> None:
    """Control flow: what it would reach is read as if it were reached."""
    after = item.top("BEGIN") if item.head == "DECLARE" else 0
    act = acts_in(item.part(after)) if after >= 0 else None
    if act is None:
        reading.effect("sql_read")
        read_calls(reading, item)
    else:
        read_statement(reading, act)


def _set(reading: SqlBatch, item: SqlStatement) -> None:
    """SET changes this session, or the server where it names it."""
    lasting = item.word(1) in ("PASSWORD", "GLOBAL", "PERSIST", "PERSIST_ONLY")
    scoped = item.tokens[1].text.lower().startswith(("@@global", "@@persist")) if len(item.tokens) > 1 else False
    reading.effect("sql_alter" if lasting or scoped else "sql_read", item.word(1) if lasting else "")


def _pragma(reading: SqlBatch, item: SqlStatement) -> None:
    sets = any(token.text == "=" for token in item.tokens)
    risky = item.word(1) == "WRITABLE_SCHEMA"
    reading.effect("sql_alter" if sets and risky else "sql_write" if sets else "sql_read")


def _load(reading: SqlBatch, item: SqlStatement) -> None:
    """LOAD DATA fills a table; LOAD of a library runs its code."""
    library = len(item.tokens) > 1 and item.tokens[1].kind == "string" and reading.dialect != "duckdb"
    reading.effect("sql_shell" if library else "sql_write", name_at(item, 1)[0] if library else "")


def _reset(reading: SqlBatch, item: SqlStatement) -> None:
    """RESET of a setting is nothing; MySQL's RESET MASTER deletes the binary logs."""
    if item.word(1) in ("MASTER", "BINARY", "REPLICA", "SLAVE"):
        reading.effect("sql_drop", item.word(1).lower(), "other")
    else:
        reading.effect("sql_read")


def _detach(reading: SqlBatch, item: SqlStatement) -> None:
    """DETACH closes a file in an embedded database, and takes a table out of service in ClickHouse."""
    embedded = reading.dialect in ("sqlite", "duckdb")
    reading.effect("sql_read" if embedded else "sql_alter", "" if embedded else name_at(item, 2)[0])


def _restore(reading: SqlBatch, item: SqlStatement) -> None:
    over = item.word(1) in ("DATABASE", "TABLE") and "REPLACE" in item.words()
    reading.effect("sql_drop" if over else "sql_write", name_at(item, 2)[0], *([item.word(1).lower()] if over else []))


def _prepare(reading: SqlBatch, item: SqlStatement) -> None:
    """PREPARE: the statement it holds is read as if it ran, and so is text."""
    held, came = item.top("AS"), item.top("FROM")
    if held > 0:
        inner = item.part(held + 1)
        if inner.tokens and inner.head != "PREPARE":
            read_statement(reading, inner)
    else:
        read_text(reading, item.tokens[came + 1 if came > 0 else 2 :])


def _outside(reading: SqlBatch, item: SqlStatement, read: Callable[[SqlBatch, SqlStatement], None]) -> None:
    """Reads what a function or a procedure does outside the transaction, which stays done."""
    taken_back, reading.undone = reading.undone, False
    read(reading, item)
    reading.undone = taken_back


def _unknown(reading: SqlBatch, item: SqlStatement) -> None:
    """A statement that begins as none does."""
    if _assigns(item):
        reading.effect("sql_read")
    elif item.words() & _DESTRUCTIVE:
        reading.unreadable("SQL that does not parse", "syntax")
    else:
        reading.effect("sql_write")


def _report_as(verb: str) -> Callable[[SqlBatch, SqlStatement], None]:
    return lambda reading, item: reading.effect(verb, name_at(item, 1)[0] if verb != "sql_read" else "")


@cache
def _verbs() -> Mapping[str, Callable[[SqlBatch, SqlStatement], None]]:
    """The reader of a statement, by its first word."""
    return {
        **dict.fromkeys(WORDS.queries, read_select),
        **dict.fromkeys(WORDS.reads, _report_as("sql_read")),
        **dict.fromkeys(WORDS.writes, _report_as("sql_write")),
        **dict.fromkeys(WORDS.alters, _report_as("sql_alter")),
        **dict.fromkeys(WORDS.kills, _report_as("sql_kill")),
        **_VERBS,
    }


_VERBS: Mapping[str, Callable[[SqlBatch, SqlStatement], None]] = {
    **ROWS,
    "WITH": read_with, "COPY": read_copy,
    "PURGE": read_purge, "REMOVE": read_purge, "RM": read_purge,
    "CREATE": read_create, "DROP": read_drop, "TRUNCATE": read_truncate, "ALTER": read_alter,
    "GRANT": read_rights, "REVOKE": read_rights, "DENY": read_rights,
    "DETACH": _detach, "SET": _set, "RESET": _reset, "PRAGMA": _pragma, "LOAD": _load, "RESTORE": _restore,
    "DO": read_do, "PREPARE": _prepare,
    **dict.fromkeys(("EXEC", "EXECUTE", "CALL"), lambda reading, item: _outside(reading, item, read_execute)),
}  # fmt: skip
