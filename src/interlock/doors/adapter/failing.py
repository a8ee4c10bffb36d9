"""What went wrong with one operation -> an error of the registry; never with a secret in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.core.codes import CODES
from interlock.doors.aql.envelope import AqlProblem


class Failure(AqlProblem):
    """An operation that ends in an error of the registry (1.9)."""

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, Any] | None = None,
        confirmation: Mapping[str, Any] | None = None,
    ) -> None:
        known = {key: value for key, value in (details or {}).items() if value is not None}
        super().__init__(code if code in CODES else "INTERNAL_ERROR", message, known, confirmation)


def invalid(param: str, expected: str) -> Failure:
    """A value that cannot be used; the value itself is not repeated."""
    return Failure(
        "VALIDATION_INVALID_VALUE", f"'{param}': expected {expected}", {"param_name": param, "expected": expected}
    )


def failure_of(body: Any) -> Failure:
    """The error in an answer of the daemon; what cannot be read is a refusal."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return Failure("INTERNAL_ERROR", "The daemon's answer cannot be read, so nothing is done")
    details = error.get("details")
    confirmation = body.get("confirmation")
    return Failure(
        str(error.get("code", "")),
        str(error.get("message", "")),
        details if isinstance(details, Mapping) else None,
        confirmation if isinstance(confirmation, Mapping) else None,
    )
