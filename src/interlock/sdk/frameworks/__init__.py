"""Shared by the agent frameworks, each imported only where it is installed: a tool call as a request, and the refusal that the model reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.sdk import NotAllowed
from interlock.sdk.guard import LEVELS
from interlock.sdk.request import ActionArguments, Unwritable, bind_params, copy_arguments, deny_call

Dangers = Mapping[str, str]
NONE: Dangers = {}


def dangers_of(given: Mapping[str, str] | None) -> Dangers:
    """The levels of tools, by their names; raises ValueError for an unknown one."""
    for name, level in (given or {}).items():
        if level not in LEVELS:
            raise ValueError(f"dangers[{name!r}]={level!r}: expected one of {', '.join(LEVELS)}")
    return MappingProxyType(dict(given or {}))


def tool_call(name: str, given: Any, dangers: Dangers = NONE) -> tuple[dict[str, Any], ActionArguments]:
    """The arguments that run if allowed, and the request; raises Denied for what cannot be shown."""
    try:
        if not isinstance(given, Mapping):
            raise Unwritable("they are no table")
        kept, shown = copy_arguments(dict(given))
        asked: ActionArguments = {"tool": name, "input": bind_params(shown)}
    except Unwritable as error:
        raise deny_call(f"the arguments of {name} cannot be shown to anybody: {error}.") from None
    if name in dangers:
        asked["danger"] = dangers[name]
    return kept, asked


def refusal_message(no: NotAllowed) -> str:
    return f"{no.reason} The call did not run."
