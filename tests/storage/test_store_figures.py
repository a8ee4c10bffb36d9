"""Figures beyond seed 003's: what every store promises about decisions and about how long people took."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.canonical_json import normal_name
from interlock.model import Level, TicketState
from interlock.ports import Store
from interlock.records import ANSWERED_WITHIN
from stored_records import AGENT, NOW, OTHER, history_entry, ticket


def test_decisions_are_counted_by_outcome_and_level(store: Store) -> None:
    deeds = [
        history_entry(),
        history_entry(level=Level.DANGEROUS, outcome="deny"),
        history_entry(agent=OTHER, level=Level.DANGEROUS, outcome="deny"),
        history_entry(level=Level.DANGEROUS),
    ]
    store.write(lambda tx: tx.add_deeds(deeds))
    found = store.read(lambda tx: tx.figures()).by_decision
    assert found == {"allow:safe": 1, "deny:dangerous": 2, "allow:dangerous": 1}


@pytest.mark.parametrize(
    ("state", "by", "seconds", "answers", "milliseconds"),
    [
        (TicketState.APPROVED, "ana", 0.25, {"approved:10": 1}, {"approved": 250}),
        (TicketState.APPROVED, "ana, bo", 60, {"approved:60": 1}, {"approved": 60_000}),
        (TicketState.REJECTED, "ana", 60.5, {"rejected:120": 1}, {"rejected": 60_500}),
        (TicketState.REJECTED, "ana", ANSWERED_WITHIN[-1] + 1, {"rejected:inf": 1}, {"rejected": 14_401_000}),
        (TicketState.APPROVED, "ana", -5, {"approved:10": 1}, {"approved": 0}),  # another replica's clock
        (TicketState.APPROVED, "time", 30, {}, {}),
        (TicketState.EXPIRED, "time", 30, {}, {}),
    ],
)
def test_how_long_people_took_is_counted_and_time_is_nobody(
    store: Store,
    state: TicketState,
    by: str,
    seconds: float,
    answers: dict[str, int],
    milliseconds: dict[str, int],
) -> None:
    before = store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
    after = replace(before, state=state, decided_by=by, decided_at=NOW + seconds, version=before.version + 1)
    assert store.write(lambda tx: tx.change_ticket(after, before))
    found = store.read(lambda tx: tx.figures())
    assert (found.answers, found.answer_ms) == (answers, milliseconds)


def test_an_answer_is_counted_once_whatever_becomes_of_it(store: Store) -> None:
    before = store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
    armed = replace(before, state=TicketState.APPROVED, decided_by="ana", decided_at=NOW + 20, version=1)
    store.write(lambda tx: tx.change_ticket(armed, before))
    store.write(lambda tx: tx.change_ticket(replace(armed, state=TicketState.REJECTED, decided_at=NOW + 40), armed))
    found = store.read(lambda tx: tx.figures())
    assert (found.answers, found.approved, found.rejected) == ({"approved:30": 1}, 1, 1)


def test_every_agent_has_totals_of_its_own_whoever_did_last_first(store: Store) -> None:
    assert store.read(lambda tx: tx.agent_totals()) == []
    deeds = [
        history_entry(NOW - 60, level=Level.DANGEROUS, outcome="deny"),
        history_entry(NOW - 50),
        history_entry(NOW, agent=OTHER),
    ]
    store.write(lambda tx: tx.add_deeds(deeds))
    first, second = store.read(lambda tx: tx.agent_totals())
    assert (first.principal, first.name, first.last_at) == (OTHER.principal, normal_name(OTHER.name), NOW)
    assert second.last_at == NOW - 50
    assert second.figures["total_checked"] == 2
    assert second.figures["decision:deny:dangerous"] == 1


def test_what_an_agent_did_is_listed_the_newest_first(store: Store) -> None:
    deeds = [history_entry(NOW - age) for age in (100, 5, 50)]
    store.write(lambda tx: tx.add_deeds([*deeds, history_entry(NOW, agent=OTHER)]))
    who = (AGENT.principal, AGENT.name.upper())
    assert [one.at for one in store.read(lambda tx: tx.deeds(*who, NOW - 90, 10))] == [NOW - 5, NOW - 50]
    assert [one.at for one in store.read(lambda tx: tx.deeds(*who, 0.0, 1))] == [NOW - 5]
    assert store.read(lambda tx: tx.deeds("nobody", "", 0.0, 10)) == []
