"""How much may one call hold? Sizes, depth and characters of what was sent and of what is answered (EP-11)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.doors.aql.envelope import AqlProblem

REQUEST, RESPONSE, STRING = 1_048_576, 10_485_760, 1_048_576  # bytes
ELEMENTS, DEPTH = 10_000, 32
LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "max_request_size": REQUEST,
        "max_response_size": RESPONSE,
        "max_string_length": STRING,
        "max_array_elements": ELEMENTS,
        "max_nesting_depth": DEPTH,
    }
)
_PLAIN = (str, int, float, type(None))
_UNITS = {"array_elements": "elements", "nesting_depth": "levels"}


def check(arguments: Any) -> None:
    """Refuses what is too much, and text that is none; walks without recursion, and what it has walked can be written."""
    waiting = [(arguments, 1)]
    size = 2
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            size += _text(item) + 2
        elif isinstance(item, dict | list):
            if depth > DEPTH:
                raise too_large("nesting_depth", DEPTH, depth)
            if len(item) > ELEMENTS:
                raise too_large("array_elements", ELEMENTS, len(item))
            size += len(item) + 2
            if isinstance(item, dict):
                size += sum(_text(key) + 3 for key in item)
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
        else:
            size += 4
    if size > REQUEST:  # never more than its JSON has
        raise too_large("request_size", REQUEST, size)


def fits(envelope: Mapping[str, Any]) -> None:
    """Refuses an answer that nobody could take; only a long one is written to know."""
    if _many(envelope) and (size := len(json.dumps(envelope, ensure_ascii=False).encode())) > RESPONSE:
        raise too_large("response_size", RESPONSE, size)


def too_large(what: str, limit: int, actual: int) -> AqlProblem:
    unit = _UNITS.get(what, "bytes")
    details = {"limit_type": what, "limit_value": limit, "actual_value": actual, "unit": unit}
    words = f"Payload too large: '{what}' is {actual} {unit}, the limit is {limit}"
    return AqlProblem("VALIDATION_PAYLOAD_TOO_LARGE", words, details)


def bad_text(words: str, location: str = "") -> AqlProblem:
    return AqlProblem("VALIDATION_INVALID_ENCODING", words, {"location": location} if location else None)


def _text(text: str) -> int:
    """How many bytes a text has."""
    if "\0" in text:
        raise bad_text("A text holds a NUL character")
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise bad_text("A text holds half of a character (a lone surrogate)") from None
    if size > STRING:
        raise too_large("string_length", STRING, size)
    return size


def _many(envelope: Mapping[str, Any]) -> bool:
    """Whether an answer could be long at all."""
    waiting: list[Any] = [envelope]
    budget = 100_000
    while waiting and budget > 0:
        item = waiting.pop()
        budget -= len(item) if isinstance(item, str) else 8
        if isinstance(item, dict):  # what most are; to ask whether it is any mapping takes longer
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
        elif not isinstance(item, _PLAIN) and isinstance(item, Mapping):
            waiting += item.values()
    return budget <= 0
