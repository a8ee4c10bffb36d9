"""What any call of a JavaScript program does, by the name it is called by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.read.inline.javascript.code import CODE
from interlock.core.read.inline.javascript.files import FILES, Args, Work, called_back, remove_globs
from interlock.core.read.inline.javascript.methods import unknown_call
from interlock.core.read.inline.javascript.net import NET, network
from interlock.core.read.inline.javascript.programs import PROGRAMS, execa, on_made, shelljs, tagged
from interlock.core.read.inline.javascript.stores import stores
from interlock.core.read.inline.javascript.values import UNKNOWN, Made, Ref, Value

if TYPE_CHECKING:
    from interlock.core.read.inline.javascript.walk import Walk

_CHOSEN_LATE = frozenset({"fs", "child_process", "globalThis", "Bun", "Deno", "shelljs", "process"})


def deed(walk: Walk, callee: Ref, args: Args, base: Value) -> Value:
    """Report what a call does and give what it returns."""
    if isinstance(base, Made):
        if base.kind == "item" and stores(walk, Ref(f"?.{callee.last}"), args, base):
            return UNKNOWN
        value = on_made(walk, base, callee.last, args)
        return value if value is not UNKNOWN else network(walk, callee, args, base)
    name = callee.name
    for key in (name, name.removesuffix("Sync")):
        work = _DEEDS.get(key)
        if work is not None:
            value = work(walk, callee, args)
            return called_back(walk, args, value) if name.startswith("fs.") else value
    root = name.partition(".")[0].removesuffix("()")
    if root in _CHOSEN_LATE and callee.last == "?":
        walk.dynamic = True
        walk.out.unreadable("a method that is chosen at run time", "command")
    if root in _FAMILIES:
        return _FAMILIES[root](walk, callee, args)
    if stores(walk, callee, args, base):
        return unknown_call(walk, callee, args)
    value = network(walk, callee, args, base)
    return unknown_call(walk, callee, args) if value is None else value


def _zx(walk: Walk, callee: Ref, args: Args) -> Value:
    if callee.last == "$":
        return tagged(walk, callee, args)
    if callee.name.startswith("zx.fs."):
        return deed(walk, Ref(callee.name[3:], callee.chain), args, UNKNOWN)
    return unknown_call(walk, callee, args)


_DEEDS: dict[str, Work] = {**FILES, **PROGRAMS, **NET, **CODE}

# Libraries whose functions all do the same kind of thing.
_FAMILIES: dict[str, Work] = {
    "rimraf": remove_globs, "del": remove_globs, "shelljs": shelljs, "shx": shelljs, "execa": execa, "zx": _zx,
}  # fmt: skip
