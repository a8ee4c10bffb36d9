"""Challenges over HTTP: operators see what waits for a code and have it shown; agents see none of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse

from interlock.core.records import Challenge, Ticket
from interlock.core.times import iso
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.ports import Tx
from interlock.service.loop import challenges as service


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["challenges"]), context.state

    @router.get(
        "/challenges", **says("challenges", OPERATOR, "What waits for a code, and blocks whose challenge ran out")
    )
    async def challenges(request: Request) -> Any:
        who_asks(request).operator()
        found = [*await context.pool.run(service.waiting, state), *await context.pool.run(service.lapsed, state)]
        return {"challenges": await context.read(lambda tx: [_json(one, _ticket(tx, one)) for one in found])}

    @router.post(
        "/challenges/{id}/reveal",
        **says("code", OPERATOR, "A new code, shown once; the one before counts no more", 404, 409),
    )
    async def reveal(request: Request, id: str) -> Any:
        by = who_asks(request).operator()
        shown = await context.pool.run(service.reveal, state, by, id)
        body = {"code": shown.code, "expiresAt": iso(shown.expires_at)}
        return JSONResponse(body, headers={"cache-control": "no-store"})

    @router.post(
        "/challenges/{id}/reissue",
        **says("challenge", OPERATOR, "Another challenge in place of one that ran out", 404, 409),
    )
    async def reissue(request: Request, id: str) -> Any:
        by = who_asks(request).operator()
        made = await context.pool.run(service.reissue, state, by, id)
        return await context.read(lambda tx: _json(made, _ticket(tx, made)))

    return router


def _ticket(tx: Tx, challenge: Challenge) -> Ticket | None:
    return tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None


def _json(challenge: Challenge, ticket: Ticket | None) -> dict[str, Any]:
    agent = challenge.agent
    body: dict[str, Any] = {
        "id": challenge.id,
        "kind": challenge.kind,
        "state": challenge.state,
        "agent": {"principal": agent.principal, "name": agent.name, "session": agent.session},
        "reason": challenge.reason,
        "openedAt": iso(challenge.opened_at),
        "expiresAt": iso(challenge.expires_at),
        "shown": bool(challenge.code_hash),
        "attempts": challenge.attempts,
    }
    return body | ({"ticket": ticket.id, "title": ticket.title, "level_name": ticket.level.word} if ticket else {})
