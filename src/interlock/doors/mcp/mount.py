"""Where is MCP over HTTP? At /mcp of the daemon; the library behind it is loaded by the first request, and by nothing else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock.doors.http.aql import AqlDoor
    from interlock.doors.http.who import Who
    from interlock.doors.mcp.http import HttpServer

MCP = "/mcp"


class McpMount:
    """An ASGI app that is there when it is needed."""

    def __init__(self, aql: AqlDoor) -> None:
        self._aql = aql
        self._server: HttpServer | None = None
        self._opening = asyncio.Lock()

    async def __call__(self, scope: dict[str, Any], who: Who, receive: Any, send: Any) -> None:
        who.agent()
        if self._server is None:
            async with self._opening:
                if self._server is None:
                    self._server = await self._opened()
        await self._server(scope, who, receive, send)

    async def stop(self) -> None:
        """Ends every stream."""
        if self._server is not None:
            await self._server.stop()

    async def _opened(self) -> HttpServer:
        server = await self._aql.context.pool.run(_made, self._aql)  # a second of loading, off the loop
        await server.start()
        return server


def _made(aql: AqlDoor) -> HttpServer:
    from interlock.doors.mcp.http import HttpServer

    return HttpServer(aql)
