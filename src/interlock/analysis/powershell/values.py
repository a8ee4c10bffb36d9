"""Values of PowerShell as texts, lists and numbers, and the results of its operators and casts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.analysis.code.program.encodings import substituted
from interlock.analysis.code.program.paths import PATH
from interlock.analysis.code.program.results import fill, index, result
from interlock.analysis.code.program.values import (
    MAX_ITEMS,
    UNKNOWN,
    ProgramFunction,
    Sym,
    Value,
    made_from,
    marked,
    path_of,
    tagged,
    text_of,
    traits_of,
)
from interlock.analysis.facts import hole, known
from interlock.analysis.packs import each_name

SCRIPT = "<script>"  # the path of a text that is code, its text the one argument
_SHAPE = re.compile(r":([xXdD])(\d{1,2})\}")


def spread(value: Value) -> list[Value]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def single(values: list[Value]) -> Value:
    return None if not values else values[0] if len(values) == 1 else values


def texts(value: Value) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [text for item in value[:MAX_ITEMS] for text in texts(item)]
    if isinstance(value, ProgramFunction):
        return ["{}"]
    if path_of(value) == SCRIPT:
        return [text_of(value.args[0])]
    if path_of(value).startswith("get-"):
        return [hole(value.path.partition("-")[2].partition("()")[0])]
    return [] if value is None else [text_of(value)]


def plain(value: Value) -> str:
    found = texts(value)
    return found[0] if len(found) == 1 else marked(" ".join(found), value)


def script(text: Value) -> Sym:
    return Sym(SCRIPT, args=(text,), traits=traits_of(text))


def number(value: Value) -> int | float | None:
    try:
        if isinstance(value, str):
            return int(value, 16 if value[:2].lower() == "0x" else 10)
        return value if isinstance(value, float) else int(value)
    except (TypeError, ValueError):
        return None


# -- operators


def joined(value: Value, between: Value = "") -> Value:
    return result("join", [between, spread(value)])


def filled(template: Value, *values: Value) -> Value:
    text = _SHAPE.sub(lambda found: f":0{found[2]}{found[1].replace('D', 'd')}}}", text_of(template))
    return fill(text, [one for value in values for one in spread(value)], {})


def counted(first: Value, last: Value) -> Value:
    start, end = number(first), number(last)
    if start is None or end is None or abs(end - start) > MAX_ITEMS:
        return UNKNOWN
    step = 1 if end >= start else -1
    return list(range(int(start), int(end) + step, step))


def split(value: Value, pattern: Value, *_: Value) -> Value:
    mark = plain(spread(pattern)[0] if spread(pattern) else "")
    cut = [substituted(text, "\0", mark, "gi") if mark and known(text) else text for text in texts(value)]
    return [marked(piece, value) for text in cut for piece in text.split("\0")][:MAX_ITEMS]


def replaced(value: Value, pattern: Value, new: Value = "", *_: Value) -> Value:
    """`texts -replace pattern, new`; a list stays one."""
    made = [marked(substituted(text, plain(new), plain(pattern), "gi"), value, new) for text in texts(value)]
    return made if isinstance(value, list) else single(list(made))


# -- casts


def _is_letter(value: Value) -> bool:
    return isinstance(value, str) and len(value) == 1 and not value.isdigit()


def _char(value: Value) -> Value:
    if _is_letter(value):
        return value
    amount = number(value)
    return chr(int(amount)) if amount is not None and 0 <= amount < 0x110000 else made_from(value)


def _whole(value: Value) -> Value:
    amount = ord(value) if _is_letter(value) else number(value)
    return made_from(value) if amount is None else amount


def _each(work: Callable[[Value], Value]) -> Callable[[Value], Value]:
    def made(value: Value) -> Value:
        several = isinstance(value, (list, bytes))
        return [work(item) for item in value[:MAX_ITEMS]] if several else work(value)

    return made


def _letters(value: Value) -> Value:
    return list(value) if isinstance(value, str) and known(value) and len(value) <= MAX_ITEMS else _CASTS["char"](value)


_CASTS: Mapping[str, Callable[[Value], Any]] = each_name({
    "char": _each(_char),
    "char[]": _letters,
    "string": lambda value: value if isinstance(value, Sym) else plain(value),
    "int int32 int64 long byte double decimal byte[] int[]": _each(_whole),
    "scriptblock": script,
    "io.fileinfo io.directoryinfo": lambda value: single([tagged(text, PATH) for text in texts(value)]),
    "wmiclass wmi adsi": lambda value: Sym(plain(value).lower()),
    "array": spread,
})  # fmt: skip


def cast(name: str, value: Value) -> Value:
    """A type that changes nothing here gives the value itself."""
    work = _CASTS.get(name.removeprefix("system."))
    return work(value) if work else value


def item(owner: Value, key: Value) -> Value:
    """Several keys give a list, and names have no case."""
    if isinstance(key, list):
        return [item(owner, one) for one in key[:MAX_ITEMS]]
    if isinstance(owner, dict):
        return owner.get(key.lower() if isinstance(key, str) else key)
    place = number(key)
    return UNKNOWN if place is None or isinstance(owner, Sym) else index(owner, int(place))
