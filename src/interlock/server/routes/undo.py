"""Routes for snapshots and journaled actions; an agent's user sees its own, an operator all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from interlock.engine import undoing
from interlock.server.routes import ANYBODY, RouteGroup
from interlock.web.bodies import Moment, Undoing, seconds_of
from interlock.web.callers import ApiCaller
from interlock.web.context import TheContext, TheState, Who
from interlock.web.wire import snapshot_json, undo_plan_json, undo_result_json

NEWEST = "newest"  # instead of an id: the newest snapshot that is not undone


routes = RouteGroup("/api/v1/undo", "undo")


@routes("GET", "", "snapshots", "Snapshots taken before actions ran, the newest first", who=ANYBODY)
def listed(
    state: TheState,
    context: TheContext,
    who: Who,
    before: Annotated[Moment, Query(description="only snapshots taken before this")] = "",
    limit: int = Query(50, ge=1, le=500),
) -> Any:
    _, principal = _scope(who)
    since = seconds_of("before", before)
    rows = [snapshot_json(row) for row in undoing.list_snapshots(state, principal, limit, since)]
    if journal := context.journal(principal=principal):
        # of wrapped calls with their session, as long as this daemon knows it
        sessions, found = context.hooks.wrapped_calls, journal.rows(limit, since)
        rows += [{**row, "session": sessions.get(str(row.get("call", ""))) or ""} for row in found]
    return {"snapshots": sorted(rows, key=lambda row: str(row["at"]), reverse=True)[:limit]}


@routes("GET", "/{id}", "undo_plan", "What undoing would change now; `newest` is an id too", who=ANYBODY)
def planned(
    state: TheState,
    context: TheContext,
    who: Who,
    id: str,
    diff: bool = Query(False, description="with a diff of text files"),
) -> Any:
    _, principal = _scope(who)
    if journal := context.journal(id, principal):
        return journal.plan(id)
    return undo_plan_json(undoing.plan_undo(state, _snapshot_id(id), principal, diff))


@routes(
    "POST",
    "/{id}",
    "undone",
    "Brings it back; later work is overwritten only with `force`, and `undone` says",
    who=ANYBODY,
)
def undo(state: TheState, context: TheContext, who: Who, id: str, body: Undoing) -> Any:
    by, principal = _scope(who)
    if journal := context.journal(id, principal):
        return journal.undo(id, body.force)
    return undo_result_json(undoing.undo(state, by, _snapshot_id(id), body.force, principal))


def _scope(who: ApiCaller) -> tuple[str, str]:
    """The caller, and the principal whose snapshots are meant; everybody's for an operator."""
    return (who.session.operator, "") if who.session is not None else (who.agent(), who.agent())


def _snapshot_id(id: str) -> str:
    return "" if id == NEWEST else id
