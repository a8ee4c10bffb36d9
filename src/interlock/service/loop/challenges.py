"""Challenges: what frees a paused or blocked agent. An agent knows a challenge's id; its code is made when a person is shown it."""

from __future__ import annotations

from dataclasses import replace

from interlock.core.codes import Refused
from interlock.core.digest import normal_name
from interlock.core.model import AgentRef, TicketState
from interlock.core.records import Challenge, Ticket
from interlock.ports import Tx
from interlock.service.loop import releases
from interlock.service.loop.releases import BLOCK, VERIFY
from interlock.service.loop.revealing import Revealed, announce, reveal, reveal_unsigned
from interlock.service.loop.standing import (
    ABORTED,
    ANSWERED,
    EXPIRED,
    OPEN,
    VERIFIED,
    ended,
    known,
    live,
    opened,
    unanswered,
    waits,
)
from interlock.service.loop.verifying import verify
from interlock.service.sessions import OperatorSession
from interlock.service.state import State

__all__ = [
    "ANSWERED",
    "BLOCK",
    "VERIFY",
    "Revealed",
    "announce",
    "approved_once",
    "end",
    "expire",
    "issue",
    "lapsed",
    "live",
    "reissue",
    "restarted",
    "reveal",
    "reveal_unsigned",
    "verify",
    "waiting",
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
    found = live(tx, agent, kind, now)
    if found is not None:
        return found
    past = tx.challenges(agent.principal, "", since=now - NEW_WITHIN)
    lately = [one for one in past if one.kind == kind and unanswered(one, now)]
    if len(lately) >= MOST_NEW:
        return lately[-1]
    return opened(tx, state, agent, kind, reason, now, digest, execution)


def approved_once(tx: Tx, challenge: Challenge) -> Ticket | None:
    """The ticket that a verified challenge made good: the same hint, reported again, spends it, and nothing else does (R-10)."""
    ticket = tx.live_ticket(challenge.digest, challenge.agent) if challenge.digest else None
    good = challenge.state == VERIFIED and challenge.kind == VERIFY
    return ticket if good and ticket is not None and ticket.state is TicketState.APPROVED else None


def end(tx: Tx, state: State, principal: str, kind: str, name: str = "", how: str = ABORTED) -> list[Challenge]:
    """Ends what is open: the execution was aborted, an operator lifted the block, Interlock was started anew."""
    gone = []
    for one in tx.challenges(principal):
        if one.kind == kind and (not name or normal_name(one.agent.name) == normal_name(name)):
            gone.append(ended(tx, state, one, how))
    return gone


def expire(state: State) -> int:
    """Ends what nobody answered in time (OOB-08); how many those were."""
    now = state.clock.now()
    late = [one for one in state.store.read(lambda tx: tx.challenges()) if now >= one.expires_at]

    def work(tx: Tx) -> int:
        for one in late:
            kept = tx.challenge(one.id)
            if kept is not None and kept.state == OPEN:
                asked = kept.kind == BLOCK or waits(tx, kept, now)
                ended(tx, state, kept, EXPIRED if asked else ANSWERED)
        return len(late)

    return state.store.write(work) if late else 0


def restarted(state: State) -> None:
    """R-10: a pause does not outlive the process; a block and its challenge do, with a code that has to be shown anew."""
    if not any(one.kind == VERIFY for one in state.store.read(lambda tx: tx.challenges())):
        return

    def work(tx: Tx) -> None:
        for one in tx.challenges():
            if one.kind == VERIFY:
                ended(tx, state, one, ABORTED)

    state.store.write(work)


def waiting(state: State) -> list[Challenge]:
    """The challenges that wait for a person, the oldest first."""
    now = state.clock.now()

    def work(tx: Tx) -> list[Challenge]:
        return [one for one in tx.challenges() if now < one.expires_at and (one.kind == BLOCK or waits(tx, one, now))]

    return state.store.read(work)


def lapsed(state: State) -> list[Challenge]:
    """The last challenge of each block that has none any more: an operator can issue another (C-16)."""
    now = state.clock.now()

    def work(tx: Tx) -> list[Challenge]:
        found = []
        for principal in sorted({block.principal for block in tx.blocks() if not block.lifted_at}):
            if live(tx, AgentRef(principal, ""), BLOCK, now) is None:
                found += [one for one in tx.challenges(principal, "") if one.kind == BLOCK][-1:]
        return [one for one in found if one.state != VERIFIED]

    return state.store.read(work)


def reissue(state: State, session: OperatorSession, id: str) -> Challenge:
    """A new challenge in place of one that ran out or is about to; does not count to the cap (C-16)."""

    def work(tx: Tx) -> Challenge:
        before, now = tx.challenge(known(id) or "-"), state.clock.now()
        if before is None:
            raise Refused(f"no challenge {id!r:.80}", "NOT_FOUND_RESOURCE")
        needed = releases.blocked(state, tx, before) if before.kind == BLOCK else waits(tx, before, now)
        if before.state == VERIFIED or not needed:
            raise Refused("nothing waits for this challenge any more", "NOT_FOUND_RESOURCE")
        found = live(tx, before.agent, before.kind, now)
        if found is not None:
            ended(tx, state, found, ANSWERED)
        elif before.state != ANSWERED:  # the new one counts in its place
            tx.save_challenge(replace(before, state=ANSWERED, code_hash="", release=""))
        return opened(
            tx, state, before.agent, before.kind, before.reason, now, before.digest, before.execution, session.operator
        )

    return state.store.write(work)
