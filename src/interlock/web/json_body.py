"""Parses a request's bytes as JSON within bounds; refuses duplicate keys and whatever has more than one reading (EP-11)."""

from __future__ import annotations

import json
from typing import Any

from interlock.strict_json import UnclearJson, as_written, decoder, number
from interlock.web.errors import HttpProblem, invalid_type, too_large

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
    """The caller has to check the limits; `floats` keeps fractions as numbers."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _wrong_encoding("the body is not UTF-8", {"byte_offset": error.start}) from None
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
            inside = [*item, *item.values()] if isinstance(item, dict) else item
            waiting += [(inner, depth + 1) for inner in inside]


def _check_text(text: str) -> None:
    if len(text) > MOST_TEXT:
        raise _too_large("string_length", MOST_TEXT, "bytes")
    if "\0" in text:
        raise _wrong_encoding("a text holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong_encoding("a text holds half of a character (a lone surrogate)") from None


def _wrong_encoding(words: str, details: dict[str, int] | None = None) -> HttpProblem:
    return HttpProblem("VALIDATION_INVALID_ENCODING", words, details=details)


def _too_large(what: str, limit: int, unit: str) -> HttpProblem:
    return too_large(f"{what.replace('_', ' ')}: no more than {limit} {unit} are read", what, limit, unit)
