"""Who is shown a code? An operator who just signed in, and a channel in front of this machine; each time a new one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from interlock.core.codes import Refused
from interlock.core.records import Challenge
from interlock.core.shown import told
from interlock.keys.codes import code_hash, new_code, seal_under
from interlock.ports import CodeChannel, StoreError, Tx
from interlock.service.loop import releases
from interlock.service.loop.announcing import due, hide, words_of
from interlock.service.loop.codes import Release, Shown
from interlock.service.loop.standing import OPEN, known
from interlock.service.record import deed
from interlock.service.sessions import OperatorSession
from interlock.service.state import State


@dataclass(frozen=True, slots=True)
class Revealed:
    """A code for a person's eyes."""

    code: str = field(repr=False)
    expires_at: float


def reveal(state: State, session: OperatorSession, id: str) -> Revealed:
    """A new code for a challenge, shown once to an operator who signed in just now; the one before counts no more (R-10)."""
    now, code = state.clock.now(), new_code()
    if not session.stepped_up(now):
        raise Refused("enter your passphrase again first")

    def work(tx: Tx) -> tuple[Challenge, Release]:
        challenge = _revealable(tx, id, now)
        release = releases.signed_release(state, tx, session, challenge, now)
        box = seal_under(challenge.id, code, releases.to_text(release)) if state.shared else ""
        return _minted(tx, state, replace(challenge, release=box), code, release, now), release

    challenge, release = state.store.write(work)
    state.codes.show(challenge.id, Shown(challenge.code_hash, challenge.expires_at, release))
    hide(state, challenge.id)
    return Revealed(code, challenge.expires_at)


def reveal_unsigned(state: State, channel: str, id: str) -> Revealed | None:
    """A new code for a channel that only the person in front of this machine sees; None where that is not enough."""
    now, code = state.clock.now(), new_code()

    def work(tx: Tx) -> tuple[Challenge, Release] | None:
        challenge = _revealable(tx, id, now)
        release = releases.unsigned_release(state, tx, challenge, channel, now)
        return (_minted(tx, state, challenge, code, release, now), release) if release else None

    made = state.store.write(work)
    if made is None:
        return None
    challenge, release = made
    state.codes.show(challenge.id, Shown(challenge.code_hash, challenge.expires_at, release))
    return Revealed(code, challenge.expires_at)


def announce(state: State) -> int:
    """Tells people of new challenges, and has a channel in front of this machine show their codes; how many those were."""
    found = due(state)
    for challenge in found:
        words = words_of(challenge)
        state.tell("challenge", challenge, f"{words} Its code: interlock codes")
        for channel in state.channels:
            if isinstance(channel, CodeChannel):
                _shown_by(state, channel, challenge, words)
                break  # a second one would replace the code that the first one shows
    return len(found)


def _shown_by(state: State, channel: CodeChannel, challenge: Challenge, words: str) -> None:
    try:
        revealed = reveal_unsigned(state, channel.name, challenge.id)
        if revealed is not None:
            channel.show(
                challenge, revealed.code, _whole(state, challenge, words), revealed.expires_at - state.clock.now()
            )
    except Refused:  # it ended just now
        return
    except StoreError:
        raise
    except Exception as error:
        state.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")


def _whole(state: State, challenge: Challenge, words: str) -> str:
    """The words, and below them the action that the code frees, as whoever answers a ticket is shown it."""
    if not challenge.digest:
        return words
    ticket = state.store.read(lambda tx: tx.live_ticket(challenge.digest, challenge.agent))
    return "\n".join([words, "", *told(ticket)]) if ticket is not None else words


def _minted(tx: Tx, state: State, challenge: Challenge, code: str, release: Release, now: float) -> Challenge:
    """The challenge with the hash of its new code; who had it shown goes on record, the code nowhere."""
    made = replace(challenge, code_hash=code_hash(challenge.id, code), minted_at=now)
    tx.save_challenge(made)
    details = {"challenge": made.id, "kind": made.kind, "principal": made.agent.principal, "channel": release.channel}
    state.recorder.now(tx, "reveal", deed(now, "reveal", release.by or release.channel, details))
    return made


def _revealable(tx: Tx, id: str, now: float) -> Challenge:
    """The challenge, if a person can still be shown a code for it."""
    found = tx.challenge(known(id) or "-")
    if found is None:
        raise Refused(f"no challenge {id!r:.80}", "NOT_FOUND_RESOURCE")
    if found.state != OPEN or now >= found.expires_at:
        raise Refused(f"challenge {found.id} has ended; `interlock codes` can issue another", "TOKEN_EXPIRED")
    return found
