"""Operators: what `a + b`, `a % b` or `a[b]` is, with holes for what is not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from interlock.core.read.facts import hole, known
from interlock.core.read.inline.python.paths import join_path
from interlock.core.read.inline.python.values import (
    MAX_ITEMS,
    MAX_TEXT,
    UNKNOWN,
    Sym,
    Value,
    computed,
    concat,
    either,
    made_from,
    marked,
    text_of,
    traits_of,
)

_TEXT = (str, bytes)
_WIDE = re.compile(r"[0-9]{4}|\{[^{}]*\{|%[^a-zA-Z%]*\*")  # a width that could fill the memory


def operate(op: str, left: Value, right: Value) -> Value:
    """The value of `left op right`, `op` being the name of its ast class."""
    try:
        made = _operate(op, left, right)
    except (TypeError, ValueError, ArithmeticError, IndexError, KeyError, AttributeError):
        made = UNKNOWN
    return Sym("?", traits=traits_of(left) | traits_of(right)) if made is UNKNOWN else made


def _operate(op: str, left: Value, right: Value) -> Value:
    if op == "Add":
        return _add(left, right)
    if op == "Mult":
        return _times(left, right)
    if op == "Div" and (isinstance(left, str) or isinstance(right, str)):
        return join_path(left, right)
    if op == "Mod" and isinstance(left, _TEXT):
        return percent(left, right)
    if op == "BitOr" and isinstance(left, dict) and isinstance(right, dict):
        return left | right
    whole = isinstance(left, int) and isinstance(right, int) and op in _INTEGERS
    return _INTEGERS[op](left, right) if whole and _small(left, right) else UNKNOWN


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        joined = [*left, *right]
        return UNKNOWN if len(joined) > MAX_ITEMS else (tuple(joined) if isinstance(left, tuple) else joined)
    if isinstance(left, list) or isinstance(right, list):  # part of a command line is still worth reading
        return [*left, Sym("?")] if isinstance(left, list) else [Sym("?"), *right]
    if isinstance(left, str) or isinstance(right, str):
        return concat((left, right))
    if isinstance(left, bytes) and isinstance(right, bytes):
        return left + right if len(left) + len(right) <= MAX_TEXT else UNKNOWN
    return left + right if _numbers(left, right) else UNKNOWN


def _times(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, (*_TEXT, list, tuple)):
        left, right = right, left
    if isinstance(left, (*_TEXT, list, tuple)) and isinstance(right, int):
        room = MAX_TEXT if isinstance(left, _TEXT) else MAX_ITEMS
        return left * right if len(left) * max(right, 0) <= room else UNKNOWN
    return left * right if _numbers(left, right) and _small(left, right) else UNKNOWN


def _numbers(*values: Value) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _small(*values: Value) -> bool:
    return all(abs(value) < 1 << 64 for value in values)


_INTEGERS: Mapping[str, Callable[[int, int], Value]] = {
    "Sub": lambda a, b: a - b,
    "BitXor": lambda a, b: a ^ b,
    "BitOr": lambda a, b: a | b,
    "BitAnd": lambda a, b: a & b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "LShift": lambda a, b: a << b if 0 <= b <= 64 else UNKNOWN,
    "RShift": lambda a, b: a >> b if 0 <= b <= 64 else UNKNOWN,
    "Pow": lambda a, b: a**b if 0 <= b <= 64 else UNKNOWN,
}


def percent(template: str | bytes, args: Value) -> Value:
    """`template % args`, with holes for what is not known."""
    text = text_of(template)
    if _WIDE.search(text):
        return UNKNOWN
    if isinstance(args, dict):
        made = text % {key: _shown(item) for key, item in args.items()}
    else:
        items = args if isinstance(args, tuple) else (args,)
        loose = text if computed(items) else re.sub(r"%[-+ #0-9.]*[dixXofrc]", "%s", text)
        made = loose % tuple(_shown(item) if loose is text else text_of(item) for item in items)
    return made.encode() if isinstance(template, bytes) and known(made) else marked(made, template, args)


def fill(template: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """`template.format(…)`, with holes for what is not known."""
    if len(template) > MAX_ITEMS or _WIDE.search(template):
        return concat((template, *args, *named.values()))
    loose = template if computed(list(args)) and computed(dict(named)) else re.sub(r"[!:][^{}]*\}", "}", template)
    loose = re.sub(r"\{(\w*)[.\[][^{}]*\}", "{\\1}", loose)
    made = loose.format(*map(_shown, args), **{key: _shown(item) for key, item in named.items()})
    return marked(made[:MAX_TEXT], template, *args, *named.values())


def _shown(value: Value) -> Value:
    return value if computed(value) else text_of(value)


def index(value: Value, key: Value) -> Value:
    """`value[key]`, for an index, a slice or a dictionary's key."""
    try:
        if isinstance(value, dict):
            if key in value:
                return value[key]
            return either(*value.values()) if isinstance(key, Sym) and value else UNKNOWN
        if isinstance(value, (list, tuple)) and isinstance(key, Sym) and value:
            return either(*value)
        if isinstance(value, str) and (not known(value) or isinstance(key, Sym)):
            return marked(hole(), value)
        if isinstance(value, (*_TEXT, list, tuple)) and isinstance(key, (int, slice)):
            found: Value = value[key]
            return marked(found, value) if isinstance(value, str) else found
    except (TypeError, ValueError, IndexError, KeyError):
        pass
    return made_from(value)
