"""SQL text -> the effects of each of its statements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from interlock.analysis.facts import Report
from interlock.analysis.sql.batch import SqlBatch, SqlStatement, split, undone_statements
from interlock.analysis.sql.dynamic import acts_in, read_do, read_execute, read_meta, read_text
from interlock.analysis.sql.statements import STATEMENTS, Reader, read_calls, read_nested, read_select
from interlock.analysis.sql.tokens import WORDS, SqlToken, cut, flavours

_LONGEST = 200_000
_SCARY = re.compile(r"\b(?:drop|truncate|delete|update|grant|revoke|alter|exec|execute)\b", re.IGNORECASE)


# A line of SQL*Plus ends without a semicolon.
_CLIENT_LINE = re.compile(
    r"^[ \t]*(?:whenever|conn(?:ect)?(?!\s+by\b)|prompt|spool|define|column|show|rem(?:ark)?|host"
    r"|set\s+(?:echo|feedback|heading|pages\w*|lines\w*|serveroutput|verify|timing|trim\w*|term\w*|sqlblanklines))\b[^\n;]*$",
    re.IGNORECASE | re.MULTILINE,
)


def read_sql(text: str, out: Report, dialect: str = "") -> None:
    text = _CLIENT_LINE.sub(r"\g<0>;", text) if dialect == "oracle" else text
    batch = SqlBatch(out, text, dialect, _read)
    try:
        _read(batch)
    except RecursionError:
        batch.unreadable("SQL nested too deep", "nesting")


def _read(batch: SqlBatch) -> None:
    text = batch.text
    if len(text) > _LONGEST:
        batch.out.step(len(text) // 1000)
        if _SCARY.search(text):
            batch.unreadable("SQL that is too long to read", "budget")
        else:
            batch.effect("sql_write")
        return
    cuts = [(flavour, *cut(text, flavour)) for flavour in flavours(text, batch.dialect)]
    whole = [one for one in cuts if one[2]]
    last = cuts[0][1][-1:] if not whole else []
    if last and last[0].kind == "string" and _SCARY.search(last[0].text):
        batch.unreadable("SQL that does not parse", "syntax")
    for flavour, tokens, _ in whole or cuts[:1]:
        _read_cut(batch, tokens, flavour)


def _read_cut(batch: SqlBatch, tokens: Sequence[SqlToken], flavour: str) -> None:
    dialect = "mysql" if flavour == "perhaps_mysql" else batch.dialect
    statements = batch.statements = split(tokens, batch.text, dialect)
    outer = batch.undone
    taken_back = undone_statements(statements, dialect)
    for index, item in enumerate(statements):
        batch.out.step(1 + len(item.tokens) // 32)
        batch.undone = outer or index in taken_back
        if item.tokens[0].kind == "meta":
            read_meta(batch, item.tokens[0].text, statements[index - 1] if index else None)
        else:
            read_statement(batch, item)
    batch.undone = outer
    if not statements:
        batch.effect("sql_read")


def read_statement(batch: SqlBatch, item: SqlStatement) -> None:
    at = next((at for at, token in enumerate(item.tokens) if token.mark not in WORDS.opens), len(item.tokens))
    item = item.part(at) if at else item
    if not item.tokens:
        return
    first = item.tokens[0]
    if item.head in ("EXPLAIN", "DESC", "DESCRIBE"):
        _explain(batch, item)
        return
    if first.kind in ("hole", "var") and not _assigns(item):
        batch.unreadable("SQL made at run time", "payload")
        return
    if WORDS.table("client_words").get(item.head) == batch.dialect:
        read_meta(batch, batch.text[first.start : item.tokens[-1].end].replace("\n", " "), None)
        return
    if item.head in WORDS.steers:
        _steer(batch, item)
        return
    kind = WORDS.table("effects").get(item.head)
    if kind:
        batch.effect(kind, item.name(1) if kind != "sql_read" else "")
    elif item.head in WORDS.queries:
        read_select(batch, item)
    else:
        _VERBS.get(item.head, _unknown)(batch, item)
    if item.head != "DO" and not (item.head == "CREATE" and item.words() & WORDS.routines):  # a body is not run now
        read_nested(batch, item)
        _outside(batch, item, read_calls)


def _assigns(item: SqlStatement) -> bool:
    return item.text(1) in (":=", "=", "+=")


def _explain(batch: SqlBatch, item: SqlStatement) -> None:
    """EXPLAIN only plans, unless ANALYZE makes it run."""
    verbs = (WORDS.queries | WORDS.table("effects").keys() | _VERBS.keys()) - {"ANALYZE", "ANALYSE", "TABLE"}
    held = next((at for at in range(1, len(item.tokens)) if item.depths[at] == 0 and item.word(at) in verbs), 0)
    asks = [at for at in range(1, held) if item.word(at) in ("ANALYZE", "ANALYSE")]
    if any(item.text(at + 1).lower() not in ("false", "off", "0") for at in asks):
        read_statement(batch, item.part(held))
    else:
        batch.effect("sql_read")


def _steer(batch: SqlBatch, item: SqlStatement) -> None:
    """Control flow: what it would reach is read as if it were reached."""
    after = item.top("BEGIN") if item.head == "DECLARE" else 0
    act = acts_in(item.part(after)) if after >= 0 else None
    if act is None:
        batch.effect("sql_read")
        read_calls(batch, item)
    else:
        read_statement(batch, act)


def _set(batch: SqlBatch, item: SqlStatement) -> None:
    lasting = item.word(1) in WORDS.lasting
    scoped = item.text(1).lower().startswith(("@@global", "@@persist"))
    batch.effect("sql_alter" if lasting or scoped else "sql_read", item.word(1) if lasting else "")


def _pragma(batch: SqlBatch, item: SqlStatement) -> None:
    sets = any(token.text == "=" for token in item.tokens)
    batch.effect("sql_read" if not sets else "sql_alter" if item.word(1) == "WRITABLE_SCHEMA" else "sql_write")


def _load(batch: SqlBatch, item: SqlStatement) -> None:
    """LOAD of a library runs its code."""
    library = len(item.tokens) > 1 and item.tokens[1].kind == "string" and batch.dialect != "duckdb"
    batch.effect("sql_shell" if library else "sql_write", item.name(1) if library else "")


def _reset(batch: SqlBatch, item: SqlStatement) -> None:
    """MySQL's RESET MASTER deletes the binary logs."""
    if item.word(1) in WORDS.logs:
        batch.effect("sql_drop", item.word(1).lower(), "other")
    else:
        batch.effect("sql_read")


def _detach(batch: SqlBatch, item: SqlStatement) -> None:
    """Closes a file in an embedded database, takes a table out of service in ClickHouse."""
    if batch.dialect in ("sqlite", "duckdb"):
        batch.effect("sql_read")
    else:
        batch.effect("sql_alter", item.name(2))


def _restore(batch: SqlBatch, item: SqlStatement) -> None:
    over = item.word(1) in ("DATABASE", "TABLE") and "REPLACE" in item.words()
    batch.effect("sql_drop" if over else "sql_write", item.name(2), *[item.word(1).lower()] * over)


def _prepare(batch: SqlBatch, item: SqlStatement) -> None:
    """The statement is read as if it ran, and so is text."""
    held, came = item.top("AS"), item.top("FROM")
    if held > 0:
        inner = item.part(held + 1)
        if inner.tokens and inner.head != "PREPARE":
            read_statement(batch, inner)
    else:
        read_text(batch, item.tokens[came + 1 if came > 0 else 2 :])


def _outside(batch: SqlBatch, item: SqlStatement, read: Reader) -> None:
    """What a function or a procedure does outside the transaction stays done."""
    taken_back, batch.undone = batch.undone, False
    read(batch, item)
    batch.undone = taken_back


def _unknown(batch: SqlBatch, item: SqlStatement) -> None:
    if _assigns(item):
        batch.effect("sql_read")
    elif item.words() & WORDS.destructive:
        batch.unreadable("SQL that does not parse", "syntax")
    else:
        batch.effect("sql_write")


_VERBS: Mapping[str, Reader] = {
    **STATEMENTS,
    "DETACH": _detach, "SET": _set, "RESET": _reset, "PRAGMA": _pragma, "LOAD": _load, "RESTORE": _restore,
    "DO": read_do, "PREPARE": _prepare,
    **dict.fromkeys(("EXEC", "EXECUTE", "CALL"), lambda batch, item: _outside(batch, item, read_execute)),
}  # fmt: skip
