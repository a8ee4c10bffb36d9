"""A call's arguments -> a copy that nobody else can change, and the plain data that a person is shown of it."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from interlock.core.decision import Decision
from interlock.doors.sdk.errors import Denied

UNBOUND = "underscored"  # where names with an underscore stand, which an approval would not bind by themselves


class Unwritable(ValueError):
    """A value that could not be shown to a person."""


def own(value: Any) -> tuple[Any, Any]:
    """A copy for the function alone, and that copy as plain data; raises Unwritable for what is not data."""
    try:
        kept = copy.deepcopy(value)
        return kept, written(kept)
    except Unwritable:
        raise
    except (TypeError, ValueError, RecursionError, copy.Error, AttributeError):
        raise Unwritable(f"{type(value).__name__} is no plain data") from None


def bound(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params under names that all count for the digest; raises Unwritable where two could be mistaken."""
    plain = {name: value for name, value in params.items() if not name.startswith("_")}
    hidden = {name: value for name, value in params.items() if name.startswith("_")}
    if not hidden:
        return plain
    if UNBOUND in plain:
        raise Unwritable(f"two are shown as {UNBOUND!r}")
    return {**plain, UNBOUND: hidden}


def written(value: Any) -> Any:
    """A value as JSON has it; two values that differ in what they do are written differently."""
    if isinstance(value, Enum):
        return written(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    if dataclasses.is_dataclass(value):
        return {field.name: written(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)  # a pydantic model
    if callable(dump):
        return written(dump(mode="json"))
    raise Unwritable(f"{type(value).__name__} is no plain data")


def _table(value: Mapping[Any, Any]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise Unwritable(f"a table has the key {key!r:.40}, which is no text")
    return {str(key): written(item) for key, item in value.items()}


def _bytes(value: bytes | bytearray) -> dict[str, str]:
    try:
        return {"bytes": value.decode()}  # as text, so that it is read
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _set(value: set[Any] | frozenset[Any]) -> dict[str, Any]:
    return {"set": sorted((written(item) for item in value), key=json.dumps)}


_WRITERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((list, tuple), lambda value: [written(item) for item in value]),
    (Mapping, _table),
    ((set, frozenset), _set),
    ((bytes, bytearray), _bytes),
    ((date, time), lambda value: value.isoformat()),
    ((PurePath, UUID, Decimal, timedelta), str),
    (type, lambda value: f"{value.__module__}.{value.__qualname__}"),
)


def refused(words: str) -> Denied:
    """What cannot be judged is denied."""
    return Denied(Decision("deny", f"Denied: {words}", code="VALIDATION_INVALID_TYPE"))
