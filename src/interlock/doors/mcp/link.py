"""How does an MCP server reach its daemon? HTTP over the unix socket, kept alive; it starts a daemon where none answers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from interlock.config import Config
from interlock.doors.client import API, NoDaemon, check_peer
from interlock.doors.mcp.starting import start_daemon

PATIENCE = 60.0  # seconds for an answer
IDLE_CONNECTIONS = 8
_MOST_BYTES = 16 * 1024 * 1024

Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Link:
    """Calls of one MCP server; each on a connection of its own while it lasts, and none is answered by anybody but the daemon."""

    def __init__(self, config: Config, config_path: Path | None, token: str = "") -> None:
        self._config, self._config_path = config, config_path
        self._head = "Host: localhost\r\nContent-Type: application/json\r\n"
        self._head += f"Authorization: Bearer {token}\r\n" if token else ""
        self._idle: list[Pipe] = []
        self._starting = asyncio.Lock()

    async def post(
        self, path: str, body: Mapping[str, Any], patience: float | None = PATIENCE, start: bool = True
    ) -> Any:
        """What the daemon answers, whatever the status; raises NoDaemon where none does, and none could be started."""
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        head = f"POST {API}{path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        try:
            return await asyncio.wait_for(self._exchange(head.encode() + data, start), patience)
        except TimeoutError:
            raise NoDaemon(f"the daemon did not answer within {patience:g} s") from None

    async def reach(self) -> None:
        """Makes sure that a daemon answers; starts one where none does."""
        pipe = await self._open()
        self._keep(pipe)

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()
        self._idle.clear()

    async def _exchange(self, request: bytes, start: bool) -> Any:
        while self._idle:  # a daemon that was started anew has forgotten them
            pipe = self._idle.pop()
            with suppress(OSError, asyncio.IncompleteReadError, NoDaemon):
                if not pipe[0].at_eof():
                    return await self._over(pipe, request)
            pipe[1].close()
        return await self._over(await (self._open() if start else self._connect()), request)

    async def _over(self, pipe: Pipe, request: bytes) -> Any:
        reader, writer = pipe
        try:
            writer.write(request)
            await writer.drain()
            answer = await _read(reader)
        except BaseException:
            writer.close()
            raise
        self._keep(pipe)
        return answer

    def _keep(self, pipe: Pipe) -> None:
        if len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(pipe)
        else:
            pipe[1].close()

    async def _open(self) -> Pipe:
        try:
            return await self._connect()
        except (FileNotFoundError, ConnectionRefusedError):
            pass
        async with self._starting:
            with suppress(FileNotFoundError, ConnectionRefusedError):
                return await self._connect()  # somebody else has started it meanwhile
            await start_daemon(self._config, self._config_path)
            try:
                return await self._connect()
            except OSError as error:
                raise NoDaemon(f"no daemon answers: {error.strerror or error}") from None

    async def _connect(self) -> Pipe:
        path = self._config.socket_path
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, os.fspath(path))
            check_peer(sock, path)
            return await asyncio.open_unix_connection(sock=sock, limit=_MOST_BYTES)
        except BaseException:
            sock.close()
            raise


async def _read(reader: asyncio.StreamReader) -> Any:
    """The JSON of one response; raises NoDaemon for anything that is none of ours."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        (line.partition(b":")[2] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), b""
    ).strip()
    if not head.startswith(b"HTTP/1.1 ") or not length.isdigit() or int(length) > _MOST_BYTES:
        raise NoDaemon("the daemon answered in a way that cannot be read")
    try:
        return json.loads(await reader.readexactly(int(length)))
    except ValueError:
        raise NoDaemon("the daemon answered in a way that cannot be read") from None
