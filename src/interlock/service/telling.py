"""A decision -> its record: DL-07's fields, and what core was given, so that it can be made again."""

from __future__ import annotations

from typing import Any

from interlock.core.audit_bodies import EVENTS, HELD, Attempt, attempt_body, attempt_event
from interlock.core.audit_json import canonical_json
from interlock.core.circumstances import Circumstances
from interlock.core.guarded import RESOLVED
from interlock.core.hold import Held, Keep
from interlock.core.loop_rules import ruled_json
from interlock.core.records import NOTHING
from interlock.core.redact import spotless
from interlock.core.replay import given_json
from interlock.core.times import iso
from interlock.core.undo import Kept
from interlock.core.weigh import Weighed
from interlock.service.record import Told
from interlock.service.request import Judged, called
from interlock.service.state import State
from interlock.service.strength import strength_in
from interlock.service.tickets import action_json


def told(
    state: State, judged: Judged, weighed: Weighed, at: Circumstances, held: Held, kept: Kept | None = None
) -> Told:
    """What the record keeps of a decision: DL-07's fields, and what core was given, so that it can be made again."""
    request, assessment = judged.request, judged.judgement.assessment
    outcome = "denied" if held.outcome != "allow" else ("confirmed" if held.keep is Keep.SPEND else "allowed")
    waits = held.ticket is not None and outcome == "denied" and held.ticket.open
    adapted = request.adapted
    attempt = Attempt(
        at=judged.now,
        adapter_name=request.adapter or request.door,
        operation=called(request),
        level=assessment.level,
        outcome=outcome,
        agent=request.agent,
        adapter_trust=adapted.call.trust.word if adapted else "none",
        reason=HELD if waits else held.reason,
        user_id=held.ticket.decided_by if held.ticket and outcome == "confirmed" else "",
        parameters=action_json(request.action),
        door=request.door,
        strength=strength_in(state, request),
        digest=judged.digest,
        ticket=held.ticket.id if held.ticket else "",
        execution=request.execution,
        step=request.step.told if request.step else NOTHING,
        irreversible=assessment.irreversible,
        score=assessment.score,
        tier=assessment.tier.value,
        factors=(*assessment.factors, *weighed.factors),
        findings=(*(finding.rule for finding in assessment.findings), *([at.differs.name] if at.differs else [])),
        facts=given_json(judged.judgement.facts, judged.named, at),
        requirement=weighed.requirement,
        decision=held.outcome,
        policy_name=state.policy.name,
        mode=state.mode,
        grant=at.granted,
        kept={"id": kept.id, "digest": kept.digest} if kept is not None else NOTHING,
        paused_by_operator=at.paused_by,
        audit_context=adapted.block.audit_context if adapted and adapted.block else (),
    )
    return attempt_event(attempt), {**attempt_body(attempt), **_ruled(state)}


def told_shortly(state: State, judged: Judged, weighed: Weighed, at: Circumstances) -> Told:
    """The record of everyday work: the action itself is enough to judge it again, unless a secret had to go."""
    request = judged.request
    if (
        request.adapted is not None
        or at.matched
        or at.paused_by
        or judged.judgement.witnesses
        or not spotless(canonical_json(request.action.fields))
    ):
        return told(state, judged, weighed, at, Held("allow"))
    assessment, agent = judged.judgement.assessment, request.agent
    body: dict[str, Any] = {
        "timestamp": iso(judged.now),
        "adapter_name": request.adapter or request.door,
        "operation": called(request),
        "danger_level": int(assessment.level),
        "level": assessment.level.word,
        "adapter_trust": "none",
        "outcome": "allowed",
        "agent": {"principal": agent.principal, "name": agent.name, "session": agent.session, "parent": agent.parent},
        "score": assessment.score,
        "irreversible": assessment.irreversible,
        "strength": strength_in(state, request),
        "decision": "allow",
        "policy_name": state.policy.name,
        "mode": state.mode,
        "judged": {"kind": request.action.kind.value, "cwd": request.action.cwd, "fields": request.action.fields},
    }
    if request.action.home:
        body["judged"]["home"] = request.action.home
    if any(RESOLVED in fact.traits for fact in judged.judgement.facts):
        body["resolved"] = True  # by where links led then, which no record tells
    if request.execution:
        body["execution"] = request.execution
    if request.step is not None and request.step.told:
        body["step"] = request.step.told
    if at.claimed_risk is not None:
        body["claimed_risk"] = at.claimed_risk
    if at.claimed_level is not None:
        body["claimed_level"] = int(at.claimed_level)
    return EVENTS["allowed"], {**body, **_ruled(state)}


def _ruled(state: State) -> dict[str, Any]:
    """AE-08: what was set for this agent alone, without which its decision cannot be made again."""
    return {"loop_rules": ruled_json(state.ruled)} if state.ruled else {}
