"""Adapters over MCP's stdio: the same server as the loop's, with a backend that performs; nothing but the protocol on stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.config import Config
from interlock.doors.adapter.asking import Asking
from interlock.doors.adapter.perform import Done, Performer
from interlock.doors.adapter.reload import Shelf
from interlock.doors.adapter.serving import Serving
from interlock.doors.client import find
from interlock.doors.mcp.backend import Context, ToolCall
from interlock.doors.mcp.link import Link
from interlock.doors.mcp.server import build
from interlock.doors.mcp.stdio import Lines, Options, Remote, claimed_stdin, quietly, serve

THREADS = 32  # calls at a time; each waits for the daemon and for a service
WORDS = """
The operations of this server itself are checked when they are called. CONFIRMATION_REQUIRED and RATE_LIMIT_QUOTA_PAUSE carry a
token: tell the user, wait until a person has agreed, then make the same call again with params._confirmation (of a quota:
params._quota_continue). You cannot arm a token, and a changed call needs a new one.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """How this server was started."""

    options: Options
    agent: str = "mcp"
    proxy: str | None = None


class Backend:
    """Tools and calls by the adapters, everything about people by the daemon."""

    def __init__(self, serving: Serving, remote: Remote) -> None:
        self._serving, self._remote = serving, remote
        self._pool = ThreadPoolExecutor(THREADS, "call")

    def who(self, context: Context) -> Any:
        return self._remote.who(context)

    def session_of(self, who: None) -> str:
        return self._remote.session_of(who)

    async def tools(self, who: None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = await self._run(self._serving.tools)
        return found

    async def call(self, asked: ToolCall) -> Mapping[str, Any]:
        found: Mapping[str, Any] = await self._run(self._serving.call, asked.tool, asked.arguments)
        return found

    async def ask(self, who: None, token: str) -> Mapping[str, Any] | None:
        return await self._remote.ask(who, token)

    async def elicited(self, who: None, ask: str, approve: bool) -> bool:
        return await self._remote.elicited(who, ask, approve)

    async def _run(self, work: Any, *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def run(config: Config, config_path: Path | None, shelf: Shelf, settings: Settings, version: str) -> int:
    """Serves until stdin ends."""
    return quietly(_serve(config, config_path, shelf, settings, version))


async def _serve(config: Config, config_path: Path | None, shelf: Shelf, settings: Settings, version: str) -> None:
    link, loop = Link(config, config_path), asyncio.get_running_loop()
    remote, performer = Remote(link, settings.options), Performer(os.environ, proxy=settings.proxy)

    def perform(work: Coroutine[Any, Any, Done]) -> Done:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    tight = {key: value for key, value in settings.options.wanted.items() if key in ("policy", "safetyMode")}
    asking = Asking(find(config), settings.agent, remote.session)
    serving = Serving(shelf, asking, performer, config, settings.options.naming, version, tight, perform)
    backend = Backend(serving, remote)
    server = build(backend, version, "", "interlock-adapter")
    try:
        await serve(link, remote, server, lambda: (Lines(claimed_stdin()), None), WORDS)
    finally:
        backend.close()
        await performer.close()


def say(words: str) -> None:
    """For whoever looks after the server; stdout belongs to the protocol."""
    print(f"interlock adapter serve: {words}", file=sys.stderr, flush=True)
