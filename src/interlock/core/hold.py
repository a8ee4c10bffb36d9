"""A requirement and the ticket that may meet it -> the answer, and what has to be kept before it leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from interlock.core.model import Human, Requirement, Seconds, TicketState
from interlock.core.records import Json, Ticket, nothing
from interlock.core.ticket import settled, withdrawn
from interlock.core.times import left


class Keep(StrEnum):
    """What the service does about the ticket."""

    NOTHING = "nothing"
    OPEN = "open"  # a new ticket
    SPEND = "spend"  # the approved one, before the action runs
    CHANGE = "change"  # what time alone has changed


@dataclass(frozen=True, slots=True)
class Held:
    """The answer: a word, the ticket it is about, and how long to wait."""

    outcome: str  # allow, cool_off, confirm, approve, verify, block, deny
    reason: str = ""
    keep: Keep = Keep.NOTHING
    ticket: Ticket | None = None
    wait_seconds: Seconds = 0
    code: str = ""
    message: str = ""  # in place of the code's own
    details: Json = field(default_factory=nothing)  # beside the code


def hold(
    requirement: Requirement, denies: bool, ticket: Ticket | None, agreed: str, now: float, denial_seconds: int
) -> Held:
    """The answer for an action; `agreed` is empty when the ticket's signed approvals satisfy the requirement, else why not."""
    if requirement.blocked:  # 1. nobody can allow it
        return Held("block")
    if requirement == Requirement():  # 2. nothing is asked for
        return Held("allow")
    before = ticket
    ticket = settled(ticket, now) if ticket else None
    if (
        ticket is None or ticket.state in (TicketState.EXPIRED, TicketState.SPENT) or withdrawn(ticket)
    ):  # 3. nobody was asked yet, or too long ago
        return Held(
            _asked(requirement, denies), keep=Keep.OPEN, ticket=before, wait_seconds=requirement.cooling_seconds
        )
    changed = Keep.CHANGE if ticket != before else Keep.NOTHING
    if ticket.state is TicketState.REJECTED:  # 4. a no lasts
        if now < ticket.decided_at + denial_seconds:
            said = f": {ticket.decision_reason}" if ticket.decision_reason else ""
            return Held("deny", f"rejected by {ticket.decided_by}{said}", changed, ticket)
        return Held(
            _asked(requirement, denies), keep=Keep.OPEN, ticket=ticket, wait_seconds=requirement.cooling_seconds
        )
    wait = left(ticket.cooling_ends_at, now)
    if ticket.state is TicketState.APPROVED and not wait:  # 5. the state is an index; what was signed decides
        if agreed:
            return Held("deny", f"the approval does not hold: {agreed}", changed, ticket)
        return Held("allow", keep=Keep.SPEND, ticket=ticket)
    if wait and (ticket.state is TicketState.APPROVED or requirement.human is Human.NONE):  # 6. still cooling
        return Held("cool_off", f"cooling off for {math.ceil(wait)} s more", changed, ticket, wait)
    return Held(_asked(requirement, denies), "", changed, ticket, wait)  # 7. still waiting for its human


def _asked(requirement: Requirement, denies: bool) -> str:
    return "deny" if denies else requirement.word
