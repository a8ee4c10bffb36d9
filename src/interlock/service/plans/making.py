"""Plain words -> a plan that a person looks at; edited, taken from the history, or put away. Nothing here runs anything."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from interlock.core.codes import Refused
from interlock.core.plan import Claims, Draft
from interlock.core.plan_form import DraftError, command_of, draft_of
from interlock.core.plan_records import PLANNED, REJECTED, PlanRow
from interlock.ports import PlannerError, PlannerTimeout, UnknownRequest
from interlock.service.plans.choosing import planner_for
from interlock.service.plans.desk import Plan
from interlock.service.plans.history import keep, row_of
from interlock.service.plans.reviewing import review
from interlock.service.plans.tickets import EDITED, PUT_AWAY, withdraw
from interlock.service.sessions import OperatorSession
from interlock.service.state import State

MOST_INTENT = 2_000  # characters
INVALID, FAILED = "VALIDATION_INVALID_VALUE", "PLANNER_FAILED"
_CODES: Mapping[type[Exception], str] = MappingProxyType({PlannerTimeout: "PLANNER_TIMEOUT", UnknownRequest: INVALID})


def make(state: State, by: OperatorSession, intent: str, cwd: str = "") -> Plan:
    """A planner's plan for a request, reviewed; raises Refused where there is none."""
    if not intent.strip() or len(intent) > MOST_INTENT:
        raise Refused(f"say what you want in 1 to {MOST_INTENT} characters", INVALID)
    place, planner = folder(cwd), planner_for(state)
    if planner is None:
        raise Refused("there is no planner: see [planner] in the configuration", "NOT_FOUND_RESOURCE")
    context = _context(place)
    if not state.plans.planning.acquire(timeout=1):
        raise Refused("the planner is busy with other requests; try again in a moment", "RATE_LIMIT_EXCEEDED")
    try:
        found = planner.plan(intent, context)
        draft = draft_of(found.said)
    except (PlannerError, DraftError) as error:
        raise Refused(str(error), _CODES.get(type(error), FAILED)) from None
    finally:
        state.plans.planning.release()
    used = tuple(f"{key}: {value}" for key, value in context.items())
    return _laid(state, by, intent, draft, place, found.planner, found.notice, used)


def own(state: State, by: OperatorSession, text: str, cwd: str, intent: str, workflow: str = "", step: int = 0) -> Plan:
    """A plan for a command that is there already: of the history, or of a workflow. It is reviewed like any other."""
    draft = Draft(_command(text), claims=Claims())
    return _laid(state, by, intent, draft, folder(cwd), "", "", (), workflow, step)


def rerun(state: State, by: OperatorSession, id: str) -> Plan:
    """A new plan of what the history has; it is reviewed as if it were new."""
    row = state.store.read(lambda tx: tx.plan(id))
    if row is None:
        raise Refused(f"no plan {id!r:.80}", "NOT_FOUND_RESOURCE")
    return own(state, by, row.command, row.cwd, row.intent)


def edit(state: State, by: OperatorSession, id: str, text: str, cwd: str | None = None) -> Plan:
    """The plan with another text, read anew; whatever was ticked or approved before counts no more."""
    plan = _open(state, by, id)
    command, place = _command(text), plan.cwd if cwd is None else folder(cwd)
    claims = plan.draft.claims if command == plan.generated else None
    found = review(state, plan.id, command, place, claims)
    after = replace(plan, command=command, cwd=place, reviewed=found, ticket="", touched_at=state.clock.now())
    state.plans.change(plan, after)
    keep(state, row_of(state, after))
    withdraw(state, by.operator, plan.ticket, EDITED)
    return after


def reject(state: State, by: OperatorSession, id: str) -> Plan:
    """Puts a plan away and closes its ticket; the history says that it was looked at."""
    plan = _open(state, by, id)
    after = state.plans.change(plan, replace(plan, status=REJECTED))
    keep(state, row_of(state, after))
    withdraw(state, by.operator, plan.ticket, PUT_AWAY)
    return after


def find(state: State, id: str) -> PlanRow:
    """A plan of the history."""
    row = state.store.read(lambda tx: tx.plan(id))
    if row is None:
        raise Refused(f"no plan {id!r:.80}", "NOT_FOUND_RESOURCE")
    return row


def _laid(
    state: State, by: OperatorSession, intent: str, draft: Draft, cwd: str, planner: str, notice: str, used: tuple[str, ...],
    workflow: str = "", step: int = 0,
) -> Plan:  # fmt: skip
    id = state.new_id("plan_")
    found = review(state, id, draft.command, cwd, draft.claims)
    plan = Plan(
        id, by.operator, intent, draft.command, draft.command, cwd, draft, found, planner, notice, used, state.clock.now(),
        workflow=workflow, step=step, touched_at=state.clock.now(),
    )  # fmt: skip
    state.plans.put(plan)
    if not workflow:  # of a workflow the history has what ran
        keep(state, row_of(state, plan))
    return plan


def _open(state: State, by: OperatorSession, id: str) -> Plan:
    plan = state.plans.of(by.operator, id)
    if plan.status != PLANNED:
        raise Refused(f"this plan is {plan.status}; take it from the history to run it again", "TOKEN_ALREADY_USED")
    return plan


def _command(text: str) -> str:
    try:
        return command_of(text)
    except DraftError as error:
        raise Refused(str(error), INVALID) from None


def folder(cwd: str) -> str:
    """Where it runs: an absolute path, the home folder where none was named."""
    path = os.path.expanduser(cwd.strip() or "~")
    if not path.startswith("/") or len(path) > 4_096 or not path.isprintable():
        raise Refused("the folder has to be an absolute path, such as /home/you/project", INVALID)
    return os.path.normpath(path)


def _context(cwd: str) -> Mapping[str, str]:
    """What a planner is told beside the request, and nothing else."""
    return {"system": platform.system() or "unknown", "shell": "bash", "folder": cwd}
