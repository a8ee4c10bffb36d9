"""Routes for grants, patterns and standing answers; a standing answer is tried on the audit log before it is kept."""

from __future__ import annotations

from typing import Any

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
from interlock.engine.replay import ChangedAnswer
from interlock.engine.trials import EXAMPLES, try_standing_answer
from interlock.records import Grant
from interlock.runtime.state import State
from interlock.server.routes import ANYBODY, RouteGroup
from interlock.web.bodies import NewGrant, NewPattern, NewStanding
from interlock.web.context import By, TheState
from interlock.web.wire import grant_json, wire_fields

grant_routes = RouteGroup("/api/v1/grants", "grants")


@grant_routes("GET", "", "grants", "The grants in force")
def grants(state: TheState) -> Any:
    found = state.store.read(lambda tx: tx.grants(state.clock.now()))
    return {"grants": [grant_json(grant) for grant in found]}


@grant_routes("POST", "", "grant", "Allows an effect on targets beforehand")
def new_grant(state: TheState, by: By, body: NewGrant) -> Any:
    return grant_json(add_grant(state, by, body.model_dump()))


@grant_routes("DELETE", "/{id}", "grant", "Revokes a grant")
def drop_grant(state: TheState, by: By, id: str) -> Any:
    return grant_json(revoke_grant(state, by, id))


pattern_routes = RouteGroup("/api/v1/patterns", "patterns")


@pattern_routes("GET", "", "patterns", "The registry's patterns", who=ANYBODY)
def patterns(state: TheState) -> Any:
    return {"patterns": [pattern.wire for pattern in tuple(state.registry)]}


@pattern_routes("POST", "", "pattern", "Registers a destructive pattern")
def new_pattern(state: TheState, by: By, body: NewPattern) -> Any:
    return add_pattern(state, by, body.model_dump()).wire


@pattern_routes("DELETE", "/{id}", "pattern", "Unregisters a pattern, by an admin")
def drop_pattern(state: TheState, by: By, id: str) -> Any:
    return remove_pattern(state, by, id).wire


standing_routes = RouteGroup("/api/v1/standing", "grants")


@standing_routes("GET", "", "standings", "The standing answers: what patterns allow and deny")
def listing(state: TheState) -> Any:
    known = [grant for grant, _ in state.standing.answers.values() if grant.expires_at > state.clock.now()]
    return {"standing": [_json(state, grant) for grant in sorted(known, key=lambda one: one.created_at)]}


@standing_routes("POST", "", "standing", "Allows or denies what a pattern matches; DELETE /grants/{id} ends it")
def new(state: TheState, by: By, body: NewStanding) -> Any:
    return _json(state, add_answer(state, by, body.verdict, body.pattern, body.why, body.seconds))


@standing_routes("POST", "/trial", "standing_trial", "The recorded actions it would have changed; saves nothing")
def tried(state: TheState, by: By, body: NewStanding) -> Any:
    grant = parse_answer(state, by, body.verdict, body.pattern, body.why, body.seconds)
    found = try_standing_answer(state, grant)
    return {
        "records": found.records,
        "changed": len(found.changed),
        "unchanged": len(found.unchanged),
        "examples": [_trial_json(one) for one in found.changed[:EXAMPLES]],
        "others": [_trial_json(one) for one in found.unchanged[:EXAMPLES]],
    }


def _json(state: State, grant: Grant) -> dict[str, Any]:
    counts = grant.effect != ALLOW or is_signed(state, grant)
    made = {"verdict": grant.effect, "pattern": grant.targets[0], "counts": counts}
    return wire_fields(grant, "id,by,why,created_at,expires_at") | made


def _trial_json(one: ChangedAnswer) -> dict[str, Any]:
    found = asdict(one) | {"level": one.level.word}
    del found["row"]
    return found
