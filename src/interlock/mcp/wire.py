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
    """The message; where it is not UTF-8 or holds half a character, the same call with arguments that only say so (EP-11)."""
    try:
        text = message.decode()
    except UnicodeDecodeError as error:
        return _salvaged(message.decode("utf-8", "replace"), f"The request is not UTF-8; see byte {error.start}")
    if len(message) > MOST_BYTES:
        return _salvaged(text, "The request is too long to be read")
    if "\\u" in text and _halves(text):
        return _salvaged(text, "A text holds half of a character (a lone surrogate)")
    return text


def decoding_problem(arguments: Any) -> str:
    """Why the arguments of a call could not be read; empty where they could."""
    return str(arguments[MARK])[:200] if isinstance(arguments, dict) and set(arguments) == {MARK} else ""


def _halves(text: str) -> bool:
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass  # no JSON at all, which its parser will say
    return False


def _salvaged(text: str, why: str) -> str:
    """The call's frame, without what it carried."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(message, dict) or not isinstance(message.get("params"), dict):
        return text
    params = {**message["params"], "arguments": {MARK: why}}
    return json.dumps({**message, "params": params}, ensure_ascii=True)


_CHUNK = 65_536  # bytes that are read at once
_ATOM = 4_096  # bytes that a pipe with any room takes without making us wait
MOST_WAITING = 1 << 20  # bytes that nobody has read yet; whoever wants to write more waits


class LineReader:
    """Gives the lines of a descriptor to `take`, and says when there are no more."""

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
        self._got(os.read(self._file, _CHUNK))

    async def _read(self) -> None:
        while data := await self._loop.run_in_executor(None, os.read, self._file, _CHUNK):
            self._got(data)
        self._got(b"")

    def _got(self, data: bytes) -> None:
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
    """A descriptor that takes whole messages in their order; `put` never waits, whatever the other side does."""

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
            self._go_on()

    async def drained(self) -> None:
        """Ends when there is room for more; raises where nobody is there any more."""
        while len(self._waiting) > MOST_WAITING and self.broken is None:
            self._taken.clear()
            await self._taken.wait()
        if self.broken is not None:
            raise self.broken

    async def finished(self, seconds: float) -> None:
        """Ends when everything was taken, or nobody takes it any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._waiting:
                    self._taken.clear()
                    await self._taken.wait()

    def _go_on(self) -> None:
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
        self._go_on()


def claim_stream(stream: Any, instead: int) -> int:
    """A descriptor of our own for a standard stream; whatever else uses that one gets the other, and disturbs nobody."""
    wire = os.dup(stream.fileno())
    os.dup2(instead, stream.fileno())
    return wire


def claim_stdio() -> tuple[int, int]:
    """What we read from and what we write to: nothing is left on stdin for others, and what they print goes to stderr."""
    null = os.open(os.devnull, os.O_RDONLY)
    given = claim_stream(sys.stdin, null)
    os.close(null)
    sys.stdout.flush()
    return given, claim_stream(sys.stdout, 2)
