"""Plans over HTTP, for operators alone: made, edited, answered, followed, looked up."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from interlock.core.plan_records import STATUSES, PlanQuery
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.guards import over_socket
from interlock.doors.http.plan_bodies import EditedPlan, NewPlan, PlanEnd, PlanYes
from interlock.doors.http.times import Moment, seconds_of
from interlock.doors.http.wire import ticket_json
from interlock.service.plans import history, making, running
from interlock.service.plans.releasing import Held, Yes
from interlock.service.plans.wire import plan_json, progress_json, row_json
from interlock.service.sessions import OperatorSession
from interlock.service.state import State

_STATUS = f"^(|{'|'.join(STATUSES)})$"


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/plans", tags=["plans"]), context.state

    async def run(request: Request, work: Any, *given: Any) -> Any:
        return await context.pool.run(work, state, who_asks(request).operator(), *given)

    @router.post("", **says("plan", OPERATOR, "Plain words -> a plan to look at; nothing is run"))
    async def make(request: Request, body: NewPlan) -> Any:
        return plan_json(state, await run(request, making.make, body.intent, body.cwd))

    @router.get("", **says("plan_history", OPERATOR, "The history, the newest first"))
    async def listed(
        request: Request,
        q: Annotated[str, Query(max_length=200, description="words of the request or the command")] = "",
        status: Annotated[str, Query(pattern=_STATUS)] = "",
        before: Annotated[Moment, Query(description="only plans made before this")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> Any:
        who_asks(request).operator()
        query = PlanQuery(q, status, before=seconds_of("before", before), limit=limit)
        found = await context.pool.run(history.search, state, query)
        return {"plans": [row_json(state, row) for row in found]}

    @router.get("/{id}", **says("plan_kept", OPERATOR, "One plan of the history, with its output", 404))
    async def one(request: Request, id: str) -> Any:
        who_asks(request).operator()
        return row_json(state, await context.pool.run(making.find, state, id), output=True)

    @router.put("/{id}", **says("plan", OPERATOR, "Another text for a plan: it is read anew", 404, 409))
    async def edit(request: Request, id: str, body: EditedPlan) -> Any:
        return plan_json(state, await run(request, making.edit, id, body.command, body.cwd))

    @router.post("/{id}/again", **says("plan", OPERATOR, "A new plan of an old one, to be reviewed again", 404))
    async def again(request: Request, id: str) -> Any:
        return plan_json(state, await run(request, making.rerun, id))

    @router.post("/{id}/reject", **says("plan", OPERATOR, "Puts a plan away", 404, 409))
    async def reject(request: Request, id: str) -> Any:
        return plan_json(state, await run(request, making.reject, id))

    @router.post(
        "/{id}/run",
        **says("plan_run", OPERATOR, "A yes to exactly this text; `held` where the gate asks for more", 404, 409),
    )
    async def start(request: Request, id: str, body: PlanYes) -> Any:
        by, client = who_asks(request).operator(), request.scope.get("client")
        peer = (str(client[0]), int(client[1])) if client and over_socket(dict(request.scope)) else ("", 0)
        return await context.pool.run(_run, state, by, id, body, *peer)

    @router.get("/{id}/output", **says("plan_output", OPERATOR, "What a command wrote since", 404))
    async def output(request: Request, id: str, start: Annotated[int, Query(ge=0, le=10_000_000)] = 0) -> Any:
        return progress_json(await run(request, running.follow, id, start))

    @router.post("/{id}/cancel", **says("done", OPERATOR, "Ends a command that runs", 404))
    async def cancel(request: Request, id: str) -> Any:
        await run(request, running.cancel, id)
        return {"success": True}

    @router.post("/{id}/done", **says("plan_kept", OPERATOR, "How a run at a terminal ended", 404, 409))
    async def done(request: Request, id: str, body: PlanEnd) -> Any:
        return row_json(state, await run(request, running.done, id, body.exitCode, body.interrupted), output=True)

    return router


def _run(state: State, by: OperatorSession, id: str, body: PlanYes, principal: str, pid: int) -> dict[str, Any]:
    """`principal` and `pid` are the kernel's word for whoever asks on the socket: the run lasts no longer than that process."""
    yes = Yes(body.command, body.mark, body.understood)
    here = body.at != "terminal"
    try:
        plan = running.start(state, by, id, yes) if here else running.leave(state, by, id, yes, pid, principal)
    except Held as held:
        found = {"status": "held", "reason": str(held)}
        ticket = held.ticket
        return found | ({"ticket": ticket_json(ticket, [])} if ticket else {})
    found = {"status": plan.status, "command": plan.command, "cwd": plan.cwd, "reason": ""}
    return found | ({"kept": plan.kept} if plan.kept else {})
