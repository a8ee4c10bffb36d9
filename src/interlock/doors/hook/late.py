"""An approval that comes when the agent has stopped waiting: said in the next answer that it gets."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.model import TicketState
from interlock.core.records import Ticket
from interlock.core.ticket import settled

if TYPE_CHECKING:
    from interlock.service.state import State

MOST_AGENTS, MOST_TICKETS = 1_000, 50
_WORDS = {
    TicketState.APPROVED: "Ticket {id} is approved: run exactly {title} again, unchanged; it passes once, within {left} s.",
    TicketState.REJECTED: "Ticket {id} was rejected{why}: do not try {title} again, nor the same by other means.",
}
Key = tuple[str, str, str]  # principal, name, session


@dataclass(slots=True)
class Late:
    """Which tickets each agent was sent away with, and which of all tickets changed since."""

    waiting: OrderedDict[Key, OrderedDict[str, None]] = field(default_factory=OrderedDict)
    changed: set[str] = field(default_factory=set)

    def heard(self, ticket: str) -> None:
        """Called by the store, in a thread of its own."""
        if not ticket.startswith("\0"):
            if len(self.changed) > 10_000:
                self.changed.clear()  # whoever waits for one of them is told when it changes again
            self.changed.add(ticket)

    def sent_away(self, key: Key, ticket: str) -> bool:
        """Remembers it; whether this agent has not been sent away with it before."""
        tickets = self.waiting.setdefault(key, OrderedDict())
        first = ticket not in tickets
        self.waiting.move_to_end(key)
        tickets[ticket] = None
        self.changed.discard(ticket)
        while len(tickets) > MOST_TICKETS:
            tickets.popitem(last=False)
        while len(self.waiting) > MOST_AGENTS:
            self.waiting.popitem(last=False)
        return first

    def due(self, key: Key) -> list[str]:
        """The tickets of this agent that changed."""
        tickets = self.waiting.get(key)
        return [id for id in tickets if id in self.changed] if tickets and self.changed else []

    def forget(self, key: Key, ids: list[str]) -> None:
        """They were told, or were found out by asking."""
        for id in ids:
            self.waiting.get(key, OrderedDict()).pop(id, None)
            self.changed.discard(id)


def told(state: State, ids: list[str]) -> tuple[str, list[str]]:
    """What the agent has to know of these tickets, and which of them are settled; blocks."""
    now = state.clock.now()
    found = state.store.read(lambda tx: [tx.ticket(id) for id in ids])
    tickets = [settled(ticket, now) for ticket in found if ticket is not None]
    words = [_words(ticket, now) for ticket in tickets if ticket.state in _WORDS]
    open_still = {ticket.id for ticket in tickets if ticket.state in (TicketState.COOLING, TicketState.WAITING)}
    return " ".join(words), [id for id in ids if id not in open_still]


def _words(ticket: Ticket, now: float) -> str:
    why = f" ({ticket.decision_reason})" if ticket.decision_reason else ""
    title = f"`{ticket.title}`"
    return _WORDS[ticket.state].format(id=ticket.id, title=title, why=why, left=max(0, int(ticket.expires_at - now)))
