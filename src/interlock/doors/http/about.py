"""What is in force and how it fares: policy, status, figures, health."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from interlock.core.model import TicketState
from interlock.core.records import TicketQuery
from interlock.core.times import iso
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import ANYBODY, OPEN, says
from interlock.doors.http.jails import jails_json
from interlock.doors.http.pause import pause_json
from interlock.doors.http.who import Who
from interlock.doors.http.wire import figures_json, policy_json
from interlock.ports import StoreError
from interlock.service.figures import families, figures_of
from interlock.service.loop import challenges
from interlock.service.reached import reached
from interlock.service.strength import SEPARATE
from interlock.settings import without_password

_OPEN = TicketQuery((TicketState.COOLING, TicketState.WAITING), limit=10_000)


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(tags=["about"]), context.state

    @router.get("/api/v1/policy", **says("policy", ANYBODY, "The policy in force"))
    async def policy(request: Request) -> Any:
        who_asks(request).known()
        return policy_json(state.policy)

    @router.get("/api/v1/status", **says("status", ANYBODY, "How the daemon stands"))
    async def status(request: Request) -> Any:
        return await context.pool.run(_status, context, who_asks(request).known())

    @router.get("/api/v1/metrics", **says("metrics", ANYBODY, "Seed 003's figures"))
    async def metrics(request: Request) -> Any:
        who_asks(request).known()
        return figures_json(await context.pool.run(figures_of, state))

    @router.get("/metrics", **says("text", OPEN, "The same for Prometheus", media="text/plain"))
    async def prometheus(request: Request) -> PlainTextResponse:
        return await context.pool.run(_prometheus, context)

    @router.get("/healthz", **says("health", OPEN, "The process lives"))
    async def healthz(request: Request) -> Any:
        return {"ok": True}

    @router.get("/readyz", **says("health", OPEN, "The store can be used"))
    async def readyz(request: Request) -> Any:
        await context.pool.run(state.store.check)
        return {"ok": True}

    return router


def _status(context: Context, who: Who) -> dict[str, Any]:
    """Works without the store too: then it says that it is gone."""
    state, config = context.state, context.config
    operators, waiting, codes, trouble, people = None, None, None, "", []
    ours, raised = who.session is not None or who.here, []
    try:
        rows, waiting = state.store.read(lambda tx: (tx.operators(), len(tx.tickets(_OPEN))))
        operators, people = len(rows), [row.name for row in rows if not row.disabled_at and not row.service]
        codes = len(challenges.waiting(state))
        raised = state.store.read(lambda tx: reached(tx, state, who.principal)) if ours else []
    except StoreError as error:
        trouble = f"the store cannot be used: {error}"
    problems = [*state.problems, *state.alerts.values(), trouble]
    return {
        "version": context.version,
        "strength": state.strength if state.strength == SEPARATE else who.strength or state.strength,
        "mode": state.mode,
        "policy": state.policy.name,
        "store": without_password(config.store),
        "unlocked": state.sessions.roster is not None,
        "operators": operators,
        "operator": people[0] if len(people) == 1 and ours else "",
        "openTickets": waiting,
        "openChallenges": codes,
        "problems": list(dict.fromkeys(filter(None, problems))) if ours else [],
        "blocked": [{"principal": one, "reason": why} for one, why in sorted(state.blocks.items())] if ours else [],
        "raised": [
            {"principal": one.agent.principal, "name": one.agent.name, "points": one.points, "words": one.words}
            for one in raised
        ],
        "warnings": list(config.warnings),
        "started": iso(context.started),
        "jails": jails_json(state),
        "pause": pause_json(state),
    }


def _prometheus(context: Context) -> PlainTextResponse:
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

    from interlock.doors.http.prometheus import Collector

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Collector(families(context.state)))
    return PlainTextResponse(generate_latest(registry), media_type=CONTENT_TYPE_LATEST.partition("; charset")[0])
