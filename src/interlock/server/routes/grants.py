"""Routes for grants, registry patterns and standing answers; a standing answer is tried on the audit log before it is kept."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from msgspec.structs import asdict

from interlock.approvals.denials import ALLOW
from interlock.approvals.grants import (
    add_answer,
    add_grant,
    add_pattern,
    is_signed,
    parse_answer,
    remove_pattern,
    revoke_grant,
)
from interlock.engine.trials import EXAMPLES, StandingTrial, try_standing_answer
from interlock.records import Grant
from interlock.runtime.state import State
from interlock.server.routes import ANYBODY, OPERATOR, describe
from interlock.web.bodies import NewGrant, NewPattern, NewStanding
from interlock.web.context import By, Context
from interlock.web.wire import grant_json


def grant_routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1"), context.state

    @router.get("/grants", tags=["grants"], **describe("grants", OPERATOR, "The grants in force"))
    async def grants() -> Any:
        found = await context.read(lambda tx: tx.grants(state.clock.now()))
        return {"grants": [grant_json(grant) for grant in found]}

    @router.post("/grants", tags=["grants"], **describe("grant", OPERATOR, "Allows an effect on targets beforehand"))
    async def new_grant(by: By, body: NewGrant) -> Any:
        return grant_json(await context.run(add_grant, by, body.model_dump()))

    @router.delete("/grants/{id}", tags=["grants"], **describe("grant", OPERATOR, "Revokes a grant", 404))
    async def drop_grant(by: By, id: str) -> Any:
        return grant_json(await context.run(revoke_grant, by, id))

    @router.get("/patterns", tags=["patterns"], **describe("patterns", ANYBODY, "The registry's patterns"))
    async def patterns() -> Any:
        return {"patterns": [pattern.wire for pattern in tuple(state.registry)]}

    @router.post("/patterns", tags=["patterns"], **describe("pattern", OPERATOR, "Registers a destructive pattern"))
    async def new_pattern(by: By, body: NewPattern) -> Any:
        return (await context.run(add_pattern, by, body.model_dump())).wire

    @router.delete(
        "/patterns/{id}", tags=["patterns"], **describe("pattern", OPERATOR, "Unregisters a pattern, by an admin", 404)
    )
    async def drop_pattern(by: By, id: str) -> Any:
        return (await context.run(remove_pattern, by, id)).wire

    return router


def standing_routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/standing", tags=["grants"]), context.state

    @router.get("", **describe("standings", OPERATOR, "The standing answers: what patterns allow and deny"))
    async def listing() -> Any:
        return {"standing": await context.run(_list_json)}

    @router.post(
        "", **describe("standing", OPERATOR, "Allows or denies what a pattern matches; DELETE /grants/{id} ends it")
    )
    async def new(by: By, body: NewStanding) -> Any:
        made = await context.run(add_answer, by, body.verdict, body.pattern, body.why, body.seconds)
        return _json(state, made)

    @router.post(
        "/trial", **describe("standing_trial", OPERATOR, "The recorded actions it would have changed; saves nothing")
    )
    async def tried(by: By, body: NewStanding) -> Any:
        grant = parse_answer(state, by, body.verdict, body.pattern, body.why, body.seconds)
        found = await context.run(try_standing_answer, grant)
        return {
            "records": found.records,
            "changed": len(found.changed),
            "unchanged": len(found.unchanged),
            "examples": [_trial_json(one) for one in found.changed[:EXAMPLES]],
            "others": [_trial_json(one) for one in found.unchanged[:EXAMPLES]],
        }

    return router


def _list_json(state: State) -> list[dict[str, Any]]:
    known = [grant for grant, _ in state.standing.answers.values() if grant.expires_at > state.clock.now()]
    return [_json(state, grant) for grant in sorted(known, key=lambda one: one.created_at)]


def _json(state: State, grant: Grant) -> dict[str, Any]:
    body = grant_json(grant)
    counts = grant.effect != ALLOW or is_signed(state, grant)
    kept: dict[str, Any] = {key: body[key] for key in ("id", "by", "why", "createdAt", "expiresAt")}
    return {**kept, "verdict": grant.effect, "pattern": grant.targets[0], "counts": counts}


def _trial_json(one: StandingTrial) -> dict[str, Any]:
    return {**asdict(one), "level": one.level.word}


ROUTES = (grant_routes, standing_routes)
