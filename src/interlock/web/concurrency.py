"""Keeps the event loop free: a bounded pool for blocking work, and events that wake the waiters of a ticket."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from interlock.ports import Store
from interlock.records import Ticket
from interlock.web.errors import HttpProblem

T = TypeVar("T")
MOST = 5_000  # waiters at once


class Pool:
    """Long-lived threads, each with its own connection to the store; excess work queues."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, "interlock-worker")

    async def run(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *given, **named))

    def close(self) -> None:
        self._threads.shutdown(wait=True)


async def changed_or_gone(event: asyncio.Event, gone: asyncio.Future[None], seconds: float | None = None) -> None:
    changed = asyncio.ensure_future(event.wait())
    waited: set[asyncio.Future[Any]] = {changed, gone}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        changed.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await changed


class Waiters:
    def __init__(self) -> None:
        self._events: dict[str, set[asyncio.Event]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._count = 0
        self.closed = False
        self.told: list[Callable[[str], None]] = []  # called on the loop for every change of the store

    def listen(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        first, self._loop = self._loop is None, loop
        if first:
            store.listen(self._changed)

    def add(self, ticket: str) -> asyncio.Event:
        """Set when the ticket changes; pass it to `remove` afterwards."""
        if self._count >= MOST:
            raise HttpProblem("RATE_LIMIT_EXCEEDED", f"{MOST} callers wait already; ask again later", retry_after="5")
        event = asyncio.Event()
        self._events.setdefault(ticket, set()).add(event)
        self._count += 1
        if self.closed:
            event.set()
        return event

    def remove(self, ticket: str, event: asyncio.Event) -> None:
        events = self._events.get(ticket, set())
        if event in events:
            events.discard(event)
            self._count -= 1
        if not events:
            self._events.pop(ticket, None)

    def waits(self, ticket: str) -> bool:
        return ticket in self._events

    def close(self) -> None:
        """Wakes all waiters, who answer with the ticket as it stands."""
        self.closed = True
        for events in self._events.values():
            for event in events:
                event.set()

    def _changed(self, ticket: str) -> None:
        """Called by the store, in a thread of its own."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wake, ticket)

    def _wake(self, ticket: str) -> None:
        for event in self._events.get(ticket, ()):
            event.set()
        for tell in self.told:
            tell(ticket)


def seconds_until_due(ticket: Ticket, now: float) -> float:
    due = [at for at in (ticket.cooling_ends_at, ticket.expires_at) if at > now]
    return max(0.05, min(due) - now + 0.01) if due else 1.0
