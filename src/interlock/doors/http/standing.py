"""Standing answers over HTTP: patterns that operators allow or deny, tried on the record before they are kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from interlock.core.records import Grant
from interlock.core.standing import ALLOW
from interlock.doors.http.bodies import NewStanding
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.wire import grant_json
from interlock.service.granting import holds
from interlock.service.standing import add, proposed
from interlock.service.standing_trial import EXAMPLES, Tried, trial
from interlock.service.state import State


def routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/standing", tags=["grants"]), context.state

    @router.get("", **says("standings", OPERATOR, "What is allowed and denied by a pattern until it is taken back"))
    async def listing(request: Request) -> Any:
        who_asks(request).operator()
        return {"standing": await context.pool.run(_listed, state)}

    @router.post("", **says("standing", OPERATOR, "Allows or denies what a pattern meets; DELETE /grants/{id} ends it"))
    async def new(request: Request, body: NewStanding) -> Any:
        by = who_asks(request).operator()
        made = await context.pool.run(add, state, by, body.verdict, body.pattern, body.why, body.seconds)
        return _json(state, made)

    @router.post(
        "/trial", **says("standing_trial", OPERATOR, "What it would have changed of the record; keeps nothing")
    )
    async def tried(request: Request, body: NewStanding) -> Any:
        by = who_asks(request).operator()
        grant = proposed(state, by, body.verdict, body.pattern, body.why, body.seconds)
        found = await context.pool.run(trial, state, grant)
        return {
            "records": found.records,
            "changed": len(found.changed),
            "unchanged": len(found.unchanged),
            "examples": [_tried(one) for one in found.changed[:EXAMPLES]],
            "others": [_tried(one) for one in found.unchanged[:EXAMPLES]],
        }

    return router


def _listed(state: State) -> list[dict[str, Any]]:
    known = [grant for grant, _ in state.standing.answers.values() if grant.expires_at > state.clock.now()]
    return [_json(state, grant) for grant in sorted(known, key=lambda one: one.created_at)]


def _json(state: State, grant: Grant) -> dict[str, Any]:
    body = grant_json(grant)
    counts = grant.effect != ALLOW or holds(state, grant)
    kept: dict[str, Any] = {key: body[key] for key in ("id", "by", "why", "createdAt", "expiresAt")}
    return {**kept, "verdict": grant.effect, "pattern": grant.targets[0], "counts": counts}


def _tried(one: Tried) -> dict[str, Any]:
    return {**asdict(one), "level": one.level.word}
