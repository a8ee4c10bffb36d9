"""Announces challenges, reveals their codes, each time a new one, and performs what a returned code frees; locks out a principal after repeated failures (OOB-13)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from interlock.analysis.display_text import visible
from interlock.approvals import move_settled, settle, signed_orders, spend_by
from interlock.approvals.answers import agreement, require_approver, sign_statement
from interlock.approvals.challenges import (
    BLOCK,
    EXPIRED,
    OPEN,
    VERIFIED,
    VERIFY,
    block_in_force,
    end_challenge,
    find_challenge,
    is_open,
    normal_id,
    waiting_ticket,
)
from interlock.approvals.display import ticket_text
from interlock.error_codes import AnswerRefused, LoopProblem, NotFound, limit_details
from interlock.identity.attempts import Attempts
from interlock.identity.keys.codes import code_hash, new_code, open_under, same_hash, seal_under
from interlock.identity.sessions import OperatorSession
from interlock.model import AgentRef, Confidential, TicketState
from interlock.ports import CodeChannel, StoreError, Tx
from interlock.records import Block, Challenge, Ticket
from interlock.runtime.integrity import Release, ShownCode
from interlock.runtime.state import State
from interlock.times import iso


class RevealedCode(Confidential, Struct, frozen=True):
    HIDDEN = ("code",)

    code: str
    expires_at: float


def reveal(state: State, session: OperatorSession, id: str) -> RevealedCode:
    """Shown once to a freshly signed-in operator; voids the code before (R-10)."""
    session.require_fresh(state.clock.now())
    shown = _reveal(state, id, partial(_signed_release, session))
    assert shown is not None  # only an unsigned release may be none
    return shown


def reveal_unsigned(state: State, channel: str, id: str) -> RevealedCode | None:
    """For a channel that only the person at this machine sees; None where that is not enough."""
    return _reveal(state, id, partial(_unsigned_release, channel))


def _reveal(
    state: State, id: str, release_of: Callable[[State, Tx, Challenge, float], Release | None]
) -> RevealedCode | None:
    now, code = state.clock.now(), new_code()

    def work(tx: Tx) -> tuple[Challenge, Release] | None:
        found = find_challenge(tx, id)
        if not is_open(found, now):
            raise AnswerRefused(f"challenge {found.id} has ended; `interlock codes` can issue another", "TOKEN_EXPIRED")
        if (release := release_of(state, tx, found, now)) is None:
            return None
        box = seal_under(found.id, code, json.encode(release).decode()) if state.shared else ""
        made = replace(found, code_hash=code_hash(found.id, code), minted_at=now, release=box)
        tx.save_challenge(made)
        principal, by = made.agent.principal, release.by or release.channel
        details = {"challenge": made.id, "kind": made.kind, "principal": principal, "channel": release.channel}
        state.recorder.event(tx, "reveal", by, details)
        return made, release

    if (made := state.store.write(work)) is None:
        return None
    challenge, release = made
    state.codes.show(challenge.id, ShownCode(challenge.code_hash, challenge.expires_at, release))
    hide_code(state, challenge.id)
    return RevealedCode(code, challenge.expires_at)


def _signed_release(session: OperatorSession, state: State, tx: Tx, challenge: Challenge, now: float) -> Release:
    named = Release(session.channel, session.operator)
    if challenge.kind == BLOCK:
        if (block := block_in_force(state, tx, challenge)) is None:
            raise NotFound("this agent is not blocked any more")
        setting, *words = signed_orders.lift_of(block)
        return replace(named, lift=signed_orders.sign_order(state, tx, session, setting, *words))
    if (ticket := waiting_ticket(state, tx, challenge, now)) is None:
        raise NotFound("the step that this is about does not wait any more")
    require_approver(state, session, ticket)
    lasts = spend_by(ticket, challenge.expires_at) + 1
    return replace(named, approval=sign_statement(session, ticket, "approve", now, lasts))


def _unsigned_release(channel: str, state: State, tx: Tx, challenge: Challenge, now: float) -> Release | None:
    if state.shared:
        return None
    if challenge.kind == BLOCK:
        return Release(channel) if block_in_force(state, tx, challenge) else None
    ticket = waiting_ticket(state, tx, challenge, now)
    return Release(channel) if ticket and ticket.requirement.open_to_anybody else None


def announce(state: State) -> int:
    """And has a local channel show their codes."""
    now, count, issued = state.clock.now(), 0, state.codes.issued()
    kept = state.store.read(lambda tx: {id: tx.challenge(id) for id in issued}) if issued else {}
    for id, since in issued.items():
        challenge = kept[id]
        if challenge is None and now - since < WITHIN:
            continue  # its transaction is not over
        state.codes.mark_announced(id)
        if challenge is None or not is_open(challenge, now):
            continue
        count += 1
        words = challenge_line(challenge)
        state.tell("challenge", challenge, f"{words} Its code: interlock codes")
        channel = next((one for one in state.channels if isinstance(one, CodeChannel)), None)
        if channel:  # a second one would replace the code that the first one shows
            _shown_by(state, channel, challenge, words)
    return count


def _shown_by(state: State, channel: CodeChannel, challenge: Challenge, words: str) -> None:
    try:
        if revealed := reveal_unsigned(state, channel.name, challenge.id):
            left = revealed.expires_at - state.clock.now()
            channel.show(challenge, revealed.code, _whole(state, challenge, words), left)
    except AnswerRefused:  # it ended just now
        return
    except StoreError:
        raise
    except Exception as error:
        state.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")


def _whole(state: State, challenge: Challenge, words: str) -> str:
    ticket = state.store.read(lambda tx: tx.challenged_ticket(challenge))
    return "\n".join([words, "", *ticket_text(ticket)]) if ticket else words


WITHIN = 60.0  # seconds that a challenge has to get to disk; one that does not was never issued


def challenge_line(challenge: Challenge) -> str:
    """One line for a person, without what could move a cursor."""
    agent = challenge.agent
    who = f"{agent.name} ({agent.principal})" if agent.name else agent.principal
    what = "is blocked" if challenge.kind == "block" else "waits for a code"
    return visible(" ".join(f"{who} {what}: {challenge.reason}".split()))[:300]


def hide_code(state: State, id: str) -> None:
    for channel in state.channels:
        if isinstance(channel, CodeChannel):
            try:
                channel.hide(id)
            except Exception as error:  # a window that stays open shows a code that counts no more
                state.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")


FAILURES = Attempts("challenge.failures", doubles=True)  # of one principal
INVALID = "TOKEN_INVALID"
_WORDS = {
    INVALID: "This code does not fit this challenge, or is not the newest. Each counts once: an operator gets a new one from `interlock codes`.",
    "TOKEN_EXPIRED": "This challenge expired. Ask again: the answer names a new one.",
    "TOKEN_ALREADY_USED": "This challenge was verified before.",
}
LOCKED = "Nobody has signed in since Interlock started: an operator runs `interlock codes` and has a new code shown."
APPROVED = "Verified: report the same step again. It is approved once."


class _Outcome(Struct, frozen=True):
    challenge: Challenge | None = None  # whose code is void
    problem: LoopProblem | None = None
    block: Block | None = None
    ticket: Ticket | None = None
    unsigned: bool = False  # no operator signed for it


def verify(state: State, agent: AgentRef, challenge_id: str, code: str) -> dict[str, Any]:
    """Raises LoopProblem for any but the right code (C-17), with the failure counted and recorded."""
    state.catch_up()
    outcome = state.store.write(lambda tx: _attempt(tx, state, agent, challenge_id, code))
    if done := outcome.challenge:
        state.codes.forget(done.id)
        hide_code(state, done.id)
    if outcome.problem or done is None:
        raise outcome.problem or LoopProblem(INVALID, _WORDS[INVALID])
    answer: dict[str, Any] = {"verified": True, "challenge_id": done.id}
    if outcome.block:
        state.remember_block(outcome.block)
        state.changed()
        words = "Verified: the block is lifted. Nothing was approved by it."
        return answer | {"unblocked_agent": done.agent.name or done.agent.principal, "message": words}
    if outcome.ticket and outcome.ticket.state is TicketState.APPROVED:
        if outcome.unsigned:
            state.codes.agree(outcome.ticket.id, outcome.ticket.expires_at)
        return answer | {"message": APPROVED}
    return answer | {"message": "Verified: one of several people agreed; the step waits for the others."}


def _attempt(tx: Tx, state: State, agent: AgentRef, id: str, code: str) -> _Outcome:
    now = state.clock.now()
    if seconds := FAILURES.wait(tx, agent.principal, now):  # 1. not too many lately
        words = f"Too many codes failed; wait {seconds} s."
        return _Outcome(problem=LoopProblem("RATE_LIMIT_EXCEEDED", words, limit_details(FAILURES.most, seconds, now)))
    challenge = tx.challenge(normal_id(id) or "-")
    if challenge is None or challenge.agent.principal != agent.principal:  # 2. a challenge of this principal
        return _failed(tx, state, agent, normal_id(id), INVALID, "no challenge of this principal")
    token = {"token": challenge.id}
    if challenge.state == VERIFIED:  # 3. not used
        said = {**token, "consumed_at": iso(challenge.expires_at)}
        return _failed(tx, state, agent, challenge.id, "TOKEN_ALREADY_USED", "used before", said)
    if challenge.state == EXPIRED or (challenge.state == OPEN and now >= challenge.expires_at):  # 4. in time (OOB-08)
        gone = end_challenge(tx, state, challenge, EXPIRED) if challenge.state == OPEN else challenge
        said = {**token, "expired_at": iso(challenge.expires_at), "current_time": iso(now)}
        out = _failed(tx, state, agent, challenge.id, "TOKEN_EXPIRED", "expired", said)
        return replace(out, challenge=gone)
    if challenge.release and state.shared and state.sessions.roster is None:
        return _Outcome(problem=LoopProblem("PERMISSION_DENIED", LOCKED))
    release = _released(state, challenge, code, now) if challenge.state == OPEN else None
    outcome = _freed(tx, state, challenge, release, now) if release else None
    if outcome:  # 5. the right code, for what still waits
        FAILURES.forget(tx, agent.principal)
        return outcome
    burnt = replace(challenge, code_hash="", release="", attempts=challenge.attempts + 1)
    tx.save_challenge(burnt)
    out = _failed(tx, state, agent, challenge.id, INVALID, "not its code")
    return replace(out, challenge=burnt)


def _released(state: State, challenge: Challenge, code: str, now: float) -> Release | None:
    """If this process showed the code, or a replica under an operator's signature."""
    given = code_hash(challenge.id, code)
    if not same_hash(challenge.code_hash, given):
        return None
    shown = state.codes.shown(challenge.id, now)
    if shown and same_hash(shown.hash, given):
        return shown.release
    if not state.shared:
        return None
    try:
        return json.decode(open_under(challenge.id, code, challenge.release), type=Release)
    except ValueError:  # sealed under another code, or by another version
        return None


def _freed(tx: Tx, state: State, challenge: Challenge, release: Release, now: float) -> _Outcome | None:
    """None where neither block nor step waits any more."""
    who = release.by or release.channel
    details: dict[str, Any] = {"challenge": challenge.id, "channel": release.channel, "signed": bool(release.by)}
    block = _lift_block(state, tx, challenge, release, now) if challenge.kind == BLOCK else None
    ticket = _approve_ticket(state, tx, challenge, release, now) if challenge.kind == VERIFY else None
    if block:
        principal = {"principal": block.principal, "reason": "its code came back"}
        state.recorder.event(tx, "unblock", who, {**principal, **details})
    elif ticket:
        about = {"ticket": ticket.id, "digest": ticket.digest, "state": ticket.state.value}
        state.recorder.event(tx, "approve", who, {**about, **details})
    else:
        return None
    done = replace(challenge, state=VERIFIED, expires_at=now, code_hash="", release="")  # it counted until now
    tx.save_challenge(done)
    return _Outcome(done, block=block, ticket=ticket, unsigned=not release.by)


def _lift_block(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Block | None:
    """Every row of it; None where the release is about another one."""
    if (block := block_in_force(state, tx, challenge)) is None:
        return None
    setting, *words = signed_orders.lift_of(block)
    if release.by:
        if signed_orders.verify_order(state, setting, release.lift).words != tuple(words):
            return None
        if state.shared:
            tx.save_setting(setting, release.lift)
    elif state.shared:
        return None
    done = replace(block, challenge=challenge.id, lifted_at=now, lifted_by=release.by or release.channel)
    for row in tx.blocks():
        if row.principal == block.principal and not row.lifted_at and row.since != block.since:
            tx.save_block(replace(row, lifted_at=now, lifted_by=done.lifted_by))
    tx.save_block(done)
    return done


def _approve_ticket(state: State, tx: Tx, challenge: Challenge, release: Release, now: float) -> Ticket | None:
    """None where it cannot take one more approval."""
    if (before := waiting_ticket(state, tx, challenge, now)) is None:
        return None
    ticket, given = settle(before, now), release.approval
    if given:
        found = agreement(state, ticket, [*tx.approvals(ticket.id), given], now)
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
    after = move_settled(tx, before, "approve", now, by, "its code came back")
    if after and given:
        tx.add_approval(given)
    return after


def _failed(
    tx: Tx, state: State, agent: AgentRef, id: str, code: str, why: str, said: dict[str, Any] | None = None
) -> _Outcome:
    """Counts and records a failure, and answers without the entered code (C-17)."""
    now = state.clock.now()
    locked = FAILURES.failed(tx, agent.principal, now)
    details = {"challenge": id, "name": agent.name, "reason": why, "answer": code, "locked_seconds": locked}
    state.recorder.event(tx, "verify_failed", agent.principal, details)
    return _Outcome(problem=LoopProblem(code, _WORDS[code], said or {"token": id}))
