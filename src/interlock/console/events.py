"""Streams changes to open pages as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response, StreamingResponse

from interlock.console.visit import PageRoutes, Visit
from interlock.identity.console_access import visitor_of
from interlock.ports import StoreEvent
from interlock.web.context import Context
from interlock.web.errors import reported_problem

PATH = "/console/events"
BEAT = 15.0  # seconds between heartbeats; the visitor's session is checked before each
MOST = 200  # streams that are open at once
GATHERED = 0.1  # seconds that changes are collected before they are sent
_WORDS: Mapping[str, str] = {
    StoreEvent.AGENTS: "agents", StoreEvent.BLOCKS: "blocks", StoreEvent.DENIALS: "tickets", StoreEvent.OPERATORS: "operators",
    StoreEvent.PATTERNS: "patterns",
}  # fmt: skip
routes = PageRoutes()


class Events:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._streams: set[_Stream] = set()
        context.waiters.told.append(self.tell)
        self._self, self._told = secrets.token_hex(4), 0

    @property
    def seen(self) -> str:
        """The counter of this daemon's changes; a page rendered at another value has missed some."""
        return f"{self._self}-{self._told}"

    def stop(self) -> None:
        for stream in self._streams:
            stream.end()

    def open(self, visit: Visit) -> Response:
        if len(self._streams) >= MOST:
            return Response(status_code=503, headers={"retry-after": "10"})
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(self._lines(visit), headers=headers, media_type="text/event-stream")

    async def _lines(self, visit: Visit) -> AsyncIterator[str]:
        """The text of one stream; its response has begun, so that any error ends it, and the page opens another."""
        stream, state = _Stream(), visit.state
        self._streams.add(stream)
        try:
            yield f"retry: 2000\nevent: hello\ndata: {self.seen}\n\n"
            while not stream.ended:
                words = await stream.next(BEAT)
                if stream.ended:
                    break
                if await self._context.pool.run(visitor_of, state, visit.token, idles=True) is None:
                    yield "event: signed-out\ndata: signed-out\n\n"
                    break
                yield f"event: changed\ndata: {' '.join(sorted(words))}\n\n" if words else ": still here\n\n"
        except Exception as error:
            reported_problem(state, error, "console")
        finally:
            self._streams.discard(stream)

    def tell(self, what: str) -> None:
        word = _WORDS.get(what, "settings") if what[:1] == "\0" else "tickets"
        self._told += 1
        for stream in self._streams:
            stream.tell(word)


class _Stream:
    """One page's, with the changes that were not sent yet."""

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
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._event.wait()
                if not self.ended:
                    await asyncio.sleep(GATHERED)
        self._event.clear()
        words, self._words = self._words, set()
        return words


@routes.get(PATH)
def events(visit: Visit) -> Response:
    return visit.events.open(visit)
