"""Counts an adapter's requests to its service and refuses those above its quota; no agent's process can reset it (RL-01, RL-02)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from interlock.adapters.danger import DangerBlock
from interlock.adapters.quota import (
    Quota,
    QuotaRefusal,
    QuotaUsage,
    ServiceLimits,
    ServiceRequest,
    count_request,
    extend_pause,
    quota_refusal,
    quota_report,
    quota_warnings,
)
from interlock.engine.evaluate import evaluate
from interlock.error_codes import LoopProblem
from interlock.model import AgentRef, Confidential, Decision, Level, Trust, operation
from interlock.policy.circumstances import AdapterContext
from interlock.policy.trust_matrix import AdapterCall
from interlock.ports import Tx
from interlock.runtime import Request
from interlock.runtime.state import State
from interlock.times import iso

PREFIX, OWN = "quota_continue_", "conf_"  # a quota's token on the wire (CT-01), and what it is underneath
GOING_ON = "continue_quota"
SETTING = "quota:"


class QuotaRefused(LoopProblem):
    """A refused request."""


class QuotaQuestion(Confidential, Struct, frozen=True):
    """`count` where the request follows at once."""

    HIDDEN = ("token",)

    adapter: str
    limits: ServiceLimits
    asked: ServiceRequest
    agent: AgentRef
    door: str
    token: str = ""  # quota_continue_…
    count: bool = False


def take_quota(state: State, room: QuotaQuestion) -> list[dict[str, Any]]:
    """Checks the quota for one more request and returns warnings; raises QuotaRefused."""
    if not room.limits:
        return []
    now = state.clock.now()
    found = quota_refusal(room.limits, _read_used(state, room.adapter), room.asked, now)
    if found is not None:
        if found.pause is None:
            raise QuotaRefused(found.code, found.message, found.details)
        _ask(state, room, found, found.pause)
        now = state.clock.now()
    if not room.count:
        return quota_warnings(room.limits, _read_used(state, room.adapter), now)
    return state.store.write(lambda tx: _count(tx, state, room, now))


def quota_status(state: State, adapter: str, limits: ServiceLimits) -> dict[str, Any]:
    return quota_report(limits, _read_used(state, adapter), adapter, state.clock.now())


def _read_used(state: State, adapter: str) -> QuotaUsage:
    return state.store.read(lambda tx: used_quota(tx, state, adapter))


def used_quota(tx: Tx, state: State, adapter: str) -> QuotaUsage:
    """The used quota; an unreadable row is reset and reported to operators."""
    try:
        return msgspec.json.decode(tx.setting(SETTING + adapter) or "{}", type=QuotaUsage)
    except ValueError:
        words = f"the counters of adapter {adapter[:80]!r} were altered outside Interlock and begin anew"
        state.trouble(words, "altered")
        return QuotaUsage()


def _count(tx: Tx, state: State, room: QuotaQuestion, now: float) -> list[dict[str, Any]]:
    used = used_quota(tx, state, room.adapter)
    found = quota_refusal(room.limits, used, room.asked, now)
    if found is not None:
        raise QuotaRefused(found.code, found.message, found.details)
    used = count_request(room.limits, used, room.asked, now)
    _save(tx, room.adapter, used)
    return quota_warnings(room.limits, used, now)


def _ask(state: State, room: QuotaQuestion, found: QuotaRefusal, quota: Quota) -> None:
    """Asks a human to continue through the ordinary evaluation; an approval is spent here, once (C-14)."""
    decision = evaluate(state, _request(room, found, quota))
    if not decision.allowed:
        raise _held(decision, found)

    def work(tx: Tx) -> None:
        _save(tx, room.adapter, extend_pause(used_quota(tx, state, room.adapter), quota, state.clock.now()))

    state.store.write(work)


def _request(room: QuotaQuestion, found: QuotaRefusal, quota: Quota) -> Request:
    """An operation of its own: its approval covers this metric of this adapter only."""
    params = {"adapter": room.adapter, "metric": quota.metric, "pause_threshold": found.details["pause_threshold"]}
    question = "Go on with adapter '{adapter}' beyond {pause_threshold} '{metric}'?"
    block = DangerBlock(Level.REVERSIBLE, confirmation_message=question, requires_confirmation=True)
    call = AdapterCall(GOING_ON, Level.REVERSIBLE, Trust.CERTIFIED, "execute")
    action = operation(GOING_ON, params, "EXECUTE", declared=Level.REVERSIBLE)
    token = OWN + room.token.removeprefix(PREFIX) if room.token.startswith(PREFIX) else room.token and PREFIX
    context = AdapterContext(call, block)
    return Request(action, room.agent, room.door, token=token, adapter_context=context, adapter=room.adapter)


def _held(decision: Decision, found: QuotaRefusal) -> QuotaRefused:
    if not decision.token:  # a token that does not count, a queue that is full, a state that cannot be known
        return QuotaRefused(decision.code or "PERMISSION_DENIED", decision.reason, decision.details)
    token = PREFIX + decision.token.removeprefix(OWN)
    until = iso(decision.ticket.expires_at) if decision.ticket else ""
    message = decision.details.get("confirmation_message", found.message)
    shown = {"token": token, "expires_at": until, "message": message}
    details = {**found.details, "confirmation_token": token, "expires_at": until}
    return QuotaRefused(found.code, found.message, details, shown)


def _save(tx: Tx, adapter: str, used: QuotaUsage) -> None:
    tx.save_setting(SETTING + adapter, msgspec.json.encode(used).decode())
