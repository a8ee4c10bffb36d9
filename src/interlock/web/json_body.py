"""Parses a request's bytes as JSON within bounds; refuses duplicate keys and whatever has more than one reading (EP-11)."""

from __future__ import annotations

import json
from typing import Any

from interlock.strict_json import UnclearJson, as_written, decoder, number
from interlock.web.errors import HttpProblem, invalid_type

MOST_DEPTH = 32
MOST_ITEMS = 10_000
MOST_TEXT = 1_048_576


def parse_json(body: bytes) -> Any:
    """Raises HttpProblem for bad encoding, bad JSON, duplicate keys, and anything past the limits."""
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
    except UnclearJson as error:
        raise invalid_type(str(error)) from None
    except json.JSONDecodeError as error:
        raise invalid_type(f"the body is not JSON: see character {error.pos}") from None


_DECODER, _FLOATS = decoder(as_written), decoder(number)


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
