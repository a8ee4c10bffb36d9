"""Notices for an agent, queued until delivered or obsolete, and a paused one's messages: for whom it waits, how long, how to end it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from interlock.analysis.display_text import short_id, visible
from interlock.approvals import APPROVED, EXPIRED, LIVE_STATES, REJECTED, settle
from interlock.approvals.challenges import is_open
from interlock.approvals.display import cut
from interlock.canonical_json import normal_name
from interlock.loop.state import Pause
from interlock.model import AgentRef
from interlock.ports import Tx
from interlock.records import Challenge, Notification, Ticket
from interlock.times import iso

PERMISSION, PAUSE, DANGER = "permission_pending", "autonomy_pause", "danger_zone"
STATUS, ERROR = "status", "error"
STAYING = (PERMISSION, PAUSE, DANGER)  # repeated with every directive until they are over
_WIRE = ("operation", "reason", "level", "verificationId")  # 2.2; the rest of the metadata is ours
ABORT = "end this execution with abort_execution"
ANOTHER = f"Report another step, or {ABORT}."
ANEW = "End this execution with abort_execution, then start one for another step."
HOW = "An operator frees it with `interlock codes`"
_TITLE = 160  # characters of an action


def notify(tx: Tx, agent: AgentRef, type: str, message: str, now: float, **metadata: str) -> None:
    """`ticket`, `execution` and `principal` are its subject, and not delivered."""
    about = {key: value for key, value in metadata.items() if value}
    tx.add_notification(Notification(0, agent.principal, agent.name, type, message, now, about))


def broadcast(tx: Tx, offender: AgentRef, challenge: Challenge, tier: str, now: float) -> None:
    """AE-13, R-18: to every executing agent, who was stopped and why; never the action's text."""
    running = [execution.agent for execution in tx.executions(live=True)]
    agents = {(one.principal, normal_name(one.name)): one for one in (*running, offender)}
    message = danger_words(offender.name)
    for one in agents.values():
        clear(tx, one, now, principal=offender.principal)
        notify(tx, one, DANGER, message, now, verificationId=challenge.id, level=tier, principal=offender.principal)


def danger_words(name: str) -> str:
    """A stopped agent chose its name, so it is cut and its hidden characters are shown."""
    return f"Agent '{visible(name)[:60]}' was stopped (danger_zone); a person has to verify before it goes on"


def pending(tx: Tx, agent: AgentRef, now: float) -> list[dict[str, Any]]:
    """Reading changes nothing."""
    return [note_json(note) for note in tx.notifications(agent, now) if not is_over(tx, note, now)]


def deliver(tx: Tx, agent: AgentRef, now: float) -> list[dict[str, Any]]:
    """Obsolete ones are cleared."""
    notes = []
    for note in tx.notifications(agent, now):
        if is_over(tx, note, now):
            tx.change_notification(replace(note, cleared_at=now))
        else:
            notes.append(note_json(note))
            if not note.delivered_at:
                tx.change_notification(replace(note, delivered_at=now))
    return notes


def clear(tx: Tx, agent: AgentRef, now: float, **about: str) -> None:
    """Notices of any of these subjects, by their keys in the metadata."""
    for note in tx.notifications(agent, now):
        if any(value and note.metadata.get(key) == value for key, value in about.items()):
            tx.change_notification(replace(note, cleared_at=now))


def is_over(tx: Tx, note: Notification, now: float) -> bool:
    """Its subject ended without anybody clearing it (AE-11 to AE-13)."""
    blocked, challenge, id = map(note.metadata.get, ("principal", "verificationId", "ticket"))
    if note.type == DANGER:  # cleared when the block is lifted, by whomever
        return bool(blocked and tx.block(blocked) is None)
    if note.type not in STAYING:
        return False
    if challenge:
        return not is_open(tx.challenge(challenge), now)
    ticket = tx.ticket(id) if id else None
    return ticket is not None and settle(ticket, now).state not in LIVE_STATES


def note_json(note: Notification) -> dict[str, Any]:
    """2.2's form."""
    body: dict[str, Any] = {"type": note.type, "message": note.message}
    if metadata := {key: note.metadata[key] for key in _WIRE if note.metadata.get(key)}:
        body["metadata"] = metadata
    return body | {"timestamp": iso(note.at)}


def approval_hint(ticket: str) -> str:
    id = short_id(ticket)
    return f"A person can answer ticket {id} (`interlock approve {id}`)"


def ticket_excerpt(ticket: Ticket) -> str:
    return cut(visible(" ".join(ticket.title.split())), _TITLE)


def rejection_message(ticket: Ticket) -> str:
    why = f" ({ticket.decision_reason.strip().rstrip('.')})" if ticket.decision_reason.strip() else ""
    return f"{ticket.decided_by or 'a person'} rejected '{ticket_excerpt(ticket)}'{why}."


def cooling_seconds(ticket: Ticket, now: float) -> int:
    return max(0, int(ticket.cooling_ends_at - now + 0.999))


def cooling_message(ticket: Ticket, now: float) -> str:
    waits = f"Ticket {short_id(ticket.id)} waits for nobody's yes"
    agreed = "A person agreed" if ticket.state is APPROVED else waits
    return f"{agreed}; it cools off for {cooling_seconds(ticket, now)} s more. Ask for the same once more after this."


def paused_message(pause: Pause, ticket: Ticket | None, now: float) -> str:
    held = f"Paused: {pause.reason.rstrip('.') or 'a step is held'}"
    if ticket is None:
        return f"{held}. {HOW} (challenge {pause.id}); until then report nothing else, or {ABORT}."
    what, stands = f"{held} ('{ticket_excerpt(ticket)}')", settle(ticket, now)
    if stands.state is REJECTED:
        return f"Paused: {rejection_message(stands)} {ANEW}"
    if stands.state is EXPIRED:
        return f"{what}. Nobody answered ticket {short_id(ticket.id)} in time: report the same step once more to ask anew, or {ABORT}."
    if stands.state is APPROVED:
        wait = cooling_seconds(ticket, now)
        when = f"in {wait} s, for it cools off until then," if wait else "now"
        return f"{what}. A person agreed to it: report the same step {when} before anything else, or {ABORT}."
    how = f"{HOW} (challenge {pause.challenge})" if pause.challenge else approval_hint(ticket.id)
    return f"{what}. {how}; until then report nothing else, or {ABORT}."
