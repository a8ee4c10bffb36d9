"""Turns a request in plain words into a plan for review; edits, repeats and rejects plans, and runs nothing."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping

from msgspec.structs import replace

from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.sessions import OperatorSession
from interlock.plans import INVALID, USED, review
from interlock.plans.draft import DraftError, parse_command, parse_draft
from interlock.plans.history import plan_row, save_plan, withdraw_ticket
from interlock.plans.planner_choice import planner_for
from interlock.policy.plan_review import Draft, PlannerClaims
from interlock.ports import PlannerError, PlannerTimeout, UnknownRequest
from interlock.records.plans import PLANNED, REJECTED, PlanRow
from interlock.runtime.plan_desk import ReviewedPlan
from interlock.runtime.state import State

MOST_INTENT = 2_000  # characters
FAILED = "PLANNER_FAILED"
_CODES: Mapping[type[Exception], str] = {PlannerTimeout: "PLANNER_TIMEOUT", UnknownRequest: INVALID}


def make_plan(state: State, by: OperatorSession, intent: str, cwd: str = "") -> ReviewedPlan:
    if not intent.strip() or len(intent) > MOST_INTENT:
        raise AnswerRefused(f"say what you want in 1 to {MOST_INTENT} characters", INVALID)
    place, planner = working_folder(cwd), planner_for(state)
    if planner is None:
        raise NotFound("there is no planner: see [planner] in the configuration")
    # Everything that a planner receives beside the request.
    context = {"system": platform.system() or "unknown", "shell": "bash", "folder": place}
    if not state.plans.planning.acquire(timeout=1):
        raise AnswerRefused("the planner is busy with other requests; try again in a moment", "RATE_LIMIT_EXCEEDED")
    try:
        found = planner.plan(intent, context)
        draft = parse_draft(found.said)
    except (PlannerError, DraftError) as error:
        raise AnswerRefused(str(error), _CODES.get(type(error), FAILED)) from None
    finally:
        state.plans.planning.release()
    used = tuple(f"{key}: {value}" for key, value in context.items())
    return _add_plan(state, by, intent, draft, place, found.planner, found.notice, used)


def plan_command(
    state: State, by: OperatorSession, text: str, cwd: str, intent: str, workflow: str = "", step: int = 0
) -> ReviewedPlan:
    """A plan for a command of the history or of a workflow; it is reviewed like any other."""
    draft = Draft(usable_command(text), claims=PlannerClaims())
    return _add_plan(state, by, intent, draft, working_folder(cwd), "", "", (), workflow, step)


def rerun(state: State, by: OperatorSession, id: str) -> ReviewedPlan:
    row = find(state, id)
    return plan_command(state, by, row.command, row.cwd, row.intent)


def edit(state: State, by: OperatorSession, id: str, text: str, cwd: str | None = None) -> ReviewedPlan:
    """Reviewed again; earlier boxes and approvals no longer count."""
    plan = _open(state, by, id)
    command, place = usable_command(text), plan.cwd if cwd is None else working_folder(cwd)
    found = review(state, plan.id, command, place, plan.draft.claims if command == plan.generated else None)
    after = replace(plan, command=command, cwd=place, reviewed=found, ticket="", touched_at=state.clock.now())
    return _change(state, by, plan, after, "the plan was edited")


def reject(state: State, by: OperatorSession, id: str) -> ReviewedPlan:
    plan = _open(state, by, id)
    return _change(state, by, plan, replace(plan, status=REJECTED), "the plan was put away")


def _change(state: State, by: OperatorSession, plan: ReviewedPlan, after: ReviewedPlan, why: str) -> ReviewedPlan:
    state.plans.change(plan, after)
    save_plan(state, plan_row(state, after))
    withdraw_ticket(state, by.operator, plan.ticket, why)
    return after


def find(state: State, id: str) -> PlanRow:
    if (row := state.store.read(lambda tx: tx.plan(id))) is None:
        raise NotFound(f"no plan {id!r:.80}")
    return row


def _add_plan(
    state: State, by: OperatorSession, intent: str, draft: Draft, cwd: str, planner: str, notice: str, used: tuple[str, ...],
    workflow: str = "", step: int = 0,
) -> ReviewedPlan:  # fmt: skip
    id = state.new_id("plan_")
    found, now = review(state, id, draft.command, cwd, draft.claims), state.clock.now()
    plan = ReviewedPlan(
        id, by.operator, intent, draft.command, draft.command, cwd, draft, found, planner, notice, used, now,
        workflow=workflow, step=step, touched_at=now,
    )  # fmt: skip
    state.plans.put(plan)
    if not workflow:  # of a workflow the history has what ran
        save_plan(state, plan_row(state, plan))
    return plan


def _open(state: State, by: OperatorSession, id: str) -> ReviewedPlan:
    plan = state.plans.of(by.operator, id)
    if plan.status != PLANNED:
        raise AnswerRefused(f"this plan is {plan.status}; take it from the history to run it again", USED)
    return plan


def usable_command(text: str | None) -> str:
    try:
        return parse_command(text)
    except DraftError as error:
        raise AnswerRefused(str(error), INVALID) from None


def working_folder(cwd: str) -> str:
    path = os.path.expanduser(cwd.strip() or "~")
    if not path.startswith("/") or len(path) > 4_096 or not path.isprintable():
        raise AnswerRefused("the folder has to be an absolute path, such as /home/you/project", INVALID)
    return os.path.normpath(path)
