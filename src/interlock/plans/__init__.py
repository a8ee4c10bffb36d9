"""Plan review (seed 004): a command is analysed, evaluated by the policy and joined with its planner's claims; a yes counts for this text alone."""

from __future__ import annotations

import os

from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.engine.decide import HYPOTHETICAL
from interlock.impact.inspection import inspection_of, with_impact
from interlock.model import PERSON, Action, AgentRef, Loss, Requirement, command
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import evaluate_policy
from interlock.policy.plan_review import PlannerClaims, plan_mark, risk
from interlock.runtime import Request
from interlock.runtime.plan_desk import Reviewed, ReviewedPlan
from interlock.runtime.state import State

INTERFACE = "plan"
NAME = "interlock ask"
ENFORCING = "enforcing"


def review(state: State, id: str, text: str, cwd: str, claims: PlannerClaims | None, shown: bool = True) -> Reviewed:
    """The risk of exactly this text in this folder, and the mark that its approval has to carry; with `shown`, targets are inspected."""
    action = action_of(text, cwd)
    judgement, named = state.reader.read(action, state.plans.files)
    found = judgement.assessment
    at = Circumstances(mode=state.mode)
    joined_risk = risk(text, found, claims)
    mark = plan_mark(state.installation.digest_key, id, text, cwd, joined_risk, found.level, judgement.witnesses)
    if shown and state.plans.look is not None:
        at = with_impact(at, action, judgement, state.plans.look, state.impact_settings.exempt)
    copied = _can_snapshot(state, action, judgement, at)
    weighed = evaluate_policy(found, named, state.policy, replace(at, snapshot=HYPOTHETICAL) if copied else at)
    copied = copied and weighed.requirement == Requirement()
    words = at.impact.words if at.impact is not None else ""
    return Reviewed(found, joined_risk, weighed.requirement, weighed.denies, judgement.witnesses, mark, words, copied)


def _can_snapshot(state: State, action: Action, judgement: Judgement, at: Circumstances) -> bool:
    """Whether a snapshot can probably be taken of what the command would destroy."""
    impact = at.impact
    if (
        impact is None
        or impact.repositories
        or impact.loss not in (Loss.LOST, Loss.RECOVERABLE)
        or not state.undo.enabled
    ):
        return False
    question = inspection_of(action, judgement)
    can = state.plans.snapshot(f"uid:{os.getuid()}") is not None and state.mode == ENFORCING
    return can and question is not None and question.relieves and not question.notes and state.impact_settings.exempt


def review_again(state: State, plan: ReviewedPlan) -> Reviewed:
    """Reviews a plan again: rules and scripts may have changed since it was shown."""
    found = review(state, plan.id, plan.command, plan.cwd, claims_of(plan), shown=False)
    return replace(found, blast=plan.reviewed.blast, copied=plan.reviewed.copied and found.mark == plan.reviewed.mark)


def claims_of(plan: ReviewedPlan) -> PlannerClaims | None:
    """The planner's claims about its own text; none for an edited one."""
    return plan.draft.claims if not plan.edited else None


def action_of(text: str, cwd: str) -> Action:
    return command(text, cwd)


def request_of(state: State, plan: ReviewedPlan, runs_as: str = "") -> Request:
    """The request to evaluate: the operator's own command, under no agent's principal; `runs_as` is the user whose files it reaches."""
    agent, plans = AgentRef(f"{PERSON}{plan.operator}", NAME, plan.id), state.plans
    return Request(
        action_of(plan.command, plan.cwd), agent, INTERFACE, files=plans.files, inspect_impact=plans.inspect(runs_as),
        take_snapshot=plans.snapshot(runs_as), runs_as=runs_as,
    )  # fmt: skip
