"""Adapter files served as an MCP-AQL server; here its errors, free of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.error_codes import CODES, LoopProblem


def invalid_value(param: str, expected: str) -> LoopProblem:
    """The value itself is not repeated."""
    return LoopProblem(
        "VALIDATION_INVALID_VALUE", f"'{param}': expected {expected}", {"param_name": param, "expected": expected}
    )


def failure_of(body: Any) -> LoopProblem:
    """An unreadable reply is a refusal."""
    error = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return LoopProblem("INTERNAL_ERROR", "The daemon's answer cannot be read, so nothing is done")
    code, details, confirmation = str(error.get("code", "")), error.get("details"), body.get("confirmation")
    return LoopProblem(
        code if code in CODES else "INTERNAL_ERROR",
        str(error.get("message", "")),
        details if isinstance(details, Mapping) else {},
        confirmation if isinstance(confirmation, Mapping) else None,
    )
