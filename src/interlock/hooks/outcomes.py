"""Records the outcome of a call after it ran, compares its scripts again, and reports a call that nobody asked about as a bypass."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from interlock.agents import AgentCall, AgentDialect, Event
from interlock.approvals import answers, confirmations
from interlock.audit.chain import event_body
from interlock.engine.performing import block_now
from interlock.error_codes import AnswerRefused
from interlock.hooks.coverage import MISSED, SEEN
from interlock.hooks.evaluation import content_hash
from interlock.hooks.memory import DEFERRED, DENIED, PASSED, PROMPTED, AnsweredCall, HookMemory, call_keys
from interlock.impact.files import ProjectFileCache
from interlock.impact.user_access import user_access
from interlock.model import AgentRef
from interlock.ports import StoreError
from interlock.runtime.state import State

LOG = logging.getLogger("interlock")
RACED, BYPASSED, CHANGED, MALFORMED = "script.raced", "hook.bypassed", "hook.changed", "hook.malformed"
REPLACED = "hook.replaced"  # a call did not run as it was rewritten


def record_outcome(
    state: State, hooks: HookMemory, agent: AgentDialect, event: Event, who: AgentRef, found: str
) -> None:
    """`found` is the call's coverage. Blocks."""
    ran = event.kind == "after"
    _compare_transcript(state, hooks, agent, event, who)
    for call in event.calls:
        keys = call_keys(who, call)
        known = hooks.calls.finish(keys, ran)
        passed = known if known is not None and known.answer is PASSED else None
        _report(state, who, call, known, "ran" if ran else "failed")
        succeeded = ran and not event.outcome and passed is not None
        hooks.provenance.finish(who, keys[0], succeeded, state.clock.now())
        if not ran:
            state.declarations.failed(who, f"{call.tool} {call.action.text}")
        if passed is not None:
            if passed.snapshot and (snapshots := state.snapshots.taker_for(who.principal)) is not None:
                snapshots.settle(passed.snapshot)  # the files as they are now are the call's result, not later work
            _check_scripts(state, hooks, who, call, passed)
        answer = known.answer if ran and known is not None else None
        if answer is DENIED:
            words = f"{agent.title} ran a call that was denied: {call.tool} {call.action.text[:120]}"
            alert(state, BYPASSED, words, details_of(who, call), once=hooks, key=f"denied {keys[0]}")
        elif answer is DEFERRED:
            found = MISSED  # the event that should have prompted never came
    if found != SEEN:
        _report_bypass(state, hooks, agent, event, who, certain=found == MISSED)


def _compare_transcript(state: State, hooks: HookMemory, agent: AgentDialect, event: Event, who: AgentRef) -> None:
    """Alerts on calls in the agent's transcript that no hook asked about; never certain, as the format is not guaranteed."""
    if not event.transcript or who.principal != f"uid:{os.getuid()}":
        return
    for id in hooks.transcripts.new_results(event.transcript):
        if not hooks.coverage.knows(agent.word, who.principal, event.session, id):
            words = f"{agent.title}'s transcript has a call that its hook never asked about: {id[:100]}"
            details = {**details_of(who), "call": id[:200], "certain": False}
            alert(state, BYPASSED, words, details, once=hooks, key=f"transcript {id}")


def _report(state: State, who: AgentRef, call: AgentCall, known: AnsweredCall | None, outcome: str) -> None:
    answer, ticket = (known.answer, known.ticket) if known is not None else (None, "")
    try:
        if answer is PROMPTED and confirmations.record_run(state, who, ticket) is not None:
            return
        if answer is PASSED and ticket:
            answers.report_execution(state, who, ticket, outcome)
            return
    except AnswerRefused as error:
        LOG.warning("a call that ran: %s", error)
    details = {"agent": who.name, "session": who.session, "tool": call.tool[:200], "call": call.id[:200]}
    body = event_body(state.clock.now(), "executed", who.principal, {**details, "outcome": outcome})
    state.store.write_soon(lambda tx: state.recorder.now(tx, "executed", body))


def _check_scripts(state: State, hooks: HookMemory, who: AgentRef, call: AgentCall, allowed: AnsweredCall) -> None:
    read = user_access(who.principal, hooks.separate, ProjectFileCache()).read or (lambda path: None)
    scripts = allowed.scripts.items()
    changed = [path for path, mark in scripts if (text := read(path)) is not None and content_hash(text) != mark]
    if changed:
        words = f"{changed[0]} was changed between its judgement and its run"
        details = {"principal": who.principal, "name": who.name, "session": who.session, "call": call.id[:200]}
        alert(state, RACED, words, {**details, "scripts": changed[:20]}, quiet=not allowed.ticket)


def _report_bypass(
    state: State, hooks: HookMemory, agent: AgentDialect, event: Event, who: AgentRef, certain: bool
) -> None:
    call = event.calls[0] if event.calls else None
    what = f"{call.tool} {call.action.text[:120]}" if call else event.name
    words = f"{agent.title} ran a call that its hook never asked about: {what}"
    details = {"kind": BYPASSED, "words": words, "certain": certain, **details_of(who, call)}
    if not certain or state.in_force.hooks.bypassed != "block":
        key = f"{who.principal}/{who.name}/{who.session}"
        alert(state, BYPASSED, words, details, quiet=not certain, once=hooks, key=key)
        return
    block_now(state, who, f"{BYPASSED}: {words}", details)
    state.alerts[f"{BYPASSED} {who.principal}"] = words
    state.tell("alert", None, words)


def details_of(who: AgentRef, call: AgentCall | None = None) -> dict[str, Any]:
    named = {"tool": call.tool[:200], "call": call.id[:200]} if call else {}
    return {"principal": who.principal, "agent": who.name, "session": who.session, **named}


def alert(
    state: State,
    kind: str,
    words: str,
    details: Mapping[str, Any],
    quiet: bool = False,
    once: HookMemory | None = None,
    key: str = "",
) -> None:
    """Records an alert and notifies people, unless it was raised before under the same key."""
    if once is not None and not once.alerted.put(f"{kind} {key}", True):
        return
    body = event_body(state.clock.now(), "alert", "interlock", {**details, "kind": kind, "words": words})
    try:
        state.store.write(lambda tx: state.recorder.now(tx, "alert", body))
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
    if not quiet:
        state.alerts[kind] = words
        state.tell("alert", None, words)
