"""`interlock proxy`: a client on stdin and stdout, a server behind it, a relay between the two, until one of them ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import uvloop

from interlock.config import Config
from interlock.doors.hook.undumpable import undumpable
from interlock.doors.mcp.link import Link
from interlock.doors.proxy.child import Child
from interlock.doors.proxy.gate import Behind, Gate
from interlock.doors.proxy.relay import Relay
from interlock.doors.proxy.stdio import Stdio

PATIENCE = 2.0  # seconds for a server to end by itself, and again after it was told to
SWEEP = 1.0  # seconds between two looks at what is late
FAILED = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where one server is: a command to start, or an address; and what the daemon is told of it."""

    behind: Behind
    command: Sequence[str] = ()
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    env: dict[str, str] = field(default_factory=dict, repr=False)


class Server(Protocol):
    """What is behind a relay."""

    gone: asyncio.Future[str]

    def send(self, data: bytes) -> None: ...

    def paced(self, slow: bool) -> None: ...

    async def stop(self, patience: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """What all relays of a process share."""

    config: Config
    config_path: Path | None
    token: str = field(default="", repr=False)


class Line:
    """One server with its relay; its client is whoever `client` leads to."""

    def __init__(self, place: Place, setting: Setting, client: Callable[[bytes], None]) -> None:
        self.place, config = place, setting.config
        self._config = config
        self.gate = Gate(place.behind, Link(config, setting.config_path, setting.token), config, os.getcwd())
        self.relay = Relay(self.gate, client, self._send, self.report)
        self._holding: asyncio.Task[None] | None = None
        self._server: Server | None = None

    async def start(self) -> None:
        """Raises OSError where the server cannot be started; the gate is ready when this ends."""
        most = self._config.proxy.line_bytes
        if self.place.url:
            from interlock.doors.proxy.remote import Remote

            self._server = Remote(self.place, self.relay.from_server, self.report, most)
        else:
            self._server = await Child.start(
                self.place.command, self.relay.from_server, most, self._too_long, self.place.env
            )
        await self.gate.standing({})
        self._holding = asyncio.get_running_loop().create_task(self.gate.hold())

    @property
    def server(self) -> Server:
        assert self._server is not None
        return self._server

    def report(self, words: str) -> None:
        """Tells whoever reads the client's log; nothing that a call carries is in it."""
        print(f"interlock proxy {self.place.behind.name}: {words}", file=sys.stderr, flush=True)

    def _send(self, data: bytes) -> None:
        if self._server is not None:
            self._server.send(data)

    def _too_long(self) -> None:
        words = f"the server wrote a line of more than {self._config.proxy.line_bytes} bytes"
        self.report(words)
        self.relay.ended(f"{words}, and whose answer it was cannot be known")

    async def watch(self) -> str:
        """Ends when the server has; what is late by then was given up."""
        while True:
            done, _ = await asyncio.wait({self.server.gone}, timeout=SWEEP)
            if done:
                why = self.server.gone.result()
                self.report(why)
                self.relay.ended(why)
                return why
            self.relay.late(self._config.proxy.answer_seconds)

    async def stop(self) -> None:
        self.relay.close()
        if self._holding is not None:
            self._holding.cancel()
        stopping = self._server.stop(PATIENCE) if self._server is not None else asyncio.sleep(0)
        await asyncio.gather(stopping, self.gate.end(), return_exceptions=True)


def run(place: Place, setting: Setting) -> int:
    """Relays until either side ends; 0 where that was the client."""
    undumpable()
    return uvloop.run(_one(place, setting))


async def _one(place: Place, setting: Setting) -> int:
    stdio = Stdio(setting.config.proxy.line_bytes)
    await stdio.open()
    line = Line(place, setting, stdio.send)
    try:
        await line.start()
    except OSError as error:
        line.report(f"it cannot be started: {error.strerror or error}")
        return FAILED
    stdio.paced.append(line.server.paced)
    await stdio.listen(line.relay.from_client)
    return await until_over(stdio, [line], line.watch())


async def until_over(stdio: Stdio, lines: Sequence[Line], watching: object) -> int:
    """Waits for the client to go, or for the servers; ends what is left."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stdio.over.set)
    watched = asyncio.ensure_future(watching)  # type: ignore[call-overload]
    left = loop.create_task(stdio.over.wait())
    await asyncio.wait({watched, left}, return_when=asyncio.FIRST_COMPLETED)
    by_client = left.done()
    left.cancel()
    watched.cancel()
    await asyncio.gather(*(line.stop() for line in lines), return_exceptions=True)
    await stdio.drain()
    return 0 if by_client else FAILED
