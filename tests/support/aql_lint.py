"""Checks MCP-AQL answers: closed envelopes, registered codes, and messages that no leak filter takes for a stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.error_codes import codes

# The public runner's filter, as it stands there: the fourth has no word boundary.
LEAKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        "typeerror", "referenceerror", "syntaxerror", r"at\s+\S+", "/src/", "/node_modules/", r"\.ts:\d+", r"\.js:\d+",
    )
)  # fmt: skip
CODE = re.compile(r"[A-Z][A-Z0-9_]*")
_SUCCESS = {"success", "data", "warnings", "_meta"}
_BATCH = {"success", "data", "results", "summary"}
_FAILURE = {"success", "error", "confirmation"}
_CONFIRMATION = {"token", "expires_at", "message", "reasons"}
_EVERYWHERE = {"session_id", "reason"}


def clean(message: str) -> bool:
    """Whether the runner's leak filter lets a message pass."""
    return not any(pattern.search(message) for pattern in LEAKS)


def lint(envelope: Mapping[str, Any], introspection: bool = False) -> None:
    """Asserts that one envelope is closed, coded and clean."""
    if envelope.get("success") is True:
        allowed = {"success", "data"} if introspection else _BATCH if "results" in envelope else _SUCCESS
        assert set(envelope) <= allowed, f"unknown keys {set(envelope) - allowed}"
        assert "data" in envelope
        for warning in envelope.get("warnings", ()):
            assert {"code", "message"} <= set(warning) <= {"code", "message", "details", "severity"}, warning
            assert clean(warning["message"]), warning
        for one in envelope.get("results", ()):
            lint(one["result"], one["operation"] == "introspect")
        return
    assert envelope.get("success") is False, envelope
    assert set(envelope) <= _FAILURE, f"unknown keys {set(envelope) - _FAILURE}"
    error = envelope["error"]
    assert {"code", "message"} <= set(error) <= {"code", "message", "details"}, error
    assert CODE.fullmatch(error["code"]) and error["code"] in codes(), error
    assert error["message"] and clean(error["message"]), error["message"]
    if introspection:
        assert "details" not in error, error
    assert set(error.get("details", {})) <= set(codes()[error["code"]].details) | _EVERYWHERE, error
    if "confirmation" in envelope:
        assert {"token", "expires_at"} <= set(envelope["confirmation"]) <= _CONFIRMATION, envelope


def lint_all(envelopes: Iterable[Mapping[str, Any]]) -> int:
    """Asserts it of many envelopes; returns their number."""
    count = 0
    for envelope in envelopes:
        lint(envelope)
        count += 1
    return count
