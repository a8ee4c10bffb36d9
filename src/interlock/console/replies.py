"""Encodes a handler's answer, or its error, as status, headers and bytes; reads fields of forms and JSON bodies."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from interlock.console.render import Renderer
from interlock.console.visit import (
    HOME,
    Answer,
    CanonicalRedirect,
    Download,
    InvalidInput,
    JsonAnswer,
    Page,
    PageNotFound,
    RedirectTo,
    Visit,
)
from interlock.error_codes import AnswerRefused
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.sessions import SignInRefused, TooManySignIns
from interlock.identity.totp import SignInBusy
from interlock.ports import StoreError
from interlock.web.context import Context
from interlock.web.errors import HttpProblem, problem_of

MOST = 2_000  # characters of a field
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (TooManySignIns, 429),
    (SignInBusy, 503),
    (SignInRefused, 401),
    (PasskeyRefused, 403),
    (AnswerRefused, 403),
    (InvalidInput, 422),
    (PageNotFound, 404),
)


def json_handler(work: Callable[[Visit], Mapping[str, Any]]) -> Callable[[Visit], JsonAnswer]:
    """A handler that answers in JSON, refusals included."""

    @functools.wraps(work)
    def handler(visit: Visit) -> JsonAnswer:
        try:
            return JsonAnswer(work(visit))
        except tuple(kind for kind, _ in _STATUS) as error:
            status = next(status for kind, status in _STATUS if isinstance(error, kind))
            return JsonAnswer({"error": str(error)}, status)

    return handler


def form_field(visit: Visit, name: str, needed: bool = True) -> str:
    """A field of a form or of a JSON body."""
    value = visit.form.get(name, "")
    if (needed and not value) or len(value) > MOST:
        raise InvalidInput(f"{name} is {'missing' if not value else 'too long'}")
    return value


def json_field(visit: Visit, name: str) -> Mapping[str, Any]:
    """An object in a JSON body, such as a passkey's answer."""
    value = visit.json.get(name) if isinstance(visit.json, dict) else None
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} is missing")
    return value


LOG = logging.getLogger("interlock")
EncodedAnswer = tuple[int, str, bytes, tuple[tuple[str, str], ...]]


def encode_answer(renderer: Renderer, visit: Visit, answer: Answer) -> EncodedAnswer:
    if isinstance(answer, CanonicalRedirect):
        return 307, "text/plain", b"", (("location", answer.to),)
    if isinstance(answer, RedirectTo):
        to = answer.to if answer.to.startswith("/") and answer.to[1:2] not in ("/", "\\") else HOME
        if visit.part:
            return 204, "text/plain", b"", (("hx-redirect", to), *answer.headers)
        return 303, "text/plain", b"", (("location", to), *answer.headers)
    if isinstance(answer, JsonAnswer):
        return answer.status, "application/json", json.dumps(dict(answer.body)).encode(), answer.headers
    if isinstance(answer, Download):
        return 200, answer.kind, answer.body, (("content-disposition", f'attachment; filename="{answer.name}"'),)
    return answer.status, "text/html; charset=utf-8", renderer.page(visit, answer).encode(), answer.headers


def failure_page(context: Context, error: Exception) -> Answer:
    if isinstance(error, PageNotFound):
        return problem_page(404, str(error) or "There is no such page.")
    if isinstance(error, InvalidInput):
        return problem_page(422, str(error))
    if isinstance(error, StoreError):
        context.state.trouble(f"the store cannot be used: {error}", "store")
    problem: HttpProblem | None = problem_of(error)
    if problem is None:
        LOG.error("an error that nobody expected", exc_info=error)
        context.state.trouble(f"console: {type(error).__name__}")
        return problem_page(500, "Something went wrong here; the daemon's log says more.")
    return problem_page(problem.status, str(problem))


def problem_page(status: int, words: str) -> Page:
    return Page("problem.html", {"words": words[:1].upper() + words[1:], "status": status}, status)
