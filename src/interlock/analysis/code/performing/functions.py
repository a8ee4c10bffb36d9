"""Effects of calls that call functions: those that they are given, and those that a value names."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.code.library import Entry, chosen, pick
from interlock.analysis.code.performing.programs import Work
from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction
from interlock.analysis.code.program.paths import items
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, flat, text_of
from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.facts import known

FEW = 64  # items that a function is called with
_OUTER = frozenset({"Kernel", "Object", "self", "Module"})  # objects whose methods are the functions of all


def _calls(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """Functions that are called with each item of a list, or with the arguments that are named."""
    given = chosen(call, entry, "with")
    each = pick(call, entry["each"]) if "each" in entry else None
    rows = [given]
    if each is not None:
        lists = [walk.items(value)[:FEW] for value in each] or [[UNKNOWN]]
        rows = [[*row, *given] for row in zip(*lists, strict=False)]
    if entry.get("spread"):
        rows = [[one for value in row for one in flat(value) or [UNKNOWN]] if row else row for row in rows]
    made = [walk.call(func, row, {}) for func in pick(call, where)[:1] if func is not call.owner for row in rows]
    return made if each is not None else made[0] if made else UNKNOWN


def _call_named(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """send(:name, …): a call whose name is a value."""
    named = text_of(call.get(0))
    if known(named):
        return walk.call(_named(walk, call, named), call.args[1:], call.named)
    if len(call.args) > 1:
        walk.world.unreadable("a function chosen at run time", "command")
    return Sym("?")


def _call_member(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """`owner->$name(…)`: a method whose name, or whose code, is a value."""
    owner, method, *args = call.args
    if isinstance(method, ProgramFunction):
        return walk.call(method, [owner, *args], {})
    if not known(text_of(method)):
        walk.world.unreadable("a function chosen at run time", "command")
        return Sym("?")
    return walk.call(walk.language.attribute(walk, owner, text_of(method)), args, call.named)


def _call_listed(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """A function that is called with the items of a list."""
    return walk.call(call.get(0), [one for given in pick(call, where) for one in items(given)], {})


def _find_named(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """A function or a constant by its name."""
    named = text_of(call.get(0)).replace("::", ".")
    return _named(walk, call, named) if known(named) and call.args else UNKNOWN


def _named(walk: ProgramWalk, call: LibraryCall, named: str) -> Value:
    outer = call.owner is None or (isinstance(call.owner, Sym) and call.owner.path in _OUTER)
    return walk.language.look_up(walk, named) if outer else walk.language.attribute(walk, call.owner, named)


FUNCTION_EFFECTS: Mapping[str, Work] = {
    "calls": _calls,
    "call_named": _call_named,
    "call_member": _call_member,
    "call_listed": _call_listed,
    "find_named": _find_named,
}
