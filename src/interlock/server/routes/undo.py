"""Routes for snapshots and journaled actions: list, preview, restore; an agent's user sees its own, an operator all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request

from interlock.engine import undoing
from interlock.journal import ID as JOURNAL_ID
from interlock.journal import JournalError
from interlock.journal.undo import JournalUndo
from interlock.records import Snapshot
from interlock.server.routes import ANYBODY, describe
from interlock.snapshots import UndoChange, change_json
from interlock.times import iso
from interlock.web.bodies import Undoing
from interlock.web.context import Context, caller_of
from interlock.web.errors import HttpProblem
from interlock.web.validation import Moment, seconds_of

NEWEST = "newest"  # instead of an id: the newest snapshot that is not undone


def undo_routes(context: Context) -> APIRouter:
    router, state = APIRouter(prefix="/api/v1/undo", tags=["undo"]), context.state

    @router.get("", **describe("snapshots", ANYBODY, "Snapshots taken before actions ran, the newest first"))
    async def listed(
        request: Request,
        before: Annotated[Moment, Query(description="only snapshots taken before this")] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> Any:
        _, principal = _scope(request)
        since = seconds_of("before", before)
        found = await context.pool.run(undoing.list_snapshots, state, principal, limit, since)
        rows = [snapshot_json(row) for row in found]
        if _is_own(context, principal):
            rows += await context.pool.run(_journaled, context, limit, iso(since) if since else "")
        return {"snapshots": sorted(rows, key=lambda row: str(row["at"]), reverse=True)[:limit]}

    @router.get("/{id}", **describe("undo_plan", ANYBODY, "What undoing would change now; `newest` is an id too", 404))
    async def planned(
        request: Request, id: str, diff: Annotated[bool, Query(description="with a diff of text files")] = False
    ) -> Any:
        _, principal = _scope(request)
        if JOURNAL_ID.fullmatch(id) and _is_own(context, principal):
            return await context.pool.run(_from_journal, lambda: JournalUndo(context.config).plan(id))
        return plan_json(await context.pool.run(undoing.plan_undo, state, _snapshot_id(id), principal, diff))

    @router.post(
        "/{id}",
        **describe(
            "undone", ANYBODY, "Brings it back; later work is overwritten only with `force`, and `undone` says", 404
        ),
    )
    async def undo(request: Request, id: str, body: Undoing) -> Any:
        by, principal = _scope(request)
        if JOURNAL_ID.fullmatch(id) and _is_own(context, principal):
            return await context.pool.run(_from_journal, lambda: JournalUndo(context.config).undo(id, body.force))
        return undo_result_json(
            await context.pool.run(undoing.undo, state, by, _snapshot_id(id), body.force, principal)
        )

    return router


def _scope(request: Request) -> tuple[str, str]:
    """The caller, and the principal whose snapshots are meant; everybody's for an operator."""
    who = caller_of(request).known()
    return (who.session.operator, "") if who.session is not None else (who.agent(), who.agent())


def _is_own(context: Context, principal: str) -> bool:
    """Whether the journals of this process's user are the caller's own, or the caller is an operator."""
    return not context.config.separate.on and principal in ("", f"uid:{os.getuid()}")


def _journaled(context: Context, limit: int, before: str) -> list[dict[str, Any]]:
    """The newest journaled actions; those of wrapped calls with their session, as long as this daemon knows it."""
    rows = [row for row in JournalUndo(context.config).rows(limit) if not before or row["at"] < before]
    sessions = context.hooks.wrapped_calls
    return [{**row, "session": sessions.get(str(row.get("call", ""))) or ""} for row in rows]


def _from_journal(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return work()
    except JournalError as error:
        raise HttpProblem("NOT_FOUND_RESOURCE", str(error), 404) from None


def _snapshot_id(id: str) -> str:
    return "" if id == NEWEST else id


def snapshot_json(row: Snapshot) -> dict[str, Any]:
    """One snapshot, for the wire."""
    body: dict[str, Any] = {
        "id": row.id,
        "at": iso(row.at),
        "principal": row.principal,
        "agent": row.name,
        "session": row.session,
        "cwd": _escape(row.cwd),
        "command": _escape(row.command),
        "files": row.files,
        "bytes": row.bytes,
        "state": row.state,
        "machine": row.machine,
    }
    if row.undoes:
        body["undoes"] = row.undoes
    return body | ({"endedAt": iso(row.ended_at), "endedBy": row.ended_by} if row.ended_at else {})


def plan_json(found: undoing.PlannedUndo) -> dict[str, Any]:
    plan = found.plan
    return {
        "snapshot": snapshot_json(found.snapshot),
        "changes": [_change_json(change) for change in plan.changes],
        "total": plan.total or len(plan.changes),
        "later": plan.later,
        "say": [_escape(words) for words in plan.say],
        "problem": plan.problem,
    }


def _change_json(change: UndoChange) -> dict[str, Any]:
    """One change; undecodable names are escaped."""
    body = change_json(change)
    return {key: _escape(value) if isinstance(value, str) else value for key, value in body.items()}


def _escape(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def undo_result_json(found: undoing.UndoOutcome) -> dict[str, Any]:
    undone = found.undone
    body: dict[str, Any] = {
        "snapshot": snapshot_json(found.snapshot),
        "undone": undone.done,
        "refused": undone.refused,
        "problem": undone.problem,
        "changes": [_change_json(change) for change in undone.changes],
        "total": undone.total or len(undone.changes),
        "say": [_escape(words) for words in undone.say],
    }
    return body | ({"undoableAs": undone.as_id} if undone.as_id else {})
