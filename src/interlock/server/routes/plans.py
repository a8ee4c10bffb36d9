"""Routes for plans, workflows and the choice of planner, for operators alone: create, edit, review, run."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.requests import Request

from interlock.plans import history, planner_choice, planning, running
from interlock.plans.planner_choice import CHOICES, MOST_MODEL, PlannerState
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.plans.wire import plan_json, progress_json, row_json
from interlock.records.plans import STATUSES, PlanQuery
from interlock.server.routes import RouteGroup
from interlock.web.bodies import EditedPlan, Moment, NewPlan, PlanEnd, PlanYes, RequestBody, seconds_of
from interlock.web.context import By, TheState
from interlock.web.guards import over_socket
from interlock.web.wire import ticket_json, wire_fields

_STATUS = f"^(|{'|'.join(STATUSES)})$"


routes = RouteGroup("/api/v1/plans", "plans")


@routes("POST", "", "plan", "Plain words -> a plan to review; nothing is run")
def make(state: TheState, by: By, body: NewPlan) -> Any:
    return plan_json(state, planning.make_plan(state, by, body.intent, body.cwd))


@routes("GET", "", "plan_history", "The history, the newest first")
def listed(
    state: TheState,
    q: str = Query("", max_length=200, description="words of the request or the command"),
    status: str = Query("", pattern=_STATUS),
    before: Annotated[Moment, Query(description="only plans made before this")] = "",
    limit: int = Query(50, ge=1, le=500),
) -> Any:
    query = PlanQuery(q, status, before=seconds_of("before", before), limit=limit)
    return {"plans": [row_json(state, row) for row in history.search_plans(state, query)]}


@routes("GET", "/{id}", "plan_kept", "One plan of the history, with its output")
def one(state: TheState, id: str) -> Any:
    return row_json(state, planning.find(state, id), output=True)


@routes("PUT", "/{id}", "plan", "Edits a plan's command, which is assessed again", 409)
def edit(state: TheState, by: By, id: str, body: EditedPlan) -> Any:
    return plan_json(state, planning.edit(state, by, id, body.command, body.cwd))


@routes("POST", "/{id}/again", "plan", "A new plan from an old one, to be reviewed again")
def again(state: TheState, by: By, id: str) -> Any:
    return plan_json(state, planning.rerun(state, by, id))


@routes("POST", "/{id}/reject", "plan", "Rejects a plan", 409)
def reject(state: TheState, by: By, id: str) -> Any:
    return plan_json(state, planning.reject(state, by, id))


@routes("POST", "/{id}/run", "plan_run", "Runs exactly this command; `held` where the gate requires more", 409)
def start(state: TheState, request: Request, by: By, id: str, body: PlanYes) -> Any:
    client = request.scope.get("client")
    # The kernel's for the caller on the socket; a run at a terminal ends with that process.
    principal, pid = (str(client[0]), int(client[1])) if client and over_socket(dict(request.scope)) else ("", 0)
    yes = PlanConsent(body.command, body.mark, body.understood)
    try:
        if body.at == "terminal":
            plan = running.release_to_terminal(state, by, id, yes, pid, principal)
        else:
            plan = running.start(state, by, id, yes)
    except PlanHeld as held:
        found = {"status": "held", "reason": str(held)}
        return found | ({"ticket": ticket_json(held.ticket, [])} if held.ticket else {})
    return wire_fields(plan, "status,command,cwd", "kept") | {"reason": ""}


@routes("GET", "/{id}/output", "plan_output", "The output of a command since `start`")
def output(state: TheState, by: By, id: str, start: int = Query(0, ge=0, le=10_000_000)) -> Any:
    return progress_json(running.follow(state, by, id, start))


@routes("POST", "/{id}/cancel", "done", "Cancels a running command")
def cancel(state: TheState, by: By, id: str) -> Any:
    running.cancel(state, by, id)
    return {"success": True}


@routes("POST", "/{id}/done", "plan_kept", "Reports the end of a run at a terminal", 409)
def done(state: TheState, by: By, id: str, body: PlanEnd) -> Any:
    return row_json(state, running.end_at_terminal(state, by, id, body.exitCode, body.interrupted), output=True)


class PlannerChoice(RequestBody):
    use: Annotated[str, Field(pattern=f"^({'|'.join(CHOICES)})$")]
    model: str = Field("", max_length=MOST_MODEL, description="of Ollama; the configured one where empty")


planner_routes = RouteGroup("/api/v1/planner", "plans")


@planner_routes("GET", "", "planner", "The planner in use, who chose it, and the program at its address")
def stands(state: TheState) -> Any:
    return planner_json(planner_choice.planner_state(state))


@planner_routes("PUT", "", "planner", "Chooses the planner, by an admin")
def choose(state: TheState, by: By, body: PlannerChoice) -> Any:
    return planner_json(planner_choice.choose(state, by, body.use, body.model))


def planner_json(found: PlannerState) -> dict[str, Any]:
    body = wire_fields(found, "use,chosen_by,open") | {
        "choices": list(CHOICES),
        "host": found.settings.host,
        "model": found.settings.model,
        "listens": found.listener is not None,
    }
    return body | ({"listener": found.listener.user} if found.listener else {})
