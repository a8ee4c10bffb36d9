"""Methods of pathlib.Path: what they do to files."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.inline.python.calls_files import OWNER, Touch, bulk, chmod, touch_all
from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, file_traits, text_of
from interlock.core.read.inline.python.walk import Answer, Walk

_DELETES: Mapping[str, tuple[str, ...]] = {"unlink": (), "rmdir": ("empty_only",), "rmtree": ("recursive",)}


def _delete(walk: Walk, call: Call) -> Value:
    """Deletes on a path that is known or not; some libraries are given the path instead."""
    elsewhere = isinstance(call.owner, Sym) and "missing_ok" not in call.named
    if call.args and (call.name == "rmtree" or elsewhere):
        return walk.world.touch("delete", call.args[0], *(("recursive",) if call.name == "rmtree" else ()))
    return walk.world.touch("delete", call.owner, *_DELETES[call.name])


def _read(walk: Walk, call: Call) -> Value:
    if not isinstance(call.owner, str):
        return UNKNOWN
    walk.world.touch("read", call.owner)
    return Sym("?", traits=file_traits(call.owner))


def _link(walk: Walk, call: Call) -> Value:
    if not isinstance(call.owner, str):
        return UNKNOWN
    walk.world.touch("write", call.owner)
    return call.get(0, "target")


def _rename(walk: Walk, call: Call) -> Value:
    """`path.rename(target)`; other things that are not texts have a method of this name, too."""
    if not isinstance(call.owner, str):
        return UNKNOWN
    touch_all(walk, call, [Touch("move", OWNER), Touch("overwrite", 0, "target")])
    return call.get(0, "target")


def _replace(walk: Walk, call: Call) -> Value:
    """`path.replace(target)`; with two arguments it is a text's."""
    return _rename(walk, call) if len(call.args) == 1 else UNKNOWN


def _write(walk: Walk, call: Call) -> Value:
    return walk.world.fill(walk.world.open(call.owner, "w"), call.get(0, "data"))


def _open(walk: Walk, call: Call) -> Value:
    known_path = isinstance(call.owner, str)
    return walk.world.open(call.owner, text_of(call.get(0, "mode", "r"))) if known_path else UNKNOWN


def _chmod(walk: Walk, call: Call) -> Value:
    return chmod(walk, call.owner, call.get(0, "mode")) if isinstance(call.owner, str) else UNKNOWN


def _glob(walk: Walk, call: Call) -> Value:
    if isinstance(call.owner, (list, dict)):
        return UNKNOWN
    below = ("**",) if call.name == "rglob" else ()
    pattern = "*" if call.name == "iterdir" else call.get(0, "pattern")
    return [bulk(call.owner, *below, pattern, walk=bool(below))]


METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(_DELETES, _delete),
    "read_text": _read,
    "read_bytes": _read,
    "symlink_to": _link,
    "rename": _rename,
    "replace": _replace,
    "write_text": _write,
    "write_bytes": _write,
    "open": _open,
    "chmod": _chmod,
    **dict.fromkeys(["glob", "rglob", "iterdir"], _glob),
}
