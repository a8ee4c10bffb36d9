"""Adapters over HTTP: how far each is trusted; operators raise and lower it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.core.trust import TRUSTS
from interlock.doors.http.bodies import TrustChange
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, OPERATOR, says
from interlock.doors.http.wire import adapter_json
from interlock.service.adapter_trust import change, refresh
from interlock.service.state import State


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["adapters"]), context.state

    @router.get("/adapters", **says("adapters", ANYBODY, "The adapters that are loaded, and how far each is trusted"))
    async def adapters(request: Request) -> Any:
        who = who_asks(request).known()
        return await context.pool.run(_all, state, who.session is not None)

    @router.put(
        "/adapters/{name}/trust", **says("adapter", OPERATOR, "Another level of trust: one step up, or down", 404)
    )
    async def trust(request: Request, name: str, body: TrustChange) -> Any:
        by = who_asks(request).operator()
        loaded = await context.pool.run(change, state, by, name, TRUSTS[body.level], body.reason, body.mark)
        return adapter_json(state, loaded, True)

    return router


def _all(state: State, whole: bool) -> dict[str, Any]:
    if state.adapters.stale:
        refresh(state)
    found = [loaded for name in state.adapters.names for loaded in state.adapters.found(name)]
    return {"adapters": [adapter_json(state, loaded, whole) for loaded in found]}
