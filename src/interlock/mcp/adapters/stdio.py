"""Serves adapters over MCP's stdio; nothing but the protocol goes to stdout."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from interlock.client import find_daemon
from interlock.client.connection import DaemonLink
from interlock.config import Config
from interlock.mcp.adapters.catalog import AdapterFiles
from interlock.mcp.adapters.http_client import Performer
from interlock.mcp.adapters.serving import AdapterCaller, AdapterServer
from interlock.mcp.server import build_server
from interlock.mcp.stdio import ServerOptions, SocketBackend, serve

WORDS = """
The operations of this server itself are checked when they are called. CONFIRMATION_REQUIRED and RATE_LIMIT_QUOTA_PAUSE carry a
token: tell the user, wait until a person has agreed, then make the same call again with params._confirmation (of a quota:
params._quota_continue). You cannot arm a token, and a changed call needs a new one.
"""


async def serve_adapters(
    config: Config,
    config_path: Path | None,
    shelf: AdapterFiles,
    options: ServerOptions,
    agent: str,
    proxy: str | None,
    version: str,
) -> None:
    link, loop = DaemonLink(config, config_path), asyncio.get_running_loop()
    remote, performer = SocketBackend(link, options), Performer(os.environ, proxy=proxy)

    def perform(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    tight = {key: value for key, value in options.wire.items() if key in ("policy", "safetyMode")}
    asking = AdapterCaller(find_daemon(config), agent, remote.session.id)
    serving = AdapterServer(shelf, asking, performer, config, options.naming, version, tight, perform)
    remote.local = serving
    try:
        await serve(link, remote, build_server(remote, version, "", "interlock-adapter"), WORDS)
    finally:
        remote.close()
        await performer.close()


def say(words: str) -> None:
    """Writes to stderr: stdout belongs to the protocol."""
    print(f"interlock adapter serve: {words}", file=sys.stderr, flush=True)
