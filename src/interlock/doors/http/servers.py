"""Servers behind proxies, over HTTP: what a proxy asks when it meets one, and an operator's word on tools that changed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.bodies import Acceptance, MetServer
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import AGENT, OPERATOR, says
from interlock.doors.http.served import server_of
from interlock.service.adapter_trust import one_of
from interlock.service.servers import accept, standing

_MET = "How far a server behind a proxy is trusted, and which of its tools changed"


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/servers", tags=["adapters"]), context.state

    @router.post("", **says("server", AGENT, _MET))
    async def met(request: Request, body: MetServer) -> Any:
        principal, server = who_asks(request).agent(), server_of(body.server)
        found = await context.pool.run(standing, state, server, body.tools, principal)
        return {"trust": found.trust.word, "note": found.note, "changed": list(found.changed)}

    @router.post(
        "/{name}/accept", **says("accepted", OPERATOR, "Pins the tools of a server anew, as they are listed next", 404)
    )
    async def accepted(request: Request, name: str, body: Acceptance) -> Any:
        by = who_asks(request).operator()
        await context.pool.run(accept, state, by.operator, one_of(state, name, body.mark), body.reason)
        return {"name": name, "accepted": True}

    return router
