"""The moves of a ticket: a table, and a missing pair is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from interlock.core.model import PERSON, Human, Level, TicketState
from interlock.core.records import Ticket, TicketQuery
from interlock.core.times import left

COOLING, WAITING, APPROVED, REJECTED, EXPIRED, SPENT = (
    TicketState.COOLING,
    TicketState.WAITING,
    TicketState.APPROVED,
    TicketState.REJECTED,
    TicketState.EXPIRED,
    TicketState.SPENT,
)
MOVES = MappingProxyType(
    {
        (COOLING, "approve"): APPROVED,  # a human may agree while it cools; it still has to cool
        (COOLING, "cooled"): APPROVED,  # only where nothing but time was asked for
        (COOLING, "reject"): REJECTED,  # the veto
        (COOLING, "expire"): EXPIRED,
        (COOLING, "revoke"): REJECTED,
        (WAITING, "approve"): APPROVED,
        (WAITING, "reject"): REJECTED,
        (WAITING, "expire"): EXPIRED,
        (WAITING, "revoke"): REJECTED,
        (APPROVED, "expire"): EXPIRED,  # agreed to and not used in time
        (APPROVED, "revoke"): REJECTED,
        (APPROVED, "reject"): REJECTED,  # second thoughts before it ran
        (APPROVED, "spend"): SPENT,
    }
)
BY_TIME = "time"  # who decided where nobody did
UNUSED = "approved and not used in time"  # why such a ticket expired
# CT-06: how long an armed token lasts, by level: default and most, in seconds.
LIFETIMES = MappingProxyType({Level.FORBIDDEN: (120, 300)})
_LIFETIME = (300, 900)


class MoveRefused(ValueError):
    """A move that a ticket cannot make from where it stands."""


def moved(ticket: Ticket, move: str, now: float, by: str = "", reason: str = "") -> Ticket:
    """The ticket after a move; refuses what the table does not have, and what comes too late."""
    state = MOVES.get((ticket.state, move))
    if state is None:
        raise MoveRefused(f"ticket {ticket.id} is {_STANDS[ticket.state]}; it cannot be {_DONE.get(move, move)}")
    if move not in ("expire", "revoke", "reject") and now >= ticket.expires_at:
        raise MoveRefused(f"ticket {ticket.id} expired {int(now - ticket.expires_at)} s ago")
    if move == "spend" and now < ticket.cooling_ends_at:
        raise MoveRefused(f"ticket {ticket.id} is cooling for {math.ceil(left(ticket.cooling_ends_at, now))} s more")
    changed = replace(ticket, state=state, version=ticket.version + 1)
    if move in ("approve", "cooled"):
        return replace(changed, decided_at=now, decided_by=by, decision_reason=reason, expires_at=spend_by(ticket, now))
    if move in ("reject", "revoke", "expire"):
        return replace(changed, decided_at=now, decided_by=by, decision_reason=reason)
    return replace(changed, spent_at=now)


_STANDS = {
    COOLING: "cooling off",
    WAITING: "waiting for an answer",
    APPROVED: "approved",
    REJECTED: "rejected",
    EXPIRED: "expired",
    SPENT: "used already",
}
_DONE = {
    "approve": "approved",
    "reject": "rejected",
    "spend": "spent",
    "expire": "expired",
    "revoke": "revoked",
    "cooled": "approved",
}


def spend_by(ticket: Ticket, now: float) -> float:
    """CT-06, R-4: the lifetime starts when a human armed it and cooling has ended."""
    default, _ = LIFETIMES.get(ticket.level, _LIFETIME)
    return max(now, ticket.cooling_ends_at) + default


def unanswered(ticket: Ticket) -> bool:
    """Whether nobody said anything in time; not where somebody did, or whoever asked went away."""
    return ticket.state is EXPIRED and not ticket.decision_reason


def withdrawn(ticket: Ticket) -> bool:
    """Whether a person took back what they themselves had asked for: nobody else said no to it."""
    return ticket.state is REJECTED and ticket.agent.principal == f"{PERSON}{ticket.decided_by}"


def settled(ticket: Ticket, now: float) -> Ticket:
    """The ticket as time alone has made it: expired, or approved where nothing but cooling-off was asked for."""
    if ticket.state in (COOLING, WAITING, APPROVED) and now >= ticket.expires_at:
        unused = f"{UNUSED}: {ticket.decided_by} had said yes" if ticket.state is APPROVED else ""
        return moved(ticket, "expire", now, BY_TIME, unused)
    if ticket.state is COOLING and not freed_by_time(ticket):
        return replace(ticket, state=WAITING, version=ticket.version + 1)
    if ticket.state is COOLING and now >= ticket.cooling_ends_at:
        return moved(ticket, "cooled", now, BY_TIME, "cooling-off ended and nobody objected")
    return ticket


def first_state(ticket: Ticket) -> TicketState:
    """Where a new ticket starts: cooling where time alone frees it, waiting where a human is asked as well (R-21)."""
    return COOLING if freed_by_time(ticket) else WAITING


def freed_by_time(ticket: Ticket) -> bool:
    """R-3: whether nothing but cooling-off is asked for, so that it runs unless somebody objects."""
    asked = ticket.requirement
    return ticket.cooling_ends_at > ticket.opened_at and asked.human is Human.NONE and not asked.blocked


EXPIRED_SHARE = "expired_share"


ENOUGH = 10  # tickets that ended, before their share says anything


ENDED = TicketQuery((TicketState.APPROVED, TicketState.REJECTED, TicketState.EXPIRED, TicketState.SPENT), limit=100)


def share_of(ended: Sequence[Ticket]) -> float:
    """0 while too few ended to say anything."""
    expired = sum(map(unanswered, ended))
    return expired / len(ended) if len(ended) >= ENOUGH else 0.0
