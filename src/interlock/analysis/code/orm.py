"""Calls of object mappers (Active Record, Sequel, Mongoid, Eloquent) -> effects on rows and tables."""

from __future__ import annotations

import re

from msgspec.structs import replace

from interlock.analysis.code import effects
from interlock.analysis.code.dialect import CodeCall
from interlock.analysis.code.values import UNKNOWN, Value, listed
from interlock.analysis.code.walk import CodeWalk

_SQL = re.compile(
    r"\s*(?:select|insert|update|delete|drop|truncate|alter|create|grant|revoke|with|merge|replace|call|exec|vacuum|rename|"
    r"begin|commit|set|show|pragma|attach|copy|lock|reindex|comment|declare|flush|purge|shutdown|kill|load)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"\s*\(*\s*(?:(\d+)\s*=\s*\1|true|'(\w*)'\s*=\s*'\2')\s*\)*\s*", re.IGNORECASE)
_WHOLE = frozenset(
    (
        "all unscoped order reorder includes preload distinct in_batches find_each each query newQuery select "
        "readonly lock withTrashed onlyTrashed orderBy find_in_batches eager_load table connection "
        "withoutGlobalScopes get cursor lazy chunk map reverse_order with_deleted with latest oldest Base "
        "to_a unscope withoutGlobalScope dataset"
    ).split()
)
_FINDERS = frozenset(
    (
        "find find_by find_by! first last take findOrFail firstOrFail first! last! where all each find_each "
        "query get firstWhere find_or_create_by sole lazy cursor table unscoped where.not withTrashed "
        "onlyTrashed whereIn limit order in_batches create new"
    ).split()
)
_NO_MODELS = frozenset(
    (
        "ENV File Dir FileUtils Set Hash Array Rails Redis Thread ARGV Cache Storage IO Kernel Process Net "
        "URI Session Cookie Log Http HTTParty Faraday RestClient Queue Config Auth Gate Pathname String JSON "
        "YAML Artisan Schema Tempfile Tmpdir Excon HTTP Typhoeus Event Mail Route App Logger Open3 Struct "
        "Class"
    ).split()
)
_DELETES_ALL = frozenset(
    {"delete_all", "destroy_all", "delete_all!", "destroy_all!", "forceDelete", "delete_by", "destroy_by"}
)
_UPDATES = frozenset(
    {"update_all", "update", "update!", "update_columns", "update_attribute", "increment", "decrement"}
)
_DELETES = frozenset({"delete", "destroy", "destroy!", "delete!", "really_destroy!", "forceDelete", "deleteQuietly"})
_RUNS_SQL = frozenset(
    (
        "execute exec exec_query exec_delete exec_update exec_params async_exec query run select_all "
        "find_by_sql execute_batch statement unprepared real_query multi_query prepare raw exec_driver_sql "
        "select insert update delete affectingStatement get_results get_var scalar simple_query "
        "executeStatement executeQuery executeUpdate createNativeQuery"
    ).split()
)
_STORES = {
    "flushall": ("", "all"),
    "flushdb": ("", "database"),
    "flushAll": ("", "all"),
    "flushDB": ("", "database"),
    "flush_all": ("", "all"),
}


def looks_like_sql(value: Value) -> bool:
    return bool(_SQL.match(value.text))


def _model(ref: str) -> str:
    parts = [part for part in ref.split(".") if part[:1].isupper() and part not in ("App", "Models")]
    return "::".join(parts[:3])


def _filtered(ref: str) -> bool:
    parts = ref.split(".")
    return any(part not in _WHOLE for part in parts[1:] if not part[:1].isupper())


def common(walk: CodeWalk, call: CodeCall) -> Value | None:
    """What both families say in the same words; None when the call is none of them."""
    on = call.on
    if on is None:
        return None
    first = call.plain[0] if call.plain else UNKNOWN
    if call.name in _RUNS_SQL and looks_like_sql(first):
        effects.sql(walk, first)
        return UNKNOWN
    if call.name in _STORES and not call.plain:
        target, trait = _STORES[call.name]
        walk.out.effect("store_drop", target, trait)
        return UNKNOWN
    if call.name == "where" and first.known and len(call.args) == 1 and _ALWAYS.fullmatch(first.text):
        return on
    return _rows(walk, call, on)


def _rows(walk: CodeWalk, call: CodeCall, on: Value) -> Value | None:
    model = _target(on)
    root = on.ref.split(".")[0]
    if not on.ref or root in _NO_MODELS:
        return None
    if call.name in _DELETES_ALL and (model or call.name not in _DELETES):
        narrow = _filtered(on.ref) or (call.name.endswith("_by") and bool(call.args))
        return _told(walk, "sql_delete", model or on.ref.rpartition(".")[2], narrow)
    if call.name in _DELETES and model and _is_rows(call, on):
        return _told(walk, "sql_delete", model, _filtered(on.ref) or bool(call.plain))
    if call.name in _UPDATES and model and (call.name == "update_all" or _is_rows(call, on)):
        return _told(walk, "sql_update", model, _filtered(on.ref))
    if call.name in ("truncate", "truncate!") and model:
        return _told(walk, "sql_truncate", model, True)
    if call.name in ("create", "create!", "insert", "insert_all", "upsert_all", "insertOrIgnore", "upsert") and model:
        return replace(_told(walk, "sql_write", model, True), ref=f"{on.ref}.create")
    return None


def _target(on: Value) -> str:
    """The table or model that a chain of calls is about."""
    return on.text if on.ref.startswith(("DB.table", "Capsule.table")) else _model(on.ref)


def _is_rows(call: CodeCall, on: Value) -> bool:
    parts = on.ref.split(".")
    if any(part in _FINDERS for part in parts[1:]):
        return True
    return bool(call.plain) and parts[0][:1].isupper() and len(parts) == 1


def _told(walk: CodeWalk, verb: str, target: str, filtered: bool) -> Value:
    walk.out.effect(verb, target, *([] if filtered or verb not in ("sql_delete", "sql_update") else ["unfiltered"]))
    return UNKNOWN


def active_record(walk: CodeWalk, call: CodeCall) -> Value | None:
    """Active Record, Sequel, Mongoid, Redis and Rake, as Ruby calls them."""
    on = call.on or UNKNOWN
    migrates = "connection" in on.ref.split(".") or "Migration" in on.ref or on.ref in ("DB", "ActiveRecord.Schema")
    if migrates and (told := _migration(walk, call)) is not None:
        return told
    if (
        call.name in ("drop_current", "purge_current", "purge_all", "drop_all", "drop", "purge")
        and "DatabaseTasks" in on.ref
    ):
        walk.out.effect("sql_drop", "", "database")
        return UNKNOWN
    if call.name == "purge!" and on.ref.startswith("Mongoid"):
        walk.out.effect("store_drop", "", "all")
        return UNKNOWN
    if call.name in ("drop", "drop!") and on.ref.endswith((".database", ".collection")):
        walk.out.effect("store_drop", _model(on.ref), on.ref.rpartition(".")[2])
        return UNKNOWN
    if call.name == "[]" and on.ref in ("DB", "Rake.Task"):
        return Value(call.arg(0).items, ref="DB.table" if on.ref == "DB" else "rake")
    if call.name in ("invoke", "execute", "reenable") and on.ref == "rake":
        return effects.run(walk, [Value(("rake",)), on]) if call.name != "reenable" else on
    found = common(walk, call)
    if found is None and on.ref.startswith("DB.table"):
        return replace(on, ref=f"{on.ref}.{call.name}")
    return found


def _migration(walk: CodeWalk, call: CodeCall) -> Value | None:
    names = listed(call.plain).items or ("",)
    if call.name in ("drop_table", "drop_table?", "drop_tables"):
        for name in names:
            walk.out.effect("sql_drop", name, "table")
    elif call.name in ("drop_database", "recreate_database", "drop_schema"):
        walk.out.effect("sql_drop", names[0], "schema" if call.name == "drop_schema" else "database")
    elif call.name in ("truncate", "truncate_tables"):
        for name in names:
            walk.out.effect("sql_truncate", name)
    elif call.name in ("remove_column", "remove_columns", "drop_column"):
        walk.out.effect("sql_drop", ".".join(names[:2]), "column")
    else:
        return None
    return UNKNOWN


def eloquent(walk: CodeWalk, call: CodeCall) -> Value | None:
    """Eloquent, the query builder, Schema and Artisan, as Laravel calls them."""
    on = call.on or UNKNOWN
    root = on.ref.split(".")[0]
    if root == "Schema" and (told := _schema(walk, call)) is not None:
        return told
    if root == "Artisan" and call.name in ("call", "queue"):
        return effects.run(walk, [Value(("php",)), Value(("artisan",)), *_artisan_words(call)])
    if call.name == "table" and root in ("DB", "Capsule", "Db"):
        return Value(call.arg(0).items, ref="DB.table")
    found = common(walk, call)
    if found is None and on.ref.startswith("DB.table"):
        return replace(on, ref=f"{on.ref}.{call.name}")
    return found


def _artisan_words(call: CodeCall) -> list[Value]:
    words = [Value((word,)) for word in call.arg(0).text.split()]
    options = call.args[1].items if len(call.args) > 1 else ()
    return words + [Value((name,)) for name in options[::2] if name.startswith("-")]


def _schema(walk: CodeWalk, call: CodeCall) -> Value | None:
    name = call.arg(0).text
    if call.name in ("drop", "dropIfExists"):
        walk.out.effect("sql_drop", name, "table")
    elif call.name in ("dropAllTables", "dropAllViews", "dropAllTypes"):
        walk.out.effect("sql_drop", "", "database")
    elif call.name == "dropDatabaseIfExists":
        walk.out.effect("sql_drop", name, "database")
    elif call.name in ("dropColumns", "dropColumn"):
        walk.out.effect("sql_drop", name, "column")
    else:
        return None
    return UNKNOWN
