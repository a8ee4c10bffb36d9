"""Routes for plans, workflows and the choice of planner, for operators alone: create, edit, review, run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.requests import Request

from interlock.identity.sessions import OperatorSession
from interlock.plans import history, planner_choice, planning, running, workflows
from interlock.plans.planner_choice import CHOICES, MOST_MODEL, PlannerState
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.plans.wire import flow_json, opened_json, plan_json, progress_json, row_json, workflow_json
from interlock.records.plans import STATUSES, PlanQuery
from interlock.runtime.state import State
from interlock.server.routes import OPERATOR, RouteGroup
from interlock.web.bodies import (
    EditedPlan,
    Freeze,
    Moment,
    NewPlan,
    NewWorkflow,
    PlanEnd,
    PlanYes,
    RequestBody,
    StepYes,
    WorkflowRun,
    seconds_of,
)
from interlock.web.context import By, Context
from interlock.web.guards import over_socket
from interlock.web.wire import ticket_json

_STATUS = f"^(|{'|'.join(STATUSES)})$"


def review_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1/plans", "plans"), context.state

    @routes("POST", "", "plan", OPERATOR, "Plain words -> a plan to review; nothing is run")
    def make(by: By, body: NewPlan) -> Any:
        return plan_json(state, planning.make_plan(state, by, body.intent, body.cwd))

    @routes("GET", "", "plan_history", OPERATOR, "The history, the newest first")
    def listed(
        q: str = Query("", max_length=200, description="words of the request or the command"),
        status: str = Query("", pattern=_STATUS),
        before: Annotated[Moment, Query(description="only plans made before this")] = "",
        limit: int = Query(50, ge=1, le=500),
    ) -> Any:
        query = PlanQuery(q, status, before=seconds_of("before", before), limit=limit)
        return {"plans": [row_json(state, row) for row in history.search_plans(state, query)]}

    @routes("GET", "/{id}", "plan_kept", OPERATOR, "One plan of the history, with its output", 404)
    def one(id: str) -> Any:
        return row_json(state, planning.find(state, id), output=True)

    @routes("PUT", "/{id}", "plan", OPERATOR, "Edits a plan's command, which is assessed again", 404, 409)
    def edit(by: By, id: str, body: EditedPlan) -> Any:
        return plan_json(state, planning.edit(state, by, id, body.command, body.cwd))

    @routes("POST", "/{id}/again", "plan", OPERATOR, "A new plan from an old one, to be reviewed again", 404)
    def again(by: By, id: str) -> Any:
        return plan_json(state, planning.rerun(state, by, id))

    @routes("POST", "/{id}/reject", "plan", OPERATOR, "Rejects a plan", 404, 409)
    def reject(by: By, id: str) -> Any:
        return plan_json(state, planning.reject(state, by, id))

    return routes


def running_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1/plans", "plans"), context.state

    @routes(
        "POST",
        "/{id}/run",
        "plan_run",
        OPERATOR,
        "Runs exactly this command; `held` where the gate requires more",
        404,
        409,
    )
    def start(request: Request, by: By, id: str, body: PlanYes) -> Any:
        client = request.scope.get("client")
        peer = (str(client[0]), int(client[1])) if client and over_socket(dict(request.scope)) else ("", 0)
        return _run(state, by, id, body, *peer)

    @routes("GET", "/{id}/output", "plan_output", OPERATOR, "The output of a command since `start`", 404)
    def output(by: By, id: str, start: int = Query(0, ge=0, le=10_000_000)) -> Any:
        return progress_json(running.follow(state, by, id, start))

    @routes("POST", "/{id}/cancel", "done", OPERATOR, "Cancels a running command", 404)
    def cancel(by: By, id: str) -> Any:
        running.cancel(state, by, id)
        return {"success": True}

    @routes("POST", "/{id}/done", "plan_kept", OPERATOR, "Reports the end of a run at a terminal", 404, 409)
    def done(by: By, id: str, body: PlanEnd) -> Any:
        return row_json(state, running.end_at_terminal(state, by, id, body.exitCode, body.interrupted), output=True)

    return routes


def _run(state: State, by: OperatorSession, id: str, body: PlanYes, principal: str, pid: int) -> dict[str, Any]:
    """Starts a run; `principal` and `pid` are the kernel's for the caller on the socket, and the run ends with that process."""
    yes = PlanConsent(body.command, body.mark, body.understood)
    here = body.at != "terminal"
    try:
        plan = (
            running.start(state, by, id, yes)
            if here
            else running.release_to_terminal(state, by, id, yes, pid, principal)
        )
    except PlanHeld as held:
        found = {"status": "held", "reason": str(held)}
        ticket = held.ticket
        return found | ({"ticket": ticket_json(ticket, [])} if ticket else {})
    found = {"status": plan.status, "command": plan.command, "cwd": plan.cwd, "reason": ""}
    return found | ({"kept": plan.kept} if plan.kept else {})


class PlannerChoice(RequestBody):
    use: Annotated[str, Field(pattern=f"^({'|'.join(CHOICES)})$")]
    model: str = Field("", max_length=MOST_MODEL, description="of Ollama; the configured one where empty")


def planner_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1/planner", "plans"), context.state

    @routes("GET", "", "planner", OPERATOR, "The planner in use, who chose it, and the program at its address")
    def stands() -> Any:
        return planner_json(planner_choice.planner_state(state))

    @routes("PUT", "", "planner", OPERATOR, "Chooses the planner, by an admin", 403)
    def choose(by: By, body: PlannerChoice) -> Any:
        return planner_json(planner_choice.choose(state, by, body.use, body.model))

    return routes


def planner_json(found: PlannerState) -> dict[str, Any]:
    body: dict[str, Any] = {
        "use": found.use,
        "chosenBy": found.chosen_by,
        "open": found.open,
        "choices": list(CHOICES),
        "host": found.settings.host,
        "model": found.settings.model,
        "listens": found.listener is not None,
    }
    return body | ({"listener": found.listener.user} if found.listener else {})


def workflow_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1/workflows", "plans"), context.state

    @routes("GET", "", "workflows", OPERATOR, "The workflows, by name")
    def listed() -> Any:
        return {"workflows": [workflow_json(one) for one in workflows.list_workflows(state)]}

    @routes("POST", "", "workflow", OPERATOR, "Saves commands under a name; nothing is run")
    def save(by: By, body: NewWorkflow) -> Any:
        steps = [step.model_dump() for step in body.steps]
        return workflow_json(workflows.save(state, by, body.name, steps, body.stopOnFailure))

    @routes("DELETE", "/{id}", "workflow", OPERATOR, "Deletes a workflow", 404)
    def remove(by: By, id: str) -> Any:
        return workflow_json(workflows.remove(state, by, id))

    @routes("POST", "/{id}/open", "workflow_open", OPERATOR, "Its steps as plans, each to be reviewed", 404)
    def opened(by: By, id: str) -> Any:
        return opened_json(state, workflows.open_steps(state, by, id))

    @routes(
        "POST", "/{id}/freeze", "workflow_open", OPERATOR, "Approves all steps as they are, until one changes", 404, 409
    )
    def freeze(by: By, id: str, body: Freeze) -> Any:
        return opened_json(state, workflows.freeze(state, by, id, _consents(body.steps), body.runs, body.days))

    @routes(
        "POST", "/{id}/run", "workflow_run", OPERATOR, "Runs all steps; `held` where the gate requires more", 404, 409
    )
    def start(by: By, id: str, body: WorkflowRun) -> Any:
        return _workflow_run(state, by, id, body)

    @routes("GET", "/{id}/run", "workflow_run", OPERATOR, "The progress of the last run", 404)
    def progress(by: By, id: str) -> Any:
        return flow_json(workflows.find_run(state, by, id))

    @routes("POST", "/{id}/cancel", "done", OPERATOR, "Cancels the running step and those after it", 404)
    def cancel(by: By, id: str) -> Any:
        workflows.cancel_run(state, by, id)
        return {"success": True}

    return routes


def _consents(steps: Sequence[StepYes]) -> list[tuple[str, PlanConsent]]:
    return [(step.id, PlanConsent(step.command, step.mark, step.understood)) for step in steps]


def _workflow_run(state: State, by: OperatorSession, id: str, body: WorkflowRun) -> dict[str, Any]:
    try:
        return flow_json(workflows.start_run(state, by, id, _consents(body.steps), body.frozen))
    except workflows.StepsHeld as found:
        held = [
            {"step": at, "reason": str(one)} | ({"ticket": ticket_json(one.ticket, [])} if one.ticket else {})
            for at, one in found.held
        ]
        return {"status": "held", "reason": str(found), "held": held}


ROUTES = (planner_routes, review_routes, running_routes, workflow_routes)
