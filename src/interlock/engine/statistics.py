"""Statistics for operators: metrics from durable data (seed 003), how tickets are answered, and agents at a limit."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.packs import load_words
from interlock.approvals import BY_TIME, ENDED, EXPIRED_SHARE, is_unanswered, settle, share_of
from interlock.model import AgentRef, Category, Level, TicketState
from interlock.policy.evaluate import cumulative_words
from interlock.policy.policy import MODES
from interlock.policy.registry import Severity
from interlock.ports import StoreError, Tx
from interlock.records import ANSWERED_WITHIN, OPEN_STATES, Figures, Ticket, TicketQuery
from interlock.runtime.state import State

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
VERDICTS = ("approved", "rejected")
TROUBLES = ("store", "channel", "other")
_OPEN = TicketQuery(OPEN_STATES, limit=10_000)
_PLAIN = ("blocked_by_cooling", "blocked_by_approval", "approved", "rejected", "expired", "executed")


class Sample(Struct, frozen=True):
    """A histogram's has its buckets, each with everything below it."""

    value: float
    labels: tuple[tuple[str, str], ...] = ()
    buckets: tuple[tuple[str, int], ...] = ()


class Family(Struct, frozen=True):
    """One figure by one name; a histogram's values are sums of seconds."""

    name: str  # without what an exporter puts before and behind it
    kind: str
    words: str
    samples: tuple[Sample, ...] = ()


class _Shipped(Struct, frozen=True, forbid_unknown_fields=True):
    figure: list[Family]


@cache
def figure_shapes() -> Mapping[str, Family]:
    return {one.name: one for one in load_words("engine/statistics.toml", _Shipped).figure}


def figures_of(state: State) -> Figures:
    """Flushes pending records first, so that none is missing."""
    state.recorder.flush()
    return state.store.read(lambda tx: tx.figures())


def families(state: State) -> list[Family]:
    """Where the store cannot be used, that fact and the process's own metrics."""
    try:
        state.recorder.flush()
        durable = state.store.read(lambda tx: _durable(tx.figures(), tx.tickets(_OPEN), share_of(tx.tickets(ENDED))))
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
        return [_one("store_up", 0), *_own(state)]
    return [*durable, _one("store_up", 1), *_own(state)]


def _own(state: State) -> list[Family]:
    return [
        _by("trouble", "kind", {**dict.fromkeys(TROUBLES, 0), **state.troubles}),
        _by("mode", "mode", {mode: mode == state.mode for mode in MODES}),
        _by("alert", "alert", {EXPIRED_SHARE: EXPIRED_SHARE in state.alerts}),
        _one("unlocked", state.sessions.roster is not None),
    ]


def _durable(figures: Figures, waiting: Sequence[Ticket], share: float) -> list[Family]:
    return [
        _one("checked", figures.total_checked),
        _one("destructive", figures.destructive_detected),
        *(_one(name, getattr(figures, name)) for name in _PLAIN),
        _by("by_severity", "severity", {one.word: figures.by_severity.get(one.word, 0) for one in Severity}),
        _by("by_category", "category", {**{one.value: 0 for one in Category}, **figures.by_category}),
        _family("decisions", _decisions(figures.by_decision)),
        _by("open_tickets", "level", {one.word: sum(t.level is one for t in waiting) for one in Level}),
        _one("expired_share", share),
        _family("answer_seconds", _answers(figures)),
    ]


def _decisions(counts: Mapping[str, int]) -> Iterable[Sample]:
    for key, count in counts.items():
        outcome, _, level = key.partition(":")
        yield Sample(count, (("outcome", outcome), ("level", level)))


def _answers(figures: Figures) -> Iterable[Sample]:
    for verdict in VERDICTS:
        total, buckets = 0, []
        for within, label in *((str(one), f"{one}.0") for one in ANSWERED_WITHIN), ("inf", "+Inf"):
            total += figures.answers.get(f"{verdict}:{within}", 0)
            buckets.append((label, total))
        yield Sample(figures.answer_ms.get(verdict, 0) / 1000, (("verdict", verdict),), tuple(buckets))


def _by(name: str, label: str, counts: Mapping[str, float]) -> Family:
    return _family(name, (Sample(float(count), ((label, key),)) for key, count in counts.items()))


def _one(name: str, value: float) -> Family:
    return _family(name, [Sample(float(value))])


def _family(name: str, samples: Iterable[Sample]) -> Family:
    return replace(figure_shapes()[name], samples=tuple(samples))


DAY = 86_400.0
DAYS = 14
MOST = 5_000  # tickets that are read, the newest first
FAST = 2.0  # seconds: nobody reads a command in less
WITHIN = (2, 10, 30, 60, 300, 1_800, 3_600)  # seconds; longer is the last bar
_ANSWERED = (TicketState.APPROVED, TicketState.REJECTED, TicketState.SPENT)
NOBODY = ("", BY_TIME)  # who answered where no person did


class RuleStatistics(Struct):
    rule: str
    count: int = 0
    approved: int = 0
    rejected: int = 0
    expired: int = 0
    level: Level = Level.SAFE
    ticket: str = ""  # the newest, that a grant can be made from
    title: str = ""


class AnswerStatistics(Struct):
    since: float
    tickets: int = 0
    answered: int = 0
    fast: int = 0
    expired: int = 0
    open: int = 0
    median: float = 0.0
    by_day: list[tuple[float, dict[Level, int]]] = []  # the first day first
    by_seconds: list[tuple[str, int]] = []
    by_agent: list[tuple[str, dict[Level, int]]] = []
    rules: list[RuleStatistics] = []  # the most asked first
    whole: bool = True  # all tickets of these days were read

    @property
    def fast_share(self) -> float:
        return self.fast / self.answered if self.answered else 0.0

    @property
    def expired_share(self) -> float:
        ended = self.answered + self.expired
        return self.expired / ended if ended else 0.0


def answer_statistics(state: State, days: int = DAYS) -> AnswerStatistics:
    now = state.clock.now()
    since = (now // DAY - days + 1) * DAY
    read = state.store.read(lambda tx: tx.tickets(TicketQuery(limit=MOST)))
    tickets = [settle(ticket, now) for ticket in read if ticket.opened_at >= since]
    answered = (one for one in tickets if one.state in _ANSWERED and one.decided_at and one.decided_by not in NOBODY)
    seconds = sorted(ticket.decided_at - ticket.opened_at for ticket in answered)
    return AnswerStatistics(
        since,
        len(tickets),
        len(seconds),
        sum(took < FAST for took in seconds),
        sum(map(is_unanswered, tickets)),
        sum(ticket.open for ticket in tickets),
        seconds[len(seconds) // 2] if seconds else 0.0,
        _days(tickets, since, days),
        _spans(seconds),
        _agents(tickets),
        _rule_statistics(tickets),
        len(read) < MOST or len(tickets) < len(read),
    )


def _days(tickets: Iterable[Ticket], since: float, days: int) -> list[tuple[float, dict[Level, int]]]:
    counts: dict[int, Counter[Level]] = defaultdict(Counter)
    for ticket in tickets:
        counts[int((ticket.opened_at - since) // DAY)][ticket.level] += 1
    return [(since + day * DAY, dict(counts[day])) for day in range(days)]


def _spans(seconds: list[float]) -> list[tuple[str, int]]:
    names = [f"≤ {most} s" if most < 60 else f"≤ {most // 60} min" for most in WITHIN]
    counts = Counter(sum(took > most for most in WITHIN) for took in seconds)
    return [(name, counts[at]) for at, name in enumerate([*names, "longer"])]


def _agents(tickets: Iterable[Ticket]) -> list[tuple[str, dict[Level, int]]]:
    counts: dict[str, Counter[Level]] = defaultdict(Counter)
    for ticket in tickets:
        counts[ticket.agent.name or ticket.agent.principal][ticket.level] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [(name, dict(found)) for name, found in ordered]


def _rule_statistics(tickets: Iterable[Ticket]) -> list[RuleStatistics]:
    found: dict[str, RuleStatistics] = {}
    for ticket in sorted(tickets, key=lambda ticket: ticket.opened_at):
        for rule in dict.fromkeys(str(one["id"]) for one in ticket.findings if one.get("id")):
            asked = found.setdefault(rule, RuleStatistics(rule))
            asked.count += 1
            unused = ticket.state is TicketState.EXPIRED and not is_unanswered(ticket)
            asked.approved += unused or ticket.state in (TicketState.APPROVED, TicketState.SPENT)
            asked.rejected += ticket.state is TicketState.REJECTED
            asked.expired += is_unanswered(ticket)
            asked.level = max(asked.level, ticket.level)
            asked.ticket, asked.title = ticket.id, ticket.title
    return sorted(found.values(), key=lambda asked: (-asked.count, asked.rule))


HOUR = 3_600.0


class ReachedLimit(Struct, frozen=True):
    agent: AgentRef
    points: int
    words: str


def reached_limits(tx: Tx, state: State, principal: str = "") -> list[ReachedLimit]:
    """Agents at a limit of cumulative risk or open tickets; of one principal, or of all."""
    most = state.policy.escalate.cumulative
    sums = _sums(tx, state.clock.now(), most, principal) if most is not None else ()
    return [*sums, *_queues(tx, state.policy.open_tickets, principal)]


def _sums(tx: Tx, now: float, most: int, principal: str) -> Iterator[ReachedLimit]:
    for one in tx.agent_totals():
        if one.last_at >= now - HOUR and principal in ("", one.principal):
            agent = AgentRef(one.principal, one.name)
            if (points := tx.counts(agent, "", "", now).cumulative) >= most:
                yield ReachedLimit(agent, points, cumulative_words(points, most))


def _queues(tx: Tx, most: int, principal: str) -> Iterator[ReachedLimit]:
    waiting = tx.tickets(TicketQuery(OPEN_STATES, principal, limit=1_000))
    full = Counter(AgentRef(one.agent.principal, one.agent.name, one.agent.session) for one in waiting)
    words = "{} actions of this session wait for an answer, so that the next held action is denied"
    return (ReachedLimit(agent, 0, words.format(count)) for agent, count in full.items() if count >= most)
