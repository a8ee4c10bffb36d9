"""What an agent that may not go on is told to do next: whom it waits for, how long, and how to end it."""

# Each sentence passes the public runner's leak filter, which takes any word on "at" before a blank for a stack trace.

from __future__ import annotations

from interlock.core.excerpt import visible
from interlock.core.loop import Pause
from interlock.core.model import TicketState
from interlock.core.records import Ticket
from interlock.core.ticket import settled

ABORT = "end this execution with abort_execution"
ANOTHER = f"Report another step, or {ABORT}."
ANEW = "End this execution with abort_execution, then start one for another step."
HOW = "An operator frees it with `interlock codes`"
_TITLE = 160  # characters of an action


def way(ticket: str) -> str:
    """How a person answers."""
    return f"A person can answer ticket {ticket} (`interlock approve {ticket}`)"


def named(ticket: Ticket) -> str:
    """The action itself, short."""
    title = visible(" ".join(ticket.title.split()))
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


def rejected(ticket: Ticket) -> str:
    """Who said no, to which action and why."""
    why = f" ({ticket.decision_reason.strip().rstrip('.')})" if ticket.decision_reason.strip() else ""
    return f"{ticket.decided_by or 'a person'} rejected '{named(ticket)}'{why}."


def cools(ticket: Ticket, now: float) -> int:
    """Seconds until an answer can count."""
    return max(0, int(ticket.cooling_ends_at - now + 0.999))


def cooling(ticket: Ticket, now: float) -> str:
    """How long time alone stands in the way."""
    agreed = "A person agreed" if ticket.state is TicketState.APPROVED else f"Ticket {ticket.id} waits for nobody's yes"
    return f"{agreed}; it cools off for {cools(ticket, now)} s more. Ask for the same once more after this."


def paused(pause: Pause, ticket: Ticket | None, now: float) -> str:
    """The answer to another step than the one that is held."""
    held = f"Paused: {pause.reason.rstrip('.') or 'a step is held'}"
    if ticket is None:
        return f"{held}. {HOW} (challenge {pause.id}); until then report nothing else, or {ABORT}."
    what, stands = f"{held} ('{named(ticket)}')", settled(ticket, now)
    if stands.state is TicketState.REJECTED:
        return f"Paused: {rejected(stands)} {ANEW}"
    if stands.state is TicketState.EXPIRED:
        return f"{what}. Nobody answered ticket {ticket.id} in time: report the same step once more to ask anew, or {ABORT}."
    if stands.state is TicketState.APPROVED:
        wait = cools(ticket, now)
        when = f"in {wait} s, for it cools off until then," if wait else "now"
        return f"{what}. A person agreed to it: report the same step {when} before anything else, or {ABORT}."
    how = f"{HOW} (challenge {pause.challenge})" if pause.challenge else way(ticket.id)
    return f"{what}. {how}; until then report nothing else, or {ABORT}."
