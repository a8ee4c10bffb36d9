"""Builds the request that a Python program asks the gate: its fields, and private copies of a call's arguments; denies what is no plain data."""

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
from types import NoneType
from typing import Any, TypedDict, Unpack
from uuid import UUID

from interlock.model import Action, Decision, Kind
from interlock.sdk import Denied
from interlock.strict_json import unique_keys

Body = dict[str, Any]

# The fields of an action that may be in a request.
_FIELDS: Mapping[Kind, frozenset[str]] = {
    Kind.COMMAND: frozenset({"command"}),
    Kind.OPERATION: frozenset({"operation", "params", "crude"}),
    Kind.TOOL: frozenset({"tool", "input"}),
    Kind.INTENT: frozenset({"hint"}),
}


class ActionArguments(TypedDict, total=False):
    """The description of an action; exactly one of the first four names it."""

    command: str | None
    operation: str | None
    tool: str | None
    hint: str | None
    params: Mapping[str, Any] | None  # of an operation
    resource: str | None  # what an operation acts on
    adapter: str | None  # that declares the operation
    input: Mapping[str, Any] | None  # of a tool
    cwd: str | None
    pending_id: str | None  # the ticket of a retry
    danger: str | None  # a level's name; it can only raise the requirement


_KINDS = ("command", "operation", "tool", "hint")
_GO_WITH = {"params": "operation", "resource": "operation", "adapter": "operation", "input": "tool"}


def request_body(action: Action | None = None, **asked: Unpack[ActionArguments]) -> Body:
    """Raises TypeError where the action is ambiguous."""
    known = ActionArguments.__annotations__
    if unknown := asked.keys() - known.keys():
        raise TypeError(f"unexpected {', '.join(sorted(unknown))}=; expected {', '.join(known)}")
    given = {key: value for key, value in asked.items() if value is not None}
    named = {key: given.pop(key) for key in _KINDS if key in given}
    if len(named) + (action is not None) != 1:
        raise TypeError("say what is about to happen: one of an Action, command=, operation=, tool= and hint=")
    body: Body = named if action is None else _action_fields(action)
    for key, value in given.items():
        if (kind := _GO_WITH.get(key)) and (kind not in body or key in body):
            raise TypeError(f"{key}= goes with {kind}=, once")
        body["pendingId" if key == "pending_id" else key] = value
    return body


def _action_fields(action: Action) -> Body:
    if not isinstance(action, Action):
        raise TypeError(f"expected an Action, got {type(action).__name__}; say command= or operation= for a text")
    said = {key: value for key, value in action.fields.items() if value not in (None, "")}
    extra = said.keys() - _FIELDS[action.kind]
    if action.witnesses or extra:
        raise TypeError(f"{', '.join(sorted(extra)) or 'witnesses'}: an agent's word for it does not count")
    return said | ({"cwd": action.cwd} if action.cwd else {})


def plain_body(body: Body) -> Body:
    """The request as plain JSON, so that it means the same here and in a daemon (1 and "1" are two keys in Python and one in JSON); raises Denied where it cannot be written."""

    def as_dict(value: Any) -> Any:
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(type(value).__name__)

    try:
        return dict(json.loads(json.dumps(body, default=as_dict), object_pairs_hook=unique_keys))
    except (TypeError, ValueError, RecursionError):
        raise deny_call("the action cannot be written as JSON, so nobody could be shown it.") from None


UNBOUND = "underscored"  # where names with an underscore stand, which an approval would not bind by themselves


class Unwritable(ValueError):
    """A value that could not be shown to a person."""


def copy_arguments(value: Any) -> tuple[Any, Any]:
    """A private copy, and that copy as plain data; raises Unwritable for what is not data."""
    try:
        private = copy.deepcopy(value)
        return private, to_plain_data(private)
    except Unwritable:
        raise
    except (TypeError, ValueError, RecursionError, copy.Error, AttributeError):
        raise Unwritable(f"{type(value).__name__} is no plain data") from None


def bind_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Under names that all count for the digest; raises Unwritable where two could be mistaken."""
    hidden = {name: value for name, value in params.items() if name.startswith("_")}
    plain = {name: value for name, value in params.items() if name not in hidden}
    if hidden and UNBOUND in plain:
        raise Unwritable(f"two are shown as {UNBOUND!r}")
    return {**plain, UNBOUND: hidden} if hidden else plain


def to_plain_data(value: Any) -> Any:
    """A value as JSON data; values that behave differently are written differently."""
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    if dataclasses.is_dataclass(value):
        return {field.name: to_plain_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)  # a pydantic model
    if callable(dump):
        return to_plain_data(dump(mode="json"))
    raise Unwritable(f"{type(value).__name__} is no plain data")


def _table(value: Mapping[Any, Any]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise Unwritable(f"a table has the key {key!r:.40}, which is no text")
    return {str(key): to_plain_data(item) for key, item in value.items()}


def _bytes(value: bytes | bytearray) -> dict[str, str]:
    try:
        return {"bytes": value.decode()}  # as text, so that it is read
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


_WRITERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: to_plain_data(value.value)),
    ((bool, int, float, str, NoneType), lambda value: value),
    ((list, tuple), lambda value: [to_plain_data(item) for item in value]),
    (Mapping, _table),
    ((set, frozenset), lambda value: {"set": sorted(map(to_plain_data, value), key=json.dumps)}),
    ((bytes, bytearray), _bytes),
    ((date, time), lambda value: value.isoformat()),
    ((PurePath, UUID, Decimal, timedelta), str),
    (type, lambda value: f"{value.__module__}.{value.__qualname__}"),
)


def deny_call(words: str) -> Denied:
    return Denied(Decision("deny", f"Denied: {words}", code="VALIDATION_INVALID_TYPE"))
