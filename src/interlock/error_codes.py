"""The error registry (1.9): every code that an interface answers with, its default message, and the details it may carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.model import NOTHING
from interlock.times import iso


class Code(Struct, frozen=True):
    """Its default message, and the only keys that its details may have."""

    message: str  # the default; free of values, paths and names of code (ERR-02)
    details: tuple[str, ...] = ()


_LIMIT = ("limit", "remaining", "window", "resets_at", "retry_after_seconds")

CODES: Mapping[str, Code] = {
    "VALIDATION_MISSING_PARAM": Code("A required parameter is missing", ("param_name", "operation")),
    "VALIDATION_INVALID_TYPE": Code("A parameter has the wrong type", ("param_name", "expected_type", "actual_type")),
    "VALIDATION_INVALID_VALUE": Code(
        "A parameter has an invalid value", ("param_name", "expected", "http_status", "upstream_error")
    ),
    "VALIDATION_UNKNOWN_PARAM": Code("A parameter is unknown", ("operation", "unknown_params", "valid_params")),
    "VALIDATION_INVALID_ENCODING": Code("The text is not valid UTF-8", ("location", "byte_offset")),
    "VALIDATION_ENDPOINT_MISMATCH": Code(
        "This operation belongs to another endpoint", ("operation", "expected_endpoint", "actual_endpoint")
    ),
    "VALIDATION_PAYLOAD_TOO_LARGE": Code(
        "The request is too large", ("limit_type", "limit_value", "actual_value", "unit")
    ),
    "NOT_FOUND_OPERATION": Code("There is no such operation", ("operation", "available")),
    "NOT_FOUND_RESOURCE": Code("There is no such resource", ("resource_type", "resource_id", "http_status")),
    "PERMISSION_DENIED": Code("This is not allowed", ("reason", "required_scope", "http_status")),
    "PERMISSION_TRUST_LEVEL_INSUFFICIENT": Code(
        "This adapter is not trusted enough", ("operation", "required_trust", "actual_trust", "danger_level")
    ),
    "PERMISSION_DANGER_LEVEL_DENIED": Code(
        "This adapter may not do anything so dangerous",
        ("operation", "danger_level", "adapter_trust", "minimum_trust_required", "reasons"),
    ),
    "CONFIRMATION_REQUIRED": Code(
        "This operation requires confirmation",
        ("operation", "danger_level", "reasons", "confirmation_message", "confirmation_token", "expires_at"),
    ),
    "RATE_LIMIT_EXCEEDED": Code("Too many requests", _LIMIT),
    "RATE_LIMIT_QUOTA_PAUSE": Code(
        "A human has to decide whether to go on",
        ("metric", "current", "pause_threshold", "hard_stop_threshold", "confirmation_token", "expires_at"),
    ),
    "RATE_LIMIT_QUOTA_EXHAUSTED": Code(
        "A quota is used up", ("metric", "current", "hard_stop_threshold", "resets_at", "retry_after_seconds")
    ),
    "TOKEN_INVALID": Code("This confirmation token is not valid", ("token",)),
    "TOKEN_EXPIRED": Code("This confirmation token has expired", ("token", "expired_at", "current_time")),
    "TOKEN_ALREADY_USED": Code("This confirmation token was used already", ("token", "consumed_at")),
    "TOKEN_SCOPE_MISMATCH": Code(
        "This confirmation token is for another action",
        ("token", "token_operation", "requested_operation"),
    ),
    "PLANNER_FAILED": Code("The planner gave no plan"),
    "PLANNER_TIMEOUT": Code("The planner did not answer in time"),
    "PLANNER_NOT_CHOSEN": Code("No planner has been chosen yet"),
    "INTERNAL_ERROR": Code("Nothing could be decided", ("http_status", "upstream_error")),
}


class AnswerRefused(Exception):
    """A refused answer; `code` is of the error registry."""

    def __init__(self, words: str, code: str = "PERMISSION_DENIED") -> None:
        self.code = code
        super().__init__(words)


class NotFound(AnswerRefused):
    """What was named does not exist, or not any more."""

    def __init__(self, words: str) -> None:
        super().__init__(words, "NOT_FOUND_RESOURCE")


INERT = "A token frees nothing until a person has armed it; whoever was paused cannot do so itself."


def confirmation_hint(ticket: str) -> str:
    """The message of an agent to its user about a held operation (ERR-03: variable parts stand in quotes)."""
    return (
        f"This operation requires confirmation: a person can answer ticket '{ticket}' with `interlock approve {ticket}`"
    )


def limit_details(most: int, seconds: float, now: float) -> dict[str, Any]:
    """The details of RATE_LIMIT_EXCEEDED where too many attempts failed within a minute."""
    wait = {"resets_at": iso(now + seconds), "retry_after_seconds": seconds}
    return {"limit": most, "remaining": 0, "window": "minute", **wait}


class LoopProblem(Exception):
    """A code of the registry, a message, details, and the confirmation that is required."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, Any] = NOTHING,
        confirmation: Mapping[str, Any] | None = None,
    ) -> None:
        known = CODES[code]  # KeyError: an unregistered code is a bug
        self.code = code
        self.message = message or known.message
        self.details = dict(details)
        self.confirmation = confirmation
        super().__init__(self.message)
