"""What was asked and run: searched, looked at, and put up for review again."""

from __future__ import annotations

from urllib.parse import quote

from interlock.core.plan_records import NO_EXIT, STATUSES, PlanQuery
from interlock.doors.console.pages.ask import HOME
from interlock.doors.console.visit import APPROVER, Answer, Page, Redirect, Route, Visit
from interlock.service.plans import history, making, running

PAGE = 50


def listed(visit: Visit) -> Answer:
    """The newest first, by words and by how they ended."""
    text, status = visit.query.get("q", "")[:200], visit.query.get("status", "")
    before = visit.query.get("before", "")
    query = PlanQuery(text, status if status in STATUSES else "", before=_moment(before), limit=PAGE + 1)
    rows = history.search(visit.context.state, query)
    values = {
        "rows": rows[:PAGE], "more": rows[PAGE - 1].made_at if len(rows) > PAGE else 0, "q": text, "status": query.status,
        "statuses": STATUSES, "no_exit": NO_EXIT,
    }  # fmt: skip
    return Page("ask/history.html", values)


def one(visit: Visit) -> Answer:
    state = visit.context.state
    row = making.find(state, visit.params["id"])
    values = {
        "row": row,
        "seconds": running.seconds_of(state, row),
        "no_exit": NO_EXIT,
        "mine": row.operator == visit.who.operator,
    }
    return Page("ask/run.html", values)


def again(visit: Visit) -> Answer:
    """A new plan of an old one; it has to be looked at again."""
    plan = making.rerun(visit.context.state, visit.who.session, visit.params["id"])
    return Redirect(f"{HOME}?plan={quote(plan.id)}")


def _moment(text: str) -> float:
    try:
        return max(0.0, min(float(text), 1e12)) if text else 0.0
    except ValueError:
        return 0.0


ROUTES = (
    Route("GET", f"{HOME}/history", listed),
    Route("GET", f"{HOME}/runs/{{id}}", one),
    Route("POST", f"{HOME}/runs/{{id}}/again", again, APPROVER),
)
