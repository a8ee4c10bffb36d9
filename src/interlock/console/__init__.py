"""★ Answers a browser's request: checks its origin, finds the visitor, checks the role, calls the page's handler, renders the template."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from msgspec.structs import replace
from starlette.routing import compile_path

from interlock.console import events, signin, stepup
from interlock.console.pages import (
    agents,
    ask,
    audit,
    grants,
    policy,
    queue,
    rules,
    settings,
    try_,
    undo,
)
from interlock.console.replies import Renderer, encode_answer, failure_page, problem_page, send_static
from interlock.console.visit import (
    HOME,
    OF_PAGES,
    OPEN,
    Answer,
    CanonicalRedirect,
    InvalidInput,
    JsonAnswer,
    PageNotFound,
    RedirectTo,
    Route,
    Visit,
    cookie_of,
    header,
    rate_limit_key,
)
from interlock.identity.console_access import may_visit, visitor_of
from interlock.identity.visitors import Site, Visitor, site_of
from interlock.web.context import Context
from interlock.web.guards import ClientGone, Scope, over_socket, read_body
from interlock.web.json_body import parse_json

LOG = logging.getLogger("interlock")
MOST_FIELDS = 200
_PAGES = (signin, stepup, queue, undo, agents, audit, ask, try_, rules, policy, settings, grants)


def is_console(scope: Scope) -> bool:
    """Whether a request is for the console, which is never served on the unix socket."""
    path = str(scope["path"])
    return (path in ("/", HOME) or path.startswith(f"{HOME}/")) and not over_socket(scope)


class ConsoleApp:
    """The pages of one daemon."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.routes = Routes(route for page in _PAGES for route in page.routes.all)
        self.renderer = Renderer(context)
        self.events = events.Events(context)

    def start(self) -> None:
        """Sends the store's changes to open pages from now on."""
        self.events.start()

    def stop(self) -> None:
        self.events.stop()

    async def __call__(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Any, send: Any) -> None:
        """Answers one request whose Host and Origin were checked."""
        visit = self._visit(scope, headers)
        if visit.path.startswith("/console/static/") and visit.method == "GET":
            return await send_static(send, visit.path, visit.headers)
        if visit.headers.get("host", "").startswith("127.0.0.1") and visit.method == "GET":
            return await self._send(send, visit, CanonicalRedirect(visit.site.origin + _address(scope)))  # for passkeys
        try:
            # 1. the request  2. the visitor  3. their rights  4. the answer
            route, params = self.routes.find(visit.method, visit.path)  # 1
            body = await read_body(receive, headers.get(b"content-length"), self.context.config.limits.body_bytes)
            query = _fields(scope["query_string"].decode("latin-1"), blank=False)
            form, data = _body(visit.headers.get("content-type", ""), body)
            visitor = await self._visitor(visit)  # 2
            visit = replace(visit, visitor=visitor, params=params, query=query, form=form, json=data)
            self.context.buckets.take(rate_limit_key(visit, route))
            refused = _refusal(visit, route)  # 3
            if refused is None and visit.path == events.PATH:
                return await self.events(visit, receive, send)
            answer = refused if refused is not None else await self.context.pool.run(route.handler, visit)  # 4
        except ClientGone:
            return None
        except Exception as error:
            answer = failure_page(self.context, error)
        return await self._send(send, visit, answer)

    def _visit(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Visit:
        words = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers.items()}
        method = "GET" if scope["method"] == "HEAD" else str(scope["method"])
        peer = str(scope["client"][0]) if scope.get("client") else ""
        site = self._site(words)
        seen = self.events.seen
        return Visit(self.context, method, str(scope["path"]), headers=words, peer=peer, site=site, seen=seen)

    def _site(self, headers: Mapping[str, str]) -> Site:
        return site_of(self.context.config.console.public_url, headers.get("host", ""))

    async def _visitor(self, visit: Visit) -> Visitor | None:
        """The signed-in visitor; parts that a page fetches by itself do not prolong the session."""
        state, token = self.context.state, cookie_of(visit)
        given = (state, token, state.clock.now(), False, visit.method == "GET" and "hx-request" in visit.headers)
        return await self.context.pool.run(visitor_of, *given) if token else None

    async def _send(self, send: Any, visit: Visit, answer: Answer) -> None:
        try:
            status, kind, body, more = await self.context.pool.run(encode_answer, self.renderer, visit, answer)
        except Exception as error:
            LOG.error("a page that cannot be shown", exc_info=error)
            status, kind, body, more = 500, "text/plain", b"This page cannot be shown; the daemon's log says more.", ()
        headers = [*OF_PAGES, header("content-type", kind), (b"content-length", b"%d" % len(body))]
        headers += [header(name, value) for name, value in more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _refusal(visit: Visit, route: Route) -> Answer | None:
    """The refusal of a visitor who is not signed in, lacks the role, or sent the form from another page; else None."""
    if visit.method == "POST" and "origin" not in visit.headers:
        return problem_page(403, "This has to come from Interlock's own page.")
    if "authorization" in visit.headers:
        return problem_page(403, "This is for people in a browser: a token opens nothing here.")
    if route.role == OPEN:
        return None
    if visit.visitor is None:
        return _to_sign_in(visit)
    if visit.method == "POST" and not visit.visitor.sent_by(_csrf(visit)):
        return problem_page(403, "This page is out of date, or the request came from another one. Load it again.")
    if not may_visit(visit.visitor, route.role):
        return problem_page(403, f"This takes the role {route.role}; an admin can give it to you.")
    return None


def _csrf(visit: Visit) -> str:
    return visit.headers.get("x-csrf-token") or visit.form.get("csrf", "")


def _to_sign_in(visit: Visit) -> Answer:
    """Redirects to the sign-in, which leads back to the requested page."""
    if visit.path == events.PATH or visit.headers.get("accept") == "application/json":
        return JsonAnswer({"error": "signed out"}, 401)
    wanted = visit.path if visit.method == "GET" and not visit.part else HOME
    return RedirectTo(f"{HOME}/sign-in" + (f"?next={quote(wanted)}" if wanted not in ("/", HOME) else ""))


def _address(scope: Scope) -> str:
    """The path and query of the request, percent-encoded."""
    query = quote(scope["query_string"], safe="=&%+/?:@,;!$'()*~")
    return quote(str(scope["path"])) + (f"?{query}" if query else "")


def _fields(text: str, blank: bool = True) -> Mapping[str, str]:
    """The fields of a form or a query; the last value of a repeated field counts."""
    try:
        found = dict(parse_qsl(text, keep_blank_values=blank, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise InvalidInput("the form cannot be read") from None
    if "\0" in text or any("\0" in word for pair in found.items() for word in pair):
        raise InvalidInput("the form has a character in it that is none")
    return found


def _body(kind: str, body: bytes) -> tuple[Mapping[str, str], Any]:
    """The fields of a form, or a JSON body and its text fields."""
    kind = kind.partition(";")[0].strip().lower()
    if not body:
        return {}, None
    if kind == "application/x-www-form-urlencoded":
        try:
            return _fields(body.decode()), None
        except UnicodeDecodeError:
            raise InvalidInput("the form cannot be read") from None
    if kind == "application/json":
        data = parse_json(body)
        texts = data.items() if isinstance(data, dict) else ()
        return {key: value for key, value in texts if isinstance(value, str)}, data
    raise InvalidInput("the body has to be a form or JSON")


class Routes:
    """Every route of the console: plain paths by name, the others by pattern."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.all = tuple(routes)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = [(compile_path(route.path)[0], route) for route in self.all if "{" in route.path]

    def find(self, method: str, path: str) -> tuple[Route, Mapping[str, str]]:
        """The route of a decoded path; None for a path with control characters."""
        if not path.isprintable():
            raise PageNotFound
        if (route := self._plain.get((method, path))) is not None:
            return route, {}
        for pattern, route in self._others:
            if route.method == method and (found := pattern.match(path)):
                return route, found.groupdict()
        raise PageNotFound
