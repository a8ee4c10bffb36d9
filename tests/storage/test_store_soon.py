"""What is written soon: everything that `write` promises, but for the disk."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from interlock.ports import Store, StoreError
from stored_records import child, open_when_free


def test_what_is_written_soon_is_there_at_once_and_in_order(store: Store) -> None:
    for number in range(20):
        write = store.write_soon if number % 3 else store.write
        write(lambda tx, number=number: tx.save_setting("n", str(number)))
        assert store.read(lambda tx: tx.setting("n")) == str(number)


def test_a_work_that_fails_leaves_nothing_behind(store: Store) -> None:
    def work(tx: Any) -> None:
        tx.save_setting("n", "1")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.write_soon(work)
    assert store.read(lambda tx: tx.setting("n")) is None


def test_a_closed_store_takes_nothing(store: Store) -> None:
    store.close()
    with pytest.raises(StoreError):
        store.write_soon(lambda tx: None)


def test_a_killed_process_loses_nothing_that_it_wrote_soon(url: str) -> None:
    def work(say: Callable[[Any], None]) -> None:
        with open_when_free(url) as store:
            for number in range(50):
                store.write_soon(lambda tx, number=number: tx.save_setting("n", str(number)))
                say(number)
            os.kill(os.getpid(), signal.SIGKILL)

    with child(work) as (_, said):
        last = list(said)[-1]
    assert last == 49
    with open_when_free(url) as store:
        assert store.read(lambda tx: tx.setting("n")) == str(last)
