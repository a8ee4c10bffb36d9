"""Undo page: snapshots and journaled actions, the changes of an undo, and a button that does it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.responses import Response

from interlock.console.replies import address
from interlock.console.visit import APPROVER, InvalidInput, PageRoutes, Visit, existing
from interlock.engine import undoing
from interlock.error_codes import AnswerRefused
from interlock.identity.console_access import may_visit
from interlock.journal import JournalError
from interlock.records import KEPT, Snapshot
from interlock.runtime.state import State
from interlock.web.wire import undo_plan_json, undo_result_json

Json = dict[str, Any]
HOME = "/console/undo"
routes = PageRoutes(HOME)
PAGE = 50
_KINDS = (("+++", ""), ("---", ""), ("@@", "dim"), ("+", "add"), ("-", "del"))


_NOTHING: Json = {"changes": (), "total": 0, "later": 0, "say": (), "problem": "", "refused": False, "undoableAs": ""}


@routes.get()
def listing(visit: Visit) -> Response:
    state, before = visit.state, visit.moment("before")
    found = list(undoing.list_snapshots(state, limit=PAGE + 1, before=before))
    if journal := visit.context.journal():
        found = sorted([*found, *journal.snapshots(PAGE + 1, before)], key=lambda row: row.at, reverse=True)
    rows = found[:PAGE]
    return visit.page(
        "undo/undo.html",
        part="undo/_list.html",
        rows=rows,
        older=repr(rows[-1].at) if len(found) > PAGE else "",
        paged="before" in visit.query,
        again=address(HOME, before=visit.query["before"]) if "before" in visit.query else HOME,
        until={row.id: _until(state, row) for row in rows},
        keeps=state.in_force.undo.enabled and bool(state.snapshots.taker or state.snapshots.takers),
        days=state.in_force.undo.days,
    )


@routes.get("/{id}")
def one(visit: Visit) -> Response:
    """Contents are shown only to those who may restore it."""
    row, state = _row(visit), visit.state
    plan, problem = _restore_plan(visit, row) if may_visit(visit.who, APPROVER) else (None, "")
    values: Json = {"row": row, "until": _until(state, row), "plan": plan, "problem": problem}
    return visit.page("undo/one.html", **values, **shown_changes(plan or _NOTHING))


@routes.post("/{id}")
def undo(visit: Visit) -> Response:
    """Overwrites later work only on request, and only changes that were shown."""
    row = _row(visit)
    if visit.form.get("sure") != "yes":
        raise InvalidInput("tick the box first: this changes files")
    force = visit.form.get("force") == "yes"
    try:
        if journal := visit.context.journal(row.id):
            found = journal.undo(row.id, force)
        else:
            found = undo_result_json(undoing.undo(visit.state, visit.who.operator, row.id, force))
    except JournalError as error:
        found = {"problem": str(error)}
    body = _NOTHING | found
    done = not body["refused"] and not body["problem"]
    values: Json = {"row": row, "done": done, "body": body, "back": f"{HOME}/{row.id}"}
    return visit.page("undo/outcome.html", 200 if done else 409, **values, **shown_changes(body))


def _restore_plan(visit: Visit, row: Snapshot) -> tuple[Json | None, str]:
    if row.state != KEPT:
        return None, ""
    try:
        journal = visit.context.journal(row.id)
        plan = journal.plan(row.id) if journal else undo_plan_json(undoing.plan_undo(visit.state, row.id))
    except (AnswerRefused, JournalError) as error:
        return None, str(error)
    return _NOTHING | plan, plan.get("problem", "")


def shown_changes(body: Json) -> Json:
    changes = [{**one, "lines": list(_diff_lines(one.get("diff", "")))} for one in body["changes"]]
    return {"changes": changes, "more": max(0, body["total"] - len(changes))}


def _diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        yield next((kind for begin, kind in _KINDS if line.startswith(begin)), ""), line


def _row(visit: Visit) -> Snapshot:
    id, journal = visit.id, visit.context.journal(visit.id)
    found = journal.snapshot(id) if journal else visit.state.store.read(lambda tx: tx.snapshot(id))
    return existing(found, f"there is no snapshot {id[:80]}")


def _until(state: State, row: Snapshot) -> float:
    return row.at + state.in_force.undo.days * 86_400.0
