"""Who runs a work? Whoever wants it, where nobody else does; one thread for those who come meanwhile; never two at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from interlock.ports import Store, StoreError
from interlock.startup import open_store
from stored_records import open_when_free


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with open_when_free(f"sqlite://{tmp_path}/state") as made:
        yield made  # type: ignore[misc]


def test_a_work_that_comes_alone_is_run_by_whoever_wants_it(store: Store) -> None:
    assert store.write(lambda tx: threading.get_ident()) == threading.get_ident()
    assert store.write_soon(lambda tx: threading.get_ident()) == threading.get_ident()


def test_a_transaction_inside_another_is_refused_and_hangs_nobody(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot wait for another"):
        store.write(lambda tx: store.write(lambda inner: None))
    store.write(lambda tx: tx.save_setting("after", "1"))
    assert store.read(lambda tx: tx.setting("after")) == "1"


def test_a_work_that_is_interrupted_leaves_nothing_and_gives_the_turn_on(store: Store) -> None:
    def interrupted(tx: object) -> None:
        tx.save_setting("half", "1")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.write(interrupted)
    assert store.read(lambda tx: tx.setting("half")) != "1"
    store.write(lambda tx: tx.save_setting("half", "2"))
    assert store.read(lambda tx: tx.setting("half")) == "2"


def test_works_of_many_threads_never_run_at_once_and_none_is_lost(store: Store) -> None:
    inside, most, lock = 0, 0, threading.Lock()

    def work(number: int) -> None:
        def one(tx: object) -> None:
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
            tx.save_setting(f"n{number}", "1")  # type: ignore[attr-defined]
            with lock:
                inside -= 1

        (store.write if number % 3 else store.write_soon)(one)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert most == 1
    assert all(store.read(lambda tx, n=n: tx.setting(f"n{n}")) == "1" for n in range(200))


def test_what_is_queued_is_finished_when_the_store_closes(tmp_path: Path) -> None:
    store, begun, go = open_store(f"sqlite://{tmp_path}/state"), threading.Event(), threading.Event()

    def slow(tx: object) -> None:
        begun.set()
        assert go.wait(20)

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(store.write, slow)
        assert begun.wait(20)
        rest = [pool.submit(store.write, lambda tx, n=n: tx.save_setting(f"q{n}", "1")) for n in range(2)]
        while store._writer._queue.qsize() < 2:  # type: ignore[attr-defined]
            threading.Event().wait(0.005)
        closing = threading.Thread(target=store.close)
        closing.start()
        go.set()
        for one in (first, *rest):
            one.result(20)
        closing.join(20)
    with open_when_free(f"sqlite://{tmp_path}/state") as again:
        assert [again.read(lambda tx, n=n: tx.setting(f"q{n}")) for n in range(2)] == ["1", "1"]
