"""Challenges that free a paused or blocked agent: issues, expires and ends them. Agents see an id, never the code."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.approvals.challenges import states
from interlock.approvals.challenges.revealing import RevealedCode, announce, reveal, reveal_unsigned
from interlock.approvals.challenges.states import (
    ABORTED,
    ANSWERED,
    BLOCK,
    EXPIRED,
    OPEN,
    VERIFIED,
    VERIFY,
    end_challenge,
    is_over,
    live_challenge,
    normal_id,
    open_challenge,
    step_waits,
)
from interlock.approvals.challenges.verifying import verify
from interlock.canonical_json import normal_name
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import OperatorSession
from interlock.model import AgentRef, TicketState
from interlock.ports import Tx
from interlock.records import Challenge, Ticket
from interlock.runtime.state import State

__all__ = [
    "ANSWERED",
    "BLOCK",
    "VERIFY",
    "RevealedCode",
    "announce",
    "approved_ticket",
    "end",
    "expire",
    "issue",
    "list_lapsed",
    "list_waiting",
    "live_challenge",
    "reissue",
    "reveal",
    "reveal_unsigned",
    "settle_restart",
    "verify",
]

MOST_NEW = 3  # challenges without an answer …
NEW_WITHIN = 300.0  # … in so many seconds (C-16)


def issue(
    tx: Tx,
    state: State,
    agent: AgentRef,
    kind: str,
    reason: str,
    now: float,
    *,
    digest: str = "",
    execution: str = "",
) -> Challenge:
    """The agent's live challenge, or a new one; the last one, ended, where too many had no answer lately (C-16). Never fails."""
    found = live_challenge(tx, agent, kind, now)
    if found is not None:
        return found
    past = tx.challenges(agent.principal, "", since=now - NEW_WITHIN)
    lately = [one for one in past if one.kind == kind and is_over(one, now)]
    if len(lately) >= MOST_NEW:
        return lately[-1]
    return open_challenge(tx, state, agent, kind, reason, now, digest, execution)


def approved_ticket(tx: Tx, challenge: Challenge) -> Ticket | None:
    """The ticket that a verified challenge made good: the same hint, reported again, spends it, and nothing else does (R-10)."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    good = challenge.state == VERIFIED and challenge.kind == VERIFY
    return ticket if good and ticket is not None and ticket.state is TicketState.APPROVED else None


def end(tx: Tx, state: State, principal: str, kind: str, name: str = "", how: str = ABORTED) -> list[Challenge]:
    """Ends open challenges after an abort, an unblock or a restart."""
    gone = []
    for one in tx.challenges(principal):
        if one.kind == kind and (not name or normal_name(one.agent.name) == normal_name(name)):
            gone.append(end_challenge(tx, state, one, how))
    return gone


def expire(state: State) -> int:
    """Ends challenges that nobody answered in time (OOB-08); returns how many."""
    now = state.clock.now()
    late = [one for one in state.store.read(lambda tx: tx.challenges()) if now >= one.expires_at]

    def work(tx: Tx) -> int:
        for one in late:
            kept = tx.challenge(one.id)
            if kept is not None and kept.state == OPEN:
                asked = kept.kind == BLOCK or step_waits(tx, kept, now)
                end_challenge(tx, state, kept, EXPIRED if asked else ANSWERED)
        return len(late)

    return state.store.write(work) if late else 0


def settle_restart(state: State) -> None:
    """R-10: a pause does not outlive the process; a block and its challenge do, with a code that has to be shown anew."""
    if not any(one.kind == VERIFY for one in state.store.read(lambda tx: tx.challenges())):
        return

    def work(tx: Tx) -> None:
        for one in tx.challenges():
            if one.kind == VERIFY:
                end_challenge(tx, state, one, ABORTED)

    state.store.write(work)


def list_waiting(state: State) -> list[Challenge]:
    """The challenges that wait for a person, the oldest first."""
    now = state.clock.now()

    def work(tx: Tx) -> list[Challenge]:
        return [
            one for one in tx.challenges() if now < one.expires_at and (one.kind == BLOCK or step_waits(tx, one, now))
        ]

    return state.store.read(work)


def list_lapsed(state: State) -> list[Challenge]:
    """The last challenge of each block that has none any more: an operator can issue another (C-16)."""
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
        before, now = tx.challenge(normal_id(id) or "-"), state.clock.now()
        if before is None:
            raise AnswerRefused(f"no challenge {id!r:.80}", "NOT_FOUND_RESOURCE")
        needed = states.block_in_force(state, tx, before) if before.kind == BLOCK else step_waits(tx, before, now)
        if before.state == VERIFIED or not needed:
            raise AnswerRefused("nothing waits for this challenge any more", "NOT_FOUND_RESOURCE")
        found = live_challenge(tx, before.agent, before.kind, now)
        if found is not None:
            end_challenge(tx, state, found, ANSWERED)
        elif before.state != ANSWERED:  # the new one replaces it
            tx.save_challenge(replace(before, state=ANSWERED, code_hash="", release=""))
        return open_challenge(
            tx, state, before.agent, before.kind, before.reason, now, before.digest, before.execution, session.operator
        )

    return state.store.write(work)
