"""Many threads at one store, with works that fail, nest, are interrupted, or come while it closes: what was acknowledged is there, and nothing else."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interlock.ports import Store, StoreError, Tx
from interlock.startup import open_store
from stored_records import child, open_when_free

THREADS, WORKS = 12, 240
PATIENCE = 20


class Upset(Exception):
    """What a work raises of its own."""


def good(store: Store, tx: Tx) -> None:
    """Nothing more."""


def upset(store: Store, tx: Tx) -> None:
    raise Upset


def nested(store: Store, tx: Tx) -> None:
    store.write(lambda inner: None)


def closing(store: Store, tx: Tx) -> None:
    store.close()


def unkeepable(store: Store, tx: Tx) -> None:
    tx.save_setting("nothing", None)  # type: ignore[arg-type]


def hidden(store: Store, tx: Tx) -> None:
    """Goes on after an error, as if nothing had been."""
    try:
        unkeepable(store, tx)
    except StoreError:
        tx.save_setting("hidden", "1")


ENDS: tuple[Callable[[Store, Tx], None], ...] = (good, good, good, upset, nested, closing, unkeepable, hidden)


def crowd(store: Store, seed: int, ends: tuple[Callable[[Store, Tx], None], ...] = ENDS) -> dict[int, str]:
    """What came of each work: empty where it was acknowledged, else the name of what was raised."""
    chosen = [random.Random(seed * WORKS + at).choice(ends) for at in range(WORKS)]

    def one(at: int) -> str:
        def work(tx: Tx) -> int:
            tx.save_setting(f"w{at}", str(at))
            tx.save_setting("count", str(int(tx.setting("count") or 0) + 1))
            chosen[at](store, tx)
            return at

        try:
            assert (store.write_soon if at % 3 else store.write)(work) == at
        except (Upset, StoreError) as error:
            return type(error).__name__
        return ""

    with ThreadPoolExecutor(THREADS) as pool:
        return dict(enumerate(pool.map(one, range(WORKS))))


def agrees(store: Store, told: dict[int, str]) -> None:
    """The store holds exactly what was acknowledged, each once."""
    kept = store.read(lambda tx: {at for at in range(WORKS) if tx.setting(f"w{at}") == str(at)})
    assert kept == {at for at, error in told.items() if not error}
    assert int(store.read(lambda tx: tx.setting("count")) or 0) == len(kept)


@pytest.mark.parametrize("seed", [1, 2])
def test_of_a_crowd_exactly_what_was_acknowledged_is_kept_and_once(store: Store, seed: int) -> None:
    told = crowd(store, seed)
    agrees(store, told)
    assert {"", "Upset"} < set(told.values())
    assert store.read(lambda tx: tx.setting("hidden")) is None


def test_a_work_that_closes_its_store_is_refused_and_hangs_nobody(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot close"):
        store.write(lambda tx: store.close())
    store.check()


def test_a_store_that_closes_on_a_crowd_keeps_what_it_acknowledged(url: str) -> None:
    store, told = open_store(url), {}
    begun = threading.Event()

    def closes_on(store: Store, tx: Tx) -> None:
        begun.set()

    def run() -> None:
        told.update(crowd(store, 3, (closes_on, good)))

    running = threading.Thread(target=run)
    running.start()
    assert begun.wait(PATIENCE)
    store.close()
    running.join(PATIENCE)
    assert len(told) == WORKS and set(told.values()) <= {"", "StoreError"}
    with open_when_free(url) as again:
        agrees(again, told)


def test_a_lock_that_another_program_lets_go_of_costs_a_crowd_nothing(tmp_path: Path) -> None:
    with open_when_free(f"sqlite://{tmp_path}/state") as store:
        other = sqlite3.connect(tmp_path / "state" / "state.db", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        letting_go = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
        letting_go.start()
        told = crowd(store, 4, (good,))
        letting_go.join(PATIENCE)
        other.close()
        assert set(told.values()) == {""}
        agrees(store, told)


def test_a_crowd_on_a_disk_that_refuses_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    def work(say: Callable[[Any], None]) -> None:
        store = open_store(f"sqlite://{tmp_path}/state")

        def big(store: Store, tx: Tx) -> None:
            tx.save_setting("big", "x" * 3_000_000)

        biggest = max(path.stat().st_size for path in (tmp_path / "state").iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (biggest + 400_000, resource.RLIM_INFINITY))
        told = crowd(store, 5, (good, good, big))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        agrees(store, told)
        store.check()
        say(sorted(set(told.values())))

    with child(work) as (_, said):
        assert set(next(iter(said))) > {""}  # some did not fit, some did


def test_a_child_of_a_crowd_is_refused_and_the_crowd_goes_on(tmp_path: Path) -> None:
    with open_when_free(f"sqlite://{tmp_path}/state") as store:
        codes = []

        def forks(store: Store, tx: Tx) -> None:
            if len(codes) < 3:
                codes.append(_refused_in_a_child(store))

        told = crowd(store, 6, (forks, good))
        assert codes and set(codes) == {0}
        assert set(told.values()) == {""}
        agrees(store, told)


def _refused_in_a_child(store: Store) -> int:
    """0 where a forked child can do nothing with the store, and ends."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        store.write(lambda tx: None)
    except StoreError as error:
        store.close()
        code = 0 if "fork" in str(error) else 2
    finally:
        os._exit(code)


def test_whoever_is_interrupted_while_a_connection_is_let_go_leaves_the_store_to_the_others(tmp_path: Path) -> None:
    class Pressed(KeyboardInterrupt):
        """Somebody pressed Ctrl-C."""

    with open_when_free(f"sqlite://{tmp_path}/state") as store:
        writer = store._writer  # type: ignore[attr-defined]
        store.write(lambda tx: tx.save_setting("count", "0"))
        closes = writer._database.close

        def close() -> None:
            closes()
            raise Pressed

        writer._database.close = close
        (tmp_path / "state" / "state.db").rename(tmp_path / "elsewhere")
        with pytest.raises(Pressed):
            store.write(lambda tx: None)
        (tmp_path / "elsewhere").rename(tmp_path / "state" / "state.db")
        told = crowd(store, 7, (good,))
        assert set(told.values()) == {""}
        agrees(store, told)
