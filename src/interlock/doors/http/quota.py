"""Limits and quotas of adapters over HTTP: whoever serves an adapter asks before each request to its service (RL-01)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from interlock.core.model import AgentRef
from interlock.core.quota import Asked
from interlock.core.trust import Trust
from interlock.doors.http.bodies import Body, Word
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import AGENT, ANYBODY, says
from interlock.doors.http.errors import Problem
from interlock.service.adapter_trust import look_again, refresh
from interlock.service.adapters import Loaded
from interlock.service.quota import QuotaRefused, Room, quota_status, take
from interlock.service.state import State

DOOR = "adapter"


class NewRequest(Body):
    adapter: Word
    operation: Word
    file: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the adapter file that is served")]
    agent: Annotated[str, Field(max_length=200)] = ""
    session: Annotated[str, Field(max_length=200)] = ""
    token: Annotated[str, Field(max_length=200, description="quota_continue_…, after a pause")] = ""
    count: Annotated[bool, Field(description="whether the request follows; else it is only asked for")] = False


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["adapters"]), context.state

    @router.get("/quota", **says("quota", ANYBODY, "What is left of an adapter's limits and quotas", 404))
    async def left(request: Request, adapter: Annotated[str, Query(min_length=1, max_length=200)]) -> Any:
        who_asks(request).known()
        loaded = state.adapters.loaded.get(adapter)
        if loaded is None:
            raise Problem("NOT_FOUND_RESOURCE", "no such adapter is loaded", details={"resource_type": "adapter"})
        return await context.pool.run(_status, state, loaded)

    @router.post("/quota", **says("room", AGENT, "May an adapter ask its service once more?"))
    async def room(request: Request, body: NewRequest) -> Any:
        who = who_asks(request)
        who.agent()
        loaded = state.adapters.loaded.get(body.adapter)
        if loaded is None:  # evaluate says what an adapter is that nobody loaded
            return {"allowed": True, "warnings": []}
        asked = _asked(loaded, body)
        agent = AgentRef(who.principal, body.agent or who.name, body.session)
        given = Room(body.adapter, loaded.adapter.limits, asked, agent, DOOR, body.token, body.count)
        try:
            return {"allowed": True, "warnings": await context.pool.run(take, state, given)}
        except QuotaRefused as refusal:
            raise Problem(refusal.code, refusal.message, details=refusal.details) from None

    return router


def _status(state: State, loaded: Loaded) -> dict[str, Any]:
    if state.adapters.stale:
        refresh(state)
    name = loaded.adapter.name
    trust = state.adapters.standing(name, state.clock.now()).trust
    return {
        **quota_status(state, name, loaded.adapter.limits),
        "trust": trust.word,
        "file": loaded.mark,
        **look_again(state, loaded),
    }


def _asked(loaded: Loaded, body: NewRequest) -> Asked:
    """The request that an operation stands for; a file that is not the one this daemon loaded may ask for nothing."""
    if body.file != loaded.mark:
        words = (
            f"The file served as '{body.adapter}' is not the one the daemon loaded; an operator starts the daemon again"
        )
        details = {
            "operation": body.operation,
            "required_trust": Trust.GENERATED.word,
            "actual_trust": Trust.UNTESTED.word,
        }
        raise Problem("PERMISSION_TRUST_LEVEL_INSUFFICIENT", words, details=details)
    own = loaded.adapter.operation(body.operation)
    if own is None:
        raise Problem(
            "NOT_FOUND_OPERATION", "this adapter has no such operation", details={"operation": body.operation}
        )
    return Asked(own.maps_to, own.category)
