"""What does a code free? One block or one held step: signed when an operator has the code shown, taken when it comes back."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from interlock.core.codes import Refused
from interlock.core.model import TicketState
from interlock.core.records import Approval, Block, Challenge, Ticket
from interlock.core.statement import agrees, may
from interlock.core.ticket import MoveRefused, moved, settled, spend_by
from interlock.ports import Tx
from interlock.service import orders
from interlock.service.answers import signed
from interlock.service.loop.codes import Release
from interlock.service.sessions import OperatorSession
from interlock.service.state import State, code_suffices
from interlock.service.tickets import seal_of, shown_hash

BLOCK, VERIFY = "block", "verify"


def signed_release(state: State, tx: Tx, session: OperatorSession, challenge: Challenge, now: float) -> Release:
    """What this operator's code would free; refuses where there is nothing to free, or where they may not."""
    named = Release(session.channel, session.operator)
    if challenge.kind == BLOCK:
        block = blocked(state, tx, challenge)
        if block is None:
            raise Refused("this agent is not blocked any more", "NOT_FOUND_RESOURCE")
        setting, principal = _order(challenge), challenge.agent.principal
        return replace(named, lift=orders.signed(state, tx, session, setting, principal, repr(block.since)))
    ticket = waiting_ticket(state, tx, challenge, now)
    if ticket is None:
        raise Refused("the step that this is about does not wait any more", "NOT_FOUND_RESOURCE")
    person, roster = state.sessions.person(session.operator), state.sessions.roster
    services = {name for name, one in roster.people.items() if one.service} if roster else set()
    if person is None or not may(person, ticket.requirement.approvers, services):
        who = ", ".join(sorted(ticket.requirement.approvers)) or "any operator"
        raise Refused(f"{session.operator} may not answer this: it asks for {who}")
    lasts = spend_by(ticket, challenge.expires_at) + 1
    return replace(named, approval=signed(session, ticket, "approve", now, lasts))


def unsigned_release(state: State, tx: Tx, challenge: Challenge, channel: str, now: float) -> Release | None:
    """What a code would free that a channel shows without a sign-in; nothing where other replicas or people are asked."""
    if state.shared:
        return None
    if challenge.kind == BLOCK:
        return Release(channel) if blocked(state, tx, challenge) else None
    ticket = waiting_ticket(state, tx, challenge, now)
    return Release(channel) if ticket is not None and code_suffices(ticket.requirement) else None


def lifted(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Block | None:
    """Lifts the block that this release is about, every row of it; None where it is about another one."""
    block = blocked(state, tx, challenge)
    if block is None:
        return None
    principal, setting = challenge.agent.principal, _order(challenge)
    if release.by:
        if orders.proved(state, setting, release.lift).words != (principal, repr(block.since)):
            return None
        if state.shared:
            tx.save_setting(setting, release.lift)
    elif state.shared:
        return None
    done = replace(block, challenge=challenge.id, lifted_at=now, lifted_by=release.by or release.channel)
    for row in tx.blocks():
        if row.principal == principal and not row.lifted_at and row.since != block.since:
            tx.save_block(replace(row, lifted_at=now, lifted_by=done.lifted_by))
    tx.save_block(done)
    return done


def approved(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Ticket | None:
    """The ticket with one more approval; None where it cannot take one any more."""
    before = waiting_ticket(state, tx, challenge, now)
    if before is None:
        return None
    ticket, given = settled(before, now), release.approval
    if given is not None:
        roster = state.sessions.roster
        heard = [*tx.approvals(ticket.id), given]
        found = agrees(ticket, heard, now, roster.people, roster.verify) if roster else None
        if found is None or release.by not in found.by:
            return None
        if not found.satisfied:  # one of several who are asked
            tx.add_approval(given)
            return before
        by = ", ".join(found.by)
    elif release.by or not code_suffices(ticket.requirement):
        return None
    else:
        by = release.channel
    try:
        after = replace(moved(ticket, "approve", now, by, "its code came back"), version=before.version + 1)
    except MoveRefused:
        return None
    if not tx.change_ticket(after, before):
        return None
    if given is not None:
        tx.add_approval(given)
    return after


def blocked(state: State, tx: Tx, challenge: Challenge) -> Block | None:
    """The block in force of the challenge's principal, also one whose row was deleted outside Interlock."""
    principal = challenge.agent.principal
    why = state.blocked(principal)
    return tx.block(principal) or (Block(principal, why, challenge.opened_at, "interlock") if why else None)


def waiting_ticket(state: State, tx: Tx, challenge: Challenge, now: float) -> Ticket | None:
    """The ticket of the challenge's step while a person can still agree to it, as this installation made it."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    if ticket is None or settled(ticket, now).state not in (TicketState.COOLING, TicketState.WAITING):
        return None
    return ticket if ticket.seal == seal_of(state, ticket) and ticket.shown_hash == shown_hash(ticket) else None


def to_text(release: Release) -> str:
    """A release as it is sealed."""
    return json.dumps(asdict(release), separators=(",", ":"))


def from_text(text: str) -> Release | None:
    """The release that was sealed; None where nothing was, or by another program."""
    try:
        data: dict[str, Any] = json.loads(text)
        given = data.pop("approval")
        return Release(**data, approval=Approval(**given) if given else None)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _order(challenge: Challenge) -> str:
    return f"{orders.LIFT}{challenge.agent.principal}"
