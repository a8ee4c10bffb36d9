"""★ The approval boundary: no planned command runs without a person's yes to exactly this text. Every run comes through here."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals import WAITING
from interlock.approvals.answers import approve
from interlock.approvals.step_up import needs_stepup
from interlock.engine.evaluate import evaluate
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.model import Decision
from interlock.plans import USED, request_of, review_again
from interlock.plans.history import plan_row, save_plan, withdraw_ticket
from interlock.policy.plan_review import SECRET_PREFIX, same_mark
from interlock.ports import Tx
from interlock.records import Ticket
from interlock.records.plans import PLANNED, RUNNING
from interlock.redaction import redact_text
from interlock.runtime.plan_desk import STARTING, ReviewedPlan
from interlock.runtime.state import State

STALE = "TOKEN_SCOPE_MISMATCH"


class PlanConsent(Struct, frozen=True):
    """`mark` is the one that the text was shown under."""

    command: str
    mark: str
    understood: bool = False


class PlanHeld(Exception):
    """The policy requires more than a box: the ticket, and the message for a person."""

    def __init__(self, words: str, ticket: Ticket | None) -> None:
        self.ticket = ticket
        super().__init__(words)


def require_yes(state: State, by: OperatorSession, id: str, yes: PlanConsent) -> ReviewedPlan:
    """The plan that a person consented to, before the policy is evaluated; raises AnswerRefused.

    1. It is their own plan, and it was not run before.   2. The text is the one that was shown to them.
    3. Read again now, it still is what was shown.        4. The box is ticked where there is one.
    """
    plan = state.plans.of(by.operator, id)
    if plan.status != PLANNED:  # 1
        words = f"this plan is {plan.status}: it runs once; take it from the history to run it again"
        raise AnswerRefused(words, USED)
    if yes.command != plan.command or not same_mark(yes.mark, plan.reviewed.mark):  # 2
        raise AnswerRefused("this is not the text that was shown to you; review it again", STALE)
    if SECRET_PREFIX in plan.command:
        raise AnswerRefused("a secret was taken out of this command: put it back in before it runs", STALE)
    reviewed = review_again(state, plan)
    if not same_mark(reviewed.mark, plan.reviewed.mark):  # 3
        state.plans.change(plan, replace(plan, reviewed=reviewed))
        raise AnswerRefused("what this command would do has changed since it was shown; review it again", STALE)
    box = reviewed.risk.box(state.plans.settings.confirm_medium_risk)
    if box and yes.understood is not True:  # 4
        raise AnswerRefused(f"tick the box first: {box}")
    return plan


def release(
    state: State, by: OperatorSession, id: str, yes: PlanConsent, place: str, runs_as: str = ""
) -> ReviewedPlan:
    """The plan, released to run once, stored and recorded; raises AnswerRefused or PlanHeld, and then nothing may run.

    5. A person consented to exactly this.   6. The policy allows exactly this, after a snapshot of what it would change.
    7. The run is stored before it starts.
    """
    plan = require_yes(state, by, id, yes)  # 5
    taken = state.plans.change(plan, replace(plan, status=STARTING))
    try:
        decision = _gate(state, by, taken, runs_as)  # 6
        ticket = decision.ticket.id if decision.ticket else ""
        running = replace(
            taken, status=RUNNING, place=place, started_at=state.clock.now(), ticket=ticket, runs_as=runs_as, kept=decision.kept
        )  # fmt: skip
        _record_run(state, running, decision, yes)  # 7
    except BaseException as error:
        held = error.ticket if isinstance(error, PlanHeld) else None
        after = replace(plan, ticket=held.id if held else plan.ticket, touched_at=state.clock.now())
        state.plans.change(taken, after)
        if held:
            save_plan(state, plan_row(state, after))
        raise
    after = state.plans.change(taken, running)
    if plan.ticket != ticket:  # nobody is asked any more
        withdraw_ticket(state, by.operator, plan.ticket, "the plan runs without it")
    return after


def pre_release(state: State, by: OperatorSession, plan: ReviewedPlan) -> PlanHeld | None:
    """What the policy will require, before anything runs; spends nothing."""
    try:
        _gate(state, by, plan, own_principal(), spend=False)
    except PlanHeld as held:
        return held
    return None


def own_principal() -> str:
    return f"uid:{os.getuid()}"


def _gate(state: State, by: OperatorSession, plan: ReviewedPlan, runs_as: str, spend: bool = True) -> Decision:
    """The one evaluation path. Where only a signed-in person's confirmation is required, this consent is it."""
    request = replace(request_of(state, plan, runs_as), spend=spend)
    decision = evaluate(state, request)
    ticket = decision.ticket if not decision.allowed else None
    if ticket and ticket.state is WAITING and not ticket.requirement.blocked and not needs_stepup(ticket):
        approve(state, by, ticket.id, f"asked for in plan {plan.id}")
        decision = evaluate(state, request)
    if not decision.allowed:
        raise PlanHeld(decision.reason, decision.ticket)
    if decision.assessment and not decision.assessment.approvable:  # whatever the mode lets pass
        raise PlanHeld("Nobody may approve this command, so it does not run from here.", None)
    return decision


def _record_run(state: State, plan: ReviewedPlan, decision: Decision, yes: PlanConsent) -> None:
    details = {
        "plan": plan.id, "command": redact_text(plan.command), "cwd": plan.cwd, "risk": plan.reviewed.risk.word,
        "understood": yes.understood, "edited": plan.edited, "place": plan.place,
        "ticket": plan.ticket, "kept": plan.kept,
    }  # fmt: skip

    def work(tx: Tx) -> None:
        tx.save_plan(plan_row(state, plan))
        state.recorder.event(tx, "plan", plan.operator, details)

    state.store.write(work)
