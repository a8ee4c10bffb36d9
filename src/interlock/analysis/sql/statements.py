"""Effects of statements on rows (SELECT to COPY) and on objects and rights (CREATE, DROP, ALTER, GRANT, REVOKE)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from interlock.analysis.sql.batch import SqlBatch, SqlStatement, few, filters, strings
from interlock.analysis.sql.dynamic import drop_kind, looks_like_sql
from interlock.analysis.sql.tokens import WORDS

Reader = Callable[[SqlBatch, SqlStatement], None]
_SECOND = {"DELETE": ("FROM",), "INSERT": ("INTO", "OVERWRITE"), "MERGE": ("INTO",), "TRUNCATE": ("TABLE",)}


def read_select(batch: SqlBatch, item: SqlStatement) -> None:
    into = item.top("INTO")
    following = item.word(into + 1)
    if into > 0 and following in ("OUTFILE", "DUMPFILE"):
        batch.effect("sql_shell", item.name(into + 2))
    elif into > 0 and into + 1 < len(item.tokens) and item.tokens[into + 1].kind != "var":
        batch.effect("sql_write", item.name(into + 2 if following in ("TEMP", "TEMPORARY") else into + 1))
    else:
        batch.effect("sql_read")


def read_with(batch: SqlBatch, item: SqlStatement) -> None:
    """The writing CTEs are found by `read_nested`."""
    main = item.top(*WORDS.main, after=1)
    if main < 0:
        batch.effect("sql_read")
    else:
        STATEMENTS.get(item.word(main), read_select)(batch, item.part(main))


def read_nested(batch: SqlBatch, item: SqlStatement) -> None:
    """Writes that stand in parentheses inside a statement, as in `WITH d AS (DELETE …)`."""
    for index, (token, following) in enumerate(pairwise(item.tokens)):
        verb = following.word
        if token.mark == "(" and (verb == "UPDATE" or item.word(index + 2) in _SECOND.get(verb, ())):
            inner = batch.inside(item, index)
            if verb != "UPDATE" or inner.top("SET") > 0:
                STATEMENTS[verb](batch, inner)


def read_calls(batch: SqlBatch, item: SqlStatement) -> None:
    for place, (token, following) in enumerate(pairwise(item.tokens), 1):
        if following.mark != "(" or token.kind not in ("word", "name"):
            continue
        name = token.text.lower()
        verb = WORDS.table("functions").get(name)
        if verb:
            named = strings(batch.inside(item, place).tokens) if verb in ("sql_shell", "sql_drop") else []
            batch.effect(verb, (named or [name])[0], *drop_kind(name))
        elif name in WORDS.functions_of_sql:
            for text in filter(looks_like_sql, strings(batch.inside(item, place).tokens)):
                batch.inner(text)
        elif name in batch.bodies and item.head != "CREATE":
            batch.inner(batch.bodies.pop(name))


def read_insert(batch: SqlBatch, item: SqlStatement) -> None:
    """INSERT OVERWRITE empties the table first."""
    name = item.name(max(item.top("INTO", "TABLE", "OVERWRITE"), 0) + 1)
    overwrites = item.word(1) == "OVERWRITE" and item.word(2) != "DIRECTORY"
    batch.effect("sql_truncate" if overwrites else "sql_write", name)


def read_delete(batch: SqlBatch, item: SqlStatement) -> None:
    start = item.top("FROM")
    name = item.name(1) if start != 1 and item.word(1) not in WORDS.before_rows else ""
    name = name or item.name(max(start, 0) + 1)
    _report(batch, "sql_delete", name, batch.filtered(item, name) or _top(item))


def read_update(batch: SqlBatch, item: SqlStatement) -> None:
    at = 1
    while item.word(at) in WORDS.before_updated:
        at += 1
    name = item.name(at)
    _report(batch, "sql_update", name, batch.filtered(item, name, after=1) or _top(item))


def _top(item: SqlStatement) -> bool:
    """T-SQL: `DELETE TOP (10) FROM t`."""
    if item.word(1) != "TOP" or "PERCENT" in item.words():
        return False
    return any(few(token) for token in item.tokens[2:4])


def _report(batch: SqlBatch, verb: str, name: str, narrowed: bool) -> None:
    if batch.is_temporary(name):
        batch.effect("sql_write", name)
    else:
        batch.effect(verb, name, *["unfiltered"] * (not narrowed))


def read_merge(batch: SqlBatch, item: SqlStatement) -> None:
    """A deletion for each branch that deletes."""
    name = item.name(max(item.top("INTO"), 0) + 1)
    on, when = item.top("ON"), item.top("WHEN")
    joined = filters(item.part(on + 1, when), batch.text, name, batch.dialect) if 0 < on < when else True
    batch.effect("sql_write", name)
    while when >= 0:
        branch = item.up_to("WHEN", start=when + 1)
        if branch.word(branch.top("THEN") + 1) == "DELETE":
            whole = "SOURCE" in branch.words() and branch.top("AND") < 0
            _report(batch, "sql_delete", name, joined and not whole)
        when = item.top("WHEN", after=when + 1)


def read_copy(batch: SqlBatch, item: SqlStatement) -> None:
    program = item.top("PROGRAM")
    if program > 0:
        command = item.name(program + 1)
        batch.effect("sql_shell", command)
        batch.out.shell(command)
        return
    to, came = item.top("TO"), item.top("FROM")
    if to > 0 and (came < 0 or to < came):
        if not item.tokens[to + 1 :] or item.tokens[to + 1].kind != "string":
            batch.effect("sql_read")
        elif batch.dialect == "duckdb":
            batch.out.effect("write", item.text(to + 1))
        else:
            batch.effect("sql_shell", item.text(to + 1))
    else:
        batch.effect("sql_write", item.name(2 if item.word(1) == "INTO" else 1))


def read_purge(batch: SqlBatch, item: SqlStatement) -> None:
    """Logs, recycle bins and staged files; in some dialects REMOVE is DROP."""
    if item.word(1) in WORDS.table("kinds"):
        read_drop(batch, item)
    else:
        batch.effect("sql_delete", (item.names(1) or [""])[-1])


def _kind_at(item: SqlStatement) -> tuple[int, set[str], str]:
    at = next((at for at in range(1, len(item.tokens)) if item.word(at) not in WORDS.adjectives), len(item.tokens))
    return at, {item.word(before) for before in range(1, at)}, item.word(at)


def read_create(batch: SqlBatch, item: SqlStatement) -> None:
    """OR REPLACE takes something away."""
    at, seen, kind = _kind_at(item)
    name = item.name(at + 1)
    temporary = bool(seen & {"TEMP", "TEMPORARY"}) or name.startswith("#")
    if kind == "TABLE" and temporary:
        batch.temporary.add(name.lower())
    if kind in ("FUNCTION", "PROCEDURE", "PROC"):
        _remember_body(batch, item, name)
    if "REPLACE" in seen and kind in ("TABLE", "SCHEMA", "DATABASE") and not temporary:
        batch.effect("sql_drop", name, WORDS.table("kinds")[kind])
    elif _makes_superuser(item, kind):
        batch.effect("sql_grant", name, "all")
    else:
        batch.effect("sql_write", name)


def _makes_superuser(item: SqlStatement, kind: str) -> bool:
    return kind in ("USER", "ROLE", "LOGIN") and "SUPERUSER" in item.words()


def _remember_body(batch: SqlBatch, item: SqlStatement, name: str) -> None:
    begin = item.top("BEGIN")
    body = batch.text[item.tokens[begin].start : item.tokens[-1].end] if begin > 0 else ""
    batch.bodies[name.rsplit(".", 1)[-1].lower()] = body or max(strings(item.tokens), key=len, default="")


def read_drop(batch: SqlBatch, item: SqlStatement) -> None:
    """A temporary table that this batch created is no loss."""
    at, seen, kind = _kind_at(item)
    if kind in ("PREPARE", "PREPARED"):
        batch.effect("sql_read")
        return
    if at < len(item.tokens) and item.tokens[at].kind in ("hole", "var"):
        batch.effect("sql_drop", item.name(at + 1), "table")
        return
    trait = WORDS.table("kinds").get(kind, "other")
    if kind == "USER" and batch.dialect == "oracle" and "CASCADE" in item.words():
        trait = "schema"
    for name in item.names(at + 1 + (kind == "OWNED")) or [""]:
        if trait == "table" and (batch.is_temporary(name) or seen & {"TEMP", "TEMPORARY"}):
            batch.effect("sql_write", name)
        else:
            batch.effect("sql_drop", name, trait)


def read_truncate(batch: SqlBatch, item: SqlStatement) -> None:
    start = 2 if item.word(1) in ("DATABASE", "SCHEMA") else 1
    if item.word(1) == "ALL":
        start = max(item.top("FROM"), 0) + 1
    for name in item.names(start) or [""]:
        batch.effect("sql_write" if batch.is_temporary(name) else "sql_truncate", name)


def read_alter(batch: SqlBatch, item: SqlStatement) -> None:
    """One action at a time; what only adds is a write."""
    at, _, kind = _kind_at(item)
    if kind == "DEFAULT" and (rights := item.top("GRANT", "REVOKE")) > 0:
        read_rights(batch, item.part(rights))
        return
    name, at = item.name_at(at + 1)
    if _makes_superuser(item, kind):
        batch.effect("sql_grant", name, "all")
        return
    if kind != "TABLE":
        added = item.word(at) == "ADD" and kind in ("TYPE", "PUBLICATION", "EXTENSION")
        batch.effect("sql_write" if added else "sql_alter", name)
        return
    if item.word(at) == "ON":  # ON CLUSTER c
        at += 3
    for action in item.part(at).pieces():
        _alter_table(batch, action, name)


def _alter_table(batch: SqlBatch, action: SqlStatement, table: str) -> None:
    head = action.head
    if head == "DROP":
        _drop_part(batch, action, table)
    elif head == "TRUNCATE":
        batch.effect("sql_truncate", table)
    elif head in ("DELETE", "UPDATE"):  # ClickHouse mutations
        batch.effect(f"sql_{head.lower()}", table, *["unfiltered"] * (not batch.filtered(action, table)))
    elif head == "CLEAR" or (head == "SET" and action.word(1) == "UNUSED"):
        batch.effect("sql_drop", table, "column")
    elif head in ("ALTER", "MODIFY") and action.top("DROP") > 0:
        batch.effect("sql_write", table)
    else:
        batch.effect("sql_write" if head in WORDS.adds else "sql_alter", table)


def _drop_part(batch: SqlBatch, action: SqlStatement, table: str) -> None:
    """A column unless another part is named."""
    part = action.word(1)
    if part in WORDS.harmless_drops:
        batch.effect("sql_write", table)
    elif part in WORDS.table("parts"):
        batch.effect("sql_drop", table, WORDS.table("parts")[part])
    else:
        at = 2 if part == "COLUMN" else 1
        column = action.name(at + (action.text(at) == "("))
        batch.effect("sql_drop", f"{table}.{column}" if column else table, "column")


def read_rights(batch: SqlBatch, item: SqlStatement) -> None:
    """The target is what the right is on, or the right itself."""
    on = item.top("ON")
    to = item.top("TO", "FROM", after=1)
    right = [token.text for token in item.tokens[max(on, 0) + 1 : to if to > 0 else None]]
    target = " ".join(right).replace(" . ", ".").replace(" ,", ",")
    grantees = item.names(to + 1) if to > 0 else []
    everything = item.word(1) == "ALL" or len(grantees) > 1 or any(name.upper() == "PUBLIC" for name in grantees)
    verb = "sql_grant" if item.head == "GRANT" else "sql_revoke"
    batch.effect(verb, target, *["all"] * everything)


STATEMENTS: Mapping[str, Reader] = {
    "INSERT": read_insert, "REPLACE": read_insert, "UPSERT": read_insert, "UPDATE": read_update, "DELETE": read_delete,
    "MERGE": read_merge, "WITH": read_with, "COPY": read_copy,
    "PURGE": read_purge, "REMOVE": read_purge, "RM": read_purge,
    "CREATE": read_create, "DROP": read_drop, "TRUNCATE": read_truncate, "ALTER": read_alter,
    "GRANT": read_rights, "REVOKE": read_rights, "DENY": read_rights,
}  # fmt: skip
