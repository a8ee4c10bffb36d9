"""Whoever opened a ticket may have gone: such tickets expire, so that nobody is asked for what will not run and the queue has room."""

from __future__ import annotations

from collections.abc import Callable

from interlock.core.model import TicketState
from interlock.core.records import Ticket, TicketQuery
from interlock.core.ticket import moved
from interlock.ports import Tx
from interlock.service import denials
from interlock.service.record import deed
from interlock.service.state import State

GONE = "caller"  # who decided where whoever asked has left
PATIENCE = 600.0  # seconds without a question after which a ticket makes room for another one
OPEN = (TicketState.COOLING, TicketState.WAITING)
_MOST = 1_000


def left(state: State, id: str) -> None:
    """Whoever waited for this ticket hung up before it was answered."""

    def work(tx: Tx) -> None:
        ticket = tx.ticket(id)
        if ticket is not None and ticket.open:
            _expire(tx, state, ticket, GONE, "whoever asked for it went away before it was answered")

    state.store.write(work)


def make_room(tx: Tx, state: State, principal: str, now: float) -> bool:
    """Whether the queue is shorter now: what nobody asked for lately has no caller any more."""

    def alone(ticket: Ticket) -> bool:
        return now - state.pins.asked(ticket) >= PATIENCE

    return withdraw(tx, state, principal, GONE, alone, "nobody asked for it any more, and others waited for room") > 0


def withdraw(tx: Tx, state: State, principal: str, by: str, whose: Callable[[Ticket], bool], why: str = "") -> int:
    """Nobody is asked any more for what will not run; another try is another ticket."""
    found = list(filter(whose, tx.tickets(TicketQuery(OPEN, principal, limit=_MOST))))
    return sum(_expire(tx, state, ticket, by, why) for ticket in found)


def _expire(tx: Tx, state: State, ticket: Ticket, by: str, why: str) -> bool:
    now = state.clock.now()
    if not tx.change_ticket(moved(ticket, "expire", now, by, why), ticket):
        return False
    denials.let_go(tx, state, ticket, now)
    state.recorder.now(tx, "expire", deed(now, "expire", by, {"ticket": ticket.id}))
    return True
