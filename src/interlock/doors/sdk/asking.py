"""What a Python program is about to do -> the question that every door asks (2.10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypedDict

from interlock.core.decision import Decision
from interlock.core.model import Action, Kind

Body = dict[str, Any]

# Which field of an action becomes which key of the question.
_FIELDS: Mapping[Kind, Mapping[str, str]] = MappingProxyType(
    {
        Kind.COMMAND: MappingProxyType({"command": "command"}),
        Kind.OPERATION: MappingProxyType({"operation": "operation", "params": "params", "crude": "crude"}),
        Kind.TOOL: MappingProxyType({"tool": "tool", "input": "input"}),
        Kind.INTENT: MappingProxyType({"hint": "hint"}),
    }
)


class Asked(TypedDict, total=False):
    """What may be said of an action; one of the first four says what it is."""

    command: str | None
    operation: str | None
    tool: str | None
    hint: str | None
    params: Mapping[str, Any] | None  # of an operation
    resource: str | None  # what an operation is done to
    adapter: str | None  # whose operation it is
    input: Mapping[str, Any] | None  # of a tool
    cwd: str | None
    pending_id: str | None  # the ticket of a retry
    danger: str | None  # a level's name; it can only raise what is asked for


def question(
    action: Action | None = None,
    *,
    command: str | None = None,
    operation: str | None = None,
    params: Mapping[str, Any] | None = None,
    tool: str | None = None,
    input: Mapping[str, Any] | None = None,
    hint: str | None = None,
    resource: str | None = None,
    cwd: str | None = None,
    pending_id: str | None = None,
    adapter: str | None = None,
    danger: str | None = None,
) -> Body:
    """The question; raises TypeError where it is not clear what is asked."""
    kinds = {"command": command, "operation": operation, "tool": tool, "hint": hint}
    named = {key: text for key, text in kinds.items() if text is not None}
    if len(named) + (action is not None) != 1:
        raise TypeError("say what is about to happen: one of an Action, command=, operation=, tool= and hint=")
    body: Body = dict(named) if action is None else _of(action)
    aside = {
        "params": (params, "operation"),
        "resource": (resource, "operation"),
        "adapter": (adapter, "operation"),
        "input": (input, "tool"),
    }
    for key, (value, kind) in aside.items():
        if value is None:
            continue
        if kind not in body or key in body:
            raise TypeError(f"{key}= goes with {kind}=, once")
        body[key] = value
    for key, text in (("cwd", cwd), ("pendingId", pending_id), ("danger", danger)):
        if text is not None:
            body[key] = text
    return body


def _of(action: Action) -> Body:
    if not isinstance(action, Action):
        raise TypeError(f"expected an Action, got {type(action).__name__}; say command= or operation= for a text")
    known = _FIELDS[action.kind]
    said = {key: value for key, value in action.fields.items() if value not in (None, "")}
    if action.witnesses or not known.keys() >= said.keys():
        extra = ", ".join(sorted(said.keys() - known.keys())) or "witnesses"
        raise TypeError(f"{extra}: an agent's word for it does not count")
    return {known[key]: value for key, value in said.items()} | ({"cwd": action.cwd} if action.cwd else {})


def plain(body: Body) -> Body | None:
    """The question as nothing but JSON, so that it means the same here and in a daemon; None where it cannot be written."""
    try:
        written: Body = json.loads(json.dumps(body, default=_table), object_pairs_hook=once)
    except (TypeError, ValueError, RecursionError):
        return None
    return written


def once(pairs: list[tuple[str, Any]]) -> Body:
    """A table; 1 and "1" are two keys in Python and one in JSON, where the first would be judged by nobody."""
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a key is given twice")
    return table


def _table(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def unwritable() -> Decision:
    """The answer to what has no JSON."""
    words = "Denied: the action cannot be written as JSON, so nobody could be shown it."
    return Decision("deny", words, code="VALIDATION_INVALID_TYPE")
