"""The client's end of a proxy: lines from stdin, lines to stdout, and nothing else on either."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

from interlock.doors.proxy.lines import Lines
from interlock.doors.proxy.messages import PARSE, encoded, error

_HIGH = 4 << 20  # bytes that may wait for the client before servers are no longer read
_PATIENCE = 2.0  # seconds for what was written to be read
Paced = Callable[[bool], None]


class _Reading(asyncio.Protocol):
    def __init__(self, lines: Lines, over: asyncio.Event) -> None:
        self._lines, self._over = lines, over

    def data_received(self, data: bytes) -> None:
        self._lines.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over.set()


class _Writing(asyncio.BaseProtocol):
    def __init__(self, paced: Paced, over: asyncio.Event) -> None:
        self._paced, self._over = paced, over

    def pause_writing(self) -> None:
        self._paced(True)

    def resume_writing(self) -> None:
        self._paced(False)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over.set()


class Stdio:
    """One client; `over` is set when it has gone."""

    def __init__(self, most: int) -> None:
        self._most, self.over = most, asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None
        self.paced: list[Paced] = []  # servers that wait while the client reads slowly

    async def open(self) -> None:
        """Takes stdout; whatever else prints does not reach the client."""
        fd = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        loop = asyncio.get_running_loop()
        file = os.fdopen(fd, "wb", buffering=0)
        self._transport, _ = await loop.connect_write_pipe(lambda: _Writing(self._pace, self.over), file)
        self._transport.set_write_buffer_limits(_HIGH)

    async def listen(self, line: Callable[[bytes], None]) -> None:
        """From now on the client is heard."""
        fd = os.dup(sys.stdin.fileno())
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, sys.stdin.fileno())
        os.close(null)
        lines = Lines(line, self._most, self._too_long)
        file = os.fdopen(fd, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: _Reading(lines, self.over), file)

    def send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        """Waits for what was written, as far as somebody reads it."""
        loop, transport = asyncio.get_running_loop(), self._transport
        end = loop.time() + _PATIENCE
        while transport is not None and transport.get_write_buffer_size() and loop.time() < end:
            await asyncio.sleep(0.01)

    def _pace(self, slow: bool) -> None:
        for paced in self.paced:
            paced(slow)

    def _too_long(self) -> None:
        self.send(encoded(error(None, PARSE, f"Interlock passes on no line of more than {self._most} bytes")))
