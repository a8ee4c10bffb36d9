"""Workflows over HTTP, for operators alone: saved, opened for review, frozen, run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.plan_bodies import Freeze, NewWorkflow, StepYes, WorkflowRun
from interlock.doors.http.wire import ticket_json
from interlock.service.plans import flows, workflows
from interlock.service.plans.releasing import Yes
from interlock.service.plans.wire import flow_json, opened_json, workflow_json
from interlock.service.sessions import OperatorSession
from interlock.service.state import State


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/workflows", tags=["plans"]), context.state

    async def run(request: Request, work: Any, *given: Any) -> Any:
        return await context.pool.run(work, state, who_asks(request).operator(), *given)

    @router.get("", **says("workflows", OPERATOR, "The workflows, by name"))
    async def listed(request: Request) -> Any:
        who_asks(request).operator()
        return {"workflows": [workflow_json(one) for one in await context.pool.run(workflows.listed, state)]}

    @router.post("", **says("workflow", OPERATOR, "Saves commands under a name; nothing is run"))
    async def save(request: Request, body: NewWorkflow) -> Any:
        steps = [step.model_dump() for step in body.steps]
        return workflow_json(await run(request, workflows.save, body.name, steps, body.stopOnFailure))

    @router.delete("/{id}", **says("workflow", OPERATOR, "One workflow less", 404))
    async def remove(request: Request, id: str) -> Any:
        return workflow_json(await run(request, workflows.remove, id))

    @router.post("/{id}/open", **says("workflow_open", OPERATOR, "Its steps as plans, each to be reviewed", 404))
    async def opened(request: Request, id: str) -> Any:
        return opened_json(state, await run(request, workflows.open_steps, id))

    @router.post(
        "/{id}/freeze",
        **says("workflow_open", OPERATOR, "One yes to all steps as they are, until one drifts", 404, 409),
    )
    async def freeze(request: Request, id: str, body: Freeze) -> Any:
        return opened_json(state, await run(request, workflows.freeze, id, _said(body.steps), body.runs, body.days))

    @router.post(
        "/{id}/run", **says("workflow_run", OPERATOR, "Runs all steps; `held` where the gate asks for more", 404, 409)
    )
    async def start(request: Request, id: str, body: WorkflowRun) -> Any:
        return await run(request, _run, id, body)

    @router.get("/{id}/run", **says("workflow_run", OPERATOR, "How the last run goes on", 404))
    async def progress(request: Request, id: str) -> Any:
        return flow_json(await run(request, flows.of, id))

    @router.post("/{id}/cancel", **says("done", OPERATOR, "Ends the step that runs, and begins no other", 404))
    async def cancel(request: Request, id: str) -> Any:
        await run(request, flows.cancel, id)
        return {"success": True}

    return router


def _said(steps: Sequence[StepYes]) -> list[tuple[str, Yes]]:
    return [(step.id, Yes(step.command, step.mark, step.understood)) for step in steps]


def _run(state: State, by: OperatorSession, id: str, body: WorkflowRun) -> dict[str, Any]:
    try:
        return flow_json(flows.begin(state, by, id, _said(body.steps), body.frozen))
    except flows.StepsHeld as found:
        held = [
            {"step": at, "reason": str(one)} | ({"ticket": ticket_json(one.ticket, [])} if one.ticket else {})
            for at, one in found.held
        ]
        return {"status": "held", "reason": str(found), "held": held}
