"""Parses a request's bytes as JSON within bounds; refuses duplicate keys and whatever has more than one reading (EP-11)."""

from __future__ import annotations

import json
import math
from typing import Any

from interlock.web.errors import HttpProblem

MOST_DEPTH = 32
MOST_ITEMS = 10_000
MOST_TEXT = 1_048_576
_DIGITS = 400  # digits of an integer


def parse_json(body: bytes) -> Any:
    """The value of a body; raises HttpProblem for bad encoding, bad JSON, duplicate keys, and anything past the limits."""
    value = decode_json(body)
    # Cheap tests first: depth takes brackets, size takes length, hidden characters take escapes.
    if len(body) >= MOST_ITEMS or b"\\u" in body or body.count(b"[") + body.count(b"{") > MOST_DEPTH:
        _check(value)
    return value


def decode_json(body: bytes, floats: bool = False) -> Any:
    """The value without the limits, which the caller has to check; `floats` keeps fractions as numbers."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise HttpProblem(
            "VALIDATION_INVALID_ENCODING", "the body is not UTF-8", details={"byte_offset": error.start}
        ) from None
    try:
        return (_FLOATS if floats else _DECODER).decode(text)
    except RecursionError:
        raise _too_large("nesting_depth", MOST_DEPTH, "levels") from None
    except ValueError as error:
        words = error.args[0] if isinstance(error, _DuplicateKey) else f"the body is not JSON: {_place(error)}"
        raise HttpProblem("VALIDATION_INVALID_TYPE", words) from None


class _DuplicateKey(ValueError):
    """A duplicate key in one object."""


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _DuplicateKey(f"the key {twice!r:.80} is given twice")
    return table


def _whole(text: str) -> int:
    if len(text) > _DIGITS:
        raise ValueError("a number is too long")
    return int(text)


def _fraction(text: str) -> str:
    """The number as it was written, as digests exclude floats, which have many spellings."""
    if len(text) > _DIGITS:
        raise ValueError("a number is too long")
    return text


def _number(text: str) -> float:
    value = float(text)
    if value in (math.inf, -math.inf):
        raise ValueError("a number is too large")
    return value


def _refuse_number(text: str) -> Any:
    raise ValueError(f"{text} is no number of JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_table, parse_int=_whole, parse_float=_fraction, parse_constant=_refuse_number
)
_FLOATS = json.JSONDecoder(
    object_pairs_hook=_table, parse_int=_whole, parse_float=_number, parse_constant=_refuse_number
)


def _place(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"see character {error.pos}"
    return str(error)[:100]


def _check(value: Any) -> None:
    """Walks the value without recursion."""
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            _check_text(item)
        elif isinstance(item, dict | list):
            if depth > MOST_DEPTH:
                raise _too_large("nesting_depth", MOST_DEPTH, "levels")
            if len(item) > MOST_ITEMS:
                raise _too_large("array_elements", MOST_ITEMS, "elements")
            if isinstance(item, dict):
                for key in item:
                    _check_text(key)
                waiting += [(inner, depth + 1) for inner in item.values()]
            else:
                waiting += [(inner, depth + 1) for inner in item]


def _check_text(text: str) -> None:
    if len(text) > MOST_TEXT:
        raise _too_large("string_length", MOST_TEXT, "bytes")
    if "\0" in text:
        raise HttpProblem("VALIDATION_INVALID_ENCODING", "a text holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise HttpProblem(
            "VALIDATION_INVALID_ENCODING", "a text holds half of a character (a lone surrogate)"
        ) from None


def _too_large(what: str, limit: int, unit: str) -> HttpProblem:
    details = {"limit_type": what, "limit_value": limit, "unit": unit}
    return HttpProblem(
        "VALIDATION_PAYLOAD_TOO_LARGE",
        f"{what.replace('_', ' ')}: no more than {limit} {unit} are read",
        details=details,
    )
