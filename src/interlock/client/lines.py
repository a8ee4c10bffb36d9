"""Lines over stdio without threads: claims the standard streams, splits what is read, and writes whole messages in order."""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress

_CHUNK = 65_536  # bytes that are read at once
_ATOM = 4_096  # bytes that a writable pipe takes without blocking
MOST_WAITING = 1 << 20  # unread bytes at which writers wait


class LineSplitter:
    """A line over the limit is dropped and reported once, an empty one just dropped."""

    def __init__(
        self, line: Callable[[bytes], None], most: int = sys.maxsize, too_long: Callable[[], None] = lambda: None
    ) -> None:
        self._line, self._most, self._too_long = line, most, too_long
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._add(part)
            self.end()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if not part or self._skipping:
            return
        self._size += len(part)
        if self._size > self._most:
            self._parts.clear()
            self._skipping = True
            self._too_long()
        else:
            self._parts.append(part)

    def end(self) -> None:
        """Ends a line, also the last one, which may have no sign for its end."""
        line = b"".join(self._parts).strip()  # nothing of one that is too long
        self._parts, self._size, self._skipping = [], 0, False
        if line:
            self._line(line)


class LineReader:
    def __init__(self, file: int, lines: LineSplitter, end: Callable[[], None]) -> None:
        self._file, self._lines, self._end = file, lines, end
        self._loop = asyncio.get_running_loop()
        self._watched = False

    def start(self) -> None:
        try:
            self._loop.add_reader(self._file, lambda: self._receive(os.read(self._file, _CHUNK)))
            self._watched = True
        except OSError:  # a file on disk cannot be waited for
            self._reading = self._loop.create_task(self._read())

    async def _read(self) -> None:
        while data := await self._loop.run_in_executor(None, os.read, self._file, _CHUNK):
            self._receive(data)
        self._receive(b"")

    def _receive(self, data: bytes) -> None:
        self._lines.feed(data)
        if not data:
            if self._watched:
                self._loop.remove_reader(self._file)
            self._lines.end()
            self._end()


class LineWriter:
    """Whole messages in order; `put` never waits, however slow the reader.

    `paced` is told when the reader falls behind and when it has caught up, `gone` when it is no more.
    """

    def __init__(
        self, file: int, paced: Callable[[bool], None] = lambda slow: None, gone: Callable[[], None] = lambda: None
    ) -> None:
        self._file, self._paced, self._gone = file, paced, gone
        self._loop = asyncio.get_running_loop()
        self._room = select.poll()
        self._room.register(file, select.POLLOUT)
        self._waiting, self._slow = bytearray(), False
        self._taken = asyncio.Event()
        self.broken: OSError | None = None

    def put(self, message: bytes) -> None:
        idle = not self._waiting
        self._waiting += message
        if idle:
            self._write_waiting()
        if len(self._waiting) > MOST_WAITING and not self._slow:
            self._slow = True
            self._paced(True)

    async def wait_for_room(self) -> None:
        while len(self._waiting) > MOST_WAITING and self.broken is None:
            await self._some_taken()
        if self.broken is not None:
            raise self.broken

    async def wait_until_read(self, seconds: float) -> None:
        """Or until the reader has gone, at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting:
                    await self._some_taken()

    async def _some_taken(self) -> None:
        self._taken.clear()
        await self._taken.wait()

    def _write_waiting(self) -> None:
        try:
            while self._waiting and self._room.poll(0):
                del self._waiting[: os.write(self._file, self._waiting[:_ATOM])]
        except OSError as error:
            self.broken = error
            self._waiting.clear()
            self._gone()
        if self._waiting:
            self._loop.add_writer(self._file, self._again)
        elif self._slow:
            self._slow = False
            self._paced(False)
        self._taken.set()

    def _again(self) -> None:
        self._loop.remove_writer(self._file)
        self._write_waiting()


def claim_stdin() -> int:
    """Moves stdin to a private descriptor: other readers get nothing."""
    given = os.dup(sys.stdin.fileno())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, sys.stdin.fileno())
    os.close(null)
    return given


def claim_stdout() -> int:
    """Moves stdout to a private descriptor: other output of this process goes to stderr."""
    sys.stdout.flush()
    given = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return given
