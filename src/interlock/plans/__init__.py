"""Plan review (seed 004): a command is analysed, evaluated by the policy and joined with its planner's claims; a yes is for this text alone."""

from __future__ import annotations

import os
from typing import Any

from msgspec.structs import replace

from interlock.analysis.wire import flags_json
from interlock.engine.assessment import Unjudged
from interlock.engine.preview import preview
from interlock.model import PERSON, AgentRef, Requirement, command
from interlock.policy.plan_review import PlannerClaims, plan_mark, risk
from interlock.ports import Access
from interlock.runtime import Request
from interlock.runtime.plan_desk import Reviewed, ReviewedPlan
from interlock.runtime.state import State

INTERFACE = "plan"
NAME = "interlock ask"
INVALID, USED = "VALIDATION_INVALID_VALUE", "TOKEN_ALREADY_USED"  # codes of refusals


def review(state: State, id: str, text: str, cwd: str, claims: PlannerClaims | None, shown: bool = True) -> Reviewed:
    action = command(text, cwd)
    read = state.reader.read(action, state.plans.files)
    found, witnesses = read[0].assessment, read[0].witnesses
    joined_risk = risk(text, found, claims)
    mark = plan_mark(state.installation.digest_key, id, text, cwd, joined_risk, found.level, witnesses)
    undo, by = state.in_force.undo, f"uid:{os.getuid()}"
    undo = replace(undo, enabled=undo.enabled and state.plans.access(by).snapshot is not None)
    answer = preview(action, replace(state.in_force, undo=undo), read=read, look=state.plans.look if shown else None)
    if isinstance(answer, Unjudged):
        raise ValueError(answer.error)
    asked = Requirement() if answer.keepable else answer.weighed.requirement
    words = answer.seen.words if answer.seen else ""
    return Reviewed(found, joined_risk, asked, answer.weighed.denies, witnesses, mark, words, answer.keepable)


def draft_json(plan: ReviewedPlan) -> dict[str, Any]:
    draft, risk = plan.draft, plan.reviewed.risk
    return {
        "flags": flags_json(risk.flags),
        "safetyFlags": list(risk.warnings),
        "explanation": draft.explanation,
        "assumptions": list(draft.assumptions),
        "confidence": draft.confidence,
        "expectedEffect": draft.expected_effect,
    }


def review_again(state: State, plan: ReviewedPlan) -> Reviewed:
    """Rules and scripts may have changed since the plan was shown."""
    claims = None if plan.edited else plan.draft.claims  # the planner's, about its own text
    found = review(state, plan.id, plan.command, plan.cwd, claims, shown=False)
    return replace(found, blast=plan.reviewed.blast, copied=plan.reviewed.copied and found.mark == plan.reviewed.mark)


def request_of(state: State, plan: ReviewedPlan, runs_as: str = "") -> Request:
    """The operator's own command, under no agent's principal; `runs_as` is the user whose files it reaches."""
    agent, own = AgentRef(f"{PERSON}{plan.operator}", NAME, plan.id), state.plans.access(runs_as)
    return Request(
        command(plan.command, plan.cwd), agent, INTERFACE, runs_as=runs_as,
        access=Access(state.plans.files, inspect=own.inspect, snapshot=own.snapshot),
    )  # fmt: skip
