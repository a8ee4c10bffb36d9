"""Grants and registry patterns over HTTP."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.bodies import NewGrant, NewPattern
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, OPERATOR, says
from interlock.doors.http.wire import grant_json
from interlock.service.granting import add_grant, add_pattern, remove_pattern, revoke_grant


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1"), context.state

    @router.get("/grants", tags=["grants"], **says("grants", OPERATOR, "The grants that still count"))
    async def grants(request: Request) -> Any:
        who_asks(request).operator()
        found = await context.read(lambda tx: tx.grants(state.clock.now()))
        return {"grants": [grant_json(grant) for grant in found]}

    @router.post("/grants", tags=["grants"], **says("grant", OPERATOR, "Allows an effect on targets beforehand"))
    async def new_grant(request: Request, body: NewGrant) -> Any:
        by = who_asks(request).operator()
        return grant_json(await context.pool.run(add_grant, state, by, body.model_dump()))

    @router.delete("/grants/{id}", tags=["grants"], **says("grant", OPERATOR, "A grant that counts no more", 404))
    async def drop_grant(request: Request, id: str) -> Any:
        by = who_asks(request).operator()
        return grant_json(await context.pool.run(revoke_grant, state, by, id))

    @router.get("/patterns", tags=["patterns"], **says("patterns", ANYBODY, "The registry's patterns"))
    async def patterns(request: Request) -> Any:
        who_asks(request).known()
        return {"patterns": [pattern.wire for pattern in tuple(state.registry)]}

    @router.post("/patterns", tags=["patterns"], **says("pattern", OPERATOR, "Registers a destructive pattern"))
    async def new_pattern(request: Request, body: NewPattern) -> Any:
        by = who_asks(request).operator()
        return (await context.pool.run(add_pattern, state, by, body.model_dump())).wire

    @router.delete(
        "/patterns/{id}", tags=["patterns"], **says("pattern", OPERATOR, "Unregisters one, by an admin", 404)
    )
    async def drop_pattern(request: Request, id: str) -> Any:
        by = who_asks(request).operator()
        return (await context.pool.run(remove_pattern, state, by, id)).wire

    return router
