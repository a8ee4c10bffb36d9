"""What a listener hears beside tickets: agents, blocks, operators, patterns and settings, when they changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import postgres
from interlock.ports import Store, StoreEvent, Tx
from interlock.records import AgentRow, Block, OperatorRow
from interlock.startup import open_store
from stored_records import NOW

CHANGES: dict[str, tuple[Callable[[Tx], object], str]] = {
    "an agent": (lambda tx: tx.save_agent(AgentRow("uid:1", "claude")), StoreEvent.AGENTS),
    "a block": (lambda tx: tx.save_block(Block("uid:1", "enough", NOW, "ana")), StoreEvent.BLOCKS),
    "an operator": (lambda tx: tx.save_operator(OperatorRow("ana", "p", "k", "s", "kdf", "w")), StoreEvent.OPERATORS),
    "a pattern": (lambda tx: tx.save_pattern({"id": "p"}), StoreEvent.PATTERNS),
    "a pattern that goes": (lambda tx: (tx.save_pattern({"id": "p"}), tx.delete_pattern("p")), StoreEvent.PATTERNS),
    "a setting": (lambda tx: tx.save_setting("mode", "logging"), StoreEvent.SETTING + "mode"),
    "a setting with a long key": (lambda tx: tx.save_setting("k" * 9_000, "v"), StoreEvent.SETTING + "k" * 200),
}


class Ear:
    """Hears everything until the last word."""

    def __init__(self, store: Store) -> None:
        self._store, self._heard, self._last = store, list[str](), threading.Event()
        store.listen(self._hear)

    def _hear(self, id: str) -> None:
        self._heard.append(id)
        if id == StoreEvent.SETTING + "last":
            self._last.set()

    def heard(self) -> list[str]:
        self._store.write(lambda tx: tx.save_setting("last", "word"))
        assert self._last.wait(20)
        return self._heard[:-1]


@pytest.mark.parametrize("what", CHANGES)
def test_listeners_hear_of_a_change_when_it_is_kept(store: Store, what: str) -> None:
    work, expected = CHANGES[what]
    ear = Ear(store)
    store.write(work)
    assert set(ear.heard()) == {expected}


def test_nobody_hears_of_what_was_not_kept_or_not_there_or_only_tried(store: Store) -> None:
    ear = Ear(store)
    with pytest.raises(ZeroDivisionError):
        store.write(lambda tx: (tx.save_block(Block("uid:1", "enough", NOW, "ana")), 1 / 0))
    store.write(lambda tx: tx.delete_pattern("nowhere"))
    store.check()
    assert ear.heard() == []


def test_a_store_with_a_listener_knows_that_it_hears_everything(store: Store) -> None:
    Ear(store)
    deadline = time.monotonic() + 20
    while not store.hears():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def drowsy(monkeypatch: pytest.MonkeyPatch, server: postgres.Server) -> Iterator[Store]:
    """A store whose feed falls asleep as soon as nobody wants to know."""
    monkeypatch.setattr("interlock.storage.postgres._AWAKE", 0.0)
    store = open_store(server.new_database())
    yield store
    store.close()


@pytest.mark.xdist_group("pg")
def test_a_feed_that_nobody_asks_sleeps_and_still_hears_at_once(drowsy: Store) -> None:
    ear = Ear(drowsy)
    feed = drowsy._feed._thread  # type: ignore[attr-defined]
    _until_it_sleeps(feed)
    before = _wakings(feed)
    time.sleep(2)  # a shorter time can only make it look better
    assert _wakings(feed) - before <= 2
    assert ear.heard() == []


@pytest.mark.xdist_group("pg")
def test_whoever_asks_wakes_a_sleeping_feed(drowsy: Store) -> None:
    Ear(drowsy)
    _until_it_sleeps(drowsy._feed._thread)  # type: ignore[attr-defined]
    deadline = time.monotonic() + 20
    while not drowsy.hears():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _wakings(thread: threading.Thread) -> int:
    status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    return int(status.partition("voluntary_ctxt_switches:")[2].split()[0])


def _until_it_sleeps(feed: threading.Thread) -> None:
    """Nothing for longer than it waits between two proofs, and than a proof lasts."""
    deadline, seen = time.monotonic() + 20, -1
    while (now := _wakings(feed)) != seen:
        assert time.monotonic() < deadline
        seen = now
        time.sleep(1.1)
