"""Serves adapters over MCP's stdio with a backend that performs operations; nothing but the protocol goes to stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from msgspec import Struct

from interlock.client import find_daemon
from interlock.client.connection import DaemonLink
from interlock.config import Config
from interlock.mcp.adapters.catalog import AdapterFiles
from interlock.mcp.adapters.http_client import Performer
from interlock.mcp.adapters.serving import AdapterCaller, AdapterServer
from interlock.mcp.server import Context, ToolCall, build_server
from interlock.mcp.stdio import ServerOptions, SocketBackend, StdinLines, run_quietly, serve

THREADS = 32  # calls at a time; each waits for the daemon and for a service
WORDS = """
The operations of this server itself are checked when they are called. CONFIRMATION_REQUIRED and RATE_LIMIT_QUOTA_PAUSE carry a
token: tell the user, wait until a person has agreed, then make the same call again with params._confirmation (of a quota:
params._quota_continue). You cannot arm a token, and a changed call needs a new one.
"""


class AdapterServerSettings(Struct, frozen=True):
    """The options that this server was started with."""

    options: ServerOptions
    agent: str = "mcp"
    proxy: str | None = None


class AdapterBackend:
    """Answers tools and calls from the adapters, and leaves questions to people to the daemon."""

    def __init__(self, serving: AdapterServer, remote: SocketBackend) -> None:
        self._serving, self._remote = serving, remote
        self._pool = ThreadPoolExecutor(THREADS, "call")

    def who(self, context: Context) -> Any:
        return self._remote.who(context)

    def session_of(self, who: None) -> str:
        return self._remote.session_of(who)

    async def tools(self, who: None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._run(self._serving.tools)
        return found

    async def call(self, call: ToolCall) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await self._run(self._serving.call, call.tool, call.arguments)
        return found

    async def ask(self, who: None, token: str) -> Mapping[str, Any] | None:
        return await self._remote.ask(who, token)

    async def elicited(self, who: None, ask: str, approve: bool) -> bool:
        return await self._remote.elicited(who, ask, approve)

    async def _run(self, work: Any, *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def run(
    config: Config, config_path: Path | None, shelf: AdapterFiles, settings: AdapterServerSettings, version: str
) -> int:
    """Serves until stdin ends."""
    return run_quietly(_serve(config, config_path, shelf, settings, version))


async def _serve(
    config: Config, config_path: Path | None, shelf: AdapterFiles, settings: AdapterServerSettings, version: str
) -> None:
    link, loop = DaemonLink(config, config_path), asyncio.get_running_loop()
    remote, performer = SocketBackend(link, settings.options), Performer(os.environ, proxy=settings.proxy)

    def perform(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    tight = {key: value for key, value in settings.options.wire.items() if key in ("policy", "safetyMode")}
    asking = AdapterCaller(find_daemon(config), settings.agent, remote.session.id)
    serving = AdapterServer(shelf, asking, performer, config, settings.options.naming, version, tight, perform)
    backend = AdapterBackend(serving, remote)
    server = build_server(backend, version, "", "interlock-adapter")
    try:
        await serve(link, remote, server, lambda: (StdinLines(), None), WORDS)
    finally:
        backend.close()
        await performer.close()


def say(words: str) -> None:
    """Writes to stderr: stdout belongs to the protocol."""
    print(f"interlock adapter serve: {words}", file=sys.stderr, flush=True)
