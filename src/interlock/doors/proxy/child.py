"""An MCP server that runs as a child of the proxy: its lines, its pace, its end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from interlock.doors.proxy.lines import Lines

_PR_SET_PDEATHSIG, _SIGTERM = 1, 15


class Child(asyncio.SubprocessProtocol):
    """One process; `gone` says why it is no more."""

    def __init__(self, lines: Lines) -> None:
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
    ) -> Child:
        """Raises OSError where it cannot be started. Its stderr is ours: clients show it."""
        loop = asyncio.get_running_loop()
        _, made = await loop.subprocess_exec(
            lambda: cls(Lines(line, most, too_long)),
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env={**os.environ, **env},
            preexec_fn=_bound_to_us(),
        )
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._lines.feed(data)

    def process_exited(self) -> None:
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """After its end, and after everything that it wrote."""
        code = self._transport.get_returncode()
        words = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended (exit code {code})"
        if not self.gone.done():
            self.gone.set_result(f"the server {words}")

    def send(self, data: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def paced(self, slow: bool) -> None:
        """Whether its output waits until its reader is ready."""
        pipe = self._transport.get_pipe_transport(1)
        if pipe is not None and not pipe.is_closing():
            (pipe.pause_reading if slow else pipe.resume_reading)()

    async def stop(self, patience: float) -> None:
        """Closes its input, and ends it where that is not enough."""
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


def _bound_to_us() -> Callable[[], None] | None:
    """On Linux the child ends with us, however we end."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, _SIGTERM, 0, 0, 0) and None
