"""Routes for plans, workflows and the choice of planner, for operators alone: create, edit, review, run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from interlock.identity.sessions import OperatorSession
from interlock.plans import history, planner_choice, planning, running, workflows
from interlock.plans.planner_choice import CHOICES, MOST_MODEL, PlannerState
from interlock.plans.releasing import PlanConsent, PlanHeld
from interlock.plans.wire import flow_json, opened_json, plan_json, progress_json, row_json, workflow_json
from interlock.records.plans import STATUSES, PlanQuery
from interlock.runtime.state import State
from interlock.server.routes import OPERATOR, describe
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


def plan_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1/plans", tags=["plans"])

    _add_review(router, context)
    _add_running(router, context)
    return router


def _add_review(router: APIRouter, context: Context) -> None:
    state = context.state

    @router.post("", **describe("plan", OPERATOR, "Plain words -> a plan to review; nothing is run"))
    async def make(by: By, body: NewPlan) -> Any:
        return plan_json(state, await context.run(planning.make_plan, by, body.intent, body.cwd))

    @router.get("", **describe("plan_history", OPERATOR, "The history, the newest first"))
    async def listed(
        q: Annotated[str, Query(max_length=200, description="words of the request or the command")] = "",
        status: Annotated[str, Query(pattern=_STATUS)] = "",
        before: Annotated[Moment, Query(description="only plans made before this")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> Any:
        query = PlanQuery(q, status, before=seconds_of("before", before), limit=limit)
        found = await context.run(history.search_plans, query)
        return {"plans": [row_json(state, row) for row in found]}

    @router.get("/{id}", **describe("plan_kept", OPERATOR, "One plan of the history, with its output", 404))
    async def one(id: str) -> Any:
        return row_json(state, await context.run(planning.find, id), output=True)

    @router.put("/{id}", **describe("plan", OPERATOR, "Edits a plan's command, which is assessed again", 404, 409))
    async def edit(by: By, id: str, body: EditedPlan) -> Any:
        return plan_json(state, await context.run(planning.edit, by, id, body.command, body.cwd))

    @router.post("/{id}/again", **describe("plan", OPERATOR, "A new plan from an old one, to be reviewed again", 404))
    async def again(by: By, id: str) -> Any:
        return plan_json(state, await context.run(planning.rerun, by, id))

    @router.post("/{id}/reject", **describe("plan", OPERATOR, "Rejects a plan", 404, 409))
    async def reject(by: By, id: str) -> Any:
        return plan_json(state, await context.run(planning.reject, by, id))


def _add_running(router: APIRouter, context: Context) -> None:
    state = context.state

    @router.post(
        "/{id}/run",
        **describe("plan_run", OPERATOR, "Runs exactly this command; `held` where the gate requires more", 404, 409),
    )
    async def start(request: Request, by: By, id: str, body: PlanYes) -> Any:
        client = request.scope.get("client")
        peer = (str(client[0]), int(client[1])) if client and over_socket(dict(request.scope)) else ("", 0)
        return await context.run(_run, by, id, body, *peer)

    @router.get("/{id}/output", **describe("plan_output", OPERATOR, "The output of a command since `start`", 404))
    async def output(by: By, id: str, start: Annotated[int, Query(ge=0, le=10_000_000)] = 0) -> Any:
        return progress_json(await context.run(running.follow, by, id, start))

    @router.post("/{id}/cancel", **describe("done", OPERATOR, "Cancels a running command", 404))
    async def cancel(by: By, id: str) -> Any:
        await context.run(running.cancel, by, id)
        return {"success": True}

    @router.post("/{id}/done", **describe("plan_kept", OPERATOR, "Reports the end of a run at a terminal", 404, 409))
    async def done(by: By, id: str, body: PlanEnd) -> Any:
        return row_json(
            state, await context.run(running.end_at_terminal, by, id, body.exitCode, body.interrupted), output=True
        )


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
    model: Annotated[str, Field(max_length=MOST_MODEL, description="of Ollama; the configured one where empty")] = ""


def planner_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1/planner", tags=["plans"])

    @router.get("", **describe("planner", OPERATOR, "The planner in use, who chose it, and the program at its address"))
    async def stands() -> Any:
        return planner_json(await context.run(planner_choice.planner_state))

    @router.put("", **describe("planner", OPERATOR, "Chooses the planner, by an admin", 403))
    async def choose(by: By, body: PlannerChoice) -> Any:
        return planner_json(await context.run(planner_choice.choose, by, body.use, body.model))

    return router


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


def workflow_routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/workflows", tags=["plans"]), context.state

    @router.get("", **describe("workflows", OPERATOR, "The workflows, by name"))
    async def listed() -> Any:
        return {"workflows": [workflow_json(one) for one in await context.run(workflows.list_workflows)]}

    @router.post("", **describe("workflow", OPERATOR, "Saves commands under a name; nothing is run"))
    async def save(by: By, body: NewWorkflow) -> Any:
        steps = [step.model_dump() for step in body.steps]
        return workflow_json(await context.run(workflows.save, by, body.name, steps, body.stopOnFailure))

    @router.delete("/{id}", **describe("workflow", OPERATOR, "Deletes a workflow", 404))
    async def remove(by: By, id: str) -> Any:
        return workflow_json(await context.run(workflows.remove, by, id))

    @router.post("/{id}/open", **describe("workflow_open", OPERATOR, "Its steps as plans, each to be reviewed", 404))
    async def opened(by: By, id: str) -> Any:
        return opened_json(state, await context.run(workflows.open_steps, by, id))

    @router.post(
        "/{id}/freeze",
        **describe("workflow_open", OPERATOR, "Approves all steps as they are, until one changes", 404, 409),
    )
    async def freeze(by: By, id: str, body: Freeze) -> Any:
        return opened_json(
            state, await context.run(workflows.freeze, by, id, _consents(body.steps), body.runs, body.days)
        )

    @router.post(
        "/{id}/run",
        **describe("workflow_run", OPERATOR, "Runs all steps; `held` where the gate requires more", 404, 409),
    )
    async def start(by: By, id: str, body: WorkflowRun) -> Any:
        return await context.run(_workflow_run, by, id, body)

    @router.get("/{id}/run", **describe("workflow_run", OPERATOR, "The progress of the last run", 404))
    async def progress(by: By, id: str) -> Any:
        return flow_json(await context.run(workflows.find_run, by, id))

    @router.post("/{id}/cancel", **describe("done", OPERATOR, "Cancels the running step and those after it", 404))
    async def cancel(by: By, id: str) -> Any:
        await context.run(workflows.cancel_run, by, id)
        return {"success": True}

    return router


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


ROUTES = (planner_routes, plan_routes, workflow_routes)
