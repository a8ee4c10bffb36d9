"""A PostgreSQL in trouble: not there, stopped, cut off. The store says so, and goes on when it is over."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import postgres
from interlock.ports import Store, StoreError, Tx
from interlock.records import Block
from interlock.startup import open_store
from stored_records import NOW, notification, race, ticket

pytestmark = pytest.mark.xdist_group("pg")

BLOCK = Block("uid:1000", "tampering", NOW, "ana")


@pytest.fixture
def url(server: postgres.Server) -> str:
    return server.new_database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    store = open_store(url)
    yield store
    store.close()


def eventually(call: Callable[[], Any], seconds: float = 30) -> Any:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except StoreError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def cut_off(url: str) -> None:
    """Ends every other connection to the database."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_server_that_is_not_there_is_named_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(StoreError, match=r"PostgreSQL cannot be used.*/nowhere"):
        open_store("postgresql://interlock@/db?host=/nowhere")
    assert time.monotonic() - begun < 20  # and not after many tries


def test_a_database_that_is_not_there_is_named(server: postgres.Server) -> None:
    with pytest.raises(StoreError, match="nobody_made_it"):
        open_store(server.url("nobody_made_it"))


def test_a_server_that_stops_and_starts_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.storage.postgres._POOL_SECONDS", 0.5)
    with postgres.running() as server:
        store = open_store(server.new_database())
        heard: list[str] = []
        store.listen(heard.append)
        store.write(lambda tx: tx.save_block(BLOCK))
        store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
        server.stop()
        for call in (
            lambda: store.write(lambda tx: tx.save_setting("a", "b")),
            lambda: store.read(lambda tx: tx.block("uid:1000")),
            store.check,
        ):
            with pytest.raises(StoreError, match="PostgreSQL cannot be"):
                call()
        server.start()
        eventually(store.check)
        assert eventually(lambda: store.read(lambda tx: tx.block("uid:1000"))) == BLOCK
        assert store.read(lambda tx: tx.setting("a")) is None
        heard.clear()
        store.write(lambda tx: tx.open_ticket(ticket("t2"), 5))
        deadline = time.monotonic() + 30
        while "t2" not in heard and time.monotonic() < deadline:
            time.sleep(0.02)
        assert "t2" in heard
        store.close()


def test_a_connection_that_is_cut_off_between_two_calls_is_not_noticed(store: Store, url: str) -> None:
    for n in range(3):
        store.write(lambda tx, n=n: tx.save_setting("n", str(n)))
        cut_off(url)
        assert store.read(lambda tx: tx.setting("n")) == str(n)
        cut_off(url)


def test_a_work_that_is_cut_off_is_run_again_from_its_start(store: Store, url: str) -> None:
    runs: list[int] = []

    def work(tx: Tx) -> int:
        runs.append(len(runs))
        tx.save_setting(f"run {runs[-1]}", "begun")
        if len(runs) == 1:
            cut_off(url)
        tx.save_setting(f"run {runs[-1]}", "done")
        return runs[-1]

    assert store.write(work) == 1
    assert store.read(lambda tx: (tx.setting("run 0"), tx.setting("run 1"))) == (None, "done")


def test_a_commit_that_is_cut_off_is_not_repeated(store: Store, url: str) -> None:
    runs: list[int] = []

    def work(tx: Tx) -> None:
        tx.add_notification(notification())
        runs.append(1)
        cut_off(url)

    with pytest.raises(StoreError, match="PostgreSQL cannot be used"):
        store.write(work)
    assert len(runs) == 1
    store.check()


def test_listeners_of_every_process_hear_of_a_change(store: Store, url: str) -> None:
    heard: dict[str, threading.Event] = {"own": threading.Event(), "other": threading.Event()}
    other = open_store(url)
    store.listen(lambda id: heard["own"].set() if id == "t1" else None)
    other.listen(lambda id: heard["other"].set() if id == "t1" else None)
    store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
    assert all(event.wait(30) for event in heard.values())
    other.close()


def test_a_listener_that_was_cut_off_is_told_what_it_may_have_missed(store: Store, url: str) -> None:
    store.write(lambda tx: tx.open_ticket(ticket("t1"), 5))
    told = threading.Event()
    store.listen(lambda id: told.set() if id == "t1" else None)
    assert not told.wait(0.3)
    cut_off(url)
    assert told.wait(30)


def test_processes_that_meet_an_empty_database_make_one_schema(url: str) -> None:
    def begin() -> str:
        store = open_store(url)
        store.write(lambda tx: tx.save_setting("a", "b"))
        store.close()
        return "fine"

    assert race(6, begin) == ["fine"] * 6
