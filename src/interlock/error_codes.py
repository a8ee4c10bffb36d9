"""The error registry (1.9): every code that an interface answers with, its default message, and the details it may carry."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from interlock.analysis.packs import load_words
from interlock.model import NOTHING
from interlock.times import iso


class Code(Struct, frozen=True):
    name: str
    message: str
    details: tuple[str, ...] = ()  # the only keys that its details may have


class _Registered(Struct, frozen=True, forbid_unknown_fields=True):
    code: list[Code]


@cache
def codes() -> Mapping[str, Code]:
    return {one.name: one for one in load_words("error_codes.toml", _Registered).code}


class AnswerRefused(Exception):
    def __init__(self, words: str, code: str = "PERMISSION_DENIED") -> None:
        self.code = code
        super().__init__(words)


class NotFound(AnswerRefused):
    """What was named does not exist, or not any more."""

    def __init__(self, words: str) -> None:
        super().__init__(words, "NOT_FOUND_RESOURCE")


INERT = "A token frees nothing until a person has armed it; whoever was paused cannot do so itself."


def confirmation_hint(ticket: str) -> str:
    """ERR-03: variable parts stand in quotes."""
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
        known = codes()[code]  # KeyError: an unregistered code is a bug
        self.code = code
        self.message = message or known.message
        self.details = dict(details)
        self.confirmation = confirmation
        super().__init__(self.message)
