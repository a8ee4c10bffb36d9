"""Plan review (seed 004): a command is analysed, evaluated by the policy and joined with its planner's claims; a yes counts for this text alone."""

from __future__ import annotations

import os
from dataclasses import replace

from interlock.analysis.assess import Judgement
from interlock.engine.snapshotting import HYPOTHETICAL
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
    """What exactly this text in this folder risks, and the mark that a yes to it has to carry; targets are looked at to be shown."""
    action = action_of(text, cwd)
    judgement, named = state.reader.read(action, state.plans.files)
    found = judgement.assessment
    at = Circumstances(mode=state.mode)
    all_told = risk(text, found, claims)
    sign = plan_mark(state.installation.digest_key, id, text, cwd, all_told, found.level, judgement.witnesses)
    if shown and state.plans.look is not None:
        at = with_impact(at, action, judgement, state.plans.look, state.impact_settings.exempt)
    copied = _copied(state, action, judgement, at)
    weighed = evaluate_policy(found, named, state.policy, replace(at, snapshot=HYPOTHETICAL) if copied else at)
    copied = copied and weighed.requirement == Requirement()
    words = at.impact.words if at.impact is not None else ""
    return Reviewed(found, all_told, weighed.requirement, weighed.denies, judgement.witnesses, sign, words, copied)


def _copied(state: State, action: Action, judgement: Judgement, at: Circumstances) -> bool:
    """Whether what it would destroy can be copied first, as far as can be told before that is done."""
    seen = at.impact
    if seen is None or seen.repositories or seen.loss not in (Loss.LOST, Loss.RECOVERABLE) or not state.undo.enabled:
        return False
    question = inspection_of(action, judgement)
    can = state.plans.snapshot(f"uid:{os.getuid()}") is not None and state.mode == ENFORCING
    return can and question is not None and question.relieves and not question.notes and state.impact_settings.exempt


def review_again(state: State, plan: ReviewedPlan) -> Reviewed:
    """The same plan, read anew: rules and scripts may have changed since it was shown."""
    found = review(state, plan.id, plan.command, plan.cwd, claims_of(plan), shown=False)
    return replace(found, blast=plan.reviewed.blast, copied=plan.reviewed.copied and found.mark == plan.reviewed.mark)


def claims_of(plan: ReviewedPlan) -> PlannerClaims | None:
    """What the planner said of its own text; of another it said nothing."""
    return plan.draft.claims if not plan.edited else None


def action_of(text: str, cwd: str) -> Action:
    return command(text, cwd)


def request_of(state: State, plan: ReviewedPlan, runs_as: str = "") -> Request:
    """What the gate is asked: the operator's own command, by no agent's principal; `runs_as` is the user whose files it reaches."""
    agent, plans = AgentRef(f"{PERSON}{plan.operator}", NAME, plan.id), state.plans
    return Request(
        action_of(plan.command, plan.cwd), agent, INTERFACE, files=plans.files, inspect_impact=plans.inspect(runs_as),
        take_snapshot=plans.snapshot(runs_as), runs_as=runs_as,
    )  # fmt: skip
