"""Builds a decision's record: DL-07's fields and the inputs of the decision, so that it can be replayed."""

from __future__ import annotations

from typing import Any

from interlock.approvals import Resolution, TicketChange
from interlock.audit import EVENTS, HELD, Attempt, attempt_body, attempt_event
from interlock.audit.chain import AuditEvent
from interlock.audit.replay_json import inputs_json
from interlock.canonical_json import canonical_json
from interlock.identity.isolation import request_isolation
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import PolicyResult
from interlock.policy.overrides import applied_rules_json
from interlock.policy.real_paths import RESOLVED
from interlock.records import NOTHING
from interlock.redaction import action_json, has_no_secret
from interlock.runtime import Judged, operation_name
from interlock.runtime.state import State
from interlock.snapshots import TakenSnapshot
from interlock.times import iso


def decision_entry(
    state: State,
    judged: Judged,
    weighed: PolicyResult,
    at: Circumstances,
    held: Resolution,
    kept: TakenSnapshot | None = None,
) -> AuditEvent:
    """The full record of a decision: DL-07's fields, and its inputs for replay."""
    request, assessment = judged.request, judged.judgement.assessment
    outcome = "denied" if held.outcome != "allow" else ("confirmed" if held.keep is TicketChange.SPEND else "allowed")
    waits = held.ticket is not None and outcome == "denied" and held.ticket.open
    adapted = request.adapter_context
    attempt = Attempt(
        at=judged.now,
        adapter_name=request.adapter or request.door,
        operation=operation_name(request),
        level=assessment.level,
        outcome=outcome,
        agent=request.agent,
        adapter_trust=adapted.call.trust.word if adapted else "none",
        reason=HELD if waits else held.reason,
        user_id=held.ticket.decided_by if held.ticket and outcome == "confirmed" else "",
        parameters=action_json(request.action),
        door=request.door,
        strength=request_isolation(state, request),
        digest=judged.digest,
        ticket=held.ticket.id if held.ticket else "",
        execution=request.execution,
        step=request.step.told if request.step else NOTHING,
        irreversible=assessment.irreversible,
        score=assessment.score,
        tier=assessment.tier.value,
        factors=(*assessment.factors, *weighed.factors),
        findings=(*(finding.rule for finding in assessment.findings), *([at.mismatch.name] if at.mismatch else [])),
        facts=inputs_json(judged.judgement.facts, judged.named, at),
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


def short_entry(state: State, judged: Judged, weighed: PolicyResult, at: Circumstances) -> AuditEvent:
    """The short record of everyday work: the action itself suffices for replay, unless a secret was redacted."""
    request = judged.request
    if (
        request.adapter_context is not None
        or at.registry_match
        or at.paused_by
        or judged.judgement.witnesses
        or not has_no_secret(canonical_json(request.action.fields))
    ):
        return decision_entry(state, judged, weighed, at, Resolution("allow"))
    assessment, agent = judged.judgement.assessment, request.agent
    body: dict[str, Any] = {
        "timestamp": iso(judged.now),
        "adapter_name": request.adapter or request.door,
        "operation": operation_name(request),
        "danger_level": int(assessment.level),
        "level": assessment.level.word,
        "adapter_trust": "none",
        "outcome": "allowed",
        "agent": {"principal": agent.principal, "name": agent.name, "session": agent.session, "parent": agent.parent},
        "score": assessment.score,
        "irreversible": assessment.irreversible,
        "strength": request_isolation(state, request),
        "decision": "allow",
        "policy_name": state.policy.name,
        "mode": state.mode,
        "judged": {"kind": request.action.kind.value, "cwd": request.action.cwd, "fields": request.action.fields},
    }
    if request.action.home:
        body["judged"]["home"] = request.action.home
    if any(RESOLVED in fact.traits for fact in judged.judgement.facts):
        body["resolved"] = True  # links were resolved, which no record keeps
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
    """AE-08: settings of this agent alone, which a replay of its decision needs."""
    return {"loop_rules": applied_rules_json(state.in_force.applied_rules)} if state.in_force.applied_rules else {}
