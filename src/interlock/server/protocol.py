"""Speaks HTTP for uvicorn: the kernel names the peer of a local connection, and slow or endless requests are cut off."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from interlock.socket_peers import LoopbackPeers, peer_of
from interlock.web.guards import ARRIVED, OPENED_BY

PATIENCE = 30.0  # seconds for the head of a request
MOST_HEAD = 65_536  # bytes of a head
CONNECTED = "connected"  # connection time since boot: a process that started later is not the peer
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class PeerProtocol(HttpToolsProtocol):
    """HTTP whose client address on the unix socket is the kernel's peer, `("uid:1000", pid)`; on TCP, the state has the user.

    The kernel is asked while the request is still on its way.
    """

    _late: asyncio.TimerHandle | None = None
    _head = 0  # bytes of an incomplete head

    def __init__(self, peers: LoopbackPeers, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self._peers = peers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_Whole(transport, self.loop))  # type: ignore[arg-type]
        self._late = self.loop.call_later(PATIENCE, self._hang_up)
        sock = transport.get_extra_info("socket")
        if sock is not None and sock.family == socket.AF_UNIX:
            self.client = _peer(sock.fileno())
            self.app_state = {**self.app_state, CONNECTED: time.clock_gettime(_CLOCK)}
            path = transport.get_extra_info("sockname")
            self.server = (os.fsdecode(path) if path else "unix", None)  # which of its sockets
        elif self.client and self.server and self.server[1] is not None:
            uid = self._peers.uid_of(self.client, (self.server[0], self.server[1]))
            self.app_state = {**self.app_state, OPENED_BY: uid}

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:  # the head is complete
            if self._late is not None:
                self._late.cancel()
                self._late, self._head = None, 0
            return
        self._head += len(data)
        if self._head > MOST_HEAD:
            self._hang_up()
        elif self._late is None:
            self._late = self.loop.call_later(PATIENCE, self._hang_up)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self.scope[ARRIVED] = True  # type: ignore[literal-required]

    def connection_lost(self, exc: Exception | None) -> None:
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def _hang_up(self) -> None:
        transport = self.transport
        if not transport.is_closing():
            transport.abort()


class _Whole:
    """A transport that joins consecutive writes, so that head and body leave in one packet."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""  # buffered until the body is written
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._head = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _peer(file: int) -> tuple[str, int] | None:
    """None where the kernel does not say, so that a token is required."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=os.dup(file)) as own:
        if (peer := peer_of(own)) is not None:
            return f"uid:{peer[1]}", peer[0]
    return None
