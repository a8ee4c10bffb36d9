"""Routes for agents: their tokens, trust tiers and blocks."""

from __future__ import annotations

from typing import Any

from fastapi import Query

from interlock.identity.agents import add_agent, block, change_agent, unblock
from interlock.identity.operators import require_admin
from interlock.server.routes import OPERATOR, RouteGroup
from interlock.web.bodies import AgentChange, NewAgent, NewBlock
from interlock.web.context import By, TheContext, TheState
from interlock.web.errors import HttpProblem
from interlock.web.wire import agent_json, block_json

routes = RouteGroup("/api/v1", "agents")


@routes("GET", "/agents", "agents", OPERATOR, "All agents that have a token or a trust tier")
def agents(state: TheState) -> Any:
    return {"agents": [agent_json(row) for row in state.store.read(lambda tx: tx.agents())]}


@routes("POST", "/agents", "agent_token", OPERATOR, "A token for an agent, shown once")
def new_agent(state: TheState, by: By, body: NewAgent) -> Any:
    if body.trust_tier:
        require_admin(state, by)
    token, row = add_agent(state, by, body.name, body.trust_tier)
    return {"token": token, "principal": row.principal, "name": row.name}


@routes("PATCH", "/agents", "agent", OPERATOR, "Changes the trust tier, or revokes the token")
def change(state: TheState, context: TheContext, by: By, body: AgentChange) -> Any:
    row = change_agent(state, by, body.principal, body.name, body.trust_tier, body.revoked)
    context.credentials.forget()
    return agent_json(row)


@routes("GET", "/blocks", "blocks", OPERATOR, "Current and past blocks")
def blocks(state: TheState) -> Any:
    return {"blocks": [block_json(one) for one in state.store.read(lambda tx: tx.blocks())]}


@routes("POST", "/blocks", "block", OPERATOR, "Blocks a principal, whatever name it takes")
def new_block(state: TheState, by: By, body: NewBlock) -> Any:
    return block_json(block(state, by, body.principal, body.reason))


@routes("DELETE", "/blocks/{principal}", "block", OPERATOR, "Lifts a block; approves nothing", 404)
def lift(state: TheState, by: By, principal: str, reason: str = Query("", max_length=500)) -> Any:
    if not reason.strip():
        raise HttpProblem(
            "VALIDATION_MISSING_PARAM", "missing required parameter 'reason'", details={"param_name": "reason"}
        )
    return block_json(unblock(state, by, principal, reason))


ROUTES = (routes,)
