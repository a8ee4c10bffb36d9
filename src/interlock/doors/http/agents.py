"""Agents and blocks over HTTP: operators give tokens and take them away."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from interlock.doors.http.bodies import AgentChange, NewAgent, NewBlock
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.errors import Problem
from interlock.doors.http.wire import agent_json, block_json
from interlock.service.agents import add_agent, block, change_agent, unblock
from interlock.service.people import require_admin


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["agents"]), context.state

    @router.get("/agents", **says("agents", OPERATOR, "All agents that have a token, or a word of an operator"))
    async def agents(request: Request) -> Any:
        who_asks(request).operator()
        rows = await context.read(lambda tx: tx.agents())
        return {"agents": [agent_json(row) for row in rows]}

    @router.post("/agents", **says("agent_token", OPERATOR, "A token for an agent, shown once"))
    async def new_agent(request: Request, body: NewAgent) -> Any:
        by = who_asks(request).operator()
        if body.trust_tier:
            require_admin(state, by)
        token, row = await context.pool.run(add_agent, state, by, body.name, body.trust_tier)
        return {"token": token, "principal": row.principal, "name": row.name}

    @router.patch("/agents", **says("agent", OPERATOR, "Another trust tier, or no token any more"))
    async def change(request: Request, body: AgentChange) -> Any:
        by = who_asks(request).operator()
        given = (body.principal, body.name, body.trust_tier, body.revoked)
        row = await context.pool.run(change_agent, state, by, *given)
        context.credentials.forget()
        return agent_json(row)

    @router.get("/blocks", **says("blocks", OPERATOR, "Who is blocked, and who was"))
    async def blocks(request: Request) -> Any:
        who_asks(request).operator()
        found = await context.read(lambda tx: tx.blocks())
        return {"blocks": [block_json(one) for one in found]}

    @router.post("/blocks", **says("block", OPERATOR, "Blocks a principal, whatever name it takes"))
    async def new_block(request: Request, body: NewBlock) -> Any:
        by = who_asks(request).operator()
        return block_json(await context.pool.run(block, state, by, body.principal, body.reason))

    @router.delete("/blocks/{principal}", **says("block", OPERATOR, "Lifts a block; approves nothing", 404))
    async def lift(request: Request, principal: str, reason: Annotated[str, Query(max_length=500)] = "") -> Any:
        by = who_asks(request).operator()
        if not reason.strip():
            raise Problem(
                "VALIDATION_MISSING_PARAM", "missing required parameter 'reason'", details={"param_name": "reason"}
            )
        return block_json(await context.pool.run(unblock, state, by, principal, reason))

    return router
