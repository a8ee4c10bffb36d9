"""Effects of a JavaScript program's calls on databases, document stores and clouds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript.values import JsFunction, JsOrigin, JsPath, Regex, Value, options, to_text
from interlock.analysis.code.program.values import looks_like_sql
from interlock.analysis.facts import Report

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk

Args = list[Value]

_SQL_METHODS = frozenset({
    "query", "execute", "exec", "raw", "run", "prepare", "all", "get", "each", "unsafe", "$executeRawUnsafe",
    "executeSql",
    "$queryRawUnsafe", "$executeRaw", "$queryRaw", "sql", "SQL", "execAsync", "runAsync", "queryObject", "queryArray",
    "batch", "executeMultiple", "queryRaw", "executeRaw", "literal", "simple", "file", "begin", "multi", "many", "none",
    "any", "one", "oneOrNone", "result", "manyOrNone", "driver", "rawQuery", "statement",
})  # fmt: skip
_NAMING = frozenset({"collection", "getCollection", "model", "table", "from", "into", "knex", "define"})
_CLOUD = {
    "s3": "s3api", "cloudwatch-logs": "logs", "cloudwatchlogs": "logs", "cognito-identity-provider": "cognito-idp",
    "cognitoidentityserviceprovider": "cognito-idp", "elastic-load-balancing-v2": "elbv2", "sfn": "stepfunctions",
    "secrets-manager": "secretsmanager", "auto-scaling": "autoscaling", "route-53": "route53", "eventbridge": "events",
}  # fmt: skip


def stores(walk: JsWalk, callee: JsPath, args: Args, base: Value) -> bool:
    """Report what a call does to a store; False when it is no call on one."""
    if isinstance(base, Regex) or callee.name.startswith(("console.", "Math.", "lodash.", "_.", "expect", "JSON.")):
        return False
    return _cloud(walk.out, callee, args) or _sql_text(walk.out, callee, args) or _by_method(walk.out, callee, args)


def _sql_text(out: Report, callee: JsPath, args: Args) -> bool:
    if callee.last not in _SQL_METHODS and callee.name not in ("knex.raw", "sql"):
        return False
    first = args[0] if args else None
    if isinstance(first, dict):
        first = first.get("text", first.get("sql", first.get("query")))
    if isinstance(first, JsPath) and first.chain and first.chain[-1][1]:
        first = first.chain[-1][1][0]  # sql`…`, Sequelize.literal("…") handed to the call that runs it
    found = False
    for option in first if isinstance(first, list) else options(first):
        text = to_text(option) if isinstance(option, str | JsOrigin) else ""
        if looks_like_sql(text):
            out.code("sql", text)
            found = True
    return found


def _by_method(out: Report, callee: JsPath, args: Args) -> bool:
    work = _METHODS.get(callee.last)
    return work is not None and work(out, callee, args)


def target(callee: JsPath) -> str:
    """The name of the table or collection that a call is made on."""
    for name, args in reversed(callee.chain):
        if name in _NAMING and args and isinstance(args[0], str):
            return args[0]
    parts = [part for part in callee.name.split(".")[:-1] if part != "?" and not part.endswith("()")]
    return parts[-1] if parts else ""


def is_empty(value: Value) -> bool:
    """Whether a filter lets everything through."""
    if isinstance(value, dict):
        inner = value.get("where", value.get("filter")) if set(value) <= {"where", "filter"} and value else None
        return not value or (isinstance(inner, dict) and not inner)
    return value is None or isinstance(value, JsFunction)


def is_prisma(callee: JsPath) -> bool:
    return "prisma" in callee.name.lower() or (callee.name.startswith("tx.") and callee.name.count(".") == 2)


def _delete_many(out: Report, callee: JsPath, args: Args) -> bool:
    traits = ("unfiltered",) if is_empty(args[0] if args else None) else ()
    out.effect("sql_delete" if is_prisma(callee) else "store_delete", target(callee), *traits)
    return True


def _delete_one(out: Report, callee: JsPath, args: Args) -> bool:
    out.effect("sql_delete" if is_prisma(callee) else "store_delete", target(callee))
    return True


def _remove(out: Report, callee: JsPath, args: Args) -> bool:
    if len(args) != 1 or not isinstance(args[0], dict):
        return False
    return _delete_many(out, callee, args)


def _update_many(out: Report, callee: JsPath, args: Args) -> bool:
    first = args[0] if args else None
    if is_prisma(callee):
        everything = not isinstance(first, dict) or not first.get("where")
        out.effect("sql_update", target(callee), *(("unfiltered",) if everything else ()))
    else:
        out.effect("store_write", target(callee), *(("unfiltered",) if is_empty(first) else ()))
    return True


def _drop(out: Report, callee: JsPath, args: Args) -> bool:
    if args and not isinstance(args[0], dict | JsFunction):
        return False
    if "sequelize" in callee.name.lower() or "schema" in callee.name:
        out.effect("sql_drop", target(callee), "database" if "schema" not in callee.name else "schema")
    else:
        out.effect("store_drop", target(callee), "collection")
    return True


def _drop_database(out: Report, callee: JsPath, args: Args) -> bool:
    named = next((call[0] for name, call in reversed(callee.chain) if name in ("getSiblingDB", "db") and call), "")
    given = args[0] if args and isinstance(args[0], str) else named
    sql = "queryinterface" in callee.name.lower() or "queryrunner" in callee.name.lower()
    out.effect("sql_drop" if sql else "store_drop", to_text(given) if given else "", "database")
    return True


def _drop_collection(out: Report, callee: JsPath, args: Args) -> bool:
    out.effect("store_drop", to_text(args[0]) if args else target(callee), "collection")
    return True


def _sql_drop(kind: str) -> Callable[[Report, JsPath, Args], bool]:
    def work(out: Report, callee: JsPath, args: Args) -> bool:
        out.effect("sql_drop", to_text(args[-1 if kind == "column" else 0]) if args else "", kind)
        return True

    return work


def _del(out: Report, callee: JsPath, args: Args) -> bool:
    """knex("t").del() and what is written the same way; `.delete(x)` of a Map or a form is no such thing."""
    built = [name for name, _ in callee.chain if name in ("knex", "table", "from", "into")]
    if not built and not callee.name.startswith("knex"):
        if is_prisma(callee) and args:
            return _delete_one(out, callee, args)
        return "redis" in callee.name.lower() and bool(args) and _delete_one(out, callee, args)
    # Only knex says its filter before the deletion; others go on with it, as in from("t").delete().eq("id", 1).
    filtered = "knex" not in callee.name or any(name.lower().startswith("where") for name, _ in callee.chain)
    out.effect("sql_delete", target(callee), *(() if filtered else ("unfiltered",)))
    return True


def _truncate(out: Report, callee: JsPath, args: Args) -> bool:
    if args and not isinstance(args[0], dict):
        return False
    out.effect("sql_truncate", target(callee))
    return True


def _destroy(out: Report, callee: JsPath, args: Args) -> bool:
    given = args[0] if args else None
    if not isinstance(given, dict) or not set(given) & {"where", "truncate", "force", "cascade"}:
        return False
    if given.get("truncate") is True:
        out.effect("sql_truncate", target(callee))
    else:
        out.effect("sql_delete", target(callee), *(() if given.get("where") else ("unfiltered",)))
    return True


def _sync(out: Report, callee: JsPath, args: Args) -> bool:
    given = args[0] if args else None
    if not isinstance(given, dict) or given.get("force") is not True:
        return False
    out.effect("sql_drop", "", "database")
    return True


def _synchronize(out: Report, callee: JsPath, args: Args) -> bool:
    if not args or args[0] is not True:
        return False
    out.effect("sql_drop", "", "database")
    return True


def _flush(trait: str) -> Callable[[Report, JsPath, Args], bool]:
    def work(out: Report, callee: JsPath, args: Args) -> bool:
        out.effect("store_drop", "", trait)
        return True

    return work


def _redis_words(out: Report, callee: JsPath, args: Args) -> bool:
    words = args[0] if args and isinstance(args[0], list) else args
    if not words or not isinstance(words[0], str) or (callee.last == "call" and "redis" not in callee.name.lower()):
        return False
    out.run(["redis-cli", *(to_text(word) for word in words)])
    return True


_METHODS: dict[str, Callable[[Report, JsPath, Args], bool]] = {
    "deleteMany": _delete_many, "deleteOne": _delete_one, "findOneAndDelete": _delete_one, "remove": _remove,
    "findByIdAndDelete": _delete_one, "findOneAndRemove": _delete_one, "updateMany": _update_many, "drop": _drop,
    "dropDatabase": _drop_database, "dropCollection": _drop_collection, "dropTable": _sql_drop("table"),
    "dropTableIfExists": _sql_drop("table"), "dropAllTables": _sql_drop("database"), "dropColumn": _sql_drop("column"),
    "removeColumn": _sql_drop("column"), "dropSchema": _sql_drop("schema"), "dropSchemaIfExists": _sql_drop("schema"),
    "dropAllSchemas": _sql_drop("schema"), "dropView": _sql_drop("view"), "del": _del, "delete": _del,
    "truncate": _truncate, "destroy": _destroy, "sync": _sync, "synchronize": _synchronize, "flushall": _flush("all"),
    "flushAll": _flush("all"), "flushdb": _flush("database"), "flushDb": _flush("database"),
    "flushDB": _flush("database"), "FLUSHALL": _flush("all"), "FLUSHDB": _flush("database"),
    "sendCommand": _redis_words, "send_command": _redis_words,
}  # fmt: skip


# ---- AWS


def _cloud(out: Report, callee: JsPath, args: Args) -> bool:
    package, _, rest = callee.name.partition(".")
    if package.startswith("@aws-sdk/client-") and rest.endswith("Command") and "(" not in rest:
        service, operation = package.removeprefix("@aws-sdk/client-"), rest.removesuffix("Command")
    elif package.startswith("@aws-sdk/client-") and "()." in rest and not rest.endswith((".send", ")")):
        service, operation = package.removeprefix("@aws-sdk/client-"), callee.last
    elif package == "aws-sdk" and rest.count("().") == 1 and not rest.endswith(")"):
        service, operation = rest.partition("()")[0].rpartition(".")[2].lower(), callee.last
    else:
        return False
    out.run(["aws", _CLOUD.get(service, service), kebab(operation), *_parameters(args[0] if args else None)])
    return True


def _parameters(given: Value) -> list[str]:
    words: list[str] = []
    for key, value in given.items() if isinstance(given, dict) else ():
        if isinstance(value, bool):
            words.append(f"--{kebab(key)}" if value else f"--no-{kebab(key)}")
        elif isinstance(value, list):
            words += [f"--{kebab(key)}", *(to_text(item) for item in value[:50])]
        elif not isinstance(value, dict | JsFunction):
            words += [f"--{kebab(key)}", to_text(value)]
    return words


def kebab(name: str) -> str:
    """DeleteBucket and DBInstanceIdentifier as the command line spells them."""
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)
    return re.sub(r"([A-Z])([A-Z][a-z])", r"\1-\2", spaced).lower()
