"""What are people asked, how fast do they answer, and what is never answered? From the tickets of the last days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.core.model import Level, TicketState
from interlock.core.records import Ticket, TicketQuery
from interlock.core.ticket import BY_TIME, settled, unanswered
from interlock.service.state import State

DAY = 86_400.0
DAYS = 14
MOST = 5_000  # tickets that are read, the newest first
FAST = 2.0  # seconds: nobody reads a command in less
WITHIN = (2, 10, 30, 60, 300, 1_800, 3_600)  # seconds; longer is the last bar
NOBODY = ("", BY_TIME)  # who answered where no person did


@dataclass(slots=True)
class Asked:
    """One rule, and what people said to it."""

    rule: str
    count: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    level: Level = Level.SAFE
    ticket: str = ""  # the newest, that a grant can be made from
    title: str = ""


@dataclass(slots=True)
class Answering:
    """Everything about the last days."""

    since: float
    tickets: int = 0
    answered: int = 0
    fast: int = 0
    expired: int = 0
    open: int = 0
    median: float = 0.0
    by_day: list[tuple[float, dict[Level, int]]] = field(default_factory=list)  # the first day first
    by_seconds: list[tuple[str, int]] = field(default_factory=list)
    by_agent: list[tuple[str, dict[Level, int]]] = field(default_factory=list)
    rules: list[Asked] = field(default_factory=list)  # the most asked first
    whole: bool = True  # all tickets of these days were read

    @property
    def fast_share(self) -> float:
        return self.fast / self.answered if self.answered else 0.0

    @property
    def expired_share(self) -> float:
        ended = self.answered + self.expired
        return self.expired / ended if ended else 0.0


def answering(state: State, days: int = DAYS) -> Answering:
    """Counts the tickets of so many days, today's with it."""
    now = state.clock.now()
    since = (now // DAY - days + 1) * DAY
    read = state.store.read(lambda tx: tx.tickets(TicketQuery(limit=MOST)))
    tickets = [settled(ticket, now) for ticket in read if ticket.opened_at >= since]
    seconds = sorted(ticket.decided_at - ticket.opened_at for ticket in tickets if _by_a_person(ticket))
    return Answering(
        since,
        len(tickets),
        len(seconds),
        sum(took < FAST for took in seconds),
        sum(map(unanswered, tickets)),
        sum(ticket.open for ticket in tickets),
        seconds[len(seconds) // 2] if seconds else 0.0,
        _days(tickets, since, days),
        _spans(seconds),
        _agents(tickets),
        _rules(tickets),
        len(read) < MOST or len(tickets) < len(read),
    )


def _by_a_person(ticket: Ticket) -> bool:
    answered = ticket.state in (TicketState.APPROVED, TicketState.REJECTED, TicketState.SPENT)
    return answered and bool(ticket.decided_at) and ticket.decided_by not in NOBODY


def _days(tickets: Iterable[Ticket], since: float, days: int) -> list[tuple[float, dict[Level, int]]]:
    counts: dict[int, Counter[Level]] = {day: Counter() for day in range(days)}
    for ticket in tickets:
        day = int((ticket.opened_at - since) // DAY)
        if day in counts:
            counts[day][ticket.level] += 1
    return [(since + day * DAY, dict(found)) for day, found in counts.items()]


def _spans(seconds: list[float]) -> list[tuple[str, int]]:
    names = [f"≤ {most} s" if most < 60 else f"≤ {most // 60} min" for most in WITHIN]
    counts = Counter(sum(took > most for most in WITHIN) for took in seconds)
    return [(name, counts[at]) for at, name in enumerate([*names, "longer"])]


def _agents(tickets: Iterable[Ticket]) -> list[tuple[str, dict[Level, int]]]:
    counts: dict[str, Counter[Level]] = {}
    for ticket in tickets:
        counts.setdefault(ticket.agent.name or ticket.agent.principal, Counter())[ticket.level] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [(name, dict(found)) for name, found in ordered]


def _rules(tickets: Iterable[Ticket]) -> list[Asked]:
    found: dict[str, Asked] = {}
    for ticket in sorted(tickets, key=lambda ticket: ticket.opened_at):
        for rule in _fired(ticket.findings):
            asked = found.setdefault(rule, Asked(rule))
            asked.count += 1
            unused = ticket.state is TicketState.EXPIRED and not unanswered(ticket)
            asked.approved += unused or ticket.state in (TicketState.APPROVED, TicketState.SPENT)
            asked.rejected += ticket.state is TicketState.REJECTED
            asked.expired += unanswered(ticket)
            asked.level = max(asked.level, ticket.level)
            asked.ticket, asked.title = ticket.id, ticket.title
    return sorted(found.values(), key=lambda asked: (-asked.count, asked.rule))


def _fired(findings: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(one["id"]) for one in findings if one.get("id")))
