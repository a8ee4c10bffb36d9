"""What `interlock install` and `interlock uninstall` report for the record."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.doors.http.bodies import HookChange
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, says
from interlock.service.hook_files import note_hooks


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["hooks"]), context.state

    @router.post("/hooks", **says("done", ANYBODY, "Hooks were written into an agent's settings, or are taken out"))
    async def change(request: Request, body: HookChange) -> Any:
        who = who_asks(request).known()
        by = who.session or who.principal
        await context.pool.run(note_hooks, state, by, body.change, body.agent, body.scope, body.files)
        return {"success": True}

    return router
