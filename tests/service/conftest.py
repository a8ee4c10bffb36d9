"""A gate for each test, or two services on one PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import postgres
from gate import CHEAP, PASSPHRASE, Gate
from interlock.keys import enrol
from interlock.service import people
from sharing import Replica, eventually


@pytest.fixture
def gate() -> Iterator[Gate]:
    """One whose folder is in memory where there is such a place: a thousand tests do not wait for a disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(prefix="interlock-", dir=memory, ignore_cleanup_errors=True) as folder:
        made = Gate(Path(folder) / "state")
        made.enrol()
        yield made
        made.close()


@pytest.fixture
def url(server: postgres.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # replicas have one installation's keys
    return server.new_database()


@pytest.fixture
def pair(url: str) -> Iterator[tuple[Replica, Replica]]:
    one = Replica(url)
    row, key = enrol("ann", PASSPHRASE, None, now=one.clock.now(), by="ann", roles=("admin",), kdf=CHEAP)
    people.enrol_first(one.state, row, key)
    two = Replica(url)
    one.sign_in()
    two.sign_in()
    for replica in (one, two):
        replica.state.catch_up()
        eventually(replica.state.fresh)
    yield one, two
    one.store.close()
    two.store.close()
