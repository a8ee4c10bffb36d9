"""Layers 1 and 2 of the Gatekeeper: routes a call to its endpoint and checks its parameters; refuses what is not documented (EP-06, GK-01)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import re2
from msgspec import UNSET, Struct, field

from interlock.error_codes import LoopProblem
from interlock.loop.protocol import TYPES, OperationSpec, ParamSpec

_SHOWN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_MISSING = object()
AUTO, SESSION, SINGLE, DENY = "AUTO_APPROVE", "CONFIRM_SESSION", "CONFIRM_SINGLE_USE", "DENY"
PERMISSIONS: Mapping[str, str] = {  # GK-08
    "read": AUTO,
    "create": SESSION,
    "update": SINGLE,
    "delete": SINGLE,
    "execute": SINGLE,
}
ANY = "any"  # the endpoint of single mode: every operation, with the same checks (GK-10)


class CheckedParameters(Struct, frozen=True):
    """By their canonical names, defaults included; and the fields with `_` in front."""

    params: Mapping[str, Any]
    private: Mapping[str, Any] = field(default_factory=dict)

    def token(self, key: str = "_confirmation") -> str:
        """CT-14: a retry's token; refuses one that is no string."""
        given = self.private.get(key)
        if given is not None and not isinstance(given, str):
            raise wrong_type(key, "string", given)
        return given or ""


def requested_operation(arguments: Any) -> str:
    if not isinstance(arguments, dict):
        raise wrong_type("arguments", "object", arguments)
    if (name := arguments.get("operation")) is None:
        raise missing_parameter("operation")
    if not isinstance(name, str):
        raise wrong_type("operation", "string", name)
    return name


def check_parameters(operation: OperationSpec, arguments: Mapping[str, Any]) -> CheckedParameters:
    """Refuses parameters that the operation does not document (EP-06, GK-01)."""
    inner = {} if arguments.get("params") is None else arguments["params"]
    if not isinstance(inner, dict):
        raise wrong_type("params", "object", inner)
    outer = {key: value for key, value in arguments.items() if key not in ("operation", "params")}
    unknown = [
        key
        for given, known in ((inner, operation.spelled), (outer, operation.beside))
        for key in given
        if key not in known and not key.startswith("_")
    ]
    if unknown:
        valid = operation.names
        words = f"Unknown parameter {printable_name(unknown[0])} for operation '{operation.name}'. "
        words += f"Valid parameters: {', '.join(valid)}." if valid else "It takes none."
        names = [name[:80] for name in dict.fromkeys(unknown)][:10]
        details = {"operation": operation.name, "unknown_params": names, "valid_params": valid}
        raise LoopProblem("VALIDATION_UNKNOWN_PARAM", words, details)
    found = {}
    for param in operation.params:
        value = _given(param, inner, {} if param.nested else outer)
        if value is _MISSING or (value is None and not param.required):
            if param.required:
                raise missing_parameter(param.name, operation.name, param.type)
            if param.default is not UNSET and param.fills:
                found[param.name] = param.default
            continue
        found[param.name] = _valid(param, value)
    private = {key: value for given in (outer, inner) for key, value in given.items() if key.startswith("_")}
    return CheckedParameters(found, private)


def missing_parameter(name: str, operation: str = "", type: str = "string") -> LoopProblem:
    details = {"param_name": name} | ({"operation": operation} if operation else {})
    return LoopProblem("VALIDATION_MISSING_PARAM", f"Missing required parameter '{name}'. Expected: {type}.", details)


def wrong_type(name: str, expected: str, value: Any) -> LoopProblem:
    actual = type_of(value)
    details = {"param_name": name, "expected_type": expected, "actual_type": actual}
    return LoopProblem("VALIDATION_INVALID_TYPE", f"Parameter '{name}' must be: {expected}. Got: {actual}.", details)


def wrong_value(name: str, expected: str) -> LoopProblem:
    words = f"Parameter '{name}' has an unusable value. Use: {expected}."
    return LoopProblem("VALIDATION_INVALID_VALUE", words, {"param_name": name, "expected": expected})


def type_of(value: Any) -> str:
    words = (word for word, kinds in TYPES.items() if type(value) in kinds)
    return "null" if value is None else next(words, "object")


def printable_name(name: str) -> str:
    """A name as a message may repeat it; other text is not repeated."""
    return f"'{name}'" if _SHOWN.fullmatch(name) else "(not a name)"


def _given(param: ParamSpec, inner: Mapping[str, Any], outer: Mapping[str, Any]) -> Any:
    """The value in `params`, else the one beside it; spellings must not disagree (R-2, C-03)."""
    both = {**outer, **inner}
    by_spelling = {name: both[name] for name in (param.name, *param.aliases) if name in both}
    first, *others = by_spelling.values() or (_MISSING,)
    if any(type(one) is not type(first) or one != first for one in others):
        raise wrong_value(param.name, f"one value; {' and '.join(by_spelling)} differ")
    return first


def _valid(param: ParamSpec, value: Any) -> Any:
    if param.type == "integer" and type(value) is float and value.is_integer():
        value = int(value)
    if type(value) not in TYPES[param.type]:  # a flag is no number here
        raise wrong_type(param.name, param.type, value)
    if param.enum and value not in param.enum:
        raise wrong_value(param.name, f"one of {', '.join(map(str, param.enum))}")
    if isinstance(value, str | list):
        _check_length(param, value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if param.minimum is not None and value < param.minimum:
            raise wrong_value(param.name, f"{param.minimum} or more")
        if param.maximum is not None and value > param.maximum:
            raise wrong_value(param.name, f"{param.maximum} or less")
    return value


def _check_length(param: ParamSpec, value: str | list[Any]) -> None:
    if isinstance(value, str):
        unit, least = "character", len(value.strip())  # blanks say nothing
    else:
        unit, least = "element", len(value)
    if unit == "element" and param.items and any(type(one) not in TYPES[param.items] for one in value):
        raise wrong_value(param.name, f"an array of {param.items}")
    if param.min_length is not None and least < param.min_length:
        raise wrong_value(param.name, f"{param.min_length} {unit}(s) or more")
    if param.max_length is not None and len(value) > param.max_length:
        raise wrong_value(param.name, f"{param.max_length} {unit}s or less")
    if isinstance(value, str) and param.pattern and not _pattern(param.pattern).search(value):
        raise wrong_value(param.name, f"pattern: {param.pattern}")


@lru_cache(256)
def _pattern(text: str) -> Any:
    """Compiles a pattern that runs in linear time: adapters bring their own."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(text, options)


def route(operations: Mapping[str, OperationSpec], name: str, endpoint: str) -> OperationSpec:
    """Layers 1 and 2: the operation, if it came through its own endpoint (EP-03) and is not denied."""
    operation = operations.get(name)
    if operation is None:
        details = {"operation": name[:80], "available": sorted(operations)}
        words = f"Unknown operation {printable_name(name)}. Use introspect with query 'operations' to list them."
        raise LoopProblem("NOT_FOUND_OPERATION", words, details)
    own = operation.endpoint
    if endpoint not in (ANY, own):
        details = {"operation": operation.name, "expected_endpoint": own, "actual_endpoint": endpoint}
        words = f"Operation '{operation.name}' belongs to the '{own}' endpoint, not '{endpoint}'. "
        raise LoopProblem("VALIDATION_ENDPOINT_MISMATCH", f"{words}Call it through mcp_aql_{own}.", details)
    if permission(operation) == DENY:  # layer 2: by its table, for every caller and tool
        raise LoopProblem("PERMISSION_DENIED", f"Operation '{operation.name}' is denied here", {"reason": DENY})
    return operation


def permission(operation: OperationSpec) -> str:
    """An operation's own permission level outranks its endpoint's (R-11, C-22)."""
    return operation.permission or PERMISSIONS[operation.endpoint]
