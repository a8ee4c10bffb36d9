"""Methods of open files, texts, lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from interlock.core.read.inline.python.objects import Call
from interlock.core.read.inline.python.strings import text_method
from interlock.core.read.inline.python.values import MAX_ITEMS, UNKNOWN, File, Sym, Value, file_traits, flat, made_from
from interlock.core.read.inline.python.walk import Walk

_IDLE = frozenset({
    "close", "flush", "seek", "tell", "fileno", "read", "readline", "readlines", "isatty", "readable",
    "__enter__", "__exit__",
})  # fmt: skip


def on_file(walk: Walk, file: File, call: Call) -> Value:
    """A method of an open file."""
    if call.name in ("write", "writelines"):
        walk.world.fill(file, call.get(0))
    elif call.name == "truncate":
        walk.world.effect("truncate", file.path)
    elif call.name not in _IDLE and "w" in file.mode:
        file.written = True
    return file if call.name in ("__enter__", "fileno") else Sym("?", traits=file_traits(file.path))


def on_value(call: Call) -> Value:
    """A method of a text, a list or a dictionary; UNKNOWN when it cannot be known."""
    owner = call.owner
    if isinstance(owner, (str, bytes)):
        return text_method(owner, call.name, call.args, call.named)
    if isinstance(owner, list):
        return _list_method(owner, call)
    return _dict_method(owner, call) if isinstance(owner, dict) else UNKNOWN


def _list_method(items: list[Value], call: Call) -> Value:
    given = call.get(0)
    if call.name in ("append", "extend", "insert"):
        _grow(items, call.name, given, call.get(1))
    elif call.name == "pop" and items:
        return items[-1]
    elif call.name == "reverse":
        items.reverse()
    elif call.name == "copy":
        return list(items)
    return UNKNOWN


def _grow(items: list[Value], how: str, given: Value, second: Value) -> None:
    if len(items) >= MAX_ITEMS:
        items[-1] = Sym("?")
    elif how == "append":
        items.append(given)
    elif how == "extend":
        items.extend((flat(given) or [made_from(given)])[:MAX_ITEMS])
    elif isinstance(given, int):
        items.insert(given, second)


_VIEWS: Mapping[str, Callable[[dict[Value, Value]], Value]] = {
    "items": lambda items: list(items.items()),
    "values": lambda items: list(items.values()),
    "keys": list,
    "copy": dict,
}


def _dict_method(items: dict[Value, Value], call: Call) -> Value:
    given = call.get(0)
    if call.name in ("get", "pop", "setdefault"):
        return items[given] if isinstance(given, (str, int)) and given in items else call.get(1)
    if call.name == "update" and isinstance(given, dict):
        items.update(given)
    return _VIEWS[call.name](items) if call.name in _VIEWS else UNKNOWN
