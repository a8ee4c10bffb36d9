"""Whoever opens connections and says nothing, or never ends, is hung up on; everybody else is served."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from daemons import daemon
from interlock.server import protocol
from interlock.server.protocol import PeerProtocol
from interlock.socket_peers import LoopbackPeers
from interlock.web import guards
from interlock.web.errors import HttpProblem

GET = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
DEADLINE = 20.0


async def _app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _said(path: Path, *pieces: bytes) -> bytes:
    """All that a client hears until it is hung up on."""
    reader, writer = await asyncio.open_unix_connection(str(path))
    heard = b""
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            if piece == GET:
                heard += await asyncio.wait_for(reader.readuntil(b"ok"), DEADLINE)
        return heard + await asyncio.wait_for(reader.read(), DEADLINE)
    except (ConnectionResetError, BrokenPipeError):
        return heard
    finally:
        writer.close()


async def _serving(path: Path, *clients: tuple[bytes, ...]) -> list[bytes]:
    http: Any = partial(PeerProtocol, LoopbackPeers())
    config = uvicorn.Config(_app, http=http, uds=str(path), lifespan="off", log_config=None, timeout_keep_alive=600)
    server = uvicorn.Server(config)
    running = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        return list(await asyncio.gather(*(_said(path, *pieces) for pieces in clients)))
    finally:
        server.should_exit = True
        await running


def test_a_request_that_never_ends_to_begin_is_hung_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.3)
    silent, slow, later = asyncio.run(_serving(tmp_path / "s", (), (GET[:9],), (GET, GET, GET[:9])))
    assert silent == slow == b""
    assert later.count(b"200 OK") == 2


def test_a_head_without_an_end_is_not_kept(tmp_path: Path) -> None:
    endless = b"x-more: " + b"a" * 100_000
    assert asyncio.run(_serving(tmp_path / "s", (GET[:-2], endless, endless))) == [b""]


def test_a_body_that_does_not_arrive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guards, "PATIENCE", 0.05)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3_600)
        return {}

    with pytest.raises(HttpProblem) as refused:
        asyncio.run(guards.read_body(receive, b"100", 1_000))
    assert refused.value.status == 408


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 1_000, reason="the system lets nobody have more")
def test_connections_that_do_nothing_keep_nobody_out(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = len(os.listdir("/proc/self/fd")) + 100  # ours count, too, until the daemon is started
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    try:
        running = daemon(tmp_path)
        started = running.__enter__()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(few + 200):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.connect(str(started.socket))
            idle.append(one)
        assert started.here().post("/api/v1/evaluate", json={"command": "ls"}).json()["allowed"]
        assert started.sign_in()
    finally:
        for one in idle:
            one.close()
        running.__exit__(None, None, None)
