"""Validates query values and words validation errors; the message never repeats the value that was sent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi.exceptions import RequestValidationError
from pydantic import StringConstraints

from interlock.web.errors import HttpProblem

_CHOICE = re.compile(r"\^\(([\w|]+)\)\$")
VALUE, TYPE = "VALIDATION_INVALID_VALUE", "VALIDATION_INVALID_TYPE"
# pydantic's error type -> our code and message; `{}` is the expected value.
_KINDS: Mapping[str, tuple[str, str]] = {
    "string_pattern_mismatch": (VALUE, "not one of the values it can have"),
    "string_too_short": (VALUE, "expected {min_length} characters or more"),
    "string_too_long": (VALUE, "expected no more than {max_length} characters"),
    "too_short": (VALUE, "expected {min_length} items or more"),
    "too_long": (VALUE, "expected no more than {max_length} items"),
    "greater_than_equal": (VALUE, "expected {ge} or more"),
    "less_than_equal": (VALUE, "expected {le} or less"),
    "string_type": (TYPE, "expected a text"),
    "string_unicode": (TYPE, "expected a text"),
    "bool_type": (TYPE, "expected true or false"),
    "bool_parsing": (TYPE, "expected true or false"),
    "int_type": (TYPE, "expected a whole number"),
    "int_parsing": (TYPE, "expected a whole number"),
    "int_parsing_size": (TYPE, "expected a smaller number"),
    "int_from_float": (TYPE, "expected a whole number"),
    "list_type": (TYPE, "expected a list"),
    "dict_type": (TYPE, "expected an object"),
    "model_type": (TYPE, "expected an object"),
    "model_attributes_type": (TYPE, "expected an object"),
    "json_invalid": (TYPE, "cannot be read"),
}


def validation_problem(error: RequestValidationError) -> HttpProblem:
    """The first error of a validation."""
    first: Mapping[str, Any] = error.errors()[0]
    kind, name = str(first.get("type", "")), _name(first)
    if kind == "missing":
        details = {"param_name": name}
        return HttpProblem("VALIDATION_MISSING_PARAM", f"missing required parameter {name!r}", details=details)
    if kind == "extra_forbidden":
        return HttpProblem(
            "VALIDATION_UNKNOWN_PARAM", f"unknown parameter {name!r}", details={"unknown_params": [name]}
        )
    code, words = _KINDS.get(kind, (TYPE, "expected something else"))
    expected: Mapping[str, Any] = defaultdict(lambda: "another number of", first.get("ctx") or {})
    said = _one_of(str(expected["pattern"])) or words.format_map(expected)
    return HttpProblem(code, f"{name!r}: {said}", details={"param_name": name})


def _one_of(pattern: str) -> str:
    """The words that a pattern like ^(|a|b)$ allows; empty for any other."""
    found = _CHOICE.fullmatch(pattern)
    return f"expected one of {', '.join(filter(None, found[1].split('|')))}" if found else ""


def _name(error: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in error.get("loc", ())[1:])[:200] or "body"


Moment = Annotated[str, StringConstraints(max_length=40)]


def seconds_of(name: str, text: str) -> float:
    """A time in seconds; 0 for an empty text; refuses anything else."""
    if not text:
        return 0.0
    try:
        found = (
            float(text) if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit() else _parse(text)
        )
    except (ValueError, OverflowError):
        raise HttpProblem(
            "VALIDATION_INVALID_VALUE", f"{name}: expected a time such as 2026-01-28T12:05:00Z, got {text!r:.50}"
        ) from None
    if not 0 <= found < 1e11:
        raise HttpProblem("VALIDATION_INVALID_VALUE", f"{name}: {text!r:.50} is too far away")
    return found


def _parse(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
