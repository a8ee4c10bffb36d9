"""States of a challenge and the release that its code is good for: one block or one held step, signed by an operator."""

from __future__ import annotations

import json
import uuid
from typing import Any

from msgspec.structs import replace

from interlock.approvals import MoveRefused, apply_move, settle, signed_orders, spend_by
from interlock.approvals.answers import require_approver, sign_statement
from interlock.approvals.statements import check_agreement
from interlock.approvals.tickets import is_altered
from interlock.canonical_json import normal_name, simplify
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.model import AgentRef, TicketState
from interlock.ports import Tx
from interlock.records import Approval, Block, Challenge, Ticket
from interlock.redaction import redact_text
from interlock.runtime.integrity import Release
from interlock.runtime.state import State

# A challenge is open, and then verified, answered otherwise, expired or aborted for good. Beside that it has a code or has none:
#   shown     a person is shown a new code; the one before it is no code any more
#   wrong     whatever the agent enters that is not the code ends the code, not the challenge (OOB-07)
#   right     ends both, and frees what the operator signed for: this block, or this one step
# Whoever else enters anything, in whatever state, gets TOKEN_INVALID and ends nothing (R-10, C-17).

OPEN, VERIFIED, ANSWERED, EXPIRED, ABORTED = "open", "verified", "answered", "expired", "aborted"
REASON = 500  # characters


def live_challenge(tx: Tx, agent: AgentRef, kind: str, now: float) -> Challenge | None:
    """The open challenge: of the principal where it is blocked, of the agent where it is paused and its step still waits."""
    for one in tx.challenges(agent.principal):
        if one.kind != kind or now >= one.expires_at:
            continue
        if kind == BLOCK or (normal_name(one.agent.name) == normal_name(agent.name) and step_waits(tx, one, now)):
            return one
    return None


def open_challenge(
    tx: Tx,
    state: State,
    agent: AgentRef,
    kind: str,
    reason: str,
    now: float,
    digest: str,
    execution: str,
    by: str = "interlock",
) -> Challenge:
    made = Challenge(
        id=str(uuid.uuid4()),
        agent=agent,
        kind=kind,
        reason=redact_text(reason)[:REASON],
        opened_at=now,
        expires_at=now + state.in_force.challenge_seconds,
        execution=execution,
        digest=digest,
    )
    tx.save_challenge(made)
    details = {"challenge": made.id, "kind": kind, "principal": agent.principal, "name": agent.name, "state": OPEN}
    state.recorder.event(tx, "challenge", by, {**details, "reason": made.reason})
    state.codes.issue(made.id, now)
    return made


def end_challenge(tx: Tx, state: State, challenge: Challenge, how: str) -> Challenge:
    gone = replace(challenge, state=how, code_hash="", release="")
    tx.save_challenge(gone)
    details = {"challenge": gone.id, "kind": gone.kind, "principal": gone.agent.principal, "state": how}
    state.recorder.event(tx, "challenge", "interlock", details)
    return gone


def normal_id(id: str) -> str:
    """An id as it was issued, in whatever spelling of a UUID; empty for what is none, which may be a code in the wrong place."""
    try:
        return str(uuid.UUID(id)) if len(id) <= 64 else ""
    except (ValueError, AttributeError, TypeError):
        return ""


def step_waits(tx: Tx, challenge: Challenge, now: float) -> bool:
    """Whether the step that a pause is about still waits for a person."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    return ticket is not None and settle(ticket, now).open


def is_over(challenge: Challenge, now: float) -> bool:
    return challenge.state in (EXPIRED, ABORTED) or (challenge.state == OPEN and now >= challenge.expires_at)


BLOCK, VERIFY = "block", "verify"


def signed_release(state: State, tx: Tx, session: OperatorSession, challenge: Challenge, now: float) -> Release:
    """The release of this operator's code; refuses where there is nothing to release, or they may not."""
    named = Release(session.channel, session.operator)
    if challenge.kind == BLOCK:
        block = block_in_force(state, tx, challenge)
        if block is None:
            raise AnswerRefused("this agent is not blocked any more", "NOT_FOUND_RESOURCE")
        setting, principal = _order(challenge), challenge.agent.principal
        return replace(named, lift=signed_orders.sign_order(state, tx, session, setting, principal, repr(block.since)))
    ticket = waiting_ticket(state, tx, challenge, now)
    if ticket is None:
        raise AnswerRefused("the step that this is about does not wait any more", "NOT_FOUND_RESOURCE")
    require_approver(state, session, ticket)
    lasts = spend_by(ticket, challenge.expires_at) + 1
    return replace(named, approval=sign_statement(session, ticket, "approve", now, lasts))


def unsigned_release(state: State, tx: Tx, challenge: Challenge, channel: str, now: float) -> Release | None:
    """The release of a code from a channel without sign-in; None where replicas or specific people must answer."""
    if state.shared:
        return None
    if challenge.kind == BLOCK:
        return Release(channel) if block_in_force(state, tx, challenge) else None
    ticket = waiting_ticket(state, tx, challenge, now)
    return Release(channel) if ticket is not None and ticket.requirement.open_to_anybody else None


def lift_block(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Block | None:
    """Lifts the block that this release is about, every row of it; None where it is about another one."""
    block = block_in_force(state, tx, challenge)
    if block is None:
        return None
    principal, setting = challenge.agent.principal, _order(challenge)
    if release.by:
        if signed_orders.verify_order(state, setting, release.lift).words != (principal, repr(block.since)):
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


def approve_ticket(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Ticket | None:
    """The ticket with one more approval; None where it cannot take one any more."""
    before = waiting_ticket(state, tx, challenge, now)
    if before is None:
        return None
    ticket, given = settle(before, now), release.approval
    if given is not None:
        roster = state.sessions.roster
        heard = [*tx.approvals(ticket.id), given]
        found = check_agreement(ticket, heard, now, roster.people, roster.verify) if roster else None
        if found is None or release.by not in found.by:
            return None
        if not found.satisfied:  # one of several who are asked
            tx.add_approval(given)
            return before
        by = ", ".join(found.by)
    elif release.by or not ticket.requirement.open_to_anybody:
        return None
    else:
        by = release.channel
    try:
        after = replace(apply_move(ticket, "approve", now, by, "its code came back"), version=before.version + 1)
    except MoveRefused:
        return None
    if not tx.change_ticket(after, before):
        return None
    if given is not None:
        tx.add_approval(given)
    return after


def block_in_force(state: State, tx: Tx, challenge: Challenge) -> Block | None:
    """The block in force of the challenge's principal, also one whose row was deleted outside Interlock."""
    principal = challenge.agent.principal
    why = state.blocked(principal)
    return tx.block(principal) or (Block(principal, why, challenge.opened_at, "interlock") if why else None)


def waiting_ticket(state: State, tx: Tx, challenge: Challenge, now: float) -> Ticket | None:
    """The ticket of the challenge's step while a person can still agree to it, as this installation made it."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    if ticket is None or settle(ticket, now).state not in (TicketState.COOLING, TicketState.WAITING):
        return None
    return None if is_altered(state, ticket) else ticket


def release_to_text(release: Release) -> str:
    """A release as text, to be sealed."""
    return json.dumps(simplify(release), separators=(",", ":"))


def release_from_text(text: str) -> Release | None:
    """Parses a sealed release; None for an empty or foreign text."""
    try:
        data: dict[str, Any] = json.loads(text)
        given = data.pop("approval")
        return Release(**data, approval=Approval(**given) if given else None)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _order(challenge: Challenge) -> str:
    return f"{signed_orders.LIFT}{challenge.agent.principal}"
