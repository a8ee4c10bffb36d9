"""Who hears of a challenge? Every channel that one waits; a channel that may show codes also the code."""

from __future__ import annotations

from interlock.core.excerpt import visible
from interlock.core.records import Challenge
from interlock.ports import CodeChannel
from interlock.service.state import State

WITHIN = 60.0  # seconds that a challenge has to get to disk; one that does not was never issued


def words_of(challenge: Challenge) -> str:
    """One line for a person, without what could move a cursor."""
    agent = challenge.agent
    who = f"{agent.name} ({agent.principal})" if agent.name else agent.principal
    what = "is blocked" if challenge.kind == "block" else "waits for a code"
    return visible(" ".join(f"{who} {what}: {challenge.reason}".split()))[:300]


def due(state: State) -> list[Challenge]:
    """The challenges that are on disk by now and that nobody has been told of; each is given once."""
    now, found = state.clock.now(), []
    for id, since in state.codes.issued().items():
        challenge = _kept(state, id)
        if challenge is None and now - since < WITHIN:
            continue  # its transaction is not over
        state.codes.told(id)
        if challenge is not None and challenge.state == "open" and now < challenge.expires_at:
            found.append(challenge)
    return found


def hide(state: State, id: str) -> None:
    """Takes a code away from where it is shown."""
    for channel in state.channels:
        if isinstance(channel, CodeChannel):
            try:
                channel.hide(id)
            except Exception as error:  # a window that stays open shows a code that counts no more
                state.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")


def _kept(state: State, id: str) -> Challenge | None:
    return state.store.read(lambda tx: tx.challenge(id))
