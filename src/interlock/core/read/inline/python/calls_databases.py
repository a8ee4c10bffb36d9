"""Methods of databases, object mappers and other stores: what they drop, delete and change."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.core.read.facts import hole, without_holes
from interlock.core.read.inline.python.calls_aws import aws, service
from interlock.core.read.inline.python.calls_network import LIBRARIES, request
from interlock.core.read.inline.python.chains import label, links
from interlock.core.read.inline.python.objects import Call, Func
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, text_of
from interlock.core.read.inline.python.walk import Answer, Walk

_SQL = re.compile(
    r"(?is)\s*(?:--[^\n]*\n\s*|/\*.{0,400}?\*/\s*)?\(?\s*(select|insert|update|delete|drop|truncate|alter|create|grant"
    r"|revoke|with|merge|replace|pragma|vacuum|call|exec|execute|begin|commit|set|use|rename|copy|attach|do|explain"
    r"|show|lock|kill|load|analyze|reindex|refresh|declare|shutdown|flush)\b"
)
_DATABASE = re.compile(
    r"(?i)(^|[._])(cursor|cur|conn|connection|engine|session|db|database|sqlite3|psycopg2?|pymysql|op|tx)\b"
)
_BUILT = re.compile(r"(?i)\b(select|insert|update)\b")
_NARROWS = re.compile(r"\b(filter|filter_by|exclude|get|where|first|last|one|get_or_404)\b")
_QUERIES = (".objects", ".query()", ".query")


def _sql(walk: Walk, call: Call) -> Value:
    """Text given to a database."""
    given = call.get(0, "sql", call.named.get("statement", call.named.get("query", UNKNOWN)))
    text = text_of(given)
    if isinstance(given, Sym) and given.path.startswith("sqlalchemy.") and "delete()" in given.path:
        _delete_statement(walk, given)
    elif _SQL.match(text):
        walk.world.code("sql", text)
    elif _DATABASE.search(call.path) and not isinstance(given, (list, dict, Func)):
        if without_holes(text).strip():
            walk.world.code("sql", text)
        elif not isinstance(given, Sym) or not _BUILT.search(given.path):
            walk.world.effect("sql_execute", "")
    return UNKNOWN


def _delete_statement(walk: Walk, statement: Sym) -> None:
    """sqlalchemy's `delete(Table).where(…)`."""
    made = next((link for link in links(statement) if link.path.endswith("delete()")), None)
    name = label(made.args[0]) if made and made.args else hole()
    walk.world.effect("sql_delete", name, *_unfiltered(".where" not in statement.path))


def _unfiltered(everything: bool) -> tuple[str, ...]:
    return ("unfiltered",) if everything else ()


def _delete(walk: Walk, call: Call) -> Value:
    """`.delete()` of an object mapper's query, a bucket, a session, an HTTP client or Redis."""
    if service(call.owner):
        return aws(walk, call)
    for start in () if call.path.startswith(LIBRARIES) else _QUERIES:
        _, found, chain = call.path.partition(start)
        if found:
            return walk.world.effect("sql_delete", _model(call.owner, start), *_unfiltered(not _NARROWS.search(chain)))
    if call.path.endswith(".indices.delete"):
        return walk.world.effect("store_drop", call.text(0, "index"), "index")
    if call.path.startswith("redis."):
        return _delete_keys(walk, call)
    return request(walk, call)


def _model(owner: Value, start: str) -> str:
    """What a query is about: what `.objects` is an attribute of, or what `.query()` is given."""
    link = next((link for link in links(owner) if link.path.endswith(start)), None)
    if link is None or (start.endswith("()") and not link.args):
        return hole()
    if start.endswith("()"):
        return label(link.args[0])
    return label(link.owner) if link.owner is not None else link.path.rpartition(".")[0]


def _update(walk: Walk, call: Call) -> Value:
    _, found, chain = call.path.partition(".objects")
    if not found or not call.named:
        return UNKNOWN
    narrow = re.search(r"\b(filter|exclude|get)\b", chain)
    return walk.world.effect("sql_update", _model(call.owner, ".objects"), *_unfiltered(not narrow))


def _drop(walk: Walk, call: Call) -> Value:
    """`.drop()` of a collection or a table; with arguments it is mostly a data frame's."""
    if not isinstance(call.owner, Sym) or "." not in call.owner.path:
        return UNKNOWN
    if call.owner.path.endswith("__table__"):
        return walk.world.effect("sql_drop", label(call.owner.owner), "table")
    if call.given():
        return UNKNOWN
    return walk.world.effect("store_drop", label(call.owner), "collection")


def _drop_named(verb: str, trait: str, at: int = 0) -> Answer:
    return lambda walk, call: walk.world.effect(verb, call.text(at), trait)


def _drop_all(walk: Walk, call: Call) -> Value:
    return walk.world.effect("sql_drop", "all tables", "database")


def _delete_documents(walk: Walk, call: Call) -> Value:
    everything = call.name == "delete_many" and call.get(0, "filter", {}) == {}
    return walk.world.effect("store_delete", label(call.owner), *_unfiltered(everything))


def _delete_by_query(walk: Walk, call: Call) -> Value:
    everything = "match_all" in repr(call.get(1, "body", call.named.get("query")))[:400]
    return walk.world.effect("store_delete", call.text(0, "index"), *_unfiltered(everything))


def _delete_keys(walk: Walk, call: Call) -> Value:
    for key in call.args:
        walk.world.effect("store_delete", key)
    return None


def _flush(walk: Walk, call: Call) -> Value:
    return walk.world.effect("store_drop", "redis", "all")


CALLS: Mapping[str, Answer] = {
    "sqlite3.connect": lambda walk, call: UNKNOWN,  # listed so that `from sqlite3 import *` finds it
    "sqlalchemy.MetaData().drop_all": _drop_all,
    **dict.fromkeys(["pandas.read_sql", "pandas.read_sql_query"], _sql),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(["execute", "executemany", "executescript", "exec_driver_sql", "read_sql", "read_sql_query"], _sql),
    **dict.fromkeys(["delete", "_raw_delete"], _delete),
    "update": _update,
    "drop": _drop,
    "drop_all": _drop_all,
    "drop_table": _drop_named("sql_drop", "table"),
    "drop_column": _drop_named("sql_drop", "column", 1),
    "drop_database": _drop_named("store_drop", "database"),
    "drop_collection": _drop_named("store_drop", "collection"),
    **dict.fromkeys(["delete_many", "delete_one"], _delete_documents),
    "delete_by_query": _delete_by_query,
    **dict.fromkeys(["flushall", "flushdb"], _flush),
}
