"""MongoDB shell code -> its effects on databases: JavaScript, with `db` and commands that are objects."""

from __future__ import annotations

import re

from msgspec.structs import replace

from interlock.analysis.code.javascript import JAVASCRIPT
from interlock.analysis.code.javascript.answers import chosen_late
from interlock.analysis.code.library import library
from interlock.analysis.code.performing import perform
from interlock.analysis.code.program.objects import LibraryCall
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk

# What the shell takes besides JavaScript, a line each.
_USE = re.compile(r"^([ \t]*)use[ \t]+([\w.-]+)[ \t]*;?[ \t]*$", re.M)
_SHOW = re.compile(r"^[ \t]*(?:show[ \t]+\w+|it|exit|quit|help)[ \t]*;?[ \t]*$", re.M)


def _method(walk: ProgramWalk, owner: Value, name: str, args: list[Value]) -> None:
    walk.call(walk.language.attribute(walk, owner, name), args, {})


def _tell(walk: ProgramWalk, call: LibraryCall, key: str, args: list[Value]) -> None:
    """Tell what the table says of a part of a call."""
    entry = library("mongo").calls.get(key)
    if entry is not None:
        perform(walk, LibraryCall(key, call.owner, args, {}), entry)


def _command(walk: ProgramWalk, call: LibraryCall) -> Value:
    """runCommand({drop: "users"}): the first key says what is done, its value to which collection."""
    given = call.get(0)
    given = {given: 1} if isinstance(given, str) else given
    if not isinstance(given, dict) or not given:
        return UNKNOWN
    key, value = next(iter(given.items()))
    if key == "delete":
        filters = given.get("deletes")
        for one in filters if isinstance(filters, list) else [{}]:
            found = one.get("q") if isinstance(one, dict) else UNKNOWN
            _method(walk, walk.language.attribute(walk, call.owner, text_of(value)), "deleteMany", [found])
        return Sym("?")
    known = f"<command>.{key}" if f"<command>.{key}" in library("mongo").calls else "<command>"
    _tell(walk, call, known, [value] if isinstance(value, str) else [])
    return Sym("?", traits=frozenset({"bulk"} if key.startswith("list") else ()))


def _aggregate(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A pipeline, of which some stages write."""
    stages = call.get(0) if isinstance(call.get(0), list) else call.args
    written = [(key, into) for stage in stages if isinstance(stage, dict) for key, into in stage.items()]
    written = [(key, into) for key, into in written if key in ("$out", "$merge")]
    for key, into in written:
        named = into.get("into", into.get("coll", "")) if isinstance(into, dict) else into
        _tell(walk, call, f"<stage>.{key}", [named])
    if not written:
        _tell(walk, call, "<stage>", [])
    return Sym(f"{call.path}()", call.owner)


def _bulk(walk: ProgramWalk, call: LibraryCall) -> Value:
    """bulkWrite([{deleteMany: {filter: {}}}]): methods of the collection, as objects."""
    steps = call.get(0)
    for step in steps if isinstance(steps, list) else ():
        for name, given in step.items() if isinstance(step, dict) else ():
            _method(walk, call.owner, text_of(name), [given.get("filter") if isinstance(given, dict) else None])
    return Sym("?")


def _rename(walk: ProgramWalk, call: LibraryCall) -> Value:
    """The second argument says that a collection of the new name is dropped first."""
    if call.get(1, default=None) not in (False, None):
        _tell(walk, call, "<command>.drop", call.args[:1])
    _tell(walk, call, "<renamed>", [])
    return Sym("?")


read_mongo = replace(
    JAVASCRIPT,
    name="MongoDB shell code",
    key="mongo",
    parse=lambda source: JAVASCRIPT.parse(_SHOW.sub("", _USE.sub(r'\1db = db.getSiblingDB("\2");', source))),
    extra={
        **JAVASCRIPT.extra,
        **dict.fromkeys(
            ["db.getCollection", "db.collection"],
            lambda walk, call: walk.language.item(walk, call.owner, call.get(0) if call.text(0) else UNKNOWN),
        ),
        **dict.fromkeys(["db.runCommand", "db.adminCommand"], _command),
        **dict.fromkeys(["db.aggregate", "db.*.aggregate"], _aggregate),
        "db.*.bulkWrite": _bulk,
        "db.*.renameCollection": _rename,
        **dict.fromkeys(["db.[]", "db.*.[]"], chosen_late),
    },
).read
