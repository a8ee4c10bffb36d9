"""Adapters over HTTP: how far each is trusted; operators raise and lower it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.core.times import iso
from interlock.core.trust import TRUSTS, Change
from interlock.doors.http.bodies import TrustChange
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, OPERATOR, says
from interlock.service.adapter_trust import change, look_again, refresh
from interlock.service.adapters import Loaded
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


def adapter_json(state: State, loaded: Loaded, whole: bool) -> dict[str, Any]:
    """One adapter as it stands; where its file lies is for operators."""
    adapter = loaded.adapter
    standing = state.adapters.standing_of(loaded, state.clock.now())
    kept = state.adapters.kept.get(adapter.name)
    if kept is not None and kept.mark != loaded.mark and loaded.kind == "server":
        kept = None  # of another one of that name
    proved = kept is not None and kept.proved(state.sessions.seal_key())
    body: dict[str, Any] = {
        "name": adapter.name,
        "kind": loaded.kind,
        "version": adapter.version,
        "trust": standing.trust.word,
        "claimed": adapter.trust.level.word,
        "why": standing.why,
        "operations": len(adapter.operations),
        "history": [_step(one) for one in kept.record.history] if kept and proved else [],
    }
    body |= look_again(state, loaded)
    if adapter.trust.certification is not None:
        found = adapter.trust.certification
        ends = {"expires_at": iso(found.expires_at)} if found.expires_at is not None else {}
        body["certification"] = {"authority": found.authority, "certificate_id": found.certificate_id, **ends}
    body |= {"mark": loaded.mark} if loaded.kind == "server" else {}
    return body | ({"file" if loaded.kind == "adapter" else "starts": loaded.path} if whole else {})


def _step(one: Change) -> dict[str, str]:
    return {"from": one.before.word, "to": one.after.word, "at": iso(one.at), "by": one.by, "reason": one.reason}
