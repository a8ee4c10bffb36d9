"""A body or a query that a route cannot use -> an error in our own words; what was sent is not repeated."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from fastapi.exceptions import RequestValidationError

from interlock.doors.http.errors import Problem

_CHOICE = re.compile(r"\^\(([\w|]+)\)\$")
VALUE, TYPE = "VALIDATION_INVALID_VALUE", "VALIDATION_INVALID_TYPE"
# pydantic's kind of error -> our code and words; `{}` is what it expected.
_KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
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
)


def invalid(error: RequestValidationError) -> Problem:
    """The first thing that is wrong."""
    first: Mapping[str, Any] = error.errors()[0]
    kind, name = str(first.get("type", "")), _name(first)
    if kind == "missing":
        details = {"param_name": name}
        return Problem("VALIDATION_MISSING_PARAM", f"missing required parameter {name!r}", details=details)
    if kind == "extra_forbidden":
        return Problem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter {name!r}", details={"unknown_params": [name]})
    code, words = _KINDS.get(kind, (TYPE, "expected something else"))
    expected: Mapping[str, Any] = defaultdict(lambda: "another number of", first.get("ctx") or {})
    said = _one_of(str(expected["pattern"])) or words.format_map(expected)
    return Problem(code, f"{name!r}: {said}", details={"param_name": name})


def _one_of(pattern: str) -> str:
    """The words that a pattern like ^(|a|b)$ allows; nothing for any other."""
    found = _CHOICE.fullmatch(pattern)
    return f"expected one of {', '.join(filter(None, found[1].split('|')))}" if found else ""


def _name(error: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in error.get("loc", ())[1:])[:200] or "body"
