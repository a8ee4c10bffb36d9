"""A gate for each test, or two services on one PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import postgres
from gate import CHEAP, PASSPHRASE, Gate
from interlock.keys import enrol
from interlock.service import people
from sharing import Replica, eventually


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state")
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
