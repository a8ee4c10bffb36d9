"""Tickets: what every store promises about them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.model import AgentRef, TicketState
from interlock.ports import QueueFull, Store, StoreError
from interlock.records import Ticket, TicketQuery
from stored_records import (
    AGENT,
    APPROVED,
    COOLING,
    EXPIRED,
    NOW,
    OTHER,
    REJECTED,
    SPENT,
    WAITING,
    approval,
    full_ticket,
    ticket,
)


def opened(store: Store, *tickets: Ticket) -> None:
    for one in tickets:
        assert store.write(lambda tx, one=one: tx.open_ticket(one, 1000)) == one


def test_a_ticket_comes_back_as_it_was_kept(store: Store) -> None:
    opened(store, full_ticket("t1"))
    assert store.read(lambda tx: tx.ticket("t1")) == full_ticket("t1")
    assert store.read(lambda tx: tx.ticket("t2")) is None


def test_a_retry_of_the_same_action_finds_its_ticket(store: Store) -> None:
    opened(store, ticket("t1", "d"))
    assert store.write(lambda tx: tx.open_ticket(ticket("t2", "d"), 5)).id == "t1"
    assert store.read(lambda tx: tx.ticket("t2")) is None


def test_another_agent_or_another_action_gets_a_ticket_of_its_own(store: Store) -> None:
    opened(store, ticket("t1", "d"), ticket("t2", "e"), ticket("t3", "d", OTHER), ticket("t4", "d", AgentRef("uid:1")))
    assert [store.read(lambda tx, who=who: tx.live_ticket("d", who)).id for who in (AGENT, OTHER)] == ["t1", "t3"]  # type: ignore[union-attr]


def test_another_spelling_of_a_name_is_no_other_agent(store: Store) -> None:
    opened(store, ticket("t1", "d"))
    alias = replace(AGENT, name=" CLAUDE ", session="s9")
    assert store.write(lambda tx: tx.open_ticket(ticket("t2", "d", alias), 5)).id == "t1"
    with pytest.raises(QueueFull):
        store.write(lambda tx: tx.open_ticket(ticket("t3", "e", replace(alias, session=AGENT.session)), 1))


@pytest.mark.parametrize(("state", "blocks"), [(COOLING, True), (WAITING, True), (APPROVED, True), (REJECTED, False), (EXPIRED, False), (SPENT, False)])  # fmt: skip
def test_a_new_ticket_is_opened_when_the_old_one_leads_nowhere(store: Store, state: TicketState, blocks: bool) -> None:
    opened(store, ticket("t1", "d", state=state))
    found = store.write(lambda tx: tx.open_ticket(ticket("t2", "d"), 5))
    assert found.id == ("t1" if blocks else "t2")


@pytest.mark.parametrize(("state", "found"), [(COOLING, True), (WAITING, True), (APPROVED, True), (REJECTED, True), (EXPIRED, True), (SPENT, False)])  # fmt: skip
def test_the_live_ticket_is_the_one_that_is_not_spent(store: Store, state: TicketState, found: bool) -> None:
    opened(store, ticket("t1", "d", state=state))
    assert (store.read(lambda tx: tx.live_ticket("d", AGENT)) is not None) is found


def test_a_ticket_with_a_time_of_spending_is_spent_whatever_its_state_says(store: Store) -> None:
    opened(store, ticket("t1", "d", state=APPROVED, spent_at=NOW))
    assert store.read(lambda tx: tx.live_ticket("d", AGENT)) is None
    assert store.write(lambda tx: tx.open_ticket(ticket("t2", "d"), 5)).id == "t2"


def test_the_live_ticket_is_the_open_one_then_the_newest(store: Store) -> None:
    opened(
        store,
        ticket("t1", "d", state=REJECTED),
        ticket("t3", "d", state=EXPIRED, opened_at=NOW + 9),
        ticket("t2", "d", state=REJECTED, opened_at=NOW + 5),
    )
    assert store.read(lambda tx: tx.live_ticket("d", AGENT)).id == "t3"  # type: ignore[union-attr]
    opened(store, ticket("t0", "d"))
    assert store.read(lambda tx: tx.live_ticket("d", AGENT)).id == "t0"  # type: ignore[union-attr]


def test_an_agent_has_only_so_many_open_tickets(store: Store) -> None:
    opened(store, *(ticket(f"t{n}") for n in range(4)), ticket("c", state=COOLING))
    with pytest.raises(QueueFull, match=r"'Claude'.* has 5 open tickets, at most 5"):
        store.write(lambda tx: tx.open_ticket(ticket("more"), 5))
    elsewhere = ticket("new", agent=replace(AGENT, session="another"))
    assert store.write(lambda tx: tx.open_ticket(elsewhere, 5)).id == "new"
    assert store.write(lambda tx: tx.open_ticket(ticket("again", "v1:t1"), 5)).id == "t1"
    assert store.write(lambda tx: tx.open_ticket(ticket("other", agent=OTHER), 5)).id == "other"
    first = ticket("t0")
    assert store.write(lambda tx: tx.change_ticket(replace(first, state=REJECTED), first))
    assert store.write(lambda tx: tx.open_ticket(ticket("more"), 5)).id == "more"


def test_a_full_queue_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(QueueFull):
        store.write(lambda tx: tx.open_ticket(ticket("t1"), 0))
    assert store.read(lambda tx: tx.tickets(TicketQuery())) == []
    assert store.read(lambda tx: tx.figures()).blocked_by_approval == 0


def test_an_id_is_used_once(store: Store) -> None:
    opened(store, ticket("t1", "d"))
    with pytest.raises(StoreError, match="'t1' cannot be opened"):
        store.write(lambda tx: tx.open_ticket(ticket("t1", "e"), 5))


def test_a_ticket_is_found_by_its_token_and_never_by_an_empty_one(store: Store) -> None:
    opened(store, ticket("t1", token_hash="h"), ticket("t2"))
    assert store.read(lambda tx: tx.ticket_by_token("h")).id == "t1"  # type: ignore[union-attr]
    assert store.read(lambda tx: tx.ticket_by_token("")) is None
    assert store.read(lambda tx: tx.ticket_by_token("g")) is None


def test_a_change_counts_the_version_up_and_wins_once(store: Store) -> None:
    before = ticket("t1")
    opened(store, before)
    after = replace(before, state=APPROVED, decided_by="ana", decided_at=NOW)
    assert store.write(lambda tx: tx.change_ticket(after, before))
    assert not store.write(lambda tx: tx.change_ticket(replace(before, state=REJECTED), before))
    assert store.read(lambda tx: tx.ticket("t1")) == replace(after, version=1)


@pytest.mark.parametrize("stale", [{"state": COOLING}, {"version": 1}, {"version": -1}])
def test_a_change_needs_the_state_and_version_that_are_kept(store: Store, stale: dict[str, object]) -> None:
    opened(store, ticket("t1"))
    before = replace(ticket("t1"), **stale)  # type: ignore[arg-type]
    assert not store.write(lambda tx: tx.change_ticket(replace(before, state=APPROVED), before))
    assert not store.write(lambda tx: tx.change_ticket(ticket("gone"), ticket("gone")))


def test_a_ticket_cannot_be_turned_into_one_for_another_action(store: Store) -> None:
    before = ticket("t1", "d")
    opened(store, before)
    other = replace(before, digest="evil", agent=OTHER, opened_at=NOW + 5, title="new")
    assert store.write(lambda tx: tx.change_ticket(other, before))
    assert store.read(lambda tx: tx.ticket("t1")) == replace(before, title="new", version=1)
    with pytest.raises(StoreError, match="cannot become"):
        store.write(lambda tx: tx.change_ticket(ticket("t2"), before))


def test_tickets_are_listed_newest_first_by_state_agent_and_time(store: Store) -> None:
    states = [WAITING, COOLING, SPENT, WAITING]
    opened(store, *(ticket(f"t{n}", state=state, opened_at=NOW + n) for n, state in enumerate(states)))
    opened(store, ticket("o", agent=OTHER, opened_at=NOW + 9), ticket("p", agent=AgentRef("uid:1"), opened_at=NOW + 8))
    asked = {
        "o p t3 t2 t1 t0": TicketQuery(),
        "o p t3 t0": TicketQuery(states=(WAITING,)),
        "o p t3 t1 t0": TicketQuery(states=(WAITING, COOLING)),
        "o t3 t2 t1 t0": TicketQuery(principal="uid:1000"),
        "t3 t2 t1 t0": TicketQuery(principal="uid:1000", name="claude"),
        "t1 t0": TicketQuery(before=NOW + 2),
        "o p": TicketQuery(limit=2),
        "o": TicketQuery(name="CODEX"),
        "": TicketQuery(states=(REJECTED,)),
    }
    for ids, query in asked.items():
        assert " ".join(one.id for one in store.read(lambda tx, query=query: tx.tickets(query))) == ids, query


def test_approvals_are_kept_word_for_word_and_once_each(store: Store) -> None:
    opened(store, ticket("t1"), ticket("t2"))
    first, second = approval("t1", "bo", reauth=True), replace(approval("t1", "ana"), at=NOW + 1, statement='{"a": 1}')
    for one in (first, second, second):
        store.write(lambda tx, one=one: tx.add_approval(one))
    assert store.read(lambda tx: tx.approvals("t1")) == [first, second]
    assert store.read(lambda tx: tx.approvals("t2")) == []


def test_an_approval_needs_its_ticket(store: Store) -> None:
    with pytest.raises(StoreError):
        store.write(lambda tx: tx.add_approval(approval("none")))


def test_figures_count_what_became_of_tickets(store: Store) -> None:
    a, b, c = ticket("a", state=COOLING), ticket("b"), ticket("c")
    opened(store, a, b, c, ticket("d"))

    def change(before: Ticket, **more: object) -> Ticket:
        after = replace(before, **more)  # type: ignore[arg-type]
        assert store.write(lambda tx: tx.change_ticket(after, before))
        return replace(after, version=before.version + 1)

    spent = change(change(a, state=APPROVED), state=SPENT, spent_at=NOW)
    change(change(spent, executed_at=NOW + 1), outcome="done")
    change(change(b, state=REJECTED), decision_reason="no")
    change(c, state=EXPIRED)
    found = store.read(lambda tx: tx.figures())
    assert (found.blocked_by_cooling, found.blocked_by_approval) == (1, 3)
    assert (found.approved, found.rejected, found.expired, found.executed) == (1, 1, 1, 1)
