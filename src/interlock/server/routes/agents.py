"""Routes for agents, and for adapters and the MCP servers behind proxies: tokens, trust, blocks, accepted tools, quotas (RL-01)."""

from __future__ import annotations

from typing import Any

from fastapi import Query
from pydantic import Field

from interlock.adapters.quota import ServiceRequest
from interlock.engine.quota import QuotaQuestion, QuotaRefused, quota_status, take_quota
from interlock.identity.agents import add_agent, block, change_agent, unblock
from interlock.identity.operators import require_admin
from interlock.model import TRUSTS, AgentRef, Trust
from interlock.runtime.adapter_trust import change_trust, ensure_known, find_adapter, known_adapters, review_due
from interlock.runtime.adapters import LoadedAdapter
from interlock.runtime.servers import accept_tools, server_standing
from interlock.server.routes import AGENT, ANYBODY, RouteGroup
from interlock.web.bodies import (
    Acceptance,
    AgentChange,
    MetServer,
    Name,
    NewAgent,
    NewBlock,
    RequestBody,
    TrustChange,
    Word,
)
from interlock.web.context import By, TheContext, TheState, Who
from interlock.web.errors import HttpProblem, missing_param
from interlock.web.evaluate_body import server_of
from interlock.web.wire import adapter_json, agent_json, block_json

routes = RouteGroup("/api/v1", "adapters")


@routes("GET", "/adapters", "adapters", "The loaded adapters and their trust levels", who=ANYBODY)
def adapters(state: TheState, who: Who) -> Any:
    return {"adapters": [adapter_json(state, loaded, who.session is not None) for loaded in known_adapters(state)]}


@routes("PUT", "/adapters/{name}/trust", "adapter", "Changes the trust level: one step up, or down")
def trust(state: TheState, by: By, name: str, body: TrustChange) -> Any:
    return adapter_json(state, change_trust(state, by, name, TRUSTS[body.level], body.reason, body.mark), True)


_MET = "How far a server behind a proxy is trusted, and which of its tools changed"


@routes("POST", "/servers", "server", _MET, who=AGENT)
def met(state: TheState, who: Who, body: MetServer) -> Any:
    found = server_standing(state, server_of(body.server), body.tools, who.principal)
    return {"trust": found.trust.word, "note": found.note, "changed": list(found.changed)}


@routes("POST", "/servers/{name}/accept", "accepted", "Accepts the tools of a server as it lists them next")
def accepted(state: TheState, by: By, name: str, body: Acceptance) -> Any:
    accept_tools(state, by.operator, find_adapter(state, name, body.mark), body.reason)
    return {"name": name, "accepted": True}


INTERFACE = "adapter"


class NewRequest(RequestBody):
    adapter: Word
    operation: Word
    file: str = Field(pattern="^[0-9a-f]{64}$", description="SHA-256 of the adapter file that is served")
    agent: Name = ""
    session: Name = ""
    token: str = Field("", max_length=200, description="quota_continue_…, after a pause")
    count: bool = Field(False, description="whether the request follows; else only the quota is checked")


@routes("GET", "/quota", "quota", "The remaining limits and quotas of an adapter", 404, who=ANYBODY)
def left(state: TheState, adapter: str = Query(min_length=1, max_length=200)) -> Any:
    loaded = state.adapters.loaded.get(adapter)
    if loaded is None:
        raise HttpProblem("NOT_FOUND_RESOURCE", "no such adapter is loaded", details={"resource_type": "adapter"})
    ensure_known(state, None)
    trust = state.adapters.standing(adapter, state.clock.now()).trust
    quota, review = quota_status(state, adapter, loaded.adapter.limits), review_due(state, loaded)
    return {**quota, "trust": trust.word, "file": loaded.mark, **review}


@routes("POST", "/quota", "room", "Whether an adapter may call its service once more", who=AGENT)
def room(state: TheState, who: Who, body: NewRequest) -> Any:
    loaded = state.adapters.loaded.get(body.adapter)
    if loaded is None:  # evaluate reports an adapter that is not loaded
        return {"allowed": True, "warnings": []}
    asked = _request(loaded, body)
    agent = AgentRef(who.principal, body.agent or who.name, body.session)
    given = QuotaQuestion(body.adapter, loaded.adapter.limits, asked, agent, INTERFACE, body.token, body.count)
    try:
        return {"allowed": True, "warnings": take_quota(state, given)}
    except QuotaRefused as refusal:
        raise HttpProblem(refusal.code, refusal.message, details=refusal.details) from None


def _request(loaded: LoadedAdapter, body: NewRequest) -> ServiceRequest:
    """Refuses a file other than the one this daemon loaded."""
    details = {"operation": body.operation}
    if body.file != loaded.mark:
        words = f"The file served as '{body.adapter}' is not the one the daemon loaded"
        trusts = {"required_trust": Trust.GENERATED.word, "actual_trust": Trust.UNTESTED.word}
        raise HttpProblem(
            "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
            f"{words}; an operator starts the daemon again",
            details=details | trusts,
        )
    own = loaded.adapter.operation(body.operation)
    if own is None:
        raise HttpProblem("NOT_FOUND_OPERATION", "this adapter has no such operation", details=details)
    return ServiceRequest(own.maps_to, own.category)


agent_routes = RouteGroup("/api/v1", "agents")


@agent_routes("GET", "/agents", "agents", "All agents that have a token or a trust tier")
def agents(state: TheState) -> Any:
    return {"agents": [agent_json(row) for row in state.store.read(lambda tx: tx.agents())]}


@agent_routes("POST", "/agents", "agent_token", "A token for an agent, shown once")
def new_agent(state: TheState, by: By, body: NewAgent) -> Any:
    if body.trust_tier:
        require_admin(state, by)
    token, row = add_agent(state, by, body.name, body.trust_tier)
    return {"token": token, "principal": row.principal, "name": row.name}


@agent_routes("PATCH", "/agents", "agent", "Changes the trust tier, or revokes the token", 404)
def change(state: TheState, context: TheContext, by: By, body: AgentChange) -> Any:
    row = change_agent(state, by, body.principal, body.name, body.trust_tier, body.revoked)
    context.credentials.forget()
    return agent_json(row)


@agent_routes("GET", "/blocks", "blocks", "Current and past blocks")
def blocks(state: TheState) -> Any:
    return {"blocks": [block_json(one) for one in state.store.read(lambda tx: tx.blocks())]}


@agent_routes("POST", "/blocks", "block", "Blocks a principal, whatever name it takes")
def new_block(state: TheState, by: By, body: NewBlock) -> Any:
    return block_json(block(state, by, body.principal, body.reason))


@agent_routes("DELETE", "/blocks/{principal}", "block", "Lifts a block; approves nothing")
def lift(state: TheState, by: By, principal: str, reason: str = Query("", max_length=500)) -> Any:
    if not reason.strip():
        raise missing_param("reason")
    return block_json(unblock(state, by, principal, reason))
