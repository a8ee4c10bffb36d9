"""Routes for agents: tokens and blocks, jails that the kernel confirms, reports of installed hooks, hook coverage."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from interlock.audit.chain import event_body
from interlock.audit.journal import note_hooks
from interlock.identity.agents import add_agent, block, change_agent, unblock
from interlock.identity.isolation import JAILED, JailedRun, NotJailed, runs_below, verify_jail
from interlock.identity.operators import require_admin
from interlock.journal.build import supervisor_of
from interlock.ports import Tx
from interlock.runtime.state import State
from interlock.server.routes import AGENT, ANYBODY, OPERATOR, describe
from interlock.times import iso
from interlock.web.bodies import AgentChange, HookChange, NewAgent, NewBlock, NewJail
from interlock.web.callers import ApiCaller
from interlock.web.context import By, Context, Who
from interlock.web.errors import HttpProblem
from interlock.web.wire import agent_json, block_json


def agent_routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1", tags=["agents"]), context.state

    @router.get("/agents", **describe("agents", OPERATOR, "All agents that have a token or a trust tier"))
    async def agents() -> Any:
        rows = await context.read(lambda tx: tx.agents())
        return {"agents": [agent_json(row) for row in rows]}

    @router.post("/agents", **describe("agent_token", OPERATOR, "A token for an agent, shown once"))
    async def new_agent(by: By, body: NewAgent) -> Any:
        if body.trust_tier:
            require_admin(state, by)
        token, row = await context.run(add_agent, by, body.name, body.trust_tier)
        return {"token": token, "principal": row.principal, "name": row.name}

    @router.patch("/agents", **describe("agent", OPERATOR, "Changes the trust tier, or revokes the token"))
    async def change(by: By, body: AgentChange) -> Any:
        given = (body.principal, body.name, body.trust_tier, body.revoked)
        row = await context.run(change_agent, by, *given)
        context.credentials.forget()
        return agent_json(row)

    @router.get("/blocks", **describe("blocks", OPERATOR, "Current and past blocks"))
    async def blocks() -> Any:
        found = await context.read(lambda tx: tx.blocks())
        return {"blocks": [block_json(one) for one in found]}

    @router.post("/blocks", **describe("block", OPERATOR, "Blocks a principal, whatever name it takes"))
    async def new_block(by: By, body: NewBlock) -> Any:
        return block_json(await context.run(block, by, body.principal, body.reason))

    @router.delete("/blocks/{principal}", **describe("block", OPERATOR, "Lifts a block; approves nothing", 404))
    async def lift(by: By, principal: str, reason: Annotated[str, Query(max_length=500)] = "") -> Any:
        if not reason.strip():
            raise HttpProblem(
                "VALIDATION_MISSING_PARAM", "missing required parameter 'reason'", details={"param_name": "reason"}
            )
        return block_json(await context.run(unblock, by, principal, reason))

    return router


def jail_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["hooks"])

    @router.post("/jails", **describe("done", AGENT, "Registers an agent that starts in a jail", 400, 403))
    async def begin(who: Who, body: NewJail) -> Any:
        if not who.here or not who.agent().startswith("uid:"):
            raise HttpProblem("PERMISSION_DENIED", "a jail is told of on the daemon's own socket")
        if who.isolation == JAILED:
            raise HttpProblem("PERMISSION_DENIED", "nobody in a jail tells of another one")
        await context.pool.run(_begin, context, who, body)
        return {"success": True}

    return router


def _begin(context: Context, who: ApiCaller, body: NewJail) -> None:
    state = context.state
    try:
        start = verify_jail(body.pid, int(who.principal.removeprefix("uid:")), context.config.folder, body.fixed)
    except NotJailed as error:
        raise HttpProblem("VALIDATION_INVALID_VALUE", f"{error}; it counts as plain") from None
    journal = body.journal and runs_below(body.pid, supervisor_of(context.config))
    jail = JailedRun(body.pid, start, body.program, tuple(body.grants), state.clock.now(), journal)
    details = {"program": jail.program, "grants": list(jail.grants), "fixed": list(body.fixed), "journal": jail.journal}
    above = context.agent_above(who.pid)
    told = event_body(jail.since, "jail", who.principal, {**details, **({"above": above} if above else {})})

    def work(tx: Tx) -> None:
        state.recorder.now(tx, "jail", told)

    state.store.write(work)
    state.jails.add(jail)


def jails_json(state: State) -> list[dict[str, Any]]:
    """The running jails, for the wire."""
    return [
        {"program": jail.program, "grants": list(jail.grants), "since": iso(jail.since)}
        for jail in state.jails.running()
    ]


def hook_file_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["hooks"])

    @router.post("/hooks", **describe("done", ANYBODY, "Registers hooks written into an agent's settings, or removed"))
    async def change(who: Who, body: HookChange) -> Any:
        by = who.session or who.principal
        await context.run(note_hooks, by, body.change, body.agent, body.scope, body.files)
        return {"success": True}

    return router


def coverage_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1", tags=["hooks"])

    @router.get("/coverage", **describe("coverage", ANYBODY, "Calls that ran, and how many of them passed their hook"))
    async def coverage(who: Who) -> Any:
        found = context.hooks.coverage
        shown = (
            found.by_session() if who.here or who.session is not None else []
        )  # other agents' sessions are for operators only
        return {**found.wire(), "sessions": shown}

    return router


ROUTES = (agent_routes, hook_file_routes, jail_routes, coverage_routes)
