"""The frame of every decode: which event this is, and a problem instead of an exception."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from interlock.agents.contract import GATING, Call, Event, Verdict
from interlock.agents.results import outcome_of
from interlock.agents.wire import Malformed, parse, text

Kinds = Mapping[str, str]  # an agent's event names -> kinds
Fill = Callable[[Mapping[str, Any], Event], Event]
Calls = Callable[[Mapping[str, Any], str], tuple[Call, ...]]


def decoded(data: bytes, configured: str, kinds: Kinds, names: tuple[str, ...], fill: Fill) -> Event:
    """The event in these bytes; what cannot be read is an event of the configured kind, a gating one if nothing is known."""
    fallback = _named(configured, kinds)
    try:
        given = parse(data)
        event = _event(given, configured, kinds, names)
    except Malformed as error:
        return Event(kinds.get(fallback, "before"), fallback, problem=str(error))
    if event.problem:
        return event
    try:
        event = fill(given, event)
        return dataclasses.replace(event, outcome=outcome_of(given)) if event.kind == "after" else event
    except Malformed as error:
        return dataclasses.replace(event, problem=str(error))
    except RecursionError:
        return dataclasses.replace(event, problem="hook input: nested too deeply")


def _named(name: str, kinds: Kinds) -> str:
    """The agent's own spelling of an event name."""
    if name in kinds:
        return name
    folded = name.replace("_", "").casefold()
    return next((known for known in kinds if known.replace("_", "").casefold() == folded), name)


def _event(given: Mapping[str, Any], configured: str, kinds: Kinds, names: tuple[str, ...]) -> Event:
    """Which event this is. A hook that was installed to gate gates, whatever the input calls itself."""
    said, meant = _named(text(given, *names), kinds), _named(configured, kinds)
    if not said and not meant:
        return Event("before", "", problem=f"{names[0]}: missing")
    kind = kinds.get(said or meant, "other")
    if meant and said and kinds.get(meant) in GATING and kind != kinds[meant]:
        return Event(kinds[meant], meant, problem=f"{names[0]}: got {said[:60]!r} in a hook for {meant}")
    return Event(kind, said or meant)


def word_of(event: Event, verdict: Verdict) -> str:
    """The verdict as it may be said: nothing that has a problem is allowed, and nobody is asked where nobody would be."""
    if event.problem and event.kind in GATING:
        return "deny"
    if verdict.word == "ask":
        return "ask" if event.asks else "deny"
    return "allow" if verdict.word == "allow" else "deny"


def reason_of(event: Event, verdict: Verdict) -> str:
    """Why; a problem of the input in its own words where the verdict has none."""
    if verdict.reason or not event.problem:
        return verdict.reason
    return f"Denied: the hook input could not be judged ({event.problem})."
