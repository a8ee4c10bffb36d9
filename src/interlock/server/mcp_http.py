"""Serves MCP over streamable HTTP inside the daemon, in both protocol eras; the token says who calls."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from contextlib import suppress
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from interlock.loop.protocol.envelope import LIMITS
from interlock.mcp import instructions
from interlock.mcp.server import Context, ToolCall, build_server, decode_message, unknown_tool
from interlock.model import Json
from interlock.server.routes.aql import AqlApi, ConnectionOptions, McpSession
from interlock.web.callers import ApiCaller

_HEADER = b"mcp-session-id"
_WHO = "interlock.mcp.who"
IDLE = 1_800.0  # seconds, as in `leases`


class McpHttpServer:
    def __init__(self, aql: AqlApi) -> None:
        self._aql, self._secret = aql, secrets.token_bytes(32)
        self._backend = backend = HttpToolBackend(aql)
        self._server = server = build_server(
            backend, aql.context.version, instructions(backend.mode), schema=backend.schema
        )
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=8 * LIMITS["max_request_size"], session_idle_timeout=IDLE
        )
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        started = asyncio.Event()
        self._running = asyncio.create_task(self._run(started))
        await started.wait()

    async def stop(self) -> None:
        if self._running is not None:
            self._stopping.set()
            with suppress(asyncio.CancelledError, Exception):
                await self._running

    async def __call__(self, scope: dict[str, Any], who: ApiCaller, receive: Any, send: Any) -> None:
        principal = who.agent()
        given = dict(scope["headers"]).get(_HEADER, b"")
        # Our own id (ESL-14): one for each session of the transport, else one for the principal.
        mark = hashlib.blake2b(principal.encode() + b"\0" + given, key=self._secret, digest_size=20)
        scope[_WHO] = key = McpSession(principal, f"mcp_{mark.hexdigest()}")
        scope["user"] = AuthenticatedUser(AccessToken(token="-", client_id=principal, scopes=[]))  # binds the session
        self._server.instructions = instructions(self._backend.mode)
        leases = self._aql.leases
        if scope["method"] == "DELETE" and given:
            await leases.finish(key)
        lease = leases.hold(key, 0) if scope["method"] == "GET" and given else None
        try:
            await self._manager.asgi_app(scope, _lenient(receive), send)
        finally:
            if lease is not None:
                leases.release(key, lease)

    async def _run(self, started: asyncio.Event) -> None:
        async with self._manager.run():
            started.set()
            await self._stopping.wait()


class HttpToolBackend:
    def __init__(self, aql: AqlApi) -> None:
        self._aql, self._wanted = aql, ConnectionOptions()
        self._schemas: tuple[str, dict[str, Json]] = ("", {})  # of a mode

    @property
    def mode(self) -> str:
        return self._aql.mode(self._wanted)

    def who(self, context: Context) -> McpSession:
        found: McpSession = context.request.scope[_WHO]  # type: ignore[union-attr]
        return found

    def session_of(self, who: McpSession) -> str:
        return who.session

    async def tools(self, who: McpSession) -> list[dict[str, Any]]:
        return self._aql.tools(self._wanted)

    async def call(self, asked: ToolCall) -> Json:
        endpoint = self._wanted.naming.endpoint_of(asked.tool)
        if endpoint is None or self.schema(asked.tool) is None:
            raise unknown_tool(asked.tool)
        return (await self._aql.answer(asked.who, endpoint, asked.arguments, self._wanted)).wire

    def schema(self, tool: str) -> Json | None:
        mode, found = self._schemas
        if mode != self.mode:
            mode = self.mode
            found = {one["name"]: one["inputSchema"] for one in self._aql.tools(self._wanted)}
            self._schemas = mode, found
        return found.get(tool)

    async def ask(self, who: McpSession, token: str) -> Json | None:
        return await self._aql.question(who, token) or None

    async def elicited(self, who: McpSession, ask: str, approve: bool) -> bool:
        return await self._aql.accept_answer(who, ask, approve)


def _lenient(receive: Any) -> Any:
    """With its body decoded so that the SDK can parse it."""

    async def read() -> Any:
        message = await receive()
        body = message.get("body")
        return {**message, "body": decode_message(body).encode()} if body else message

    return read
