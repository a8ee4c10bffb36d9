"""`interlock run` tells of a jail before its agent starts; it counts once the kernel's own tables say the same."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.core.times import iso
from interlock.doors.http.bodies import NewJail
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import AGENT, says
from interlock.doors.http.errors import Problem
from interlock.doors.http.who import Who
from interlock.ports import Tx
from interlock.service.jails import Jail, NoJail, look
from interlock.service.record import deed
from interlock.service.state import State
from interlock.service.strength import JAILED


def routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["hooks"])

    @router.post("/jails", **says("done", AGENT, "An agent is about to start in a jail", 400, 403))
    async def begin(request: Request, body: NewJail) -> Any:
        who = who_asks(request)
        if not who.here or not who.agent().startswith("uid:"):
            raise Problem("PERMISSION_DENIED", "a jail is told of on the daemon's own socket")
        if who.strength == JAILED:
            raise Problem("PERMISSION_DENIED", "nobody in a jail tells of another one")
        await context.pool.run(_begin, context, who, body)
        return {"success": True}

    return router


def _begin(context: Context, who: Who, body: NewJail) -> None:
    state = context.state
    try:
        start = look(body.pid, int(who.principal.removeprefix("uid:")), context.config.folder, body.fixed)
    except NoJail as error:
        raise Problem("VALIDATION_INVALID_VALUE", f"{error}; it counts as plain") from None
    jail = Jail(body.pid, start, body.program, tuple(body.grants), state.clock.now())
    details = {"program": jail.program, "grants": list(jail.grants), "fixed": list(body.fixed)}
    above = context.agent_above(who.pid)
    told = deed(jail.since, "jail", who.principal, {**details, **({"above": above} if above else {})})

    def work(tx: Tx) -> None:
        state.recorder.now(tx, "jail", told)

    state.store.write(work)
    state.jails.add(jail)


def jails_json(state: State) -> list[dict[str, Any]]:
    """Those that run."""
    return [
        {"program": jail.program, "grants": list(jail.grants), "since": iso(jail.since)}
        for jail in state.jails.running()
    ]
