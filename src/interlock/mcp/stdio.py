"""MCP over stdio as a thin client of the daemon, in a session of its own; nothing but the protocol goes to stdout."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import uvloop
from mcp.server.stdio import stdio_server
from msgspec import Struct, field

from interlock.client import NoDaemon
from interlock.client.connection import DaemonLink
from interlock.config import Config
from interlock.loop.protocol.gatekeeper import ANY
from interlock.loop.protocol.tools import ToolNaming
from interlock.mcp import instructions
from interlock.mcp.fast_path import FastPath
from interlock.mcp.server import PERMISSION_TOOL, Context, ToolCall, build_server, unknown_tool
from interlock.mcp.wire import LineReader, LineWriter, claim_stdio, decode_message
from interlock.model import Confidential

_ENDPOINTS = ("create", "read", "execute", ANY)  # those that the loop has operations for
AGAIN = 2.0  # seconds between two tries to hold the session
GREETING = 5.0  # seconds; a slower daemon is assumed to enforce
FAREWELL = 2.0  # seconds
_PERMISSION: dict[str, Any] = {
    "name": PERMISSION_TOOL,
    "description": "Decides one tool call, for a client's permission prompt. Other operations: see introspect.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "tool_name": {"type": "string"},
            "input": {"type": "object", "additionalProperties": True},
            "tool_use_id": {"type": "string"},
        },
        "required": ["tool_name", "input"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}


class ServerOptions(Confidential, Struct, frozen=True):
    """How this server was started."""

    HIDDEN = ("token",)

    naming: ToolNaming = field(default_factory=ToolNaming)
    policy: str = ""  # its text
    mode: str = ""
    strict: bool = False
    permission_tool: bool = False
    token: str = ""  # of the agent, where it has one

    @property
    def wire(self) -> dict[str, Any]:
        """The options that go with every request."""
        found = {
            "mode": self.naming.mode,
            "prefix": self.naming.prefix,
            "policy": self.policy,
            "safetyMode": self.mode,
            "strict": self.strict,
        }
        return {key: value for key, value in found.items() if value}


class SocketBackend:
    """The backend that forwards everything to the daemon's socket."""

    def __init__(self, link: DaemonLink, options: ServerOptions) -> None:
        self._link, self._options, self._wanted = link, options, options.wire
        self.fast_path: FastPath | None = None  # may have started calls before the library asks for them
        self.session = f"mcp_{secrets.token_hex(16)}"

    def who(self, context: Context) -> Any:
        """The id of the request; the kernel tells the daemon who sent it."""
        return context.request_id

    def session_of(self, who: Any) -> str:
        return self.session

    async def mode(self) -> str:
        """The mode in force; empty while the daemon does not answer, as nothing is allowed then."""
        found = None
        with suppress(NoDaemon, OSError):
            found = await self._link.post("/aql/tools", self._options.wire, patience=GREETING, start=False)
        return str(found.get("safetyLoop", "")) if isinstance(found, dict) else ""

    async def tools(self, who: Any) -> list[dict[str, Any]]:
        found = await self._link.post("/aql/tools", self._options.wire)
        if not isinstance(found, dict) or "tools" not in found:
            raise NoDaemon("the daemon did not list its tools")
        return [*found["tools"], *([_PERMISSION] if self._options.permission_tool else [])]

    async def call(self, call: ToolCall) -> Mapping[str, Any]:
        """The reply to a call; claims the one that the fast path has started, where there is one."""
        started = self.fast_path.claim(call) if self.fast_path is not None else None
        if started is not None:
            return await started
        work = self.begin(call)
        if work is None:
            raise unknown_tool(call.tool)
        return await work

    def begin(self, call: ToolCall) -> Coroutine[Any, Any, Mapping[str, Any]] | None:
        """Starts a call; None for an unknown tool."""
        endpoint, arguments = self._options.naming.endpoint_of(call.tool), call.arguments
        if call.tool == PERMISSION_TOOL and self._options.permission_tool:
            endpoint, arguments = ANY, {"operation": PERMISSION_TOOL, "params": call.arguments}
        return self._post_call(endpoint, arguments) if endpoint in _ENDPOINTS else None

    async def _post_call(self, endpoint: str | None, arguments: Any) -> Mapping[str, Any]:
        body = {**self._wanted, "endpoint": endpoint, "arguments": arguments, "session": self.session}
        found = await self._link.post("/aql", body)
        if not isinstance(found, dict) or "envelope" not in found or "isError" not in found:
            raise NoDaemon("the daemon did not answer the call")
        return found

    async def ask(self, who: Any, token: str) -> Mapping[str, Any] | None:
        found = await self._link.post("/aql/ask", {"session": self.session, "token": token})
        return found if isinstance(found, dict) and "ask" in found else None

    async def elicited(self, who: Any, ask: str, approve: bool) -> bool:
        body = {"session": self.session, "ask": ask, "approve": approve}
        found = await self._link.post("/aql/elicited", body)
        return isinstance(found, dict) and found.get("armed") is True

    async def hold(self) -> None:
        """Holds the session open: it ends with this process's connection, however that ends."""
        while True:
            with suppress(NoDaemon, OSError, asyncio.IncompleteReadError):
                await self._link.post("/aql/hold", {"session": self.session}, patience=None, start=False)
            await asyncio.sleep(AGAIN)

    async def end(self) -> None:
        with suppress(NoDaemon, OSError, asyncio.IncompleteReadError):
            await self._link.post("/aql/end", {"session": self.session}, patience=FAREWELL, start=False)


class StdinLines:
    """stdin as parsable lines; a line that is not text becomes a call that is refused."""

    def __init__(self, file: Any) -> None:
        self._file = anyio.wrap_file(file)

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._file:
            yield decode_message(line)


def run(config: Config, config_path: Path | None, options: ServerOptions, version: str) -> int:
    """Serves until stdin ends."""
    return run_quietly(_serve(DaemonLink(config, config_path, options.token), options, version))


def run_quietly(work: Coroutine[Any, Any, None]) -> int:
    """Runs a server without logging: clients store stderr, and calls may carry codes."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    uvloop.run(work)
    return 0


async def _serve(link: DaemonLink, options: ServerOptions, version: str) -> None:
    remote = SocketBackend(link, options)

    def ends() -> tuple[Any, Any]:
        wire, back = claim_stdio()
        remote.fast_path = fast_path = FastPath(remote.begin, LineWriter(back))
        LineReader(wire, fast_path.take, fast_path.end).start()
        return fast_path, fast_path

    await serve(link, remote, build_server(remote, version, ""), ends)
    if remote.fast_path is not None:
        await remote.fast_path.wait_until_read(FAREWELL)


async def serve(
    link: DaemonLink, remote: SocketBackend, server: Any, ends: Callable[[], tuple[Any, Any]], more: str = ""
) -> None:
    """Serves stdio in a session that the daemon holds, until stdin ends; `ends` opens the input and the output."""
    with suppress(NoDaemon, OSError):
        await link.reach()  # every answer reports a daemon that cannot be started
    server.instructions = instructions(await remote.mode()) + more
    holding = asyncio.create_task(remote.hold())
    try:
        given, back = ends()
        async with stdio_server(stdin=given, stdout=back) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        holding.cancel()
        await remote.end()
        link.close()


def claim_stdin() -> Any:
    """Moves stdin to a private descriptor; other readers of stdin get nothing."""
    wire = os.dup(sys.stdin.fileno())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, sys.stdin.fileno())
    os.close(null)
    return os.fdopen(wire, "rb")
