"""How does a challenge stand? Opened, live, ended: each change kept and on record."""

from __future__ import annotations

import uuid
from dataclasses import replace

from interlock.core.digest import normal_name
from interlock.core.model import AgentRef
from interlock.core.records import Challenge
from interlock.core.redact import redact_text
from interlock.core.ticket import settled
from interlock.ports import Tx
from interlock.service.loop.releases import BLOCK
from interlock.service.record import deed
from interlock.service.state import State

# A challenge is open, and then verified, answered otherwise, expired or aborted for good. Beside that it has a code or has none:
#   shown     a person is shown a new code; the one before it is no code any more
#   wrong     whatever the agent enters that is not the code ends the code, not the challenge (OOB-07)
#   right     ends both, and frees what the operator signed for: this block, or this one step
# Whoever else enters anything, in whatever state, gets TOKEN_INVALID and ends nothing (R-10, C-17).

OPEN, VERIFIED, ANSWERED, EXPIRED, ABORTED = "open", "verified", "answered", "expired", "aborted"
REASON = 500  # characters


def live(tx: Tx, agent: AgentRef, kind: str, now: float) -> Challenge | None:
    """The open challenge: of the principal where it is blocked, of the agent where it is paused and its step still waits."""
    for one in tx.challenges(agent.principal):
        if one.kind != kind or now >= one.expires_at:
            continue
        if kind == BLOCK or (normal_name(one.agent.name) == normal_name(agent.name) and waits(tx, one, now)):
            return one
    return None


def opened(
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
        expires_at=now + state.challenge_seconds,
        execution=execution,
        digest=digest,
    )
    tx.save_challenge(made)
    details = {"challenge": made.id, "kind": kind, "principal": agent.principal, "name": agent.name, "state": OPEN}
    state.recorder.now(tx, "challenge", deed(now, "challenge", by, {**details, "reason": made.reason}))
    state.codes.issue(made.id, now)
    return made


def ended(tx: Tx, state: State, challenge: Challenge, how: str) -> Challenge:
    gone = replace(challenge, state=how, code_hash="", release="")
    tx.save_challenge(gone)
    details = {"challenge": gone.id, "kind": gone.kind, "principal": gone.agent.principal, "state": how}
    state.recorder.now(tx, "challenge", deed(state.clock.now(), "challenge", "interlock", details))
    return gone


def known(id: str) -> str:
    """An id as it was issued, in whatever spelling of a UUID; empty for what is none, which may be a code in the wrong place."""
    try:
        return str(uuid.UUID(id)) if len(id) <= 64 else ""
    except (ValueError, AttributeError, TypeError):
        return ""


def waits(tx: Tx, challenge: Challenge, now: float) -> bool:
    """Whether the step that a pause is about still waits for a person."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    return ticket is not None and settled(ticket, now).open


def unanswered(challenge: Challenge, now: float) -> bool:
    return challenge.state in (EXPIRED, ABORTED) or (challenge.state == OPEN and now >= challenge.expires_at)
