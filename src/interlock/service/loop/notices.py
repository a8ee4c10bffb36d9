"""What is an agent told with its next directive? Notifications: kept until they are told, or until what they are about is over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from interlock.core.digest import normal_name
from interlock.core.excerpt import visible
from interlock.core.loop import KEPT_LIVE
from interlock.core.model import AgentRef, TicketState
from interlock.core.records import Challenge, Notification
from interlock.core.ticket import settled
from interlock.core.times import iso
from interlock.ports import Tx

PERMISSION, PAUSE, DANGER = "permission_pending", "autonomy_pause", "danger_zone"
STATUS, ERROR = "status", "error"
TYPES = (PERMISSION, PAUSE, DANGER, STATUS, ERROR)
STAYING = (PERMISSION, PAUSE, DANGER)  # told with every directive until they are over
_WIRE = ("operation", "reason", "level", "verificationId")  # 2.2; the rest of the metadata is ours
OPEN_TICKETS = (TicketState.COOLING, TicketState.WAITING, TicketState.APPROVED)


def notify(tx: Tx, agent: AgentRef, type: str, message: str, now: float, **metadata: str) -> Notification:
    """Keeps one notification; `ticket`, `execution` and `principal` say what it is about, and are not told."""
    about = {key: value for key, value in metadata.items() if value}
    note = Notification(0, agent.principal, agent.name, type, message, now, about)
    return replace(note, id=tx.add_notification(note))


def broadcast(tx: Tx, offender: AgentRef, challenge: Challenge, tier: str, now: float) -> int:
    """AE-13, R-18: tells every agent that executes, the offender too, who was stopped and why; never the action's text."""
    running = [execution.agent for status in KEPT_LIVE for execution in tx.executions(status=status)]
    agents = {(one.principal, normal_name(one.name)): one for one in (*running, offender)}
    message = danger_words(offender.name)
    for one in agents.values():
        _clear(tx, _about(tx, one, now, principal=offender.principal), now)
        notify(tx, one, DANGER, message, now, verificationId=challenge.id, level=tier, principal=offender.principal)
    return len(agents)


def danger_words(name: str) -> str:
    """Another agent chose the name: it is kept short, and shows what it hides."""
    return f"Agent '{visible(name)[:60]}' was stopped (danger_zone); a person has to verify before it goes on"


def pending(tx: Tx, agent: AgentRef, now: float) -> list[dict[str, Any]]:
    """What the agent is to be told now, in 2.2's words; nothing is changed by looking."""
    return [note_json(note) for note in tx.notifications(agent, now) if not over(tx, note, now)]


def deliver(tx: Tx, agent: AgentRef, now: float) -> list[dict[str, Any]]:
    """The same, and counts them as told; what is over is cleared."""
    told = []
    for note in tx.notifications(agent, now):
        if over(tx, note, now):
            tx.change_notification(replace(note, cleared_at=now))
            continue
        told.append(note_json(note))
        if not note.delivered_at:
            tx.change_notification(replace(note, delivered_at=now))
    return told


def clear(tx: Tx, agent: AgentRef, now: float, *, ticket: str = "", challenge: str = "", execution: str = "") -> int:
    """Clears what is about this ticket, this challenge or this execution."""
    return _clear(tx, _about(tx, agent, now, ticket=ticket, verificationId=challenge, execution=execution), now)


def over(tx: Tx, note: Notification, now: float) -> bool:
    """Whether what a notification is about has ended without anybody clearing it (AE-11 to AE-13)."""
    said = note.metadata
    if note.type == DANGER:  # cleared when the block is lifted, by whomever
        return bool(said.get("principal")) and tx.block(str(said["principal"])) is None
    if note.type not in STAYING:
        return False
    if said.get("verificationId"):
        found = tx.challenge(str(said["verificationId"]))
        return found is None or found.state != "open" or now >= found.expires_at
    ticket = tx.ticket(str(said["ticket"])) if said.get("ticket") else None
    return ticket is not None and settled(ticket, now).state not in OPEN_TICKETS


def note_json(note: Notification) -> dict[str, Any]:
    """2.2's words."""
    body: dict[str, Any] = {"type": note.type, "message": note.message}
    metadata = {key: note.metadata[key] for key in _WIRE if note.metadata.get(key)}
    if metadata:
        body["metadata"] = metadata
    return body | {"timestamp": iso(note.at)}


def _about(tx: Tx, agent: AgentRef, now: float, **what: str) -> list[Notification]:
    wanted = {key: value for key, value in what.items() if value}
    return [
        note
        for note in tx.notifications(agent, now)
        if any(note.metadata.get(key) == value for key, value in wanted.items())
    ]


def _clear(tx: Tx, notes: Iterable[Notification], now: float) -> int:
    cleared = 0
    for note in notes:
        tx.change_notification(replace(note, cleared_at=now))
        cleared += 1
    return cleared
