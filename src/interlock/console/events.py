"""Streams changes to open pages as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import Any

from interlock.console.replies import failure_page
from interlock.console.visit import OF_PAGES, Visit, cookie_of
from interlock.identity.console_access import visitor_of
from interlock.ports import StoreEvent
from interlock.web.context import Context
from interlock.web.guards import hung_up

PATH = "/console/events"
BEAT = 15.0  # seconds between heartbeats; the visitor's session is checked before each
MOST = 200  # streams that are open at once
GATHERED = 0.1  # seconds that changes are collected before they are sent
_WORDS = {
    StoreEvent.AGENTS: "agents", StoreEvent.BLOCKS: "blocks", StoreEvent.DENIALS: "tickets", StoreEvent.OPERATORS: "operators",
    StoreEvent.PATTERNS: "patterns",
}  # fmt: skip
_HEADERS = [*OF_PAGES, (b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class Events:
    """Subscribes to the store once and notifies every stream."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._streams: set[_Stream] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._self, self._told = secrets.token_hex(4), 0

    @property
    def seen(self) -> str:
        """The counter of this daemon's changes; a page rendered at another value has missed some."""
        return f"{self._self}-{self._told}"

    def start(self) -> None:
        """Sends the store's changes to the streams of this loop from now on."""
        first, self._loop = self._loop is None, asyncio.get_running_loop()
        if first:
            self._context.state.store.listen(self._changed)

    def stop(self) -> None:
        for stream in self._streams:
            stream.end()

    def tell(self, word: str) -> None:
        """Notifies the streams of a change outside the store; called on the loop."""
        self._told += 1
        for stream in self._streams:
            stream.tell(word)

    async def __call__(self, visit: Visit, receive: Any, send: Any) -> None:
        if len(self._streams) >= MOST:
            await send({"type": "http.response.start", "status": 503, "headers": [*OF_PAGES, (b"retry-after", b"10")]})
            await send({"type": "http.response.body", "body": b""})
            return
        stream = _Stream()
        self._streams.add(stream)
        gone = asyncio.ensure_future(hung_up(receive))
        gone.add_done_callback(lambda _: stream.end())
        try:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await self._whole(visit, stream, send)
        finally:
            gone.cancel()
            self._streams.discard(stream)

    async def _whole(self, visit: Visit, stream: _Stream, send: Any) -> None:
        """Runs the stream; its response has begun, so that any error ends it, and the page opens another."""
        try:
            await self._run(visit, stream, send)
        except Exception as error:
            failure_page(self._context, error)  # which reports it to the operator
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _run(self, visit: Visit, stream: _Stream, send: Any) -> None:
        await _write(send, f"retry: 2000\nevent: hello\ndata: {self.seen}\n\n")
        while not stream.ended:
            words = await stream.next(BEAT)
            if stream.ended:
                break
            if not await self._still_signed_in(visit):
                await _write(send, "event: signed-out\ndata: signed-out\n\n")
                break
            await _write(send, f"event: changed\ndata: {' '.join(sorted(words))}\n\n" if words else ": still here\n\n")

    async def _still_signed_in(self, visit: Visit) -> bool:
        """Whether the visitor who opened the stream is still signed in."""
        state = self._context.state
        token = cookie_of(visit)
        return await self._context.pool.run(visitor_of, state, token, state.clock.now(), False, True) is not None

    def _changed(self, what: str) -> None:
        """Called by the store, in a thread of its own."""
        word = (
            _WORDS.get(StoreEvent(what), "settings")
            if what in set(StoreEvent)
            else "settings"
            if what[:1] == "\0"
            else "tickets"
        )
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self.tell, word)


class _Stream:
    """One page's stream, with the changes that were not sent yet."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._event = asyncio.Event()
        self.ended = False

    def tell(self, word: str) -> None:
        self._words.add(word)
        self._event.set()

    def end(self) -> None:
        self.ended = True
        self._event.set()

    async def next(self, seconds: float) -> set[str]:
        """The changes since the last call; empty after the timeout."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
                if not self.ended:
                    await asyncio.sleep(GATHERED)
        self._event.clear()
        words, self._words = self._words, set()
        return words


async def _write(send: Any, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
