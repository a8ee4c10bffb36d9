"""Connects to an MCP server over HTTP through the SDK's transport, in both protocol eras; decides nothing."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from interlock.proxy.gate import ERA
from interlock.proxy.messages import SERVER, Send, encode_message, error
from interlock.strict_json import table_in

if TYPE_CHECKING:
    from interlock.proxy.running import ServerAddress

_CONNECT = 30.0  # seconds; the requester waits for slower answers


class RemoteServer:
    """A connection to a server over HTTP; `gone` resolves to the reason for its end."""

    def __init__(self, place: ServerAddress, line: Send, report: Callable[[str], None], most: int) -> None:
        self._place, self._line, self._report, self._most = place, line, report, most
        self._waiting: asyncio.Queue[bytes] = asyncio.Queue()
        self._era, self._greeting = "", object()
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run())

    def send(self, data: bytes) -> None:
        self._waiting.put_nowait(data)

    def pace(self, slow: bool) -> None:
        """Does nothing: HTTP has its own flow control."""

    async def stop(self, patience: float) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await asyncio.wait_for(self._task, patience)

    async def _run(self) -> None:
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        why = "the connection ended"
        try:
            await self._connect()
        except asyncio.CancelledError:
            why = "the connection was closed"
            raise
        except BaseException as problem:
            why = f"{why} ({type(problem).__name__})"
        finally:
            if not self.gone.done():
                self.gone.set_result(f"the server is gone: {why}")

    async def _connect(self) -> None:
        timeout = httpx2.Timeout(None, connect=_CONNECT)
        async with httpx2.AsyncClient(headers=dict(self._place.headers), timeout=timeout) as http:
            transport = streamable_http_client(self._place.url, http_client=http, max_sse_event_size=self._most)
            async with transport as (read, write):
                writing = asyncio.create_task(self._write(write))
                try:
                    async for received in read:
                        self._receive(received)
                finally:
                    writing.cancel()

    def _receive(self, received: Any) -> None:
        if isinstance(received, Exception):
            return self._report(f"the server's answer cannot be read ({type(received).__name__})")
        message = received.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        result = message.get("result")
        if message.get("id") == self._greeting and isinstance(result, dict):
            self._era = str(result.get("protocolVersion", ""))
        return self._line(encode_message(message).rstrip())

    async def _write(self, write: Any) -> None:
        while True:
            data = await self._waiting.get()
            given = json.loads(data)
            try:
                message = jsonrpc_message_adapter.validate_json(data)
            except ValidationError:
                self._report("a message does not follow the protocol and was not sent")
                if "method" in given and "id" in given:
                    self._line(error(given["id"], SERVER, "this message cannot be sent over HTTP").rstrip())
                continue
            if given.get("method") == "initialize":
                self._greeting = given.get("id")
            await write.send(SessionMessage(message, ClientMessageMetadata(headers=self._headers(given))))

    def _headers(self, given: dict[str, Any]) -> dict[str, str]:
        """The HTTP headers of a message: the protocol version, and in the newer era its method and name."""
        method, params = given.get("method"), table_in(given, "params")
        era = table_in(params, "_meta").get(ERA)
        if not isinstance(era, str):
            return {MCP_PROTOCOL_VERSION_HEADER: self._era} if self._era and method != "initialize" else {}
        headers = {MCP_PROTOCOL_VERSION_HEADER: era, MCP_METHOD_HEADER: str(method)}
        name = params.get(NAME_BEARING_METHODS.get(str(method), ""))
        return headers | ({MCP_NAME_HEADER: encode_header_value(name)} if isinstance(name, str) else {})
