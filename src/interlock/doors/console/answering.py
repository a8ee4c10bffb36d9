"""An answer of a handler, or what went wrong in it -> status, headers and bytes."""

from __future__ import annotations

import json
import logging

from interlock.doors.console.render import Renderer
from interlock.doors.console.visit import HOME, Answer, Data, Elsewhere, File, Invalid, NotHere, Page, Redirect, Visit
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem, problem_of
from interlock.ports import StoreError

LOG = logging.getLogger("interlock")
Encoded = tuple[int, str, bytes, tuple[tuple[str, str], ...]]


def encoded(renderer: Renderer, visit: Visit, answer: Answer) -> Encoded:
    if isinstance(answer, Elsewhere):
        return 307, "text/plain", b"", (("location", answer.to),)
    if isinstance(answer, Redirect):
        to = answer.to if answer.to.startswith("/") and answer.to[1:2] not in ("/", "\\") else HOME
        if visit.part:
            return 204, "text/plain", b"", (("hx-redirect", to), *answer.headers)
        return 303, "text/plain", b"", (("location", to), *answer.headers)
    if isinstance(answer, Data):
        return answer.status, "application/json", json.dumps(dict(answer.body)).encode(), answer.headers
    if isinstance(answer, File):
        return 200, answer.kind, answer.body, (("content-disposition", f'attachment; filename="{answer.name}"'),)
    return answer.status, "text/html; charset=utf-8", renderer.page(visit, answer).encode(), answer.headers


def failed(context: Context, error: Exception) -> Answer:
    if isinstance(error, NotHere):
        return problem_page(404, str(error) or "There is no such page.")
    if isinstance(error, Invalid):
        return problem_page(422, str(error))
    if isinstance(error, StoreError):
        context.state.trouble(f"the store cannot be used: {error}", "store")
    problem: Problem | None = problem_of(error)
    if problem is None:
        LOG.error("an error that nobody expected", exc_info=error)
        context.state.trouble(f"console: {type(error).__name__}")
        return problem_page(500, "Something went wrong here; the daemon's log says more.")
    return problem_page(problem.status, str(problem))


def problem_page(status: int, words: str) -> Page:
    return Page("problem.html", {"words": words[:1].upper() + words[1:], "status": status}, status)
