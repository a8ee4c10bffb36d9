"""Functions that call the functions they are given: map, partial, threads, pools."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.inline.python.objects import Call, Class, Func, Partial
from interlock.core.read.inline.python.values import UNKNOWN, Sym, Value, flat
from interlock.core.read.inline.python.walk import Answer, Walk


def _callable(walk: Walk, value: Value) -> bool:
    if isinstance(value, Sym):
        return value.path in walk.language.handled or value.path.startswith(".")
    return isinstance(value, (Func, Partial, Class))


def _map(walk: Walk, call: Call) -> Value:
    """map and its relatives: the function is called with every item."""
    func = call.get(0, "func")
    if not _callable(walk, func):
        return UNKNOWN
    lists = [walk.items(given) for given in call.args[1:]] or [[UNKNOWN]]
    starred = "starmap" in call.name
    rows = [tuple(flat(row) or [UNKNOWN]) for row in lists[0]] if starred else list(zip(*lists, strict=False))
    return [walk.call(func, row, {}) for row in rows]


def _filter(walk: Walk, call: Call) -> Value:
    items = walk.items(call.get(1))
    if _callable(walk, call.get(0)):
        for item in items:
            walk.call(call.get(0), [item], {})
    return items


def _reduce(walk: Walk, call: Call) -> Value:
    if not _callable(walk, call.get(0)):
        return UNKNOWN
    return [walk.call(call.get(0), [item, item], {}) for item in walk.items(call.get(1))[:4]]


def _later(at: int) -> Answer:
    """Functions that are handed over to be called with the arguments that follow."""

    def hand_over(walk: Walk, call: Call) -> Value:
        func = call.get(at)
        return walk.call(func, call.args[at + 1 :], {}) if _callable(walk, func) else UNKNOWN

    return hand_over


def _thread(walk: Walk, call: Call) -> Value:
    func = call.named.get("target", call.named.get("function", call.get(1)))
    if _callable(walk, func):
        walk.call(func, flat(call.named.get("args", call.get(2, default=()))) or [], {})
    return UNKNOWN


def _new_thread(walk: Walk, call: Call) -> Value:
    given = flat(call.get(1, default=())) or []
    return walk.call(call.get(0), given, {}) if _callable(walk, call.get(0)) else UNKNOWN


CALLS: Mapping[str, Answer] = {
    "functools.partial": lambda walk, call: Partial(call.get(0), call.args[1:], call.named),
    **dict.fromkeys(["map", "itertools.starmap"], _map),
    "filter": _filter,
    "functools.reduce": _reduce,
    **dict.fromkeys(["threading.Thread", "threading.Timer", "multiprocessing.Process"], _thread),
    "_thread.start_new_thread": _new_thread,
    **dict.fromkeys(["atexit.register", "asyncio.to_thread", "contextlib.ExitStack().callback"], _later(0)),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(["imap", "imap_unordered", "map", "map_async", "starmap"], _map),
    **dict.fromkeys(["submit", "apply_async", "call_soon", "call_soon_threadsafe"], _later(0)),
    **dict.fromkeys(["run_in_executor", "call_later", "call_at"], _later(1)),
}
