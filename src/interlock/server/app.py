"""★ Builds the ASGI app: guards, then authentication, then evaluate on its own path, then every other route."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from interlock.approvals.statements import is_only_viewer
from interlock.config import Config
from interlock.console import ConsoleApp, is_console
from interlock.error_codes import LoopProblem
from interlock.hooks.memory import HookMemory
from interlock.hooks.route import HookApi, is_hook
from interlock.loop.protocol.envelope import refusal
from interlock.runtime.state import State
from interlock.server.routes import (
    AGENT,
    ANYBODY,
    OPEN,
    OPERATOR,
    ROUTE_EXTRA,
    agents,
    aql,
    document,
    evaluate,
    grants,
    hooks,
    operators,
    plans,
    status,
    tickets,
    undo,
    workflows,
)
from interlock.server.routes.aql import AqlApi
from interlock.server.routes.evaluate import encode_json
from interlock.web.bodies import validation_problem
from interlock.web.callers import ApiCaller
from interlock.web.context import CALLER, Context
from interlock.web.errors import EXPECTED, HttpProblem, invalid_type, invalid_value, permission_denied, reported_problem
from interlock.web.guards import ARRIVED, ClientGone, Scope, check_type, read_body
from interlock.web.json_body import parse_json

if TYPE_CHECKING:
    from interlock.server.mcp_http import McpHttpServer


EVALUATE = {"/api/v1/evaluate": evaluate.evaluate_one, "/api/v1/evaluate/batch": evaluate.evaluate_many}
SIGN_IN = "/api/v1/session"
MCP = "/mcp"
_ANSWER = re.compile(r"/api/v1/tickets/[^/]+/(?:approve|reject|revoke)")  # all that a service principal may change
_UNLOCKED = re.compile(  # all that an unlocked terminal reaches without the passphrase
    r"GET /api/v1/(?:status|session|tickets(?:/[^/]+(?:/wait|/grant)?)?)|DELETE /api/v1/session"
    r"|POST /api/v1/tickets/[^/]+/(?:approve|reject|revoke)"
)
_OPEN = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json", SIGN_IN})
_ROLES: Mapping[str, Callable[[ApiCaller], object]] = {
    OPERATOR: ApiCaller.operator,
    AGENT: ApiCaller.agent,
    ANYBODY: ApiCaller.known,
    OPEN: lambda _: None,
}
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


def build(state: State, config: Config, version: str = "0") -> DaemonApp:
    context = Context(state, config, version, HookMemory())
    return DaemonApp(context, documented_app(context))


class DaemonApp:
    """The outermost wrapper: no route is reached unguarded, and every answer of evaluate has `allowed`."""

    def __init__(self, context: Context, inner: FastAPI) -> None:
        self.context, self._inner = context, inner
        self.aql = AqlApi(context)
        self.mcp = McpMount(self.aql)
        self.hooks = HookApi(context, context.hooks)
        self.console = ConsoleApp(context)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await self._lifespan(receive, send)
        if scope["type"] != "http":
            return None
        if is_hook(scope) and not self.context.places.public(scope):
            return await self.hooks(scope, receive, send)
        work = EVALUATE.get(scope["path"]) if scope["method"] == "POST" else None
        try:
            # 1. host and origin  2. size  3. caller  4. rate  5. the answer
            headers = _headers(scope)
            self.context.places.check(scope, headers.get(b"host"), headers.get(b"origin"))  # 1
            if is_console(scope):
                return await self.console(scope, headers, receive, send)
            limit = self.context.config.limits.body_bytes
            if aql.is_aql(scope) or scope["path"] == MCP:
                limit = max(limit, aql.LIMIT)
            body = await read_body(receive, headers.get(b"content-length"), limit, ARRIVED in scope)  # 2
            who = await self.context.credentials.who(scope, headers.get(b"authorization"))  # 3
            if scope["path"] not in _OPEN:
                who.known()
            self.context.buckets.take(self._rate_key(scope, who))  # 4
            self._check_change(scope, who)
            if work is not None:
                status, found = await work(self.context, who, body)  # 5
                return await _send(send, status, found)
            if aql.is_aql(scope):
                return await self._aql(scope, who, body, receive, send)  # 5
            if scope["path"] == MCP:
                return await self.mcp(scope, who, _replay(body, receive), send)
            if scope["path"] in EVALUATE:
                raise HttpProblem("NOT_FOUND_OPERATION", "evaluate is asked with POST", 405, allow="POST")
            if scope["path"] == "/healthz" and scope["method"] == "GET":  # frequent, and without state
                return await _send(send, 200, {"ok": True})
            for route in self._inner.state.parts:  # before the body is parsed
                if route.matches(scope)[0] is Match.FULL:
                    _ROLES[route.openapi_extra[ROUTE_EXTRA]["who"]](who)
                    break
            if body:
                check_type(headers.get(b"content-type"))
                parse_json(body)
        except ClientGone:
            return None
        except Exception as error:
            problem = reported_problem(self.context.state, error, "http")
            shown = (
                problem.denial
                if work is not None
                else refusal(LoopProblem(problem.code, problem.words, problem.details)).wire
                if aql.is_aql(scope)
                else problem.body
            )
            more = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
            return await _send(send, problem.status, shown, more)
        scope[CALLER] = who
        return await self._inner(scope, _replay(body, receive), send)

    async def _aql(self, scope: Scope, who: ApiCaller, body: bytes, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            raise HttpProblem("NOT_FOUND_OPERATION", "MCP-AQL is asked with POST", 405, allow="POST")
        if scope["path"] == aql.HOLD:
            found = await self.aql.hold(who, body, receive)
            return await _send(send, 200, found) if found is not None else None
        work = self.aql.hot.get(scope["path"])
        if work is None:
            raise HttpProblem("NOT_FOUND_OPERATION", "there is no such operation", 404)
        return await _send(send, *await work(who, body))

    def _check_change(self, scope: Scope, who: ApiCaller) -> None:
        """Refuses changes by a viewer, and anything but answers by a service; everybody may change their own session."""
        if who.session is None:
            return
        if who.session.resumed and not _UNLOCKED.fullmatch(f"{scope['method']} {scope['path']}"):
            words = "an unlocked terminal answers tickets; this takes your passphrase"
            raise HttpProblem("PERMISSION_DENIED", words, 401)
        if scope["method"] in ("GET", "HEAD") or scope["path"].startswith(SIGN_IN):
            return
        person = self.context.state.sessions.person(who.session.operator)
        if person is None or is_only_viewer(person):
            raise permission_denied(f"{who.session.operator} is a viewer: this takes another role")
        if person.service and not _ANSWER.fullmatch(scope["path"]):
            raise permission_denied(f"{person.name} is a service: it answers tickets, and this takes a person")

    def _rate_key(self, scope: Scope, who: ApiCaller) -> str:
        """Sign-ins have a key of their own, so that no agent can keep an operator out by flooding."""
        if scope["path"] != SIGN_IN or who.session is not None:
            return who.key
        agents = who.here and self.context.agent_above(who.pid)
        return f"sign-in of {'an agent of ' if agents else ''}{who.key}"

    async def _lifespan(self, receive: Any, send: Any) -> None:
        await receive()
        self.start()
        self.aql.start()
        self.hooks.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def start(self) -> None:
        self.context.waiters.listen(self.context.state.store, asyncio.get_running_loop())

    async def stop(self) -> None:
        """Answers waiting requests and ends MCP's streams; running work completes."""
        self.context.waiters.close()
        self.aql.stop()
        self.console.events.stop()
        await self.mcp.stop()

    def close(self) -> None:
        self.context.pool.close()
        for child in (self.context.inspect, self.context.snapshotter):
            if child is not None:
                child.close()


def _replay(body: bytes, receive: Any) -> Any:
    """The whole body once more, then what the client sends after it."""
    read = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return read.pop() if read else await receive()

    return again


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """Refuses a duplicate of one that matters to the guards."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"authorization", b"content-length"):
            raise invalid_value(f"the header {name.decode('latin-1')!r} is given twice")
        headers[name] = value
    return headers


async def _send(send: Any, status: int, body: dict[str, Any], more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    data = encode_json(body)
    headers = [*_HEADERS, (b"content-length", b"%d" % len(data)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


def documented_app(context: Context | None = None) -> FastAPI:
    app = FastAPI(title="Interlock", openapi_url=None, redirect_slashes=False)  # no URL, and so no pages of documents
    app.state.context, app.state.parts = context, []  # every route with its description
    groups = (
        tickets.ticket_routes, tickets.challenge_routes, grants.grant_routes, grants.pattern_routes, grants.standing_routes,
        agents.agent_routes, agents.routes, hooks.routes, operators.routes, status.pause_routes, status.channel_routes,
        status.audit_routes, status.status_routes, evaluate.routes, plans.routes, plans.planner_routes, workflows.routes,
        undo.routes,
    )  # fmt: skip
    for group in groups:
        app.include_router(group.router)
        app.state.parts.extend(group.router.routes)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Any:
        return document(app)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        if isinstance(error, RequestValidationError):
            error = validation_problem(error)
        elif isinstance(error, HTTPException):
            error = _missing(request, error)
        problem = reported_problem(request.app.state.context.state, error, "http")
        return JSONResponse(problem.body, problem.status, headers={**problem.headers, "cache-control": "no-store"})

    for kind in (RequestValidationError, HTTPException, *EXPECTED, Exception):
        app.add_exception_handler(kind, refused)
    return app


def _missing(request: Request, error: HTTPException) -> HttpProblem:
    if error.status_code == 400:  # a malformed body
        return invalid_type("the body cannot be read")
    words, asked = "there is no such operation", {"operation": f"{request.method} {request.url.path[:200]}"}
    headers = {name.lower().replace("-", "_"): value for name, value in (error.headers or {}).items()}
    return HttpProblem("NOT_FOUND_OPERATION", words, error.status_code, asked, **headers)


class McpMount:
    """Starts the MCP server on its first request."""

    def __init__(self, aql: AqlApi) -> None:
        self._aql = aql
        self._server: McpHttpServer | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: dict[str, Any], who: ApiCaller, receive: Any, send: Any) -> None:
        who.agent()
        if self._server is None:
            async with self._opening:
                if self._server is None:
                    # off the loop, as it takes a second to import
                    server = await self._aql.context.pool.run(_create, self._aql)
                    await server.start()
                    self._server = server
        await self._server(scope, who, receive, send)

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()


def _create(aql: AqlApi) -> McpHttpServer:
    from interlock.server.mcp_http import McpHttpServer

    return McpHttpServer(aql)
