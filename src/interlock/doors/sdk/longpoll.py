"""One long poll on an event loop: a request to a daemon that nobody's thread waits for."""

from __future__ import annotations

import asyncio
import io
import socket
from http.client import HTTPException, HTTPResponse
from urllib.parse import urlsplit

from interlock.doors.client import Answer, Daemon, NoDaemon, check_peer, parsed, silence

_MOST_BYTES = 16 * 1024 * 1024


async def asked(daemon: Daemon, path: str, seconds: float) -> Answer:
    """What the daemon answers; raises NoDaemon. Whoever cancels it hangs up."""
    try:
        async with asyncio.timeout(seconds):
            data = await _exchanged(daemon, path)
    except TimeoutError:
        raise NoDaemon(f"the daemon on {daemon.place} did not answer within {seconds:g} s") from None
    except OSError as error:
        raise NoDaemon(silence(daemon.place, error)) from None
    try:
        response = HTTPResponse(_Bytes(data))  # type: ignore[arg-type]
        response.begin()
        return Answer(response.status, parsed(response.read(), daemon.place))
    except HTTPException as error:
        raise NoDaemon(silence(daemon.place, error)) from None


async def _exchanged(daemon: Daemon, path: str) -> bytes:
    reader, writer = await _connected(daemon)
    try:
        headers = {"Host": urlsplit(daemon.url).netloc or "localhost", **daemon.headers()}
        lines = [f"GET {daemon.target(path)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await writer.drain()
        parts: list[bytes] = []
        size = 0
        while part := await reader.read(65536):
            parts.append(part)
            size += len(part)
            if size > _MOST_BYTES:
                raise NoDaemon(f"what answers on {daemon.place} is no interlock daemon")
        return b"".join(parts)
    finally:
        writer.close()


async def _connected(daemon: Daemon) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if daemon.url:
        parts = urlsplit(daemon.url)
        secure = parts.scheme == "https"
        return await asyncio.open_connection(parts.hostname, parts.port or (443 if secure else 80), ssl=secure or None)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, str(daemon.path))
        check_peer(sock, daemon.path)
        return await asyncio.open_unix_connection(sock=sock)
    except BaseException:
        sock.close()
        raise


class _Bytes:
    """What http.client reads an answer from, where it expects a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)
