"""An operator's pause over HTTP: how it stands, begun, ended."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.core.times import iso
from interlock.doors.http.bodies import NewPause
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, OPERATOR, says
from interlock.service import pausing
from interlock.service.state import State


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["people"]), context.state

    @router.get("/pause", **says("pause", ANYBODY, "Whether an operator has paused enforcement, and until when"))
    async def pause(request: Request) -> Any:
        who_asks(request).known()
        return pause_json(state)

    @router.post("/pause", **says("pause", OPERATOR, "Pauses enforcement for a while"))
    async def begin(request: Request, body: NewPause) -> Any:
        by = who_asks(request).operator()
        await context.pool.run(pausing.pause, state, by, body.seconds, body.reason)
        return pause_json(state)

    @router.delete("/pause", **says("pause", OPERATOR, "Ends the pause", 404))
    async def end(request: Request) -> Any:
        by = who_asks(request).operator()
        await context.pool.run(pausing.end, state, by)
        return pause_json(state)

    return router


def pause_json(state: State) -> dict[str, Any]:
    """The pause in force, for the wire."""
    found, most = state.pausing, state.pauses.max_minutes
    if found is None or not found.at(state.clock.now()):
        return {"paused": False, "maxMinutes": most}
    times = {"since": iso(found.since), "until": iso(found.until)}
    return {
        "paused": True,
        "maxMinutes": most,
        "by": found.by,
        "reason": found.reason,
        "ceiling": found.ceiling.word,
    } | times
