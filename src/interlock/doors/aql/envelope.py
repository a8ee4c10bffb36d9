"""What does every answer look like? Closed envelopes of success and failure, and which failures are errors for MCP."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlock.core.codes import CODES

# What has no place in a message: names of errors, and places in code (ERR-02).
LEAKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        "typeerror",
        "referenceerror",
        "syntaxerror",
        r"at\s+\S+",
        "/src/",
        "/node_modules/",
        r"\.ts:\d",
        r"\.js:\d",
    )
)
_CODE = re.compile(r"[A-Z][A-Z0-9_]*")
_ERRORS = frozenset({"INTERNAL_ERROR", "VALIDATION_INVALID_ENCODING"})  # C-42


class AqlProblem(Exception):
    """A call that is answered with a failure; `code` is of the registry."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, Any] | None = None,
        confirmation: Mapping[str, Any] | None = None,
    ) -> None:
        self.code, self.details, self.confirmation = code, dict(details or {}), confirmation
        self.message = message or (CODES[code].message if code in CODES else "This cannot be done")
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class Reply:
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


def failure(
    code: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    confirmation: Mapping[str, Any] | None = None,
    session: str = "",
    closed: bool = False,
) -> dict[str, Any]:
    """ERR-01; where `closed`, nothing stands beside code and message (INT-09)."""
    said: dict[str, Any] = {"code": code, "message": message}
    more = dict(details or {})
    if leaks(message):  # words of an operator or a rule that only look like a leak stay readable in the details
        said["message"] = CODES[code].message if code in CODES else "This cannot be done"
        if "reason" in (CODES[code].details if code in CODES else ()):
            more.setdefault("reason", message)
    if session:
        more["session_id"] = session  # C-47
    if more and not closed:
        said["details"] = more
    found: dict[str, Any] = {"success": False, "error": said}
    return found | ({"confirmation": dict(confirmation)} if confirmation and not closed else {})


def refused(problem: AqlProblem, session: str = "", closed: bool = False) -> Reply:
    """The reply to a call that failed."""
    made = failure(problem.code, problem.message, problem.details, problem.confirmation, session, closed)
    return Reply(made, problem.code in _ERRORS)


def leaks(message: str) -> bool:
    """Whether a message would be taken for a stack trace by the public runner."""
    return any(pattern.search(message) for pattern in LEAKS)


def is_code(code: str) -> bool:
    return bool(_CODE.fullmatch(code))


def encoded(envelope: Mapping[str, Any]) -> str:
    """The text of a tool's answer."""
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))
