"""★ Answers a browser's request: checks its origin, finds the visitor, checks the role, calls the page's handler."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.responses import Response
from starlette.routing import Match

from interlock.console import events, signin
from interlock.console.pages import agents, ask, audit, grants, policy, queue, rules, settings, try_, undo
from interlock.console.replies import HOME, SAFE, STATIC, environment, static_file
from interlock.console.visit import OPEN, InvalidInput, PageNotFound, PageRoute, Visit, json_response
from interlock.error_codes import AnswerRefused
from interlock.identity.console_access import may_visit, visitor_of
from interlock.identity.keys.webauthn import PasskeyRefused
from interlock.identity.sessions import SignInRefused, TooManySignIns
from interlock.identity.totp import SignInBusy
from interlock.web.context import Context
from interlock.web.errors import reported_problem
from interlock.web.guards import ClientGone, Scope, over_socket, read_body
from interlock.web.json_body import parse_json

LOG = logging.getLogger("interlock")
MOST_FIELDS = 200
_PAGES = (events, signin, queue, undo, agents, audit, ask, try_, rules, policy, settings, grants)
_STATUS: Mapping[type[Exception], int] = {
    TooManySignIns: 429,
    SignInBusy: 503,
    SignInRefused: 401,
    PasskeyRefused: 403,
    AnswerRefused: 403,
    InvalidInput: 422,
    PageNotFound: 404,
}  # of an answer in JSON, the narrower errors first


def is_console(scope: Scope) -> bool:
    """The console is never served on the unix socket."""
    path = str(scope["path"])
    return (path in ("/", HOME) or path.startswith(f"{HOME}/")) and not over_socket(scope)


class ConsoleApp:
    def __init__(self, context: Context) -> None:
        self.context = context
        declared = (route for page in _PAGES for route in page.routes)
        self.routes = sorted(declared, key=lambda route: "{" in route.path)  # a plain path is no id
        self.events = events.Events(context)
        self._templates = environment()

    async def __call__(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Any, send: Any) -> None:
        """Host and Origin were checked."""
        run, visit = self.context.pool.run, Visit(self.context, self._templates, self.events, scope)
        try:
            # 1. the request  2. the visitor  3. their rights  4. the answer
            answer = _without_visitor(visit, scope)
            if answer is None:
                route, visit.params = self._route(scope)  # 1
                body = await read_body(receive, headers.get(b"content-length"), self.context.config.limits.body_bytes)
                visit.query = _fields(scope["query_string"], "latin-1", blank=False)
                visit.form, visit.json = _body(visit.headers.get("content-type", ""), body)
                # What a page fetches by itself does not prolong the session.
                idles = visit.method == "GET" and "hx-request" in visit.headers
                visit.visitor = await run(visitor_of, visit.state, visit.token, idles=idles)  # 2
                self.context.buckets.take(_rate_limit_key(visit, route))
                answer = await run(_respond, visit, route)  # 3, 4
        except ClientGone:
            return
        except Exception as error:
            answer = await run(_failure, visit, error)
        for name, value in {"cache-control": "no-store", "content-type": "text/plain", **SAFE}.items():
            answer.headers.setdefault(name, value)
        for cookie in visit.new_cookies:
            answer.headers.append("set-cookie", cookie)
        await answer(scope, receive, send)

    def _route(self, scope: Scope) -> tuple[PageRoute, Mapping[str, str]]:
        """Refuses a path with control characters."""
        for route in self.routes if str(scope["path"]).isprintable() else ():
            match, found = route.matches(scope)
            if match is Match.FULL:
                return route, found["path_params"]
        raise PageNotFound


def _without_visitor(visit: Visit, scope: Scope) -> Response | None:
    """A static file, or the redirect to the host name that passkeys are bound to."""
    if visit.method != "GET":
        return None
    if visit.path.startswith(STATIC):
        return static_file(visit.path, visit.headers.get("if-none-match"))
    if not visit.headers.get("host", "").startswith("127.0.0.1"):
        return None
    query = quote(scope["query_string"], safe="=&%+/?:@,;!$'()*~")
    address = visit.site.origin + quote(visit.path) + (f"?{query}" if query else "")
    return Response(status_code=307, headers={"location": address})


def _rate_limit_key(visit: Visit, route: PageRoute) -> str:
    """Known browsers have their own key, so that a flood of strangers cannot keep them out."""
    if visit.visitor is not None:
        return f"console:{visit.visitor.operator}"
    if browser := visit.known_browser:
        return f"console:browser {browser}"
    return f"console:{visit.peer}" + (f" {route.path}" if not route.role else "")  # a key for each open page


def _refusal(visit: Visit, route: PageRoute) -> Response | None:
    if visit.method == "POST" and "origin" not in visit.headers:
        return visit.problem(403, "This has to come from Interlock's own page.")
    if "authorization" in visit.headers:
        return visit.problem(403, "This is for people in a browser: a token opens nothing here.")
    if route.role == OPEN:
        return None
    if visit.visitor is None:
        if visit.path == events.PATH or visit.headers.get("accept") == "application/json":
            return json_response({"error": "signed out"}, 401)
        wanted = visit.path if visit.method == "GET" and not visit.part else HOME
        return visit.redirect(f"{HOME}/sign-in" + (f"?next={quote(wanted)}" if wanted not in ("/", HOME) else ""))
    csrf = visit.headers.get("x-csrf-token") or visit.form.get("csrf", "")
    if visit.method == "POST" and not visit.visitor.sent_by(csrf):
        return visit.problem(403, "This page is out of date, or the request came from another one. Load it again.")
    if not may_visit(visit.visitor, route.role):
        return visit.problem(403, f"This takes the role {route.role}; an admin can give it to you.")
    return None


def _respond(visit: Visit, route: PageRoute) -> Response:
    """A handler that answers in JSON refuses in JSON."""
    if (refused := _refusal(visit, route)) is not None:  # 3
        return refused
    try:
        answer = route.endpoint(visit)
    except tuple(_STATUS) as error:
        if not route.json:
            raise
        return json_response({"error": str(error)}, next(_STATUS[kind] for kind in _STATUS if isinstance(error, kind)))
    return json_response(answer) if route.json else answer


def _failure(visit: Visit, error: Exception) -> Response:
    """Sets no cookie; plain text where not even a page can be rendered."""
    visit.new_cookies.clear()
    try:
        problem = reported_problem(visit.state, error, "console")
        return visit.problem(problem.status, problem.words)
    except Exception as worse:
        LOG.error("a page that cannot be shown", exc_info=worse)
        return Response("This page cannot be shown; the daemon's log says more.", 500, media_type="text/plain")


def _fields(data: bytes, encoding: str = "utf-8", blank: bool = True) -> Mapping[str, str]:
    """The last value of a repeated field counts."""
    try:
        found = dict(parse_qsl(data.decode(encoding), keep_blank_values=blank, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise InvalidInput("the form cannot be read") from None
    if b"\0" in data or any("\0" in word for pair in found.items() for word in pair):
        raise InvalidInput("the form has a character in it that is none")
    return found


def _body(kind: str, body: bytes) -> tuple[Mapping[str, str], Any]:
    """The text fields, and a JSON body."""
    kind = kind.partition(";")[0].strip().lower()
    if not body:
        return {}, None
    if kind == "application/x-www-form-urlencoded":
        return _fields(body), None
    if kind != "application/json":
        raise InvalidInput("the body has to be a form or JSON")
    data = parse_json(body)
    texts = data.items() if isinstance(data, dict) else ()
    return {key: value for key, value in texts if isinstance(value, str)}, data
