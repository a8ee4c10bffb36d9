"""A state folder in trouble: taken, damaged, gone, locked, full or read-only. The store says so, and goes on when it is over."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interlock.ports import Store, StoreError
from interlock.records import Block
from interlock.startup import open_store
from stored_records import NOW, child, open_when_free

BLOCK = Block("uid:1000", "tampering", NOW, "ana")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    store = open_store(f"sqlite://{folder}")
    store.write(lambda tx: tx.save_block(BLOCK))
    yield store
    store.close()


def in_trouble(store: Store, *words: str) -> None:
    """Every call says what is wrong."""
    for call in (lambda: store.write(lambda tx: tx.save_setting("a", "b")), store.check):
        with pytest.raises(StoreError) as caught:
            call()
        assert all(word in str(caught.value) for word in words), caught.value


def well(store: Store) -> None:
    """Everything works, and the block is still in force."""
    store.check()
    assert store.read(lambda tx: tx.block("uid:1000")) == BLOCK


def test_only_the_owner_can_look_into_the_folder(store: Store, folder: Path) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == dict.fromkeys(("lock", "state.db", "state.db-shm", "state.db-wal"), 0o600)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_could_look_into_is_closed_to_them(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    open_store(f"sqlite://{folder}").close()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_second_opener_is_told_who_has_the_folder(store: Store, folder: Path) -> None:
    with pytest.raises(StoreError, match=f"{folder} is in use by process {os.getpid()}"):
        open_store(f"sqlite://{folder}")
    well(store)
    store.close()
    open_store(f"sqlite://{folder}").close()


def test_a_killed_process_gives_the_folder_back(folder: Path) -> None:
    def hold(say: Callable[[Any], None]) -> None:
        store = open_store(f"sqlite://{folder}")
        say(os.getpid())
        signal.pause()
        store.close()

    with child(hold) as (pid, said):
        assert next(said) == pid
        with pytest.raises(StoreError, match=f"in use by process {pid}"):
            open_store(f"sqlite://{folder}")
        os.kill(pid, signal.SIGKILL)
    open_store(f"sqlite://{folder}").close()


def test_a_child_that_outlives_the_store_does_not_keep_the_folder(folder: Path) -> None:
    def parent(say: Callable[[Any], None]) -> None:
        open_store(f"sqlite://{folder}")
        grandchild = os.fork()
        if not grandchild:
            signal.pause()
        say(grandchild)
        os.kill(os.getpid(), signal.SIGKILL)

    with child(parent) as (pid, said):
        grandchild = next(said)
        try:
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            with open_when_free(f"sqlite://{folder}"):
                os.kill(grandchild, 0)  # it lives
        finally:
            os.kill(grandchild, signal.SIGKILL)


def until_queued(store: Store, count: int, begun: threading.Event) -> None:
    begun.set()
    deadline = time.monotonic() + 30
    while store._writer._queue.qsize() < count and time.monotonic() < deadline:  # type: ignore[attr-defined]
        time.sleep(0.005)


def test_callers_share_commits(store: Store, folder: Path) -> None:
    store.write(lambda tx: tx.save_setting("n", ""))
    before = (folder / "state.db-wal").stat().st_size
    with ThreadPoolExecutor(65) as pool:
        begun = threading.Event()
        slow = pool.submit(store.write, lambda tx: until_queued(store, 64, begun))
        assert begun.wait(30)
        rest = [pool.submit(store.write, lambda tx, n=n: tx.save_setting("n", str(n))) for n in range(64)]
        for future in (slow, *rest):
            future.result()
    pages = ((folder / "state.db-wal").stat().st_size - before) / 4120  # a page and its header
    assert pages <= 8, "64 commits would have written the page 64 times"


@pytest.mark.parametrize("content", [b"x" * 5000, b"", b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_file_is_no_empty_store(folder: Path, content: bytes) -> None:
    open_store(f"sqlite://{folder}").close()
    (folder / "state.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"state\.db: it is (empty|not a database|damaged)"):
        open_store(f"sqlite://{folder}")


def test_a_missing_file_is_no_empty_store(store: Store, folder: Path) -> None:
    store.close()
    for path in folder.glob("state.db*"):
        path.unlink()
    with pytest.raises(StoreError, match=r"gone; put it back, or remove .*/lock to start over"):
        open_store(f"sqlite://{folder}")
    (folder / "lock").unlink()
    open_store(f"sqlite://{folder}").close()


def test_a_start_that_was_cut_off_can_be_repeated(folder: Path) -> None:
    folder.mkdir()
    (folder / "state.new").write_bytes(b"half")
    (folder / "lock").touch()
    open_store(f"sqlite://{folder}").close()
    assert not (folder / "state.new").exists()


def test_a_file_that_is_damaged_while_it_is_in_use_is_noticed_and_replaced(store: Store, folder: Path) -> None:
    with sqlite3.connect(folder / "state.db") as backup:
        backup.execute("VACUUM INTO ?", (str(folder / "backup"),))
    backup.close()
    (folder / "damaged").write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    for suffix in ("-wal", "-shm"):
        (folder / f"state.db{suffix}").unlink()
    (folder / "damaged").replace(folder / "state.db")
    in_trouble(store, "state.db")
    with pytest.raises(StoreError):
        store.read(lambda tx: tx.block("uid:1000"))
    (folder / "backup").replace(folder / "state.db")
    well(store)


def test_an_emptied_file_is_noticed(store: Store, folder: Path) -> None:
    content = (folder / "state.db").read_bytes()
    assert content
    os.truncate(folder / "state.db", 0)
    in_trouble(store, "it is empty")
    with pytest.raises(StoreError, match="it is empty"):
        store.read(lambda tx: tx.block("uid:1000"))


def test_a_folder_that_goes_away_and_comes_back_is_used_again(store: Store, folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    in_trouble(store, "No such file")
    with pytest.raises(StoreError, match="No such file"):
        store.read(lambda tx: tx.block("uid:1000"))
    assert not folder.exists()
    folder.with_name("elsewhere").rename(folder)
    well(store)


def test_a_folder_that_is_restored_from_a_copy_is_used_again(store: Store, folder: Path) -> None:
    copy = folder.with_name("copy")
    with sqlite3.connect(folder / "state.db") as backup:
        copy.mkdir()
        backup.execute("VACUUM INTO ?", (str(copy / "state.db"),))
    backup.close()
    shutil.rmtree(folder)
    in_trouble(store, "No such file")
    shutil.copytree(copy, folder)
    well(store)
    with pytest.raises(StoreError, match="in use by process"):
        open_store(f"sqlite://{folder}")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is opened from now on has little patience with locks."""
    monkeypatch.setattr("interlock.storage.sqlite._BUSY_SECONDS", 0.5)


def test_a_lock_of_another_program_is_waited_for_and_named(hasty: None, store: Store, folder: Path) -> None:
    other = sqlite3.connect(folder / "state.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another process has locked it"):
        store.write(lambda tx: tx.save_setting("a", "b"))
    assert store.read(lambda tx: tx.block("uid:1000")) == BLOCK
    other.execute("ROLLBACK")
    other.close()
    well(store)


def test_a_write_that_the_disk_refuses_is_not_kept(folder: Path) -> None:
    def work(say: Callable[[Any], None]) -> None:
        store = open_store(f"sqlite://{folder}")
        store.write(lambda tx: tx.save_block(BLOCK))
        biggest = max(path.stat().st_size for path in folder.iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (biggest + 5000, resource.RLIM_INFINITY))
        for n in range(2):
            try:
                store.write(lambda tx, n=n: tx.save_setting(f"big {n}", "x" * 5_000_000))
            except StoreError as error:
                say(str(error))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        well(store)
        say([store.read(lambda tx, n=n: tx.setting(f"big {n}")) for n in range(2)])

    with child(work) as (_, said):
        first, second, kept = said
    assert "the disk does not work" in first
    assert "the disk does not work" in second
    assert kept == [None, None]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte, where one can be had."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True)
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_named_and_survived(small_disk: Path) -> None:
    store = open_store(f"sqlite://{small_disk}/state")
    store.write(lambda tx: tx.save_block(BLOCK))
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(b"x" * 2_000_000)
    with pytest.raises(StoreError, match="the disk is full"):
        store.write(lambda tx: tx.save_setting("big", "x" * 100_000))
    assert store.read(lambda tx: tx.block("uid:1000")) == BLOCK
    filler.unlink()
    well(store)
    assert store.read(lambda tx: tx.setting("big")) is None
    store.close()


def test_a_read_only_disk_is_named(small_disk: Path) -> None:
    open_store(f"sqlite://{small_disk}/state").close()
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True, capture_output=True)
    with pytest.raises(StoreError, match="Read-only file system"):
        open_store(f"sqlite://{small_disk}/state")
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True, capture_output=True)
    open_store(f"sqlite://{small_disk}/state").close()


def test_a_folder_that_one_may_not_write_to_is_refused(tmp_path: Path) -> None:
    def work(say: Callable[[Any], None]) -> None:
        if os.getuid() == 0:
            os.chown(tmp_path, 65534, 65534)
            for parent in tmp_path.parents[:3]:
                os.chmod(parent, 0o755)
            os.setuid(65534)
        tmp_path.chmod(0o500)
        try:
            open_store(f"sqlite://{tmp_path}/state")
        except StoreError as error:
            say(str(error))

    with child(work) as (_, said):
        assert ["Permission denied" in words for words in said] == [True]
