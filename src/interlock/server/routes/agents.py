"""Routes for agents: tokens and blocks, jails that the kernel confirms, reports of installed hooks, hook coverage."""

from __future__ import annotations

from typing import Any

from fastapi import Query

from interlock.audit.journal import note_hooks
from interlock.identity.agents import add_agent, block, change_agent, unblock
from interlock.identity.isolation import JAILED, JailedRun, NotJailed, runs_below, verify_jail
from interlock.identity.operators import require_admin
from interlock.journal.build import supervisor_of
from interlock.runtime.state import State
from interlock.server.routes import AGENT, ANYBODY, OPERATOR, RouteGroup
from interlock.times import iso
from interlock.web.bodies import AgentChange, HookChange, NewAgent, NewBlock, NewJail
from interlock.web.context import By, Context, Who
from interlock.web.errors import HttpProblem, invalid_value, permission_denied
from interlock.web.wire import agent_json, block_json


def agent_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1", "agents"), context.state

    @routes("GET", "/agents", "agents", OPERATOR, "All agents that have a token or a trust tier")
    def agents() -> Any:
        return {"agents": [agent_json(row) for row in state.store.read(lambda tx: tx.agents())]}

    @routes("POST", "/agents", "agent_token", OPERATOR, "A token for an agent, shown once")
    def new_agent(by: By, body: NewAgent) -> Any:
        if body.trust_tier:
            require_admin(state, by)
        token, row = add_agent(state, by, body.name, body.trust_tier)
        return {"token": token, "principal": row.principal, "name": row.name}

    @routes("PATCH", "/agents", "agent", OPERATOR, "Changes the trust tier, or revokes the token")
    def change(by: By, body: AgentChange) -> Any:
        row = change_agent(state, by, body.principal, body.name, body.trust_tier, body.revoked)
        context.credentials.forget()
        return agent_json(row)

    @routes("GET", "/blocks", "blocks", OPERATOR, "Current and past blocks")
    def blocks() -> Any:
        return {"blocks": [block_json(one) for one in state.store.read(lambda tx: tx.blocks())]}

    @routes("POST", "/blocks", "block", OPERATOR, "Blocks a principal, whatever name it takes")
    def new_block(by: By, body: NewBlock) -> Any:
        return block_json(block(state, by, body.principal, body.reason))

    @routes("DELETE", "/blocks/{principal}", "block", OPERATOR, "Lifts a block; approves nothing", 404)
    def lift(by: By, principal: str, reason: str = Query("", max_length=500)) -> Any:
        if not reason.strip():
            raise HttpProblem(
                "VALIDATION_MISSING_PARAM", "missing required parameter 'reason'", details={"param_name": "reason"}
            )
        return block_json(unblock(state, by, principal, reason))

    return routes


def jails_json(state: State) -> list[dict[str, Any]]:
    """The running jails, for the wire."""
    return [
        {"program": jail.program, "grants": list(jail.grants), "since": iso(jail.since)}
        for jail in state.jails.running()
    ]


def hook_routes(context: Context) -> RouteGroup:
    routes, state = RouteGroup(context, "/api/v1", "hooks"), context.state

    @routes("POST", "/hooks", "done", ANYBODY, "Registers hooks written into an agent's settings, or removed")
    def change(who: Who, body: HookChange) -> Any:
        note_hooks(state, who.session or who.principal, body.change, body.agent, body.scope, body.files)
        return {"success": True}

    @routes("POST", "/jails", "done", AGENT, "Registers an agent that starts in a jail", 400, 403)
    def begin(who: Who, body: NewJail) -> Any:
        if not who.here or not who.agent().startswith("uid:"):
            raise permission_denied("a jail is told of on the daemon's own socket")
        if who.isolation == JAILED:
            raise permission_denied("nobody in a jail tells of another one")
        try:
            start = verify_jail(body.pid, int(who.principal.removeprefix("uid:")), context.config.folder, body.fixed)
        except NotJailed as error:
            raise invalid_value(f"{error}; it counts as plain") from None
        journal = body.journal and runs_below(body.pid, supervisor_of(context.config))
        jail = JailedRun(body.pid, start, body.program, tuple(body.grants), state.clock.now(), journal)
        details = {"program": jail.program, "grants": body.grants, "fixed": body.fixed, "journal": jail.journal}
        above = context.agent_above(who.pid)
        state.recorder.event_alone("jail", who.principal, details | ({"above": above} if above else {}))
        state.jails.add(jail)
        return {"success": True}

    @routes("GET", "/coverage", "coverage", ANYBODY, "Calls that ran, and how many of them passed their hook")
    async def coverage(who: Who) -> Any:
        found = context.hooks.coverage
        # other agents' sessions are for operators only
        return {**found.wire(), "sessions": found.by_session() if who.here or who.session is not None else []}

    return routes


ROUTES = (agent_routes, hook_routes)
