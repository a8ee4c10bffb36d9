"""Evaluates operators and casts on known values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from interlock.analysis.facts import hole, known
from interlock.analysis.powershell.values import (
    MAX_ITEMS,
    MAX_TEXT,
    Items,
    PsChoice,
    PsObject,
    Value,
    combine,
    number,
    plain,
    spread,
    texts,
    truth,
    unknown,
)

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,4})(?:,-?\d{1,3})?(?::([^{}]*))?\}")


def binary(operator: str, left: Value, right: Value) -> Value:
    """`left operator right`; a hole where that cannot be known."""
    made = _BINARY.get(operator)
    return made(left, right) if made else unknown("", left, right)


def unary(operator: str, value: Value) -> Value:
    """`operator value`."""
    if operator == "-join":
        return join(value, "")
    if operator == "-split":
        return _split(value, r"\s+")
    if operator in ("!", "-not"):
        found = truth(value)
        return hole() if found is None else not found
    amount = number(value)
    if operator in ("-", "+") and amount is not None:
        return -amount if operator == "-" else amount
    return unknown("", value)


def _add(left: Value, right: Value) -> Value:
    if isinstance(left, list):
        return (left + (right if isinstance(right, list) else [right]))[:MAX_ITEMS]
    if isinstance(left, (int, float)) and (amount := number(right)) is not None:
        return left + amount
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    if left is None:
        return right
    return combine([left, right])


def _times(left: Value, right: Value) -> Value:
    count = number(right)
    if isinstance(left, str) and isinstance(count, int):
        return left * count if 0 <= count * max(len(left), 1) <= MAX_TEXT else hole()
    return _arithmetic(lambda a, b: a * b)(left, right)


def _arithmetic(act: Callable[[int | float, int | float], int | float]) -> Callable[[Value, Value], Value]:
    def made(left: Value, right: Value) -> Value:
        first, second = number(left), number(right)
        if first is None or second is None or max(abs(first), abs(second)) > 1e15:
            return unknown("", left, right)
        try:
            return act(first, second)
        except (ArithmeticError, ValueError):
            return unknown("", left, right)

    return made


def _compare(act: Callable[[str, str], bool]) -> Callable[[Value, Value], Value]:
    def made(left: Value, right: Value) -> Value:
        first, second = plain(left), plain(right)
        if isinstance(left, (list, PsChoice)) or not (known(first) and known(second)):
            return hole()
        return act(first.lower(), second.lower())

    return made


def _range(left: Value, right: Value) -> Value:
    first, last = number(left), number(right)
    if first is None or last is None or abs(last - first) > MAX_ITEMS:
        return hole()
    step = 1 if last >= first else -1
    return list(range(int(first), int(last) + step, step))


def join(value: Value, separator: Value) -> Value:
    """`items -join separator`."""
    parts: list[Value] = []
    for item in spread(value):
        parts += [separator, item] if parts else [item]
    return combine(parts)


def _split(value: Value, pattern: Value) -> Value:
    separator = plain(pattern[0] if isinstance(pattern, list) and pattern else pattern)
    found = _regex(separator)
    pieces: list[str] = []
    for text in texts(value):
        pieces += found.split(text) if found else [text]
    return pieces[:MAX_ITEMS]


def _replace(value: Value, change: Value) -> Value:
    pair = [*spread(change), "", ""]
    pattern, new = plain(pair[0]), plain(pair[1])
    found = _regex(pattern)
    if found is None or "$" in new:
        return unknown("", value, change)
    made = [found.sub(lambda _: new, text) for text in texts(value)]
    if any(len(text) > MAX_TEXT for text in made):
        return hole()
    return made if isinstance(value, list) else PsChoice(tuple(made)) if len(made) > 1 else made[0] if made else ""


def _regex(pattern: str) -> Any:
    """A pattern that is safe to run: linear time, case ignored; None when it cannot be used."""
    if not known(pattern) or len(pattern) > 1000:
        return None
    if re.fullmatch(r"[\w \-/:=,;!@#%&~<>'\"]*", pattern):
        return re.compile(re.escape(pattern), re.IGNORECASE) if pattern else None
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def fill(template: Value, values: Value) -> Value:
    """`template -f values`."""
    items = values if isinstance(values, list) else [values]
    text = plain(template)
    parts: list[Value] = []
    at = 0
    for found in _PLACEHOLDER.finditer(text):
        parts.append(text[at : found.start()])
        at = found.end()
        if found.group(1) is None:
            parts.append(found.group()[0])
        else:
            index = int(found.group(1))
            parts.append(_shaped(items[index], found.group(2) or "") if index < len(items) else hole())
    return combine([*parts, text[at:]])


def _shaped(value: Value, shape: str) -> Value:
    if not shape or not isinstance(value, int):
        return value
    found = re.fullmatch(r"([xXdD])(\d{0,2})", shape)
    if not found:
        return hole()
    return format(value, f"0{found.group(2) or 1}{found.group(1).replace('D', 'd')}")


def _either(left: Value, right: Value) -> Value:
    return right if left is None else left


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "-bxor": lambda a, b: a ^ b,
    "-band": lambda a, b: a & b,
    "-bor": lambda a, b: a | b,
    "-shl": lambda a, b: a << b if 0 <= b < 64 else 0,
    "-shr": lambda a, b: a >> b if 0 <= b < 64 else 0,
}


def _bits(act: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    return _arithmetic(lambda a, b: act(int(a), int(b)))


_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": _add,
    "-": _arithmetic(lambda a, b: a - b),
    "*": _times,
    "/": _arithmetic(lambda a, b: a / b if a % b else a // b),
    "%": _arithmetic(lambda a, b: a % b),
    "-f": fill,
    "..": _range,
    "-join": join,
    "-split": _split,
    "-replace": _replace,
    "-eq": _compare(lambda a, b: a == b),
    "-ne": _compare(lambda a, b: a != b),
    "-as": lambda left, right: cast(right.note, left) if isinstance(right, PsObject) else left,
    "??": _either,
    **{name: _bits(act) for name, act in _INTEGER.items()},
}


def cast(name: str, value: Value) -> Value:
    """`[name]value`."""
    kind = name.removeprefix("system.")
    if kind == "char[]" and isinstance(value, str):
        return list(value) if known(value) and len(value) <= MAX_ITEMS else [value]
    if kind in ("char", "char[]"):
        return _each(value, _char)
    if kind == "string":
        return combine([value]) if not isinstance(value, Items) else value
    if kind in ("int", "int32", "int64", "long", "byte", "double", "decimal", "byte[]", "int[]"):
        return _each(value, lambda one: ord(one) if _letter(one) and not one.isdigit() else number(one))
    if kind in ("scriptblock",) and isinstance(value, str):
        return PsObject("script", value)
    if kind in ("io.fileinfo", "io.directoryinfo"):
        return Items(tuple(texts(value)))
    if kind in ("wmiclass", "wmi", "adsi"):
        return PsObject(kind, plain(value))
    if kind == "bool":
        return truth(value)
    return value


def _letter(value: Value) -> bool:
    return isinstance(value, str) and len(value) == 1


def _char(value: Value) -> Value:
    if _letter(value) and not value.isdigit():
        return value
    amount = number(value)
    return chr(int(amount)) if amount is not None and 0 <= amount < 0x110000 else unknown("", value)


def _each(value: Value, act: Callable[[Value], Value]) -> Value:
    if isinstance(value, bytes):
        value = list(value[:MAX_ITEMS])
    if isinstance(value, list):
        made = [act(item) for item in value]
        return [hole() if item is None else item for item in made]
    made_one = act(value)
    return unknown("", value) if made_one is None else made_one
