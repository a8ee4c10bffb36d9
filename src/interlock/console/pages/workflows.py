"""Workflows page: commands under one name, reviewed step by step, frozen and run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from interlock.console.pages.ask import HOME as ASK
from interlock.console.pages.ask import elsewhere, field
from interlock.console.replies import json_handler
from interlock.console.stepup import grant_begin, grant_signed
from interlock.console.visit import APPROVER, Answer, InvalidInput, Page, PageRoutes, RedirectTo, Visit
from interlock.plans import planning, running, workflows
from interlock.plans.releasing import PlanConsent
from interlock.plans.wire import flow_json, plan_json
from interlock.records.plans import RUNNING

HOME = f"{ASK}/workflows"
routes = PageRoutes(HOME)


@routes.get()
def listing(visit: Visit) -> Answer:
    return Page(
        "ask/workflows.html",
        {"flows": workflows.list_workflows(visit.state), "cwd": planning.working_folder("")},
    )


@routes.post(role=APPROVER)
def save(visit: Visit) -> Answer:
    """A new workflow: one command a line, all in one folder."""
    lines = [line for line in field(visit, "commands").replace("\r\n", "\n").split("\n") if line.strip()]
    steps = [{"command": line, "cwd": field(visit, "cwd")} for line in lines]
    stops = visit.form.get("stop") == "yes"
    made = workflows.save(visit.state, visit.session, field(visit, "name"), steps, stops)
    return RedirectTo(f"{HOME}/{quote(made.id)}")


@routes.get("/{id}", APPROVER)
def one(visit: Visit) -> Answer:
    """One workflow, each step reviewed anew."""
    state = visit.state
    opened = workflows.open_steps(state, visit.session, visit.id)
    flow = state.plans.flows.get(opened.workflow.id)
    mine = flow is not None and flow.operator == visit.who.operator
    values = {
        "flow": opened.workflow,
        "opened": opened,
        "steps": [plan_json(state, plan) for plan in opened.plans],
        "running": mine and flow is not None and flow.status == RUNNING,
        "not_here": running.why_not_here(state, elsewhere(visit)),
    }
    return Page("ask/workflow.html", values)


@routes.post("/{id}/remove", APPROVER)
def remove(visit: Visit) -> Answer:
    workflows.remove(visit.state, visit.session, visit.id)
    return RedirectTo(HOME)


@routes.post("/{id}/run", APPROVER)
@json_handler
def run(visit: Visit) -> Mapping[str, Any]:
    """Runs a workflow on a yes to every step, or to the frozen whole; else answers with the tickets that hold it."""
    state, session, id = visit.state, visit.session, visit.id
    try:
        flow = workflows.start_run(state, session, id, _step_answers(visit), field(visit, "frozen"), elsewhere(visit))
    except workflows.StepsHeld as held:
        tickets = [one.ticket.id for _, one in held.held if one.ticket]
        return {"status": "held", "reason": f"{held} Answer them in the queue, then run it again.", "tickets": tickets}
    return flow_json(flow)


@routes.post("/{id}/freeze/begin", APPROVER)
@json_handler
def freeze_begin(visit: Visit) -> Mapping[str, Any]:
    """The challenge for the grant that freezing takes; empty where it takes none."""
    terms = _terms(visit)
    return grant_begin(visit, terms) if terms else {"fresh": True}


@routes.post("/{id}/freeze", APPROVER)
@json_handler
def freeze(visit: Visit) -> Mapping[str, Any]:
    terms = _terms(visit)
    by = grant_signed(visit, terms) if terms else visit.session
    workflows.freeze(visit.state, by, visit.id, _step_answers(visit), *_span(visit))
    return {"status": "frozen"}


def _terms(visit: Visit) -> dict[str, Any] | None:
    given = visit.state, visit.session, visit.id
    return workflows.grant_of(*given, _step_answers(visit), *_span(visit))


def _span(visit: Visit) -> tuple[int, int]:
    """The number of runs and days."""
    runs, days = field(visit, "runs"), field(visit, "days")
    if not (runs.isdigit() and days.isdigit() and len(runs + days) < 6):
        raise InvalidInput("how many runs, and for how many days?")
    return int(runs), int(days)


@routes.get("/{id}/progress", APPROVER)
@json_handler
def progress(visit: Visit) -> Mapping[str, Any]:
    return flow_json(workflows.find_run(visit.state, visit.session, visit.id))


@routes.post("/{id}/cancel", APPROVER)
@json_handler
def cancel(visit: Visit) -> Mapping[str, Any]:
    workflows.cancel_run(visit.state, visit.session, visit.id)
    return {"status": "ending"}


def _step_answers(visit: Visit) -> list[tuple[str, PlanConsent]]:
    """The operator's answer to each step, as the page sends it."""
    try:
        steps = json.loads(visit.form.get("steps", ""))
    except (ValueError, RecursionError):
        raise InvalidInput("the steps cannot be read") from None
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise InvalidInput("the steps cannot be read")
    return [
        (
            str(step.get("id", "")),
            PlanConsent(str(step.get("command", "")), str(step.get("mark", "")), step.get("understood") is True),
        )
        for step in steps
    ]
