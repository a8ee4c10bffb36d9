"""Shared by the two backends of a gate: an operator's session, and how one waits for the answer to a ticket."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from msgspec import Struct

from interlock.client import NoDaemon
from interlock.model import Confidential, TicketState
from interlock.records import Ticket

T = TypeVar("T")
CHANNEL = "python"  # through which an operator answers


class SignedInSession(Confidential, Struct, frozen=True):
    """An operator, for some minutes. Only the token counts; an invented session is refused."""

    HIDDEN = ("token",)

    operator: str
    expires_at: float
    token: str


LONGEST = 50  # seconds of one poll
SILENCE = 30.0  # seconds that a daemon may be gone, to be started again
_NAP = 1.0


def is_answered(ticket: Ticket, now: float) -> bool:
    return not ticket.open and not (ticket.state is TicketState.APPROVED and ticket.cooling_ends_at > now)


def seconds_until_change(ticket: Ticket, now: float) -> float:
    due = [at for at in (ticket.cooling_ends_at, ticket.expires_at) if at > now]
    return min(30.0, max(0.05, min(due) - now + 0.01)) if due else _NAP


class TicketChanges:
    def __init__(self) -> None:
        self._wakes: dict[str, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def notify(self, id: str) -> None:
        for wake in tuple(self._wakes.get(id, ())):
            wake()

    @contextmanager
    def watch(self, id: str, wake: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._wakes.setdefault(id, []).append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._wakes[id].remove(wake)
                if not self._wakes[id]:
                    del self._wakes[id]

    def notify_all(self) -> None:
        for id in tuple(self._wakes):
            self.notify(id)


async def wait_for_answer(
    seconds: float, poll: Callable[[int], Awaitable[Ticket]], sleep: Callable[[float], Awaitable[None]]
) -> Ticket:
    """The ticket at a daemon once it is answered and has cooled, or as it stands after so many seconds.

    `poll` asks the daemon, which replies when the ticket is decided, or after so many seconds; raises NoDaemon when it was
    silent for too long.
    """
    heard = time.monotonic()
    end = heard + seconds
    while True:
        began = time.monotonic()
        asked = max(0, int(min(end - began, LONGEST)))
        try:
            ticket = await poll(asked)
        except NoDaemon:
            now = time.monotonic()
            if now - heard > SILENCE or now >= end:
                raise
            await sleep(min(_NAP, end - now))
            continue
        heard = now = time.monotonic()
        if is_answered(ticket, time.time()) or now >= end:
            return ticket
        if now - began < max(1, asked) - 0.1:  # it came back early: the daemon stops, or the ticket only has to cool
            rest = _NAP if ticket.open else seconds_until_change(ticket, time.time())
            await sleep(max(0.0, min(rest, end - now)))


def complete(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing on an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    raise RuntimeError(f"{work} waits for an event loop")
