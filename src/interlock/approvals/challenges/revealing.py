"""Announces challenges and reveals their codes to a freshly signed-in operator or a local channel; each time a new code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec import Struct, json
from msgspec.structs import replace

from interlock.analysis.display_text import visible
from interlock.approvals import signed_orders, spend_by
from interlock.approvals.answers import require_approver, sign_statement
from interlock.approvals.challenges import BLOCK, block_in_force, find_challenge, is_open, waiting_ticket
from interlock.approvals.display import ticket_text
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.keys.codes import code_hash, new_code, seal_under
from interlock.identity.sessions import OperatorSession
from interlock.model import Confidential
from interlock.ports import CodeChannel, StoreError, Tx
from interlock.records import Challenge
from interlock.runtime.integrity import Release, ShownCode
from interlock.runtime.state import State


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
    """Refuses where there is nothing to release, or this operator may not."""
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
    """None where replicas or specific people must answer."""
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
