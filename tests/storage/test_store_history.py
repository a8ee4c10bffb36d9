"""Deeds, counts, figures and denials: what every store promises about an agent's history."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.model import AgentRef, Level
from interlock.ports import Store
from interlock.records import Counts, Denial, HistoryEntry
from stored_records import AGENT, NOW, OTHER, history_entry


def did(store: Store, *deeds: HistoryEntry) -> None:
    store.write(lambda tx: tx.add_deeds(deeds))


def counts(
    store: Store, operation: str = "rm", execution: str = "", now: float = NOW, agent: AgentRef = AGENT
) -> Counts:
    return store.read(lambda tx: tx.counts(agent, operation, execution, now))


def test_nothing_was_done_yet(store: Store) -> None:
    assert counts(store) == Counts()
    did(store)
    assert store.read(lambda tx: tx.figures()).total_checked == 0


def test_an_operation_is_counted_by_agent_over_a_rolling_hour(store: Store) -> None:
    did(store, *(history_entry(NOW - age) for age in (10_000, 3600, 3599, 3590, 1800, 61, 59, 0)))
    did(
        store,
        history_entry(operation="ls"),
        history_entry(operation=""),
        history_entry(agent=OTHER),
        history_entry(agent=AgentRef("uid:1", "Claude")),
    )
    assert counts(store).hourly == 6
    assert counts(store, "ls").hourly == 1
    assert counts(store, "").hourly == 1
    assert counts(store, "none").hourly == 0
    assert counts(store, agent=replace(AGENT, name="CLAUDE", session="other")).hourly == 6


@pytest.mark.parametrize("offset", [0.0, 0.4, 17.0, 30.5, 59.9])
def test_the_hour_ends_to_the_second_wherever_a_minute_begins(store: Store, offset: float) -> None:
    at = NOW + offset
    did(store, history_entry(at))
    assert [counts(store, now=at + after).hourly for after in (0, 1, 3599.9, 3600, 3601, 9000)] == [1, 1, 1, 0, 0, 0]


def test_counts_stay_right_when_the_ring_of_minutes_comes_round(store: Store) -> None:
    for hour in range(6):
        did(store, *(history_entry(NOW + hour * 3600 + minute * 60) for minute in range(60)))
        assert counts(store, now=NOW + hour * 3600 + 3599).hourly == 60


def test_risk_adds_up_in_an_execution_else_in_the_hour(store: Store) -> None:
    did(
        store,
        history_entry(score=40, execution="e1"),
        history_entry(score=30, operation="ls", execution="e1"),
        history_entry(score=7),
    )
    did(
        store,
        history_entry(NOW - 7200, score=50, execution="e1"),
        history_entry(NOW - 7200, score=100),
        history_entry(score=9, execution="e2"),
    )
    assert counts(store, execution="e1").cumulative == 120
    assert counts(store, execution="e3").cumulative == 0
    assert counts(store).cumulative == 40 + 30 + 7 + 9


def test_repetition_is_counted_in_an_execution_only(store: Store) -> None:
    did(
        store,
        *(history_entry(execution="e1") for _ in range(3)),
        history_entry(operation="ls", execution="e1"),
        history_entry(execution="e2"),
    )
    assert counts(store, execution="e1").repeats == 3
    assert counts(store, "ls", "e1").repeats == 1
    assert counts(store).repeats == 0


def test_forbidden_attempts_count_for_ten_minutes_whatever_the_name(store: Store) -> None:
    forbidden = Level.FORBIDDEN
    ages = (0, 300, 599, 600, 5000)
    did(
        store,
        *(history_entry(NOW - age, level=forbidden, outcome="deny") for age in ages),
        history_entry(level=Level.DANGEROUS),
    )
    did(store, *(history_entry(agent=one, level=forbidden, outcome="deny") for one in (OTHER, AgentRef("uid:1"))))
    did(store, *(history_entry(NOW - age, level=forbidden, outcome="allow") for age in ages))  # let through
    assert counts(store).forbidden == 4


def test_many_deeds_at_once_are_counted_like_one_by_one(store: Store) -> None:
    did(store, *(history_entry(NOW - n, operation=f"op{n % 70}", score=2) for n in range(700)))
    assert counts(store, "op3") == Counts(repeats=0, hourly=10, cumulative=1400, forbidden=0)


def test_figures_are_those_of_seed_003(store: Store) -> None:
    did(store, history_entry(), history_entry(severity="high", categories=("data_deletion", "config_destruction")))
    did(
        store,
        history_entry(level=Level.FORBIDDEN),
        history_entry(agent=OTHER, severity="high", categories=("data_deletion",)),
    )
    found = store.read(lambda tx: tx.figures())
    assert (found.total_checked, found.destructive_detected) == (4, 3)
    assert found.by_severity == {"critical": 1, "high": 2}
    assert found.by_category == {"config_destruction": 1, "data_deletion": 2}


def denied(key: str, **more: object) -> Denial:
    return replace(Denial(key, "uid:1000", "s1", "t1", NOW, NOW + 60), **more)  # type: ignore[arg-type]


def test_the_denials_of_a_principal_are_found_until_they_end_rejections_first(store: Store) -> None:
    rows = [
        denied("remove:/a"),
        denied("remove:/b", at=NOW + 5, ticket="t2", tries=2),
        denied("remove:/c", session="s2", rejected_at=NOW - 9, folder="/w"),
        denied("remove:/d", until=NOW),
        denied("remove:/e", principal="uid:1"),
    ]
    for row in rows:
        store.write(lambda tx, row=row: tx.save_denial(row))

    def found(now: float = NOW, principal: str = "uid:1000") -> list[str]:
        return [one.effect_key for one in store.read(lambda tx: tx.denials(now, principal))]

    assert found() == ["remove:/c", "remove:/b", "remove:/a"]
    assert found(principal="uid:1") == ["remove:/e"] and found(principal="uid:2") == []
    assert len(found(principal="")) == 4
    assert found(NOW + 60) == []


def test_a_denial_is_counted_up_in_place(store: Store) -> None:
    for tries in range(3):
        store.write(lambda tx, tries=tries: tx.save_denial(denied("remove:/a", tries=tries)))
    assert store.read(lambda tx: tx.denials(NOW, "uid:1000")) == [denied("remove:/a", tries=2)]
