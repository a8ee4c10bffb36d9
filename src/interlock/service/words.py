"""A decision -> two sentences for whoever asked: what would happen and why it is held, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.core.hold import Held, Keep
from interlock.core.model import TicketState

if TYPE_CHECKING:
    from interlock.core.records import Ticket
    from interlock.core.weigh import Weighed
    from interlock.service.request import Judged


def sentence(judged: Judged, weighed: Weighed, held: Held) -> str:
    """The reason of a decision."""
    if held.outcome == "allow":
        return _allowed(weighed, held)
    why = held.reason or weighed.reason()
    instead = next((f.instead for f in judged.judgement.assessment.findings if f.instead), "")
    advice = f" Instead: {_end(instead)}" if instead else ""
    if held.outcome == "block" or held.ticket is None:
        return f"Denied: {_end(why)}{advice}"
    lead = "Denied" if held.outcome == "deny" else "Held"
    return f"{lead}: {_end(why)}{advice}{_next(held, held.ticket)}"


def _allowed(weighed: Weighed, held: Held) -> str:
    """What let it pass, where something had to."""
    if held.keep is Keep.SPEND and held.ticket is not None:
        by = held.ticket.decided_by
        who = "it cooled off and nobody objected" if by == "time" else f"{by} approved it"
        return f"Allowed once: {who} ({held.ticket.id})."
    if not weighed.factors:
        return "Allowed."
    return f"Allowed: {_end(weighed.reason() or weighed.factors[-1])}"


def _next(held: Held, ticket: Ticket) -> str:
    if ticket.state is TicketState.REJECTED:
        return " Other words for the same thing meet the same answer."
    if held.outcome == "cool_off":
        return f" Ask again in {held.wait_seconds} s with ticket {ticket.id}; an operator can veto it until then."
    if not ticket.open:
        return ""
    return f" An operator can answer ticket {ticket.id} (`interlock approve {ticket.id}`); then try again."


def _end(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
