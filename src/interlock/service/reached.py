"""Which agents have reached a limit, so that more is asked of them now than their actions ask for by themselves?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from interlock.core.escalation import cumulative_words
from interlock.core.model import AgentRef
from interlock.core.records import TicketQuery
from interlock.ports import Tx
from interlock.service.callers import OPEN
from interlock.service.state import State

HOUR = 3_600.0


@dataclass(frozen=True, slots=True)
class Reached:
    """One agent, how much risk it took within the hour, and what that or its queue means for its next action."""

    agent: AgentRef
    points: int
    words: str


def reached(tx: Tx, state: State, principal: str = "") -> list[Reached]:
    """Of one principal's agents that asked within the hour, or of all."""
    most = state.policy.escalate.cumulative
    sums = _sums(tx, state.clock.now(), most, principal) if most is not None else []
    return [*sums, *_queues(tx, state.policy.open_tickets, principal)]


def _sums(tx: Tx, now: float, most: int, principal: str) -> list[Reached]:
    found = []
    for one in tx.agent_totals():
        if one.last_at < now - HOUR or principal not in ("", one.principal):
            continue
        agent = AgentRef(one.principal, one.name)
        points = tx.counts(agent, "", "", now).cumulative
        if points >= most:
            found.append(Reached(agent, points, cumulative_words(points, most)))
    return found


def _queues(tx: Tx, most: int, principal: str) -> list[Reached]:
    waiting = tx.tickets(TicketQuery(OPEN, principal, limit=1_000))
    full = Counter(AgentRef(one.agent.principal, one.agent.name, one.agent.session) for one in waiting)
    words = "{} actions of this session wait for an answer, so that what would be held next is denied"
    return [Reached(agent, 0, words.format(count)) for agent, count in full.items() if count >= most]
