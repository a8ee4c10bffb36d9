"""Pipes of a proxy: the client on stdin and stdout, a server as child process; over-long lines are dropped and reported."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from interlock.client.lines import LineReader, LineSplitter, LineWriter, claim_stdin, claim_stdout
from interlock.proxy.messages import PARSE, error

_PATIENCE = 2.0  # seconds for the client to read the last output
Pace = Callable[[bool], None]
_PR_SET_PDEATHSIG, _SIGTERM = 1, 15


class Stdio:
    """The client on stdin and stdout; `over` is set when it has gone."""

    def __init__(self, most: int) -> None:
        self._most, self.over = most, asyncio.Event()
        self._out = LineWriter(claim_stdout(), self._pace, self.over.set)
        self.paced_servers: list[Pace] = []  # pause these while the client reads slowly

    def listen(self, line: Callable[[bytes], None]) -> None:
        LineReader(claim_stdin(), LineSplitter(line, self._most, self._too_long), self.over.set).start()

    def send(self, data: bytes) -> None:
        self._out.put(data)

    async def drain(self) -> None:
        await self._out.wait_until_read(_PATIENCE)

    def _pace(self, slow: bool) -> None:
        for pace in self.paced_servers:
            pace(slow)

    def _too_long(self) -> None:
        self.send(error(None, PARSE, f"Interlock passes on no line of more than {self._most} bytes"))


class ServerProcess(asyncio.SubprocessProtocol):
    """A server as child process; `gone` resolves to the reason for its end."""

    def __init__(self, lines: LineSplitter) -> None:
        self._lines = lines
        self._transport: Any = None
        self._exited = asyncio.Event()
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        line: Callable[[bytes], None],
        most: int,
        too_long: Callable[[], None],
        env: Mapping[str, str],
    ) -> ServerProcess:
        """Starts the server or raises OSError. It shares our stderr: clients show it."""
        loop, end_with_parent = asyncio.get_running_loop(), None
        if sys.platform == "linux":  # the kernel ends the child with this process, however that ends
            prctl = ctypes.CDLL(None).prctl
            end_with_parent = lambda: prctl(_PR_SET_PDEATHSIG, _SIGTERM, 0, 0, 0) and None  # noqa: E731
        _, made = await loop.subprocess_exec(
            lambda: cls(LineSplitter(line, most, too_long)),
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env={**os.environ, **env},
            preexec_fn=end_with_parent,
        )
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._lines.feed(data)

    def process_exited(self) -> None:
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called after the process has ended and its output was read."""
        code = self._transport.get_returncode()
        words = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended (exit code {code})"
        if not self.gone.done():
            self.gone.set_result(f"the server {words}")

    def send(self, data: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def pace(self, slow: bool) -> None:
        pipe = self._transport.get_pipe_transport(1)
        if pipe is not None and not pipe.is_closing():
            (pipe.pause_reading if slow else pipe.resume_reading)()

    async def stop(self, patience: float) -> None:
        """Closes the server's input, then terminates and kills it where it does not end."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        for end in (None, self._transport.terminate, self._transport.kill):
            if end is not None:
                with suppress(ProcessLookupError):
                    end()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), patience)
                return
