"""Renders an answer or its error (template, frame, status, headers), serves static files by their hash, and reads fields of forms and JSON bodies."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from interlock.analysis.display_text import visible
from interlock.console.visit import (
    HOME,
    SAFE,
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
from interlock.model import Level, TicketState
from interlock.policy.impact import size_words
from interlock.ports import StoreError, Tx
from interlock.records import TicketQuery
from interlock.times import iso
from interlock.web.context import Context
from interlock.web.errors import HttpProblem, problem_of

_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}


@cache
def contents() -> Mapping[str, tuple[bytes, str, str]]:
    """Path -> bytes, type, hash."""
    found = {}
    root = files("interlock.console") / "static"
    for folder, name in ((root, ""), (root / "vendor", "vendor/")):
        for item in folder.iterdir():
            kind = _KINDS.get(item.name.rpartition(".")[2])
            if kind and item.is_file():
                data = item.read_bytes()
                found[f"/console/static/{name}{item.name}"] = (data, kind, hashlib.sha256(data).hexdigest()[:16])
    return MappingProxyType(found)


def static_address(name: str) -> str:
    """The address of a file, with its hash."""
    path = f"/console/static/{name}"
    return f"{path}?v={contents()[path][2]}"


async def send_static(send: Any, path: str, headers: Mapping[str, str]) -> None:
    found = contents().get(path)
    if found is None:
        return await _answer(send, 404, b"text/plain", b"There is no such file.", b"no-store", "")
    data, kind, mark = found
    if headers.get("if-none-match") == f'"{mark}"':
        return await _answer(send, 304, kind.encode(), b"", b"public, max-age=31536000, immutable", mark)
    return await _answer(send, 200, kind.encode(), data, b"public, max-age=31536000, immutable", mark)


async def _answer(send: Any, status: int, kind: bytes, body: bytes, keep: bytes, mark: str) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", keep),
        *SAFE,
    ]
    headers += [(b"etag", f'"{mark}"'.encode())] if mark else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


NAVIGATION = (
    ("/console/queue", "Queue", "queue"),
    ("/console/live", "Live", "live"),
    ("/console/undo", "Undo", "undo"),
    ("/console/ask", "Ask", "ask"),
    ("/console/agents", "Agents", "agents"),
    ("/console/grants", "Grants", "grants"),
    ("/console/audit", "Audit", "audit"),
    ("/console/figures", "Figures", "figures"),
    ("/console/try", "Try", "try"),
    ("/console/rules", "Rules", "rules"),
    ("/console/policy", "Policy", "policy"),
    ("/console/settings", "Settings", "settings"),
)
_OPEN = (TicketState.COOLING, TicketState.WAITING)
MOST_COUNTED = 100


class Renderer:
    """The templates of one daemon."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._environment = environment()

    def page(self, visit: Visit, page: Page) -> str:
        """The whole page, or the part that htmx requested."""
        values = {**page.values, **self._around(visit)}
        return self._environment.get_template(page.template).render(values)

    def _around(self, visit: Visit) -> Mapping[str, Any]:
        state = self._context.state
        signed_in = visit.visitor is not None
        return {
            "visitor": visit.visitor,
            "csrf": "",  # console.js fills it in: the cookie alone does not reveal it
            "navigation": NAVIGATION if signed_in else (),
            "path": visit.path,
            "seen": visit.seen,
            "waiting": state.store.read(waiting_count) if signed_in and not visit.part else "",
            "mode": state.mode,
            "isolation": state.strength,
            "policy_name": state.policy.name,
            "now": state.clock.now(),
            "part": visit.part,
            "version": self._context.version,
        }


def environment() -> Environment:
    """Jinja with autoescape; an undefined name is an error."""
    made = Environment(
        loader=PackageLoader("interlock.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": lambda text: _lines(str(text)),
        "iso": iso,
        "span": span_words,
        "level_word": lambda level: Level(int(level)).word,
        "pretty": lambda value: _lines(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)),
        "size": size_words,
    }
    made.globals |= {"static": static_address}
    return made


def _lines(text: str) -> str:
    """Text for display, line by line; invisible and control characters are spelled out."""
    return "\n".join(visible(line) for line in text.split("\n"))


def waiting_count(tx: Tx) -> str:
    """The number of held actions for the navigation; empty for none, capped."""
    found = len(tx.tickets(TicketQuery(states=_OPEN, limit=MOST_COUNTED)))
    return f"{MOST_COUNTED - 1}+" if found >= MOST_COUNTED else str(found or "")


def span_words(seconds: float) -> str:
    """A duration: `45 s`, `12 min`, `3 h`, `2 days`."""
    seconds = abs(seconds)
    for unit, length, until in (("s", 1, 90), ("min", 60, 5_400), ("h", 3_600, 129_600)):
        if seconds < until:
            return f"{max(1, round(seconds / length))} {unit}"
    return f"{round(seconds / 86_400)} days"


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


def reason_of(visit: Visit, words: str) -> str:
    """The reason in a form; refuses an over-long one, and an empty one in these words."""
    reason = form_field(visit, "reason", needed=False).strip()
    if not reason:
        raise InvalidInput(words)
    return reason


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
