"""Statements about objects and rights (CREATE, DROP, ALTER, GRANT, REVOKE) -> effects."""

from __future__ import annotations

from interlock.core.read.sql.batch import Statement
from interlock.core.read.sql.reading import Reading, name_at, names_at

_TRAITS = {
    "DATABASE": "database", "KEYSPACE": "database", "CATALOG": "database", "TABLESPACE": "database",
    "SCHEMA": "schema", "DATASET": "schema", "OWNED": "schema",
    "TABLE": "table", "STREAM": "other", "VIEW": "view", "INDEX": "index",
    "USER": "user", "ROLE": "user", "LOGIN": "user", "GROUP": "user",
}  # fmt: skip
_ADJECTIVES = frozenset({
    "MATERIALIZED", "FOREIGN", "EXTERNAL", "DYNAMIC", "PLUGGABLE", "UNIQUE", "GLOBAL", "LOCAL", "UNLOGGED",
    "TRANSIENT", "PUBLIC",
    "RECURSIVE", "HYBRID", "ICEBERG", "VIRTUAL", "PRIVATE", "FULLTEXT", "SPATIAL", "BITMAP", "SEARCH", "VECTOR",
    "SNAPSHOT",
    "CLUSTERED", "NONCLUSTERED", "EVENT", "IMMUTABLE", "COLUMNSTORE", "OR", "REPLACE", "ALTER", "TEMP", "TEMPORARY",
    "FORCE",
})  # fmt: skip
_NOT_A_COLUMN = {
    "CONSTRAINT": "other", "INDEX": "index", "KEY": "index", "PRIMARY": "index", "FOREIGN": "other", "CHECK": "other",
    "PARTITION": "table", "SUBPARTITION": "table", "POLICY": "other", "TRIGGER": "other", "PROJECTION": "index",
    "PERIOD": "other", "TAG": "other", "ROW": "other", "CLUSTERING": "other", "SEARCH": "other", "STATISTICS": "other",
}  # fmt: skip
_HARMLESS_DROPS = frozenset({"DEFAULT", "NOT", "EXPRESSION", "IDENTITY"})
_ADDS = frozenset({"ADD", "VALIDATE", "ATTACH", "ENABLE", "MATERIALIZE", "COMMENT", "CLUSTER", "FREEZE"})


def read_create(reading: Reading, item: Statement) -> None:
    """CREATE makes something, unless OR REPLACE takes something away."""
    at, seen = 1, set()
    while item.word(at) in _ADJECTIVES:
        seen.add(item.word(at))
        at += 1
    kind = item.word(at)
    name = name_at(item, at + 1)[0]
    temporary = bool(seen & {"TEMP", "TEMPORARY"}) or name.startswith("#")
    if kind == "TABLE" and temporary:
        reading.temporary.add(name.lower())
    if kind in ("FUNCTION", "PROCEDURE", "PROC"):
        _remember_body(reading, item, name)
    if "REPLACE" in seen and kind in ("TABLE", "SCHEMA", "DATABASE") and not temporary:
        reading.effect("sql_drop", name, _TRAITS[kind])
    elif kind in ("USER", "ROLE", "LOGIN") and "SUPERUSER" in item.words():
        reading.effect("sql_grant", name, "all")
    else:
        reading.effect("sql_write", name)


def _remember_body(reading: Reading, item: Statement, name: str) -> None:
    """Keeps what a routine would do, for when the same batch calls it."""
    strings = [token.text for token in item.tokens if token.kind == "string"]
    begin = item.top("BEGIN")
    body = max(strings, key=len, default="")
    if begin > 0:
        body = reading.text[item.tokens[begin].start : item.tokens[-1].end]
    reading.bodies[name.rsplit(".", 1)[-1].lower()] = body


def read_drop(reading: Reading, item: Statement) -> None:
    """DROP of anything; a temporary table that this batch made is no loss."""
    at, seen = 1, set()
    while item.word(at) in _ADJECTIVES:
        seen.add(item.word(at))
        at += 1
    kind = item.word(at)
    if kind in ("PREPARE", "PREPARED"):
        reading.effect("sql_read")
        return
    if at < len(item.tokens) and item.tokens[at].kind in ("hole", "var"):
        reading.effect("sql_drop", name_at(item, at + 1)[0], "table")
        return
    trait = _TRAITS.get(kind, "other")
    if kind == "USER" and reading.dialect == "oracle" and "CASCADE" in item.words():
        trait = "schema"
    start = at + 2 if kind == "OWNED" else at + 1
    for name in names_at(item, start) or [""]:
        gone = name.lower() in reading.temporary or name.startswith("#")
        if trait == "table" and (gone or seen & {"TEMP", "TEMPORARY"}):
            reading.effect("sql_write", name)
        else:
            reading.effect("sql_drop", name, trait)


def read_truncate(reading: Reading, item: Statement) -> None:
    """TRUNCATE empties each table it names."""
    start = 2 if item.word(1) in ("DATABASE", "SCHEMA") else 1
    if item.word(1) == "ALL":
        start = max(item.top("FROM"), 0) + 1
    for name in names_at(item, start) or [""]:
        if name.lower() in reading.temporary or name.startswith("#"):
            reading.effect("sql_write", name)
        else:
            reading.effect("sql_truncate", name)


def read_alter(reading: Reading, item: Statement) -> None:
    """ALTER, one action at a time; what only adds is a write."""
    at = 1
    while item.word(at) in _ADJECTIVES:
        at += 1
    kind = item.word(at)
    if kind == "DEFAULT" and (rights := item.top("GRANT", "REVOKE")) > 0:
        read_rights(reading, item.part(rights))
        return
    name, at = name_at(item, at + 1)
    if kind != "TABLE":
        added = item.word(at) == "ADD" and kind in ("TYPE", "PUBLICATION", "EXTENSION")
        reading.effect("sql_write" if added else "sql_alter", name)
        return
    if item.word(at) == "ON":  # ON CLUSTER c
        at += 3
    for start, end in _actions(item, at):
        _alter_table(reading, item.part(start, end), name)


def _actions(item: Statement, at: int) -> list[tuple[int, int]]:
    """The pieces of an ALTER TABLE between its commas."""
    commas = [i for i in range(at, len(item.tokens)) if item.depths[i] == 0 and item.tokens[i].text == ","]
    return list(zip([at, *(i + 1 for i in commas)], [*commas, len(item.tokens)], strict=True))


def _alter_table(reading: Reading, action: Statement, table: str) -> None:
    head = action.head
    if head == "DROP":
        _drop_part(reading, action, table)
    elif head == "TRUNCATE":
        reading.effect("sql_truncate", table)
    elif head in ("DELETE", "UPDATE"):  # ClickHouse mutations
        traits = () if reading.filtered(action, table) else ("unfiltered",)
        reading.effect(f"sql_{head.lower()}", table, *traits)
    elif head == "CLEAR" or (head == "SET" and action.word(1) == "UNUSED"):
        reading.effect("sql_drop", table, "column")
    elif head in ("ALTER", "MODIFY") and action.top("DROP") > 0:
        reading.effect("sql_write", table)
    else:
        reading.effect("sql_write" if head in _ADDS else "sql_alter", table)


def _drop_part(reading: Reading, action: Statement, table: str) -> None:
    """ALTER TABLE … DROP: a column unless it says otherwise."""
    at = 1
    if action.word(at) in _HARMLESS_DROPS:
        reading.effect("sql_write", table)
        return
    if action.word(at) in _NOT_A_COLUMN:
        reading.effect("sql_drop", table, _NOT_A_COLUMN[action.word(at)])
        return
    if action.word(at) == "COLUMN":
        at += 1
    if at < len(action.tokens) and action.tokens[at].text == "(":
        at += 1
    column = name_at(action, at)[0]
    reading.effect("sql_drop", f"{table}.{column}" if column else table, "column")


def read_rights(reading: Reading, item: Statement) -> None:
    """GRANT, REVOKE and DENY; the target is what the right is on, or the right itself."""
    on = item.top("ON")
    to = item.top("TO", "FROM", after=1)
    target = _spell(item, on + 1, to) if on > 0 else _spell(item, 1, to)
    grantees = names_at(item, to + 1) if to > 0 else []
    everything = item.word(1) == "ALL" or len(grantees) > 1 or any(name.upper() == "PUBLIC" for name in grantees)
    verb = "sql_grant" if item.head == "GRANT" else "sql_revoke"
    reading.effect(verb, target, *(("all",) if everything else ()))


def _spell(item: Statement, start: int, end: int) -> str:
    """A run of tokens as text, names joined as written."""
    pieces = [token.text for token in item.tokens[start : end if end > 0 else None]]
    return " ".join(pieces).replace(" . ", ".").replace(" ,", ",")
