"""All or nothing, one winner, nothing acknowledged is lost: what every store promises about its transactions."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from interlock.ports import QueueFull, Store, StoreError, Tx
from interlock.records import AuditQuery, TicketQuery
from interlock.startup import open_store
from stored_records import (
    AGENT,
    APPROVED,
    NOW,
    approval,
    chain,
    challenge,
    child,
    grant,
    history_entry,
    notification,
    open_when_free,
    race,
    ticket,
)

RACERS = 8


def in_processes(url: str, work: Callable[[Tx], Any]) -> list[Any]:
    """What a work gives to each of several processes that do it at the same time."""

    def one() -> Any:
        with open_when_free(url) as store:
            try:
                return store.write(work)
            except QueueFull:
                return "full"

    return race(RACERS, one)


def in_threads(store: Store, work: Callable[[Tx], Any]) -> list[Any]:
    with ThreadPoolExecutor(RACERS) as pool:
        return list(pool.map(lambda _: store.write(work), range(RACERS)))


def together(store: Store, works: list[Callable[[Tx], Any]]) -> list[Any]:
    """Runs works that were all queued while another one was running; gives answers or errors."""
    begun, go = threading.Event(), threading.Event()
    with ThreadPoolExecutor(len(works) + 1) as pool:
        first = pool.submit(store.write, lambda tx: (begun.set(), go.wait(30)))
        assert begun.wait(30)
        futures = [pool.submit(store.write, work) for work in works]
        time.sleep(0.1)
        go.set()
        first.result()
        return [future.exception() or future.result() for future in futures]


def failing(tx: Tx) -> None:
    tx.save_setting("kept", "no")
    raise ValueError("a bug")


def refused(tx: Tx) -> None:
    tx.save_setting("kept", "no")
    tx.add_approval(approval("no such ticket"))


def swallowing(tx: Tx) -> str:
    try:
        refused(tx)
    except StoreError:
        return "went on"
    return "?"


@pytest.mark.parametrize(("work", "error"), [(failing, ValueError), (refused, StoreError), (swallowing, StoreError)])
def test_a_work_that_fails_keeps_nothing(store: Store, work: Callable[[Tx], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        store.write(work)
    assert store.read(lambda tx: tx.setting("kept")) is None
    store.write(lambda tx: tx.save_setting("kept", "yes"))


def test_a_failing_work_undoes_only_itself(store: Store) -> None:
    def good(n: int) -> Callable[[Tx], Any]:
        return lambda tx: tx.save_setting(f"good {n}", str(n)) or n

    works = [failing, good(1), refused, good(2), swallowing, good(3)]
    answers = together(store, works)
    assert [type(answer) for answer in answers] == [ValueError, int, StoreError, int, StoreError, int]
    assert [store.read(lambda tx, n=n: tx.setting(f"good {n}")) for n in (1, 2, 3)] == ["1", "2", "3"]
    assert store.read(lambda tx: tx.setting("kept")) is None


def test_each_of_many_callers_gets_its_own_answer(store: Store) -> None:
    answers = together(store, [lambda tx, n=n: (tx.save_setting("n", str(n)), n)[1] for n in range(300)])
    assert answers == list(range(300))


def test_reading_changes_nothing(store: Store) -> None:
    with pytest.raises(StoreError):
        store.read(lambda tx: tx.save_setting("kept", "no"))
    assert store.read(lambda tx: tx.setting("kept")) is None


def test_a_transaction_is_of_no_use_after_its_end(store: Store) -> None:
    for run in (store.write, store.read):
        leaked = run(lambda tx: tx)
        with pytest.raises(StoreError, match="has ended"):
            leaked.save_setting("kept", "no")


def test_a_transaction_cannot_wait_for_another(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot wait"):
        store.write(lambda tx: store.write(lambda inner: None))
    store.check()


def test_what_cannot_be_kept_is_refused_and_harms_nobody(store: Store) -> None:
    answers = together(
        store,
        [
            lambda tx: tx.prune_audit("w", 1),
            lambda tx: tx.add_deeds([history_entry(score=2**70)]),
            lambda tx: tx.save_setting("kept", "yes"),
        ],
    )
    assert [type(answer) for answer in answers] == [int, StoreError, type(None)]
    assert store.read(lambda tx: tx.setting("kept")) == "yes"


def test_a_closed_store_refuses(url: str) -> None:
    store = open_store(url)
    store.close()
    store.close()
    for call in (store.check, lambda: store.read(lambda tx: None), lambda: store.write(lambda tx: None)):
        with pytest.raises(StoreError, match="closed"):
            call()


def test_a_forked_child_has_to_open_its_own(store: Store) -> None:
    def work(say: Callable[[Any], None]) -> None:
        for call in (store.read, store.write):
            try:
                call(lambda tx: None)
            except StoreError as error:
                say(str(error))

    with child(work) as (_, said):
        assert ["after a fork" in words for words in said] == [True, True]
    store.check()


def test_what_was_kept_is_there_after_a_restart(url: str) -> None:
    with open_when_free(url) as store:
        store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
    with open_when_free(url) as store:
        assert store.read(lambda tx: tx.ticket("t1")) == ticket("t1")


def test_listeners_hear_of_tickets_when_their_change_is_kept(store: Store) -> None:
    heard: list[tuple[str, bool]] = []
    done = threading.Event()

    def changed(id: str) -> None:
        heard.append((id, store.read(lambda tx: tx.ticket(id)) is not None))
        if id == "last":
            done.set()

    def broken(id: str) -> None:
        raise RuntimeError("a listener's bug")

    store.listen(broken)
    store.listen(changed)
    one = ticket("t1")
    store.write(lambda tx: tx.open_ticket(one, 5))
    store.write(lambda tx: tx.open_ticket(ticket("again", one.digest), 5))  # nothing new
    with pytest.raises(ValueError, match="a bug"):
        store.write(lambda tx: (tx.open_ticket(ticket("t2"), 5), failing(tx)))
    store.write(lambda tx: tx.change_ticket(replace(one, state=APPROVED), one))
    store.write(lambda tx: tx.change_ticket(replace(one, state=APPROVED), one))  # too late
    store.write(lambda tx: tx.add_approval(approval("t1")))
    store.write(lambda tx: tx.open_ticket(ticket("last"), 5))
    assert done.wait(30)
    assert heard == [("t1", True), ("t1", True), ("t1", True), ("last", True)]


def test_of_threads_that_change_one_ticket_one_wins(store: Store) -> None:
    one = ticket("t1")
    store.write(lambda tx: tx.open_ticket(one, 5))
    assert sorted(in_threads(store, lambda tx: tx.change_ticket(replace(one, state=APPROVED), one))) == [False] * 7 + [
        True
    ]


def test_threads_that_open_the_same_action_get_one_ticket(store: Store) -> None:
    ids = {one.id for one in in_threads(store, lambda tx: tx.open_ticket(ticket(os.urandom(4).hex(), "d"), 5))}
    assert len(ids) == 1


def test_of_processes_that_change_one_ticket_one_wins(url: str) -> None:
    one = ticket("t1")
    with open_when_free(url) as store:
        store.write(lambda tx: tx.open_ticket(one, 5))
    answers = in_processes(
        url, lambda tx: tx.change_ticket(replace(one, state=APPROVED, decided_by=str(os.getpid())), one)
    )
    assert sorted(answers) == [False] * 7 + [True]
    with open_when_free(url) as store:
        assert store.read(lambda tx: tx.figures()).approved == 1


def test_processes_that_open_the_same_action_get_one_ticket(url: str) -> None:
    assert len(set(in_processes(url, lambda tx: tx.open_ticket(ticket(os.urandom(4).hex(), "d"), 5).id))) == 1


def test_processes_cannot_open_more_tickets_than_an_agent_may_have(url: str) -> None:
    answers = in_processes(url, lambda tx: tx.open_ticket(ticket(os.urandom(4).hex()), 5).id)
    assert answers.count("full") == RACERS - 5
    with open_when_free(url) as store:
        assert len(store.read(lambda tx: tx.tickets(TicketQuery()))) == 5


def test_a_grant_is_used_as_often_as_it_says_whoever_races(url: str) -> None:
    with open_when_free(url) as store:
        store.write(lambda tx: tx.save_grant(grant("g1", remaining=3)))
    assert in_processes(url, lambda tx: tx.use_grant("g1", NOW)).count(True) == 3


def test_no_failed_attempt_is_forgotten_whoever_races(url: str) -> None:
    with open_when_free(url) as store:
        store.write(lambda tx: tx.save_challenge(challenge("c1")))

    def guess(tx: Tx) -> None:
        before = tx.challenge("c1")
        assert before is not None
        tx.save_challenge(replace(before, attempts=before.attempts + 1))

    in_processes(url, guess)
    with open_when_free(url) as store:
        assert store.read(lambda tx: tx.challenge("c1")) == challenge("c1", attempts=RACERS)


def test_processes_that_write_one_chain_take_turns(url: str) -> None:
    def add(tx: Tx) -> int:
        tx.append_audit(chain(3, head=tx.audit_head("w1")))
        return tx.add_notification(notification())

    assert sorted(in_processes(url, add)) == list(range(1, RACERS + 1))
    with open_when_free(url) as store:
        assert store.read(lambda tx: tx.audit(AuditQuery(writer="w1"))) == chain(3 * RACERS)


def test_what_was_acknowledged_survives_a_kill(url: str) -> None:
    """The writer is killed in the middle of its work; whatever it said is kept has to be there."""

    def write_on(say: Callable[[Any], None], round: int) -> None:
        store, ended = open_store(url), threading.Event()

        def go(thread: int) -> None:
            try:
                write(thread)
            finally:
                ended.set()

        def write(thread: int) -> None:
            for n in range(10_000):
                id = f"{round}-{thread}-{n}"
                agent = replace(AGENT, principal=id)  # each may have only so many open ones

                def work(tx: Tx, id: str = id, agent: Any = agent) -> int:
                    tx.open_ticket(ticket(id, agent=agent), 5)
                    rows = chain(1, head=tx.audit_head("w1"))
                    tx.append_audit(rows)
                    return rows[0].seq

                say([id, store.write(work)])

        for thread in range(4):
            threading.Thread(target=go, args=(thread,), daemon=True).start()
        ended.wait(300)

    for round in range(3):
        acknowledged = []
        with child(partial(write_on, round=round)) as (pid, said):
            for one in said:
                acknowledged.append(one)
                if len(acknowledged) == 40:
                    os.kill(pid, signal.SIGKILL)
        assert len(acknowledged) >= 40
        with open_when_free(url) as store:
            # In one transaction: what the killed process had sent off may be kept at any moment.
            tickets, rows = store.read(
                lambda tx: (tx.tickets(TicketQuery(limit=10_000)), tx.audit(AuditQuery(writer="w1", limit=10_000)))
            )
            ids = {one.id for one in tickets}
            assert {id for id, _ in acknowledged} <= ids
            assert {seq for _, seq in acknowledged} <= {row.seq for row in rows}
            assert rows == chain(len(rows))
            assert len(rows) == len(ids)
