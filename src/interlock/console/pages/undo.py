"""Undo page: snapshots, the changes that restoring one would make, and a button that restores it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlencode

from msgspec import Struct

from interlock.console.record_views import when
from interlock.console.visit import APPROVER, Answer, InvalidInput, Page, PageNotFound, Route, Visit
from interlock.engine import undoing
from interlock.error_codes import AnswerRefused
from interlock.identity.console_access import may_visit
from interlock.records import KEPT, Snapshot
from interlock.runtime.state import State
from interlock.snapshots import UndoChange, UndoPlan

HOME = "/console/undo"
PAGE = 50
_KINDS = (("+++", ""), ("---", ""), ("@@", "dim"), ("+", "add"), ("-", "del"))


class ShownChange(Struct, frozen=True):
    """One change, with its diff by lines."""

    path: str
    what: str
    later: bool
    lines: tuple[tuple[str, str], ...]  # kind, text


def listing(visit: Visit) -> Answer:
    """The snapshots of every agent, the newest first."""
    state = visit.context.state
    found = undoing.list_snapshots(state, limit=PAGE + 1, before=_moment(visit.query.get("before", "")))
    rows = found[:PAGE]
    values = {
        "rows": rows,
        "older": repr(rows[-1].at) if len(found) > PAGE else "",
        "paged": bool(visit.query.get("before")),
        "again": f"{HOME}?{urlencode({'before': visit.query['before']})}" if visit.query.get("before") else HOME,
        "when": when,
        "until": {row.id: _until(state, row) for row in rows},
        "keeps": state.in_force.undo.enabled and bool(state.snapshots.taker or state.snapshots.takers),
        "days": state.in_force.undo.days,
    }
    return Page("undo/_list.html" if visit.part else "undo/undo.html", values)


def one(visit: Visit) -> Answer:
    """One snapshot and what restoring it would change now; contents are shown only to those who may restore it."""
    row = _row(visit)
    may = may_visit(visit.who, APPROVER)
    return _page(visit, row, *(_restore_plan(visit.context.state, row) if may else (None, "")))


def undo(visit: Visit) -> Answer:
    """Restores a snapshot; overwrites later work only on request, and only changes that were shown."""
    row = _row(visit)
    if visit.form.get("sure") != "yes":
        raise InvalidInput("tick the box first: this changes files")
    force = visit.form.get("force") == "yes"
    found = undoing.undo(visit.context.state, visit.who.operator, row.id, force)
    done = found.undone
    values = {
        "row": found.snapshot,
        "done": done,
        "changes": shown_changes(done.changes),
        "more": max(0, done.total - len(done.changes)),
        "back": f"{HOME}/{row.id}",
    }
    return Page("undo/outcome.html", values, 200 if done.done else 409)


def _restore_plan(state: State, row: Snapshot) -> tuple[UndoPlan | None, str]:
    """What restoring would change, or why it cannot be done."""
    if row.state != KEPT:
        return None, ""
    try:
        plan = undoing.plan_undo(state, row.id).plan
    except AnswerRefused as error:
        return None, str(error)
    return plan, plan.problem


def _page(visit: Visit, row: Snapshot, plan: UndoPlan | None, problem: str) -> Answer:
    state = visit.context.state
    values = {
        "row": row,
        "until": _until(state, row),
        "when": when,
        "plan": plan,
        "problem": problem,
        "changes": shown_changes(plan.changes) if plan else (),
        "more": max(0, plan.total - len(plan.changes)) if plan else 0,
    }
    return Page("undo/one.html", values)


def shown_changes(changes: Iterable[UndoChange]) -> tuple[ShownChange, ...]:
    return tuple(ShownChange(one.path, one.what, one.later, tuple(map(_kind, _lines(one.diff)))) for one in changes)


def _lines(diff: str) -> list[str]:
    return diff.removesuffix("\n").split("\n") if diff else []


def _kind(line: str) -> tuple[str, str]:
    return next((kind for begin, kind in _KINDS if line.startswith(begin)), ""), line


def _row(visit: Visit) -> Snapshot:
    id = visit.params["id"]
    found = visit.context.state.store.read(lambda tx: tx.snapshot(id))
    if found is None:
        raise PageNotFound(f"there is no snapshot {id[:80]}")
    return found


def _until(state: State, row: Snapshot) -> float:
    """When the snapshot is pruned, if there is room until then."""
    return row.at + state.in_force.undo.days * 86_400.0


def _moment(text: str) -> float:
    try:
        found = float(text or 0)
    except ValueError:
        return 0.0
    return found if 0 <= found < 1e12 else 0.0


ROUTES = (
    Route("GET", HOME, listing),
    Route("GET", f"{HOME}/{{id}}", one),
    Route("POST", f"{HOME}/{{id}}", undo, APPROVER),
)
