"""Which calls of agents passed their hooks? For `interlock coverage`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, says


def routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["hooks"])

    @router.get("/coverage", **says("coverage", ANYBODY, "Calls that ran, and how many of them passed their hook"))
    async def coverage(request: Request) -> Any:
        who, found = who_asks(request).known(), context.hooks.coverage
        shown = (
            found.by_session() if who.here or who.session is not None else []
        )  # others' sessions are not an agent's business
        return {**found.wire(), "sessions": shown}

    return router
