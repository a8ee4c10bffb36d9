"""Adapter files served as an MCP-AQL server; here its errors, free of secrets."""

from __future__ import annotations

from typing import Any

from interlock.error_codes import CODES, LoopProblem
from interlock.strict_json import table_in


def invalid_value(param: str, expected: str) -> LoopProblem:
    """The value itself is not repeated."""
    return LoopProblem(
        "VALIDATION_INVALID_VALUE", f"'{param}': expected {expected}", {"param_name": param, "expected": expected}
    )


def failure_of(body: Any) -> LoopProblem:
    """An unreadable reply is a refusal."""
    error = table_in(body, "error")
    if not error:
        return LoopProblem("INTERNAL_ERROR", "The daemon's answer cannot be read, so nothing is done")
    code = str(error.get("code", ""))
    return LoopProblem(
        code if code in CODES else "INTERNAL_ERROR",
        str(error.get("message", "")),
        table_in(error, "details"),
        table_in(body, "confirmation") or None,
    )
