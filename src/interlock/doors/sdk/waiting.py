"""When is a ticket answered? What wakes whoever waits for it, here or at a daemon, as a thread or on an event loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from interlock.core.model import TicketState
from interlock.core.records import Ticket

LONGEST = 50  # seconds of one poll
SILENCE = 30.0  # seconds that a daemon may be gone, to be started again
_NAP = 1.0


def answered(ticket: Ticket, now: float) -> bool:
    """Whether there is nothing left to wait for: it was refused, it ended, or it can be used."""
    return not ticket.open and not (ticket.state is TicketState.APPROVED and ticket.cooling_ends_at > now)


def until_time_moves_it(ticket: Ticket, now: float) -> float:
    """Seconds until waiting longer can change something without anybody's doing."""
    due = [at for at in (ticket.cooling_ends_at, ticket.expires_at) if at > now]
    return min(30.0, max(0.05, min(due) - now + 0.01)) if due else _NAP


class Changes:
    """Who wants to know that a ticket changed; each is called in the store's own thread."""

    def __init__(self) -> None:
        self._wakes: dict[str, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()

    def changed(self, id: str) -> None:
        for wake in tuple(self._wakes.get(id, ())):
            wake()

    @contextmanager
    def watched(self, id: str, wake: Callable[[], None]) -> Iterator[None]:
        """Calls `wake` for each change, until the end of the block."""
        with self._lock:
            self._wakes.setdefault(id, []).append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._wakes[id].remove(wake)
                if not self._wakes[id]:
                    del self._wakes[id]

    def everybody(self) -> None:
        """Wakes all, who then see for themselves why."""
        for id in tuple(self._wakes):
            self.changed(id)


@dataclass(frozen=True, slots=True)
class Poll:
    """Ask the daemon, which answers when the ticket is decided, or after so many seconds."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Nap:
    """Do nothing for so many seconds."""

    seconds: float


def polls(seconds: float) -> Generator[Poll | Nap, Ticket | None, Ticket | None]:
    """What to do until a ticket at a daemon is answered; is sent the ticket of each poll, or None where nobody answered.

    Returns the ticket as it stands at the end, or None when the daemon was silent for too long.
    """
    heard = time.monotonic()
    end = heard + seconds
    while True:
        began = time.monotonic()
        asked = max(0, int(min(end - began, LONGEST)))
        ticket = yield Poll(asked)
        now = time.monotonic()
        if ticket is None:
            if now - heard > SILENCE or now >= end:
                return None
            yield Nap(min(_NAP, end - now))
            continue
        heard = now
        if answered(ticket, time.time()) or now >= end:
            return ticket
        if now - began < max(1, asked) - 0.1:  # it came back early: the daemon stops, or the ticket only has to cool
            rest = _NAP if ticket.open else until_time_moves_it(ticket, time.time())
            yield Nap(max(0.0, min(rest, end - now)))
