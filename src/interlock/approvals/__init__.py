"""The life of a ticket: a table of moves (a missing pair is refused) and its expiry; and what a resolution of one is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.display_text import short_id
from interlock.model import NOTHING, PERSON, Human, Json, Level, Seconds, TicketState
from interlock.records import Ticket, TicketQuery
from interlock.times import seconds_left

if TYPE_CHECKING:
    from interlock.ports import Tx

COOLING, WAITING, APPROVED, REJECTED, EXPIRED, SPENT = TicketState
LIVE_STATES = (COOLING, WAITING, APPROVED)
_ENDS = {"reject": REJECTED, "revoke": REJECTED, "expire": EXPIRED}
MOVES = {
    (COOLING, "approve"): APPROVED,  # a human may agree while it cools; it still has to cool
    (COOLING, "cooled"): APPROVED,  # only where nothing but time was asked for
    (WAITING, "approve"): APPROVED,
    (APPROVED, "spend"): SPENT,
    # The veto, second thoughts before it ran, and agreed to but not used in time.
    **{(state, move): end for state in LIVE_STATES for move, end in _ENDS.items()},
}
BY_TIME = "time"  # `decided_by` where only time decided
SELF_APPROVAL = "self-approval"  # a token that frees nothing in the hands of whoever holds it
UNUSED = "approved and not used in time"  # why such a ticket expired
LIFETIME, LIFETIME_OF_FORBIDDEN = 300, 120  # seconds that an armed token lasts (CT-06)


class MoveRefused(ValueError):
    """A move that the ticket's state does not allow."""


def apply_move(ticket: Ticket, move: str, now: float, by: str = "", reason: str = "") -> Ticket:
    """Refuses a move that the table does not have, or that comes too late."""
    state, name = MOVES.get((ticket.state, move)), f"ticket {short_id(ticket.id)}"
    if state is None:
        raise MoveRefused(f"{name} is {_STANDS[ticket.state]}; it cannot be {_DONE.get(move, move)}")
    if move not in _ENDS and now >= ticket.expires_at:
        raise MoveRefused(f"{name} expired {int(now - ticket.expires_at)} s ago")
    if move == "spend" and now < ticket.cooling_ends_at:
        raise MoveRefused(f"{name} is cooling for {math.ceil(seconds_left(ticket.cooling_ends_at, now))} s more")
    changed = replace(ticket, state=state, version=ticket.version + 1)
    if state is SPENT:
        return replace(changed, spent_at=now)
    changed = replace(changed, decided_at=now, decided_by=by, decision_reason=reason)
    return replace(changed, expires_at=spend_by(ticket, now)) if state is APPROVED else changed


def move_settled(tx: Tx, before: Ticket, move: str, now: float, by: str = "", reason: str = "") -> Ticket | None:
    """None where the move is refused, or somebody else changed the ticket meanwhile."""
    try:
        after = replace(apply_move(settle(before, now), move, now, by, reason), version=before.version + 1)
    except MoveRefused:
        return None
    return after if tx.change_ticket(after, before) else None


_WAITS = {COOLING: "cooling off", WAITING: "waiting for an answer"}
STATES = {state.value: _WAITS.get(state, state.value) for state in TicketState}
_STANDS = {**STATES, SPENT: "used already"}
_DONE = {"approve": "approved", "reject": "rejected", "spend": "spent", "expire": "expired", "revoke": "revoked"}


def spend_by(ticket: Ticket, now: float) -> float:
    """CT-06, R-4: the lifetime starts when a human armed it and cooling has ended."""
    lasts = LIFETIME_OF_FORBIDDEN if ticket.level is Level.FORBIDDEN else LIFETIME
    return max(now, ticket.cooling_ends_at) + lasts


def is_unanswered(ticket: Ticket) -> bool:
    """Nobody answered in time; not where its caller went away."""
    return ticket.state is EXPIRED and not ticket.decision_reason


def is_withdrawn(ticket: Ticket) -> bool:
    """A person took back what they themselves had asked for: nobody else said no."""
    return ticket.state is REJECTED and ticket.agent.principal == f"{PERSON}{ticket.decided_by}"


def settle(ticket: Ticket, now: float) -> Ticket:
    """The ticket as time alone has made it: expired, or approved where only cooling-off was asked for."""
    if ticket.state in LIVE_STATES and now >= ticket.expires_at:
        unused = f"{UNUSED}: {ticket.decided_by} had said yes" if ticket.state is APPROVED else ""
        return apply_move(ticket, "expire", now, BY_TIME, unused)
    if ticket.state is COOLING and not is_freed_by_time(ticket):
        return replace(ticket, state=WAITING, version=ticket.version + 1)
    if ticket.state is COOLING and now >= ticket.cooling_ends_at:
        return apply_move(ticket, "cooled", now, BY_TIME, "cooling-off ended and nobody objected")
    return ticket


def first_state(ticket: Ticket) -> TicketState:
    """Cooling where time alone frees it, waiting where a human is asked as well (R-21)."""
    return COOLING if is_freed_by_time(ticket) else WAITING


def is_freed_by_time(ticket: Ticket) -> bool:
    """R-3: nothing but cooling-off is asked for; it runs unless somebody objects."""
    asked = ticket.requirement
    return ticket.cooling_ends_at > ticket.opened_at and asked.human is Human.NONE and not asked.blocked


EXPIRED_SHARE = "expired_share"
ENOUGH = 10  # ended tickets, before their share is meaningful
ENDED = TicketQuery((APPROVED, REJECTED, EXPIRED, SPENT), limit=100)


def share_of(ended: Sequence[Ticket]) -> float:
    """The share of tickets that expired unanswered; 0 while too few have ended."""
    expired = sum(map(is_unanswered, ended))
    return expired / len(ended) if len(ended) >= ENOUGH else 0.0


class TicketChange(StrEnum):
    NOTHING = "nothing"
    OPEN = "open"  # a new ticket
    SPEND = "spend"  # the approved one, before the action runs
    CHANGE = "change"  # a change by time alone


class Resolution(Struct, frozen=True):
    outcome: str  # allow, cool_off, confirm, approve, verify, block, deny
    reason: str = ""
    keep: TicketChange = TicketChange.NOTHING
    ticket: Ticket | None = None
    wait_seconds: Seconds = 0
    code: str = ""
    message: str = ""  # in place of the code's own
    details: Json = NOTHING  # beside the code
