"""★ A state and a configuration -> the ASGI app: guards first, then who asks, then evaluate by itself, then everything else."""

from __future__ import annotations

import asyncio
import logging
import re
from types import SimpleNamespace
from typing import Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from interlock.config import Config
from interlock.core.statement import only_looks
from interlock.doors.console.app import ConsoleDoor, is_console
from interlock.doors.hook.memory import Hooks
from interlock.doors.hook.route import HookDoor, is_hook
from interlock.doors.http import (
    about,
    adapters,
    agents,
    aql,
    challenges,
    channels,
    coverage,
    evaluate,
    grants,
    hook_files,
    jails,
    pause,
    people,
    planner,
    plans,
    quota,
    record,
    servers,
    standing,
    tickets,
    undo,
    workflows,
)
from interlock.doors.http.aql import AqlDoor
from interlock.doors.http.context import WHO, Context
from interlock.doors.http.describe import OPERATOR, SAYS
from interlock.doors.http.errors import EXPECTED, Problem, problem_of
from interlock.doors.http.evaluate import encoded
from interlock.doors.http.guards import Gone, Scope, check_type, read_body
from interlock.doors.http.invalid import invalid
from interlock.doors.http.json_body import parsed
from interlock.doors.http.openapi import document
from interlock.doors.http.who import NOBODY, Who
from interlock.doors.mcp.mount import MCP, McpMount
from interlock.ports import StoreError
from interlock.service.state import State

LOG = logging.getLogger("interlock")
EVALUATE = {"/api/v1/evaluate": evaluate.one, "/api/v1/evaluate/batch": evaluate.many}
SIGN_IN = "/api/v1/session"
_ANSWER = re.compile(r"/api/v1/tickets/[^/]+/(?:approve|reject|revoke)")  # all that a service does
_UNLOCKED = re.compile(  # all that a terminal reaches without the passphrase, once somebody signed in there
    r"GET /api/v1/(?:status|session|tickets(?:/[^/]+(?:/wait|/grant)?)?)|DELETE /api/v1/session"
    r"|POST /api/v1/tickets/[^/]+/(?:approve|reject|revoke)"
)
_OPEN = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json", SIGN_IN})
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


def build(state: State, config: Config, version: str = "0") -> Door:
    """The app; whoever serves it closes its context when that ends."""
    context = Context.of(state, config, version, Hooks())
    return Door(context, _documented(context))


class Door:
    """The outermost wrapper: nothing reaches a route unguarded, and nothing leaves evaluate without `allowed`."""

    def __init__(self, context: Context, inner: FastAPI) -> None:
        self.context, self._inner = context, inner
        self._limit = context.config.limits.body_bytes
        self.aql = AqlDoor(context)
        self.mcp = McpMount(self.aql)
        self.hooks = HookDoor(context, context.hooks)
        self.console = ConsoleDoor(context)

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await self._lifespan(receive, send)
        if scope["type"] != "http":
            return None
        if is_hook(scope) and not self.context.places.public(scope):
            return await self.hooks(scope, receive, send)
        work = EVALUATE.get(scope["path"]) if scope["method"] == "POST" else None
        try:
            # 1. is it meant for us  2. how much  3. who  4. how often  5. the answer
            headers = _headers(scope)
            self.context.places.check(scope, headers.get(b"host"), headers.get(b"origin"))  # 1
            if is_console(scope):
                return await self.console(scope, headers, receive, send)
            limit = max(self._limit, aql.LIMIT) if aql.is_aql(scope) or scope["path"] == MCP else self._limit
            body = await read_body(receive, headers.get(b"content-length"), limit)  # 2
            who = await self._who(scope, headers.get(b"authorization"))  # 3
            self.context.buckets.take(self._counted_as(scope, who))  # 4
            self._may_change(scope, who)
            if work is not None:
                status, found = await work(self.context, who, body)  # 5
                return await _send(send, status, found)
            if aql.is_aql(scope):
                return await self._aql(scope, who, body, receive, send)  # 5
            if scope["path"] == MCP:
                return await self.mcp(scope, who, _Replay(body, receive), send)
            if scope["path"] in EVALUATE:
                raise Problem("NOT_FOUND_OPERATION", "evaluate is asked with POST", 405, allow="POST")
            if scope["path"] == "/healthz" and scope["method"] == "GET":  # often asked, and nothing to find out
                return await _send(send, 200, {"ok": True})
            _may_ask(self._inner, scope, who)  # before the body is looked at
            if body:
                check_type(headers.get(b"content-type"))
                parsed(body)
        except Gone:
            return None
        except Exception as error:
            problem = _problem(self.context, error)
            shown = problem.denial if work is not None else aql.failed(problem) if aql.is_aql(scope) else problem.body
            return await _refuse(send, problem, shown)
        scope[WHO] = who
        return await self._inner(scope, _Replay(body, receive), send)

    async def _aql(self, scope: Scope, who: Who, body: bytes, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            raise Problem("NOT_FOUND_OPERATION", "MCP-AQL is asked with POST", 405, allow="POST")
        if scope["path"] == aql.HOLD:
            found = await self.aql.hold(who, body, receive)
            return await _send(send, 200, found) if found is not None else None
        work = self.aql.hot.get(scope["path"])
        if work is None:
            raise Problem("NOT_FOUND_OPERATION", "there is no such operation", 404)
        return await _send(send, *await work(who, body))

    async def _who(self, scope: Scope, authorization: bytes | None) -> Who:
        if scope["path"] in _OPEN and authorization is None:
            return await self.context.credentials.who(scope, None)
        who = await self.context.credentials.who(scope, authorization)
        return who if scope["path"] in _OPEN or who is not NOBODY else who.known()

    def _may_change(self, scope: Scope, who: Who) -> None:
        """Refuses a viewer everything but looking, and a service everything but answers; one's own session is everybody's."""
        if who.session is None:
            return
        if who.session.resumed and not _UNLOCKED.fullmatch(f"{scope['method']} {scope['path']}"):
            raise Problem("PERMISSION_DENIED", "an unlocked terminal answers tickets; this takes your passphrase", 401)
        if scope["method"] in ("GET", "HEAD") or scope["path"].startswith(SIGN_IN):
            return
        person = self.context.state.sessions.person(who.session.operator)
        if person is None or only_looks(person):
            raise Problem("PERMISSION_DENIED", f"{who.session.operator} is a viewer: this takes another role")
        if person.service and not _ANSWER.fullmatch(scope["path"]):
            raise Problem(
                "PERMISSION_DENIED", f"{person.name} is a service: it answers tickets, and this takes a person"
            )

    def _counted_as(self, scope: Scope, who: Who) -> str:
        """What requests are counted by; sign-ins apart, so that no agent floods a person out who wants to object."""
        if scope["path"] != SIGN_IN or who.session is not None:
            return who.key
        agents = who.here and self.context.agent_above(who.pid)
        return f"sign-in of {'an agent of ' if agents else ''}{who.key}"

    async def _lifespan(self, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.start()
                self.aql.start()
                self.hooks.start()
                self.console.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await send({"type": "lifespan.shutdown.complete"})
                return

    def start(self) -> None:
        """From now on the store's changes wake those who wait on this loop."""
        self.context.waiters.listen(self.context.state.store, asyncio.get_running_loop())

    async def stop(self) -> None:
        """Whoever waits is answered, and MCP's streams end; what was begun is done."""
        self.context.waiters.close()
        self.aql.stop()
        self.console.stop()
        await self.mcp.stop()

    def close(self) -> None:
        self.context.pool.close()
        if self.context.look is not None:
            self.context.look.close()
        if self.context.keeper is not None:
            self.context.keeper.close()


class _Replay:
    """The body again, for whoever reads it behind the guards."""

    def __init__(self, body: bytes, receive: Any) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _may_ask(app: FastAPI, scope: Scope, who: Who) -> None:
    """Refuses everybody else what a route says is for operators."""
    for route in app.state.parts:
        if isinstance(route, APIRoute) and route.matches(scope)[0] is Match.FULL:
            if (route.openapi_extra or {}).get(SAYS, {}).get("who") == OPERATOR:
                who.operator()
            return


def _headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers by name; one that decides something must not stand twice."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"authorization", b"content-length"):
            raise Problem("VALIDATION_INVALID_VALUE", f"the header {name.decode('latin-1')!r} is given twice")
        headers[name] = value
    return headers


async def _send(send: Any, status: int, body: dict[str, Any], more: tuple[tuple[bytes, bytes], ...] = ()) -> None:
    data = encoded(body)
    headers = [*_HEADERS, (b"content-length", b"%d" % len(data)), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


async def _refuse(send: Any, problem: Problem, body: dict[str, Any]) -> None:
    more = tuple((name.encode(), value.encode()) for name, value in problem.headers.items())
    await _send(send, problem.status, body, more)


def _problem(context: Context, error: Exception) -> Problem:
    """The answer; why the store cannot be used is for the operator, for it may name files."""
    if isinstance(error, StoreError):
        context.state.trouble(f"the store cannot be used: {error}", "store")
    return problem_of(error) or _unexpected(context, error)


def _unexpected(context: Context, error: Exception) -> Problem:
    """Nobody is told more than that; the operator's status names the kind."""
    LOG.error("an error that nobody expected", exc_info=error)
    context.state.trouble(f"http: {type(error).__name__}")
    return Problem("INTERNAL_ERROR", "something went wrong here; the daemon's log says more")


def undressed() -> FastAPI:
    """The routes without anything behind them, for whoever only wants to know which there are."""
    return _documented(cast(Context, SimpleNamespace(state=None)))


def _documented(context: Context) -> FastAPI:
    app = FastAPI(title="Interlock", docs_url=None, redoc_url=None, openapi_url=None)
    app.router.redirect_slashes = False
    app.state.parts = []  # every route as it was described
    for part in (
        tickets,
        challenges,
        grants,
        agents,
        hook_files,
        jails,
        adapters,
        servers,
        standing,
        people,
        pause,
        channels,
        record,
        about,
        quota,
        coverage,
        planner,
        plans,
        workflows,
        undo,
    ):
        router = part.routes(context)
        app.include_router(router)
        app.state.parts.extend(router.routes)

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Any:
        return document(app)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        problem = _problem(context, error)
        return JSONResponse(problem.body, problem.status, headers={**problem.headers, "cache-control": "no-store"})

    async def unusable(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return await refused(request, invalid(error))

    async def missing(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        words, asked = "there is no such operation", {"operation": f"{request.method} {request.url.path[:200]}"}
        headers = {name.lower().replace("-", "_"): value for name, value in (error.headers or {}).items()}
        if error.status_code == 400:  # a body that is no JSON
            return await refused(request, Problem("VALIDATION_INVALID_TYPE", "the body cannot be read"))
        return await refused(request, Problem("NOT_FOUND_OPERATION", words, error.status_code, asked, **headers))

    app.add_exception_handler(RequestValidationError, unusable)
    app.add_exception_handler(HTTPException, missing)
    for kind in EXPECTED:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(Exception, refused)
    return app
