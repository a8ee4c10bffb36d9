"""An MCP server of the SDK over streamable HTTP, for the proxy to stand in front of; it writes down what was called."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

LOG = Path(os.environ["ODD_LOG"])
NAMES = ("get_note", "delete_note")


async def tools(context: Any, params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}}}
    return types.ListToolsResult(
        tools=[types.Tool.model_validate({"name": name, "inputSchema": schema}) for name in NAMES]
    )


async def call(context: Any, params: Any) -> types.CallToolResult:
    with LOG.open("a") as log:
        log.write(f"{params.name}\n")
    return types.CallToolResult(content=[types.TextContent(type="text", text=f"{params.name} {params.arguments}")])


manager = StreamableHTTPSessionManager(Server("notes", version="1", on_list_tools=tools, on_call_tool=call))


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "lifespan":
        await receive()
        async with manager.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
        return
    headers = dict(scope["headers"])
    if headers.get(b"x-key") != b"abc":
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await manager.asgi_app(scope, receive, send)


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
