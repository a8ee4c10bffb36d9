"""JSON-RPC lines over stdio without threads; a message that is not readable text becomes a call that is refused."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

MARK = "_undecodable"  # in the arguments of a call whose own could not be read
MOST_BYTES = 16 * 1024 * 1024  # of one message


def decode_message(message: bytes) -> str:
    """Decodes a message; one that is not UTF-8 or has a lone surrogate becomes the same call with the problem as arguments (EP-11)."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        return _with_problem(message.decode("utf-8", "replace"), f"The request is not UTF-8; see byte {error.start}")
    if len(message) > MOST_BYTES:
        return _with_problem(text, "The request is too long to be read")
    if "\\u" in text and _has_lone_surrogate(text):
        return _with_problem(text, "A text holds half of a character (a lone surrogate)")
    return text


def decoding_problem(arguments: Any) -> str:
    """Why the arguments of a call could not be read; empty where they could."""
    return str(arguments[MARK])[:200] if isinstance(arguments, dict) and set(arguments) == {MARK} else ""


def _has_lone_surrogate(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass  # not JSON: left to the parser
    return False


def _with_problem(text: str, why: str) -> str:
    """The same request with its arguments replaced by the problem."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return text
    params = {**message["params"], "arguments": {MARK: why}}
    return json.dumps({**message, "params": params}, ensure_ascii=True)


_CHUNK = 65_536  # bytes that are read at once
_ATOM = 4_096  # bytes that a writable pipe takes without blocking
MOST_WAITING = 1 << 20  # unread bytes at which writers wait


class LineReader:
    """Passes the lines of a descriptor to `take`, and calls `end` after the last."""

    def __init__(self, file: int, take: Callable[[bytes], None], end: Callable[[], None]) -> None:
        self._file, self._take, self._end = file, take, end
        self._loop = asyncio.get_running_loop()
        self._part: list[bytes] = []  # of a line that is not complete
        self._watched = False
        self._reading: asyncio.Task[None] | None = None

    def start(self) -> None:
        try:
            self._loop.add_reader(self._file, self._ready)
            self._watched = True
        except OSError:  # a file on disk cannot be waited for
            self._reading = self._loop.create_task(self._read())

    def stop(self) -> None:
        if self._watched:
            self._loop.remove_reader(self._file)
            self._watched = False
        if self._reading is not None:
            self._reading.cancel()

    def _ready(self) -> None:
        self._receive(os.read(self._file, _CHUNK))

    async def _read(self) -> None:
        while data := await self._loop.run_in_executor(None, os.read, self._file, _CHUNK):
            self._receive(data)
        self._receive(b"")

    def _receive(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._part.append(line)
            whole, self._part = b"".join(self._part), []
            self._take(whole)
        if rest:
            self._part.append(rest)
        if not data:
            self.stop()
            if self._part:
                self._take(b"".join(self._part))
            self._end()


class LineWriter:
    """Writes whole messages to a descriptor in order; `put` never waits, however slow the reader."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._room = select.poll()
        self._room.register(file, select.POLLOUT)
        self._waiting = bytearray()
        self._taken = asyncio.Event()
        self.broken: OSError | None = None

    def put(self, message: bytes) -> None:
        idle = not self._waiting
        self._waiting += message
        if idle:
            self._write_waiting()

    async def wait_for_room(self) -> None:
        """Waits until there is room for more; raises where the reader has gone."""
        while len(self._waiting) > MOST_WAITING and self.broken is None:
            self._taken.clear()
            await self._taken.wait()
        if self.broken is not None:
            raise self.broken

    async def wait_until_read(self, seconds: float) -> None:
        """Waits until everything was read or the reader has gone, at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting:
                    self._taken.clear()
                    await self._taken.wait()

    def _write_waiting(self) -> None:
        try:
            while self._waiting and self._room.poll(0):
                del self._waiting[: os.write(self._file, self._waiting[:_ATOM])]
        except OSError as error:
            self.broken = error
            self._waiting.clear()
        if self._waiting:
            self._loop.add_writer(self._file, self._again)
        self._taken.set()

    def _again(self) -> None:
        self._loop.remove_writer(self._file)
        self._write_waiting()


def claim_stream(stream: Any, instead: int) -> int:
    """Moves a standard stream to a private descriptor, and points the stream itself to another one."""
    wire = os.dup(stream.fileno())
    os.dup2(instead, stream.fileno())
    return wire


def claim_stdio() -> tuple[int, int]:
    """Claims stdin and stdout: other readers get nothing, and other output goes to stderr."""
    given = claim_stdin()
    sys.stdout.flush()
    return given, claim_stream(sys.stdout, 2)


def claim_stdin() -> int:
    null = os.open(os.devnull, os.O_RDONLY)
    given = claim_stream(sys.stdin, null)
    os.close(null)
    return given
