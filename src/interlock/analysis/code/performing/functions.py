"""Effects of calls that call others: functions that they are given, and those that a value names."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from interlock.analysis.code.library import Entry, chosen, flattened, pick
from interlock.analysis.code.performing.programs import Work
from interlock.analysis.code.program.expressions import narrow
from interlock.analysis.code.program.objects import (
    Class,
    Instance,
    LibraryCall,
    Partial,
    ProgramFunction,
    ProgramScope,
)
from interlock.analysis.code.program.paths import items
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, either, made_from, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import known

_OUTER = frozenset({"Kernel", "Object", "self", "Module"})  # objects whose methods are the functions of all


def member(walk: ProgramWalk, owner: Value, name: Value) -> Value:
    """A member by its name, of an object or, without one, of the program."""
    if not isinstance(name, str) or not known(name):
        return walk.language.item(walk, owner, name)
    named = name.replace("::", ".")
    outer = owner is None or (isinstance(owner, Sym) and owner.path in _OUTER)
    return walk.language.look_up(walk, named) if outer else walk.language.attribute(walk, owner, named)


def _calls(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """A function is called with the arguments that are named, or with each item of a list."""
    func, given = (pick(call, where) or [None])[0], chosen(call, entry, "with")
    if "among" in entry:
        return _call_member(walk, call, entry["among"], func, given)
    if "each" in entry and (func is None or _is_function(walk, func)):
        return _call_each(walk, func, _rows(walk, call, entry), given, entry.get("makes", ""))
    if not _is_function(walk, func):
        return UNKNOWN
    return walk.call(func, [one for value in given for one in items(value)] if entry.get("spread") else given, {})


def _is_function(walk: ProgramWalk, value: Value) -> bool:
    """Whether a value is a function or, in a language that has that, the name of one."""
    named = isinstance(value, (str, list)) and not walk.language.lexical
    return named or isinstance(value, (ProgramFunction, Partial, Class, Instance, Sym))


def _call_member(walk: ProgramWalk, call: LibraryCall, among: object, named: Value, given: list[Value]) -> Value:
    """`owner->$name(…)` and `owner.send(name, …)`: a method whose name, or whose code, is a value."""
    owner = pick(call, among)[0]
    if isinstance(named, ProgramFunction):
        return walk.call(named, [owner, *given], {})
    if known(text_of(named)):
        return walk.call(member(walk, owner, text_of(named)), given, call.named)
    if given or among != "on":
        walk.world.unreadable("a function chosen at run time", "command")
    return Sym("?")


def _call_each(walk: ProgramWalk, func: Value, rows: list[list[Value]], given: list[Value], makes: str) -> Value:
    """A function is called for each row; without one, the items stay as they are."""
    if func is None:
        return [row[0] for row in rows]
    if makes == "total":
        return _total(walk, func, given, rows)
    made = [walk.call(func, [*row, *given], {}) for row in rows]
    if makes == "kept":
        return [_passing(walk, func, row[0]) for row, passes in zip(rows, made, strict=True) if passes is not False]
    if makes in ("one", "nothing"):
        found = [row[0] for row in rows]
        return either(*found) if found and makes == "one" else made_from(found)
    return flattened(made) if makes == "flat" else made


def _rows(walk: ProgramWalk, call: LibraryCall, entry: Entry) -> list[list[Value]]:
    """What a function gets in each of its turns: an item of every list; where its language adds them, its place and the list."""
    lists = [walk.items(_array(value)) for value in pick(call, entry["each"])] or [[UNKNOWN]]
    rows = [list(row) for row in zip(*lists, strict=False)]
    if entry.get("spread"):
        return [[one for value in row for one in items(value)] for row in rows]
    return [[*row, at, lists[0]] for at, row in enumerate(rows)] if entry.get("indexed") else rows


def _array(value: Value) -> Value:
    """An object with a length is a list of that many."""
    length = value.get("length") if isinstance(value, dict) else None
    return [UNKNOWN] * min(length, 1000) if isinstance(length, int) else value


def _total(walk: ProgramWalk, func: Value, start: list[Value], rows: list[list[Value]]) -> Value:
    """Two values become one, until one is left."""
    total = [*start, *(row[0] for row in rows[:1]), UNKNOWN][0]
    for row in rows if start else rows[1:]:
        total = walk.call(func, [total, *row], {})
    return total


def _passing(walk: ProgramWalk, test: Value, value: Value) -> Value:
    """A value that passes a test, as far as a pattern can say that."""
    node = test.node if isinstance(test, ProgramFunction) else None
    if node is None or not node.args.args:
        return value
    last = node.body if isinstance(node, ast.Lambda) else node.body[0] if len(node.body) == 1 else None
    returned = last.value if isinstance(last, ast.Return) else last
    if not isinstance(returned, ast.expr):
        return value
    with walk.inside(ProgramScope(test.scope, {node.args.args[0].arg: value})) as scope:
        narrow(walk, returned)
        return scope.names[node.args.args[0].arg]


FUNCTION_EFFECTS: Mapping[str, Work] = {"calls": _calls}
