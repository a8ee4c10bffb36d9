"""Adapters at two services on one PostgreSQL: trust that an operator gives at one counts at the other, and a row alone raises nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import postgres
from adapter_files import LEVELS, adapter_file
from clock import TestClock
from gate import AGENT, CHEAP, PASSPHRASE
from interlock.config import config_of
from interlock.engine.evaluate import Request, evaluate, quick
from interlock.identity import operators
from interlock.identity.keys.passphrases import enrol
from interlock.model import Trust, operation
from interlock.runtime import adapter_trust
from interlock.runtime.state import State
from interlock.startup import open_state, open_store

pytestmark = pytest.mark.xdist_group("pg")
SAFE = operation("sync_safe", {})


@pytest.fixture
def url(server: postgres.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # replicas have one installation's keys
    return server.new_database()


@pytest.fixture
def pair(url: str, tmp_path: Path) -> Iterator[tuple[State, State]]:
    file = adapter_file(tmp_path, LEVELS)
    config = config_of({"store": {"url": url}, "policy": {"use": "spec"}, "adapters": {"files": [str(file)]}})
    states = []
    for _ in range(2):
        states.append(open_state(config, open_store(url), TestClock()))
        if len(states) == 1:
            row, key = enrol("ann", PASSPHRASE, None, now=0.0, by="ann", roles=("admin",), kdf=CHEAP)
            operators.enrol_first(states[0], row, key)
    for state in states:
        operators.sign_in(state, "ann", PASSPHRASE, "cli")
    yield states[0], states[1]
    for state in states:
        state.store.close()


def level(state: State) -> str:
    """What a replica makes of an operation: the level of trust that its record would name."""
    evaluate(state, Request(SAFE, AGENT, "test", adapter="things"))
    return state.adapters.standing("things", state.clock.now()).trust.word


def eventually(state: State, expected: str) -> None:
    deadline = time.monotonic() + 20
    while level(state) != expected:
        assert time.monotonic() < deadline, level(state)
        time.sleep(0.02)


def test_what_an_operator_says_at_one_replica_counts_at_the_other(pair: tuple[State, State]) -> None:
    one, two = pair
    by = operators.sign_in(one, "ann", PASSPHRASE, "cli")[1]
    adapter_trust.change_trust(one, by, "things", Trust.COMMUNITY_REVIEWED, "looked at it")
    eventually(two, "community_reviewed")
    by = operators.sign_in(two, "ann", PASSPHRASE, "cli")[1]
    adapter_trust.change_trust(two, by, "things", Trust.UNTESTED, "it lied")
    eventually(one, "untested")
    assert quick(one, Request(SAFE, AGENT, "test", adapter="things")) is None
    history = one.adapters.kept["things"].record.history
    assert [step.after for step in history] == [Trust.COMMUNITY_REVIEWED, Trust.UNTESTED]


def test_a_row_that_is_put_back_raises_nothing(pair: tuple[State, State], url: str) -> None:
    one, two = pair
    by, key = operators.sign_in(one, "ann", PASSPHRASE, "cli")[1], f"{adapter_trust.SETTING}things"
    adapter_trust.change_trust(one, by, "things", Trust.COMMUNITY_REVIEWED, "looked at it")
    high = one.store.read(lambda tx: tx.setting(key))
    adapter_trust.change_trust(one, by, "things", Trust.GENERATED, "it lied")
    eventually(two, "generated")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE settings SET value = %s WHERE key = %s", (high, key))
    for state in pair:
        adapter_trust.refresh_trust(state)
        assert level(state) == "generated"
