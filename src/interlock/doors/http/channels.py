"""Channels over HTTP: how each does, and a test message; for operators alone, and without what opens a channel."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.service import channels


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/channels", tags=["people"]), context.state

    @router.get("", **says("channels", OPERATOR, "The ways to people, how each is set and what it sent lately"))
    async def every(request: Request) -> Any:
        who_asks(request).operator()
        return {"channels": await context.pool.run(channels.listed, state)}

    @router.post("/{name}/test", **says("channel_test", OPERATOR, "Sends a test message, and says what became of it"))
    async def test(request: Request, name: str) -> Any:
        return await context.pool.run(channels.test, state, who_asks(request).operator(), name)

    return router
