"""Real MCP clients of the SDK in front of proxies, used from a test as if they were functions."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from mcp import Client, StdioServerParameters

import warm_processes
from proxy_client import PATIENCE, Bench

ERAS = {"2025": "legacy", "2026": "auto"}


@dataclass
class Talk:
    """One client."""

    client: Client
    loop: asyncio.AbstractEventLoop

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def tools(self) -> list[str]:
        return [tool.name for tool in self.run(self.client.list_tools()).tools]

    def call(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Whether it was made, and what was said."""
        result = self.run(self.client.call_tool(tool, arguments))
        return not result.is_error, "".join(getattr(one, "text", "") for one in result.content)


@contextmanager
def talking(bench: Bench, words: Sequence[str], era: str = "2025", env: Any = None, **more: Any) -> Iterator[Talk]:
    """A client in front of `interlock proxy` with these words."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    ready: asyncio.Future[Client] = loop.create_future()
    leave = asyncio.Event()
    config = bench.config()
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "interlock", "proxy", "--config", str(config), *words],
        env={**os.environ, **(env or {})},
    )

    async def live() -> None:
        try:
            async with AsyncExitStack() as stack:
                with warm_processes.forking():
                    client = await stack.enter_async_context(Client(server, mode=ERAS[era], **more))
                ready.set_result(client)
                await leave.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(error)
            raise

    async def is_ready() -> Client:
        return await ready

    task = asyncio.run_coroutine_threadsafe(live(), loop)
    try:
        yield Talk(asyncio.run_coroutine_threadsafe(is_ready(), loop).result(PATIENCE), loop)
    finally:
        loop.call_soon_threadsafe(leave.set)
        task.result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
