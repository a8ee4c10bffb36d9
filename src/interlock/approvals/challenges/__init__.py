"""Challenges that free a paused or blocked agent: issues, expires and ends them. Agents see an id, never the code."""

from __future__ import annotations

import uuid

from msgspec.structs import replace

from interlock.approvals import settle
from interlock.approvals.tickets import is_altered
from interlock.canonical_json import normal_name
from interlock.error_codes import NotFound
from interlock.identity.sessions import OperatorSession
from interlock.model import AgentRef
from interlock.ports import Tx
from interlock.records import Block, Challenge, Ticket
from interlock.redaction import redact_text
from interlock.runtime.state import State

# A challenge is open, and then verified, answered otherwise, expired or aborted for good. Beside that it has a code or has none:
#   shown     a person is shown a new code; the one before it is no code any more
#   wrong     whatever the agent enters that is not the code ends the code, not the challenge (OOB-07)
#   right     ends both, and frees what the operator signed for: this block, or this one step
# Whoever else enters anything, in whatever state, gets TOKEN_INVALID and ends nothing (R-10, C-17).

OPEN, VERIFIED, ANSWERED, EXPIRED, ABORTED = "open", "verified", "answered", "expired", "aborted"
BLOCK, VERIFY = "block", "verify"
REASON = 500  # characters
MOST_NEW = 3  # challenges without an answer …
NEW_WITHIN = 300.0  # … in so many seconds (C-16)


def issue(
    tx: Tx, state: State, agent: AgentRef, kind: str, reason: str, now: float, digest: str = "", execution: str = ""
) -> Challenge:
    """The live one, or a new one; the last, ended one where too many had no answer lately (C-16). Never fails."""
    if found := live_challenge(tx, agent, kind, now):
        return found
    past = tx.challenges(agent.principal, "", since=now - NEW_WITHIN)
    lately = [one for one in past if one.kind == kind and is_over(one, now)]
    if len(lately) >= MOST_NEW:
        return lately[-1]
    return open_challenge(tx, state, agent, kind, reason, now, digest, execution, "interlock")


def live_challenge(tx: Tx, agent: AgentRef, kind: str, now: float) -> Challenge | None:
    """The open challenge: of a blocked principal, or of a paused agent whose step still waits."""
    for one in tx.challenges(agent.principal):
        mine = kind == BLOCK or normal_name(one.agent.name) == normal_name(agent.name)
        if one.kind == kind and mine and now < one.expires_at and _is_needed(tx, one, now):
            return one
    return None


def open_challenge(
    tx: Tx, state: State, agent: AgentRef, kind: str, reason: str, now: float, digest: str, execution: str, by: str
) -> Challenge:
    id, until = str(uuid.uuid4()), now + state.in_force.challenge_seconds
    made = Challenge(id, agent, kind, redact_text(reason)[:REASON], now, until, execution=execution, digest=digest)
    tx.save_challenge(made)
    details = {"challenge": made.id, "kind": kind, "principal": agent.principal, "name": agent.name, "state": OPEN}
    state.recorder.event(tx, "challenge", by, {**details, "reason": made.reason})
    state.codes.issue(made.id, now)
    return made


def end_challenge(tx: Tx, state: State, challenge: Challenge, how: str) -> Challenge:
    tx.save_challenge(gone := replace(challenge, state=how, code_hash="", release=""))
    details = {"challenge": gone.id, "kind": gone.kind, "principal": gone.agent.principal, "state": how}
    state.recorder.event(tx, "challenge", "interlock", details)
    return gone


def normal_id(id: str) -> str:
    """An id as it was issued; empty for what is no UUID, which may be a code in the wrong place."""
    try:
        return str(uuid.UUID(id)) if len(id) <= 64 else ""
    except (ValueError, AttributeError, TypeError):
        return ""


def find_challenge(tx: Tx, id: str) -> Challenge:
    found = tx.challenge(normal_id(id) or "-")
    if found is None:
        raise NotFound(f"no challenge {id!r:.80}")
    return found


def _is_needed(tx: Tx, challenge: Challenge, now: float) -> bool:
    ticket = tx.challenged_ticket(challenge) if challenge.kind != BLOCK else None
    return challenge.kind == BLOCK or (ticket is not None and settle(ticket, now).open)


def is_open(challenge: Challenge | None, now: float) -> bool:
    return challenge is not None and challenge.state == OPEN and now < challenge.expires_at


def is_over(challenge: Challenge, now: float) -> bool:
    return challenge.state in (EXPIRED, ABORTED) or (challenge.state == OPEN and now >= challenge.expires_at)


def waiting_ticket(state: State, tx: Tx, challenge: Challenge, now: float) -> Ticket | None:
    """The ticket of the challenge's step while a person can agree to it, as this installation made it."""
    ticket = tx.challenged_ticket(challenge)
    return ticket if ticket and settle(ticket, now).open and not is_altered(state, ticket) else None


def block_in_force(state: State, tx: Tx, challenge: Challenge) -> Block | None:
    """The block of the challenge's principal, also one whose row was deleted outside Interlock."""
    principal = challenge.agent.principal
    why = state.blocked(principal)
    return tx.block(principal) or (Block(principal, why, challenge.opened_at, "interlock") if why else None)


def end(tx: Tx, state: State, principal: str, kind: str, name: str = "", how: str = ABORTED) -> None:
    for one in tx.challenges(principal):
        if one.kind == kind and (not name or normal_name(one.agent.name) == normal_name(name)):
            end_challenge(tx, state, one, how)


def expire(state: State) -> int:
    """Those that nobody answered in time (OOB-08); returns how many."""
    now = state.clock.now()
    late = [one for one in state.store.read(lambda tx: tx.challenges()) if now >= one.expires_at]

    def work(tx: Tx) -> int:
        for one in late:
            kept = tx.challenge(one.id)
            if kept and kept.state == OPEN:
                end_challenge(tx, state, kept, EXPIRED if _is_needed(tx, kept, now) else ANSWERED)
        return len(late)

    return state.store.write(work) if late else 0


def settle_restart(state: State) -> None:
    """R-10: a pause does not outlive the process; a block and its challenge do, with a code that has to be shown anew."""
    pauses = [one for one in state.store.read(lambda tx: tx.challenges()) if one.kind == VERIFY]
    if pauses:
        state.store.write(lambda tx: [end_challenge(tx, state, one, ABORTED) for one in pauses])


def list_waiting(state: State) -> list[Challenge]:
    now = state.clock.now()

    found = state.store.read(lambda tx: [one for one in tx.challenges() if _is_needed(tx, one, now)])
    return [one for one in found if now < one.expires_at]


def list_lapsed(state: State) -> list[Challenge]:
    """The last of each block that has none any more: an operator can issue another (C-16)."""
    now = state.clock.now()

    def work(tx: Tx) -> list[Challenge]:
        found = []
        for principal in sorted({block.principal for block in tx.blocks() if not block.lifted_at}):
            if live_challenge(tx, AgentRef(principal, ""), BLOCK, now) is None:
                found += [one for one in tx.challenges(principal, "") if one.kind == BLOCK][-1:]
        return [one for one in found if one.state != VERIFIED]

    return state.store.read(work)


def reissue(state: State, session: OperatorSession, id: str) -> Challenge:
    """A new challenge in place of one that ran out or is about to; does not count to the cap (C-16)."""

    def work(tx: Tx) -> Challenge:
        before, now = find_challenge(tx, id), state.clock.now()
        lifted = before.kind == BLOCK and block_in_force(state, tx, before) is None
        if before.state == VERIFIED or lifted or not _is_needed(tx, before, now):
            raise NotFound("nothing waits for this challenge any more")
        if found := live_challenge(tx, before.agent, before.kind, now):
            end_challenge(tx, state, found, ANSWERED)
        elif before.state != ANSWERED:  # the new one replaces it
            tx.save_challenge(replace(before, state=ANSWERED, code_hash="", release=""))
        about = before.digest, before.execution, session.operator
        return open_challenge(tx, state, before.agent, before.kind, before.reason, now, *about)

    return state.store.write(work)
