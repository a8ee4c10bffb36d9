"""What can be counted here? Seed 003's figures from durable data, and how the process fares; every exporter tells the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from interlock.core.model import Category, Level, TicketState
from interlock.core.policy import MODES
from interlock.core.records import ANSWERED_WITHIN, Figures, Ticket, TicketQuery
from interlock.core.registry import Severity
from interlock.core.ticket import ENDED, EXPIRED_SHARE, share_of
from interlock.ports import StoreError, Tx
from interlock.service.state import State

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"
VERDICTS = ("approved", "rejected")
TROUBLES = ("store", "channel", "other")
_OPEN = TicketQuery((TicketState.COOLING, TicketState.WAITING), limit=10_000)
_FIELDS = {  # the plain ones, and which field of the figures each is
    "checked": "total_checked",
    "destructive": "destructive_detected",
    "blocked_by_cooling": "blocked_by_cooling",
    "blocked_by_approval": "blocked_by_approval",
    "approved": "approved",
    "rejected": "rejected",
    "expired": "expired",
    "executed": "executed",
}
# Everything there is: kind and words. What is durable counts from the first day, the last five from the start of the process.
SHAPES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "checked": (COUNTER, "actions that were judged"),
        "destructive": (COUNTER, "actions that were destructive"),
        "blocked_by_cooling": (COUNTER, "tickets that time alone frees"),
        "blocked_by_approval": (COUNTER, "tickets that wait for a human"),
        "approved": (COUNTER, "tickets that were approved"),
        "rejected": (COUNTER, "tickets that were rejected"),
        "expired": (COUNTER, "tickets that nobody answered or used in time"),
        "executed": (COUNTER, "actions that were reported executed"),
        "by_severity": (COUNTER, "destructive actions by severity"),
        "by_category": (COUNTER, "destructive actions by category"),
        "decisions": (COUNTER, "judged actions by outcome and level"),
        "open_tickets": (GAUGE, "tickets that wait, by level"),
        "expired_share": (GAUGE, "of the tickets that ended lately, how many expired"),
        "answer_seconds": (HISTOGRAM, "how long people took to answer"),
        "store_up": (GAUGE, "whether the store can be used"),
        "trouble": (COUNTER, "what went wrong since the start, by kind"),
        "mode": (GAUGE, "the mode in force"),
        "alert": (GAUGE, "whether an alert is on"),
        "unlocked": (GAUGE, "whether an operator signed in since the start"),
    }
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One value and what it is of; a histogram's has its buckets, each with everything below it."""

    value: float
    labels: tuple[tuple[str, str], ...] = ()
    buckets: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """One figure by one name; a histogram's values are sums of seconds."""

    name: str  # without what an exporter puts before and behind it
    kind: str
    words: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What the store says at one moment."""

    figures: Figures
    waiting: tuple[Ticket, ...]
    share: float  # of the tickets that ended lately, how many expired


def figures_of(state: State) -> Figures:
    """What waits for its group is written first, so that nothing is missing."""
    state.recorder.flush()
    return state.store.read(_figures)


def families(state: State) -> list[Family]:
    """Everything; where the store cannot be used, that, and what the process knows by itself."""
    try:
        state.recorder.flush()
        kept = state.store.read(_read)
    except StoreError as error:
        state.trouble(f"the store cannot be used: {error}", "store")
        return [_one("store_up", 0), *_own(state)]
    return [*_durable(kept), _one("store_up", 1), *_own(state)]


def _figures(tx: Tx) -> Figures:
    return tx.figures()


def _read(tx: Tx) -> Read:
    return Read(tx.figures(), tuple(tx.tickets(_OPEN)), share_of(tx.tickets(ENDED)))


def _own(state: State) -> list[Family]:
    """What the process itself knows."""
    return [
        _by("trouble", "kind", {**dict.fromkeys(TROUBLES, 0), **state.troubles}),
        _by("mode", "mode", {mode: mode == state.mode for mode in MODES}),
        _by("alert", "alert", {EXPIRED_SHARE: EXPIRED_SHARE in state.alerts}),
        _one("unlocked", state.sessions.roster is not None),
    ]


def _durable(kept: Read) -> list[Family]:
    figures = kept.figures
    return [
        *(_one(name, getattr(figures, field)) for name, field in _FIELDS.items()),
        _by("by_severity", "severity", {one.word: figures.by_severity.get(one.word, 0) for one in Severity}),
        _by("by_category", "category", {**{one.value: 0 for one in Category}, **figures.by_category}),
        _family("decisions", _decisions(figures.by_decision)),
        _by("open_tickets", "level", {one.word: sum(t.level is one for t in kept.waiting) for one in Level}),
        _one("expired_share", kept.share),
        _family("answer_seconds", _answers(figures)),
    ]


def _decisions(counts: Mapping[str, int]) -> Iterable[Sample]:
    for key, count in counts.items():
        outcome, _, level = key.partition(":")
        yield Sample(count, (("outcome", outcome), ("level", level)))


def _answers(figures: Figures) -> Iterable[Sample]:
    for verdict in VERDICTS:
        total, buckets = 0, []
        for within in (*map(str, ANSWERED_WITHIN), "inf"):
            total += figures.answers.get(f"{verdict}:{within}", 0)
            buckets.append(("+Inf" if within == "inf" else f"{within}.0", total))
        yield Sample(figures.answer_ms.get(verdict, 0) / 1000, (("verdict", verdict),), tuple(buckets))


def _by(name: str, label: str, counts: Mapping[str, float]) -> Family:
    return _family(name, (Sample(float(count), ((label, key),)) for key, count in counts.items()))


def _one(name: str, value: float) -> Family:
    return _family(name, [Sample(float(value))])


def _family(name: str, samples: Iterable[Sample]) -> Family:
    kind, words = SHAPES[name]
    return Family(name, kind, words, tuple(samples))
