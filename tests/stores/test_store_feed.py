"""What a listener hears beside tickets: agents, blocks, operators, patterns and settings, when they changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from interlock.core.records import AgentRow, Block, OperatorRow
from interlock.ports import Change, Store, Tx
from kept import NOW

CHANGES: dict[str, tuple[Callable[[Tx], object], str]] = {
    "an agent": (lambda tx: tx.save_agent(AgentRow("uid:1", "claude")), Change.AGENTS),
    "a block": (lambda tx: tx.save_block(Block("uid:1", "enough", NOW, "ana")), Change.BLOCKS),
    "an operator": (lambda tx: tx.save_operator(OperatorRow("ana", "p", "k", "s", "kdf", "w")), Change.OPERATORS),
    "a pattern": (lambda tx: tx.save_pattern({"id": "p"}), Change.PATTERNS),
    "a pattern that goes": (lambda tx: (tx.save_pattern({"id": "p"}), tx.delete_pattern("p")), Change.PATTERNS),
    "a setting": (lambda tx: tx.save_setting("mode", "logging"), Change.SETTING + "mode"),
    "a setting with a long key": (lambda tx: tx.save_setting("k" * 9_000, "v"), Change.SETTING + "k" * 200),
}


class Ear:
    """Hears everything until the last word."""

    def __init__(self, store: Store) -> None:
        self._store, self._heard, self._last = store, list[str](), threading.Event()
        store.listen(self._hear)

    def _hear(self, id: str) -> None:
        self._heard.append(id)
        if id == Change.SETTING + "last":
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
