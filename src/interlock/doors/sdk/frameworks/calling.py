"""A model's tool call -> the question, with arguments that nobody can change any more, and what the model is told."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from interlock.doors.sdk.arguments import Unwritable, bound, own, refused
from interlock.doors.sdk.asking import Asked
from interlock.doors.sdk.errors import NotAllowed
from interlock.doors.sdk.guard import LEVELS

Dangers = Mapping[str, str]
NONE: Dangers = MappingProxyType({})


def dangers_of(given: Mapping[str, str] | None) -> Dangers:
    """The levels that tools are said to have, by their names; raises ValueError for a level that there is not."""
    for name, level in (given or {}).items():
        if level not in LEVELS:
            raise ValueError(f"dangers[{name!r}]={level!r}: expected one of {', '.join(LEVELS)}")
    return MappingProxyType(dict(given or {}))


def tool_call(name: str, given: Any, dangers: Dangers = NONE) -> tuple[dict[str, Any], Asked]:
    """The arguments that run if it is allowed, and what is asked about them; raises Denied for what cannot be shown."""
    try:
        if not isinstance(given, Mapping):
            raise Unwritable("they are no table")
        kept, shown = own(dict(given))
        asked: Asked = {"tool": name, "input": bound(shown)}
    except Unwritable as error:
        raise refused(f"the arguments of {name} cannot be shown to anybody: {error}.") from None
    if name in dangers:
        asked["danger"] = dangers[name]
    return kept, asked


def told(no: NotAllowed) -> str:
    """What the model reads in place of a result."""
    return f"{no.reason} The call did not run."
