"""Did people say yes to the same thing again and again? Then which narrow grant would have answered it, and with which command is it made?"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from interlock.analysis.effect_key import parse
from interlock.core.codes import Refused
from interlock.core.model import Level, TicketState
from interlock.core.records import Ticket, TicketQuery
from interlock.core.ticket import BY_TIME
from interlock.ports import Tx
from interlock.service.state import State

OFTEN = 3  # approvals after which a grant is suggested
SECONDS = 14 * 86_400.0
MOST = 500  # tickets of one agent that are read, the newest first
HIGHEST = Level.DANGEROUS
_TERMS = ("--count", "5", "--for", "8h", "--why", "asked again and again")
_SAID_YES = (TicketState.APPROVED, TicketState.SPENT)


@dataclass(frozen=True, slots=True)
class Habit:
    """So many approvals of one agent that one grant would have spared."""

    count: int
    command: tuple[str, ...]  # that makes the grant


def habit(state: State, id: str) -> Habit | None:
    """What the newest approval of a ticket is one of; None where it is no habit yet, or nothing narrow would cover it."""

    def work(tx: Tx) -> tuple[Ticket | None, list[Ticket]]:
        own = tx.ticket(id)
        if own is None:
            return None, []
        return own, tx.tickets(TicketQuery(_SAID_YES, own.agent.principal, own.agent.name, limit=MOST))

    own, tickets = state.store.read(work)
    if own is None:
        raise Refused(f"no ticket {id!r}", "NOT_FOUND_RESOURCE")
    since = state.clock.now() - SECONDS
    yes = [one for one in tickets if one.decided_at >= since and one.decided_by not in ("", BY_TIME)]
    return _same(own, yes) or _near(own, yes) if own.level <= HIGHEST else None


def _same(own: Ticket, yes: Sequence[Ticket]) -> Habit | None:
    """The very same effect on the very same targets."""
    same = [one for one in yes if (one.effect_keys and one.effect_keys == own.effect_keys) or one.digest == own.digest]
    if len(same) < OFTEN:
        return None
    return Habit(len(same), ("interlock", "grants", "add", "--from", own.id, "--any-session", *_TERMS))


def _near(own: Ticket, yes: Sequence[Ticket]) -> Habit | None:
    """The same effect on other things of the same folder, below where the agent works."""
    cwd = str(own.action.get("cwd", ""))
    places = {_place(text) for text in own.effect_keys}
    effect, folder = next(iter(places)) if len(places) == 1 else ("", "")
    if not effect or not folder or not cwd or cwd == "/" or not folder.startswith(f"{cwd}/"):
        return None
    near = [
        one
        for one in yes
        if one.level <= HIGHEST and one.effect_keys and {_place(text) for text in one.effect_keys} == places
    ]
    if len(near) < OFTEN:
        return None
    ceiling = max(one.level for one in near).word
    words = ("interlock", "grants", "add", "--effect", effect, "--target", f"{folder}/**", "--ceiling", ceiling)
    return Habit(len(near), (*words, *_TERMS))


def _place(text: str) -> tuple[str, str]:
    """The effect and the folder of its target; nothing for what no grant on effects can name."""
    key = parse(text)
    return (key.family, posixpath.dirname(key.path)) if key.path and key.grantable and not key.place else ("", "")
