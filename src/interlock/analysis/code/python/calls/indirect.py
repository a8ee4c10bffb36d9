"""Calls that call the functions they are given (map, partial, threads, pools) or find something by its name."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.analysis.code.program.objects import Class, LibraryCall, Partial, ProgramFunction
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, either, flat, made_from, text_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.python.names import attribute, canonical, environment
from interlock.analysis.facts import hole, known


def _callable(walk: ProgramWalk, value: Value) -> bool:
    if isinstance(value, Sym):
        return value.path in walk.language.handled or value.path.startswith(".")
    return isinstance(value, (ProgramFunction, Partial, Class))


def _map(walk: ProgramWalk, call: LibraryCall) -> Value:
    """map and its relatives: the function is called with every item."""
    func = call.get(0, "func")
    if not _callable(walk, func):
        return UNKNOWN
    lists = [walk.items(given) for given in call.args[1:]] or [[UNKNOWN]]
    starred = "starmap" in call.name
    rows = [tuple(flat(row) or [UNKNOWN]) for row in lists[0]] if starred else list(zip(*lists, strict=False))
    return [walk.call(func, row, {}) for row in rows]


def _filter(walk: ProgramWalk, call: LibraryCall) -> Value:
    items = walk.items(call.get(1))
    if _callable(walk, call.get(0)):
        for item in items:
            walk.call(call.get(0), [item], {})
    return items


def _reduce(walk: ProgramWalk, call: LibraryCall) -> Value:
    if not _callable(walk, call.get(0)):
        return UNKNOWN
    return [walk.call(call.get(0), [item, item], {}) for item in walk.items(call.get(1))[:4]]


def _later(at: int) -> Answer:
    """Functions that are handed over to be called with the arguments that follow."""

    def hand_over(walk: ProgramWalk, call: LibraryCall) -> Value:
        func = call.get(at)
        return walk.call(func, call.args[at + 1 :], {}) if _callable(walk, func) else UNKNOWN

    return hand_over


def _thread(walk: ProgramWalk, call: LibraryCall) -> Value:
    func = call.named.get("target", call.named.get("function", call.get(1)))
    if _callable(walk, func):
        walk.call(func, flat(call.named.get("args", call.get(2, default=()))) or [], {})
    return UNKNOWN


def _new_thread(walk: ProgramWalk, call: LibraryCall) -> Value:
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


def _import(walk: ProgramWalk, call: LibraryCall) -> Value:
    name = call.text(0, "name")
    head = name if call.path.endswith("import_module") else name.partition(".")[0]
    return Sym(canonical(head)) if known(name) else Sym("?")


def _getattr(walk: ProgramWalk, call: LibraryCall) -> Value:
    owner, name = call.get(0), call.get(1)
    if isinstance(name, str) and known(name):
        return attribute(walk, owner, name)
    if isinstance(owner, Sym) and owner.path in ("os", "shutil", "subprocess", ""):
        return Sym("<chosen>")
    return made_from(owner)


def _chosen(walk: ProgramWalk, call: LibraryCall) -> Value:
    walk.world.unreadable("a function chosen at run time", "payload")
    return Sym("?")


def _call_method(walk: ProgramWalk, call: LibraryCall) -> Value:
    """What operator.methodcaller made: its arguments come first, as one list, then the object."""
    name, *args = call.args[0]
    return walk.call(attribute(walk, call.get(1), text_of(name)), args, {})


def _variable(walk: ProgramWalk, call: LibraryCall) -> Value:
    name = call.get(0, "key")
    value = environment(name) if isinstance(name, str) and known(name) else hole()
    default = call.get(1, "default", None)
    return either(value, default) if isinstance(default, str) and not known(value) else value


LOOKUP_CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(["__import__", "importlib.import_module"], _import),
    **dict.fromkeys(["getattr", "object.__getattribute__"], _getattr),
    "<chosen>": _chosen,
    "operator.attrgetter": lambda walk, call: Partial(Sym("<attrgetter>"), call.args, {}),
    "<attrgetter>": lambda walk, call: attribute(walk, call.get(1), call.text(0)),
    "operator.methodcaller": lambda walk, call: Partial(Sym("<methodcaller>"), [call.args or [""]], {}),
    "<methodcaller>": _call_method,
    **dict.fromkeys(["os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault"], _variable),
    "globals": lambda walk, call: Sym("globals()"),
}
LOOKUP_METHODS: Mapping[str, Answer] = {
    "__getattribute__": lambda walk, call: attribute(walk, call.owner, call.text(0)),
}
