"""MongoDB shell code -> its effects on databases; read as JavaScript with `db` known."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from interlock.analysis.code.javascript import deed, read_tree
from interlock.analysis.code.javascript.methods import unknown_call
from interlock.analysis.code.javascript.stores import is_empty
from interlock.analysis.code.javascript.values import JsOrigin, JsPath, Value, to_text
from interlock.analysis.facts import Report, hole

if TYPE_CHECKING:
    from interlock.analysis.code.javascript.walk import JsWalk

Args = list[Value]
Work = Callable[[Report, JsPath, Args], None]

# What the shell takes besides JavaScript, a line each.
_USE = re.compile(r"^([ \t]*)use[ \t]+([\w.-]+)[ \t]*;?[ \t]*$", re.M)
_SHOW = re.compile(r"^[ \t]*(?:show[ \t]+\w+|it|exit|quit|help)[ \t]*;?[ \t]*$", re.M)


_NAMING = frozenset({"getCollection", "collection", "getSiblingDB", "getDB"})


def read_mongo(source: str, out: Report) -> None:
    """Report what code given to mongosh or mongo would do."""
    plain = _SHOW.sub("", _USE.sub(r'\1db = db.getSiblingDB("\2");', source))
    read_tree(plain, out, _deed)


def _deed(walk: JsWalk, callee: JsPath, args: Args, base: Value) -> Value:
    if callee.name in ("Mongo", "connect"):
        return JsPath("db")
    if callee.name.partition(".")[0].removesuffix("()") != "db":
        return deed(walk, callee, args, base)
    work = _ON_DATABASE.get(callee.last) if _is_database(callee) else _ON_COLLECTION.get(callee.last)
    if callee.last in ("getCollectionNames", "getCollectionInfos", "getDBNames", "getMongo"):
        return JsOrigin("entry", "", "*") if callee.last != "getMongo" else JsPath("db")
    if callee.last in _NAMING:
        return JsPath(f"{callee.name}()", (*callee.chain, (callee.last, tuple(args))))
    if callee.last == "?":
        walk.out.unreadable("a method that is chosen at run time", "command")
    if work is not None:
        work(walk.out, callee, args)
    return unknown_call(walk, callee, args)


def _is_database(callee: JsPath) -> bool:
    """Whether the call is on a database itself and not on a collection of it."""
    owner = callee.name.rpartition(".")[0]
    return owner == "db" or owner.endswith(("getSiblingDB()", "getDB()", "getMongo()"))


def _name(callee: JsPath, args: Args) -> str:
    """The collection that a call is on."""
    owner = callee.name.rpartition(".")[0]
    inner = owner.rpartition("()")[2].removeprefix("db").removeprefix(".")
    if inner:
        return hole() if inner == "?" else inner
    given = callee.chain[-1][1] if callee.chain and callee.chain[-1][0] in ("getCollection", "collection") else ()
    return to_text(given[0]) if given else ""


def _drop(out: Report, callee: JsPath, args: Args) -> None:
    if _name(callee, args) == "*":  # the names came from the list of all collections
        out.effect("store_drop", "", "all")
    else:
        out.effect("store_drop", _name(callee, args), "collection")


def _rename(out: Report, callee: JsPath, args: Args) -> None:
    """The second argument says that a collection of the new name is dropped first."""
    if len(args) > 1 and args[1] not in (False, None):
        out.effect("store_drop", to_text(args[0]), "collection")
    out.effect("store_write", _name(callee, args))


def _drop_database(out: Report, callee: JsPath, args: Args) -> None:
    named = [given[0] for name, given in callee.chain if name in ("getSiblingDB", "getDB") and given]
    everything = bool(named) and isinstance(named[-1], JsOrigin)
    out.effect("store_drop", "" if not named or everything else to_text(named[-1]), "all" if everything else "database")


def _filtered(verb: str) -> Work:
    def work(out: Report, callee: JsPath, args: Args) -> None:
        everything = is_empty(args[0] if args else None)
        out.effect(verb, _name(callee, args), *(("unfiltered",) if everything else ()))

    return work


def _plain(verb: str, *traits: str) -> Work:
    def work(out: Report, callee: JsPath, args: Args) -> None:
        out.effect(verb, _name(callee, args), *traits)

    return work


def _named(verb: str, *traits: str) -> Work:
    def work(out: Report, callee: JsPath, args: Args) -> None:
        given = to_text(args[0]) if args and isinstance(args[0], str) else ""
        out.effect(verb, given, *traits)

    return work


def _remove(out: Report, callee: JsPath, args: Args) -> None:
    one = len(args) > 1 and (args[1] in (True, 1) or (isinstance(args[1], dict) and args[1].get("justOne") is True))
    (_plain("store_delete") if one else _filtered("store_delete"))(out, callee, args)


def _update(out: Report, callee: JsPath, args: Args) -> None:
    many = len(args) > 2 and isinstance(args[2], dict) and args[2].get("multi") is True
    (_filtered("store_write") if many else _plain("store_write"))(out, callee, args)


def _aggregate(out: Report, callee: JsPath, args: Args) -> None:
    stages = args[0] if args and isinstance(args[0], list) else args
    written = [
        (key, stage[key]) for stage in stages if isinstance(stage, dict) for key in ("$out", "$merge") if key in stage
    ]
    for key, into in written:
        into = into.get("into", into.get("coll", "")) if isinstance(into, dict) else into
        out.effect(
            "store_write", to_text(into), *(("unfiltered",) if key == "$out" else ())
        )  # which replaces all of it
    if not written:
        out.effect("store_read", _name(callee, args))


def _bulk(out: Report, callee: JsPath, args: Args) -> None:
    works = {"deleteMany": _filtered("store_delete"), "deleteOne": _plain("store_delete"),
             "updateMany": _filtered("store_write")}  # fmt: skip
    for step in args[0] if args and isinstance(args[0], list) else ():
        for name, given in step.items() if isinstance(step, dict) else ():
            inner = given.get("filter") if isinstance(given, dict) else None
            works.get(name, _plain("store_write"))(out, callee, [inner])


# Commands of db.runCommand and db.adminCommand: the first key says what is done.
_COMMANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((
        "shutdown", "dropUser", "dropAllUsersFromDatabase", "dropRole", "replSetReconfig", "replSetStepDown", "killOp",
        "setParameter", "removeShard", "fsync", "killAllSessions", "createUser",
    ), ("store_admin",)),
    **dict.fromkeys(("renameCollection", "update", "insert", "findAndModify", "create", "collMod"), ("store_write",)),
    "dropDatabase": ("store_drop", "database"), "drop": ("store_drop", "collection"),
    "dropIndexes": ("store_drop", "index"), "deleteIndexes": ("store_drop", "index"),
    "convertToCapped": ("store_delete",),
}  # fmt: skip


def _command(out: Report, callee: JsPath, args: Args) -> None:
    given = args[0] if args else None
    if isinstance(given, str):
        given = {given: 1}
    key = next(iter(given), "") if isinstance(given, dict) else ""
    if isinstance(given, dict) and key == "delete":
        filters = given.get("deletes")
        for one in filters if isinstance(filters, list) else [{}]:
            everything = is_empty(one.get("q")) if isinstance(one, dict) else False
            out.effect("store_delete", to_text(given[key]), *(("unfiltered",) if everything else ()))
        return
    verb, *traits = _COMMANDS.get(key, ("store_read",))
    value = given.get(key) if isinstance(given, dict) else None
    out.effect(verb, value if isinstance(value, str) else "", *traits)


_READS = ("find", "findOne", "count", "countDocuments", "estimatedDocumentCount", "distinct", "stats", "explain",
          "getIndexes", "dataSize", "validate", "totalSize", "storageSize", "isCapped", "watch")  # fmt: skip
_WRITES = ("insertOne", "insertMany", "insert", "save", "updateOne", "replaceOne", "findOneAndUpdate", "createIndex",
           "findOneAndReplace", "findAndModify", "renameCollection", "ensureIndex", "createIndexes")  # fmt: skip

_ON_COLLECTION: dict[str, Work] = {
    **dict.fromkeys(_READS, _plain("store_read")), **dict.fromkeys(_WRITES, _plain("store_write")),
    "drop": _drop, "renameCollection": _rename, "deleteMany": _filtered("store_delete"), "deleteOne": _plain("store_delete"), "remove": _remove,
    "findOneAndDelete": _plain("store_delete"), "updateMany": _filtered("store_write"), "update": _update,
    "aggregate": _aggregate, "dropIndexes": _plain("store_drop", "index"), "dropIndex": _plain("store_drop", "index"),
    "bulkWrite": _bulk, "mapReduce": _plain("store_write"),
}  # fmt: skip

_ADMIN = ("shutdownServer", "dropUser", "dropAllUsers", "dropRole", "dropAllRoles", "revokeRolesFromUser", "createUser",
          "updateUser", "changeUserPassword", "grantRolesToUser", "killOp", "setProfilingLevel", "fsyncLock",
          "createRole", "revokePrivilegesFromRole")  # fmt: skip
_ASKS = ("stats", "serverStatus", "version", "hostInfo", "currentOp", "getUsers", "getRoles", "isMaster", "hello")

_ON_DATABASE: dict[str, Work] = {
    **dict.fromkeys(_ADMIN, _named("store_admin")), **dict.fromkeys(_ASKS, _named("store_read")),
    "dropDatabase": _drop_database, "adminCommand": _command, "runCommand": _command, "aggregate": _aggregate,
    "createCollection": _named("store_write"), "createView": _named("store_write"),
}  # fmt: skip
