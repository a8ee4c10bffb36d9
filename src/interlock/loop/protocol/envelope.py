"""Closed envelopes of success and failure, which failures are MCP errors, and a call's size, depth and text limits (EP-11)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from interlock.error_codes import LoopProblem, codes

# Names of exceptions and places in code have no place in a message (ERR-02).
_LEAKS = re.compile(r"(?i)typeerror|referenceerror|syntaxerror|at\s+\S+|/src/|/node_modules/|\.[tj]s:\d")
_ERRORS = frozenset({"INTERNAL_ERROR", "VALIDATION_INVALID_ENCODING"})  # C-42


class ProtocolReply(Struct, frozen=True):
    """An envelope, and whether it is an error to MCP (EP-09)."""

    envelope: Mapping[str, Any]
    is_error: bool = False

    @property
    def wire(self) -> dict[str, Any]:
        return {"envelope": dict(self.envelope), "isError": self.is_error}


def success(
    data: Any, warnings: Sequence[Mapping[str, Any]] = (), meta: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """EP-13."""
    found: dict[str, Any] = {"success": True, "data": data}
    if warnings:
        found["warnings"] = [dict(one) for one in warnings]
    return found | ({"_meta": dict(meta)} if meta else {})


def refusal(problem: LoopProblem, session: str = "", closed: bool = False) -> ProtocolReply:
    """A failed call's reply (ERR-01); where `closed`, code and message only (INT-09)."""
    error: dict[str, Any] = {"code": problem.code, "message": problem.message}
    more, known = dict(problem.details), codes()[problem.code]
    if leaks(problem.message):  # words of an operator or a rule that only look like a leak stay readable in the details
        error["message"] = known.message
        if "reason" in known.details:
            more.setdefault("reason", problem.message)
    if session:
        more["session_id"] = session  # C-47
    if more and not closed:
        error["details"] = more
    made: dict[str, Any] = {"success": False, "error": error}
    if problem.confirmation and not closed:
        made["confirmation"] = dict(problem.confirmation)
    return ProtocolReply(made, problem.code in _ERRORS)


def leaks(message: str) -> bool:
    """Whether the public runner would take a message for a stack trace."""
    return _LEAKS.search(message) is not None


def encode(envelope: Mapping[str, Any]) -> str:
    return msgspec.json.encode(envelope).decode()


REQUEST, RESPONSE, STRING = 1_048_576, 10_485_760, 1_048_576  # bytes
ELEMENTS, DEPTH = 10_000, 32
LIMITS: Mapping[str, int] = {
    "max_request_size": REQUEST,
    "max_response_size": RESPONSE,
    "max_string_length": STRING,
    "max_array_elements": ELEMENTS,
    "max_nesting_depth": DEPTH,
}
_UNITS = {"array_elements": "elements", "nesting_depth": "levels"}


def check_request(arguments: Any) -> None:
    """Refuses a request too large or deep, and malformed text; walks without recursion, so that it can be serialised."""
    waiting = [(arguments, 1)]
    size = 2
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, str):
            size += _text(item) + 2
        elif isinstance(item, dict | list):
            if depth > DEPTH:
                raise too_large("nesting_depth", depth)
            if len(item) > ELEMENTS:
                raise too_large("array_elements", len(item))
            size += len(item) + 2
            if isinstance(item, dict):
                size += sum(_text(key) + 3 for key in item)
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
        else:
            size += 4
    if size > REQUEST:  # never more than its JSON has
        raise too_large("request_size", size)


def check_reply(envelope: Mapping[str, Any]) -> None:
    try:
        size = len(msgspec.json.encode(envelope, enc_hook=dict))
    except UnicodeEncodeError:  # half of a character, which is replaced when it is sent
        size = len(json.dumps(envelope, default=dict))
    if size > RESPONSE:
        raise too_large("response_size", size)


def too_large(what: str, actual: int) -> LoopProblem:
    unit, limit = _UNITS.get(what, "bytes"), LIMITS[f"max_{what}"]
    details = {"limit_type": what, "limit_value": limit, "actual_value": actual, "unit": unit}
    words = f"Payload too large: '{what}' is {actual} {unit}, the limit is {limit}"
    return LoopProblem("VALIDATION_PAYLOAD_TOO_LARGE", words, details)


def bad_text(words: str) -> LoopProblem:
    return LoopProblem("VALIDATION_INVALID_ENCODING", words)


def _text(text: str) -> int:
    if "\0" in text:
        raise LoopProblem("VALIDATION_INVALID_ENCODING", "A text holds a NUL character")
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise bad_text("A text holds half of a character (a lone surrogate)") from None
    if size > STRING:
        raise too_large("string_length", size)
    return size
