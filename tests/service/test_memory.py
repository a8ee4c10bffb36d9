"""Two services on one PostgreSQL: what an operator says at one counts at the other, at once; what somebody edits loosens nothing."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

import postgres
from clock import TestClock
from gate import AGENT, CHEAP, PASSPHRASE
from interlock.config import config_of
from interlock.core.classify import Rulebook
from interlock.core.decision import Decision
from interlock.core.model import Action, command, operation
from interlock.keys import enrol
from interlock.ports import Change
from interlock.service import agents, granting, people
from interlock.service.evaluate import Request, evaluate, quick
from interlock.service.opening import open_state, read_rules
from interlock.service.sessions import OperatorSession
from interlock.stores import open_store
from interlock.stores.feed import NAME

pytestmark = pytest.mark.xdist_group("pg")

EVERYDAY = command("npm install", "/home/dev/app")  # everyday work, and more than a blocked agent may do
WIPE = {
    "id": "custom_wipe",
    "pattern": "wipe_cache",
    "category": "data_deletion",
    "severity": "high",
    "requiresHumanApproval": True,
}


@cache
def rules() -> tuple[Rulebook, str]:
    """Read once for all replicas."""
    return read_rules(config_of({}))


class Replica:
    """A service with a store of its own on the shared database."""

    def __init__(self, url: str) -> None:
        self.store = open_store(url)
        self.clock = TestClock()
        config = config_of({"store": {"url": url}, "policy": {"use": "spec"}})
        self.state = open_state(config, self.store, self.clock, known=rules())
        self.heard: list[str] = []
        self._more = threading.Condition()
        self.store.listen(self._hear)  # after the state's own listener, so that whatever is here was taken over

    def _hear(self, id: str) -> None:
        with self._more:
            self.heard.append(id)
            self._more.notify_all()

    @contextmanager
    def hearing(self, *changes: str) -> Iterator[None]:
        """Returns when the changes that are made inside have been heard, and not some earlier ones."""
        mark = f"until {uuid.uuid4()}"
        self.store.write(lambda tx: tx.save_setting(mark, ""))
        self._until({Change.SETTING + mark})
        self.heard.clear()
        yield
        self._until(set(changes))

    def _until(self, changes: set[str]) -> None:
        with self._more:
            assert self._more.wait_for(lambda: changes <= set(self.heard), 20), self.heard

    def sign_in(self, name: str = "ann") -> OperatorSession:
        return people.sign_in(self.state, name, PASSPHRASE, "cli")[1]

    def quick(self, action: Action = EVERYDAY) -> Decision | None:
        return quick(self.state, Request(action, AGENT, "test"))

    def allows(self) -> bool:
        """Whether everyday work is allowed without the store."""
        found = self.quick()
        return found is not None and found.allowed

    def ask(self, action: Action) -> Decision:
        return evaluate(self.state, Request(action, AGENT, "test"))


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


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


def eventually(true: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def run(url: str, sql: str, *params: Any) -> Any:
    """What somebody does to the database who is none of us; said aloud, as a change would be."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql, params or None)
        return cursor.fetchall() if cursor.description else None


def edit(url: str, sql: str, *params: Any) -> None:
    """An edit that is announced like a change of ours."""
    run(url, sql, *params)
    for change in Change:
        run(url, "SELECT pg_notify('interlock_ticket', %s)", "\ufdd0" + json.dumps(change))


def test_everyday_work_needs_no_store_while_the_listener_is_alive(pair: tuple[Replica, Replica]) -> None:
    for replica in pair:
        eventually(replica.allows)


def test_a_block_and_its_lifting_reach_the_other_replica(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    with two.hearing(Change.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"
    with two.hearing(Change.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    eventually(two.allows)


def test_a_replica_that_nobody_unlocked_follows_what_tightens_and_waits_with_the_rest(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, admin = pair[0], pair[0].sign_in()
    locked = Replica(url)
    eventually(locked.state.fresh)
    for mode in ("disabled", "enforcing", "disabled"):
        with locked.hearing(Change.SETTING + "mode"):
            agents.set_mode(one.state, admin, mode)
    with locked.hearing(Change.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    assert locked.state.mode == "enforcing" and locked.ask(EVERYDAY).outcome == "block"
    with locked.hearing(Change.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    assert locked.state.blocked(AGENT.principal)  # whoever signed that is not known here
    locked.sign_in()
    assert locked.quick() is None  # first what could not be proved before
    assert locked.ask(EVERYDAY).allowed and locked.state.mode == "disabled"
    locked.store.close()


@pytest.mark.parametrize("sql", ["DELETE FROM blocks", "UPDATE blocks SET lifted_at = 1, lifted_by = 'ann'"])
def test_a_block_that_somebody_edited_away_stays(pair: tuple[Replica, Replica], url: str, sql: str) -> None:
    one, two = pair
    with two.hearing(Change.BLOCKS):
        agents.block(one.state, one.sign_in(), AGENT.principal, "enough")
    with two.hearing(*Change):
        edit(url, sql)
    eventually(two.state.fresh)
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"


def test_an_old_lifting_does_not_lift_a_new_block(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    agents.block(one.state, admin, AGENT.principal, "first")
    agents.unblock(one.state, admin, AGENT.principal)
    one.clock.forward(1)
    with two.hearing(Change.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "second")
    with two.hearing(*Change):
        edit(url, "UPDATE blocks SET lifted_at = 1 WHERE reason = 'second'")
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"


def test_a_pattern_and_its_removal_reach_the_other_replica(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    wipe = operation("wipe_cache", {"resource": "main"})
    admin = one.sign_in()
    assert two.ask(wipe).allowed
    with two.hearing(Change.PATTERNS):
        granting.add_pattern(one.state, admin, WIPE)
    assert two.quick(wipe) is None and not two.ask(wipe).allowed
    with two.hearing(Change.PATTERNS):
        granting.remove_pattern(one.state, admin, "custom_wipe")
    assert two.ask(wipe).allowed
    with two.hearing(Change.PATTERNS):
        granting.add_pattern(one.state, admin, WIPE)
    assert not two.ask(wipe).allowed


def test_a_built_in_pattern_that_an_admin_removed_is_removed_everywhere(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    ids = {pattern.id for pattern in two.state.registry}
    gone = min(ids)
    with two.hearing(Change.SETTING + "order.remove"):
        granting.remove_pattern(one.state, one.sign_in(), gone)
    assert {pattern.id for pattern in two.state.registry} == ids - {gone}


@pytest.mark.parametrize("sql", ["DELETE FROM patterns", "UPDATE patterns SET body = replace(body, 'wipe_', 'dont_')"])
def test_a_pattern_that_somebody_edited_away_stays(pair: tuple[Replica, Replica], url: str, sql: str) -> None:
    one, two = pair
    with two.hearing(Change.PATTERNS):
        granting.add_pattern(one.state, one.sign_in(), WIPE)
    with two.hearing(*Change):
        edit(url, sql)
    eventually(two.state.fresh)
    assert not two.ask(operation("wipe_cache", {"resource": "main"})).allowed


def test_the_mode_that_an_admin_set_is_everybodys(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    for mode in ("monitoring", "enforcing", "disabled"):
        with two.hearing(Change.SETTING + "mode"):
            agents.set_mode(one.state, admin, mode)
        assert one.state.mode == two.state.mode == mode
    two.clock.time = one.clock.time - 3600  # a clock that is behind
    with one.hearing(Change.SETTING + "mode"):
        agents.set_mode(two.state, two.sign_in(), "enforcing")
    assert one.state.mode == two.state.mode == "enforcing"


def test_a_mode_that_somebody_wrote_into_the_database_loosens_nothing(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    agents.set_mode(one.state, admin, "disabled")
    [(old,)] = run(url, "SELECT value FROM settings WHERE key = 'order.mode'")
    with two.hearing(Change.SETTING + "mode"):
        agents.set_mode(one.state, admin, "enforcing")
    with two.hearing(*Change):
        edit(url, "UPDATE settings SET value = 'disabled' WHERE key = 'mode'")
    assert two.state.mode == "enforcing"
    with two.hearing(*Change):
        edit(url, "UPDATE settings SET value = %s WHERE key = 'order.mode'", old)  # sealed, and said before
    assert two.state.mode == "enforcing"


def test_an_operator_who_is_disabled_at_one_replica_is_nobody_at_the_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    people.add_operator(one.state, admin, "bob", PASSPHRASE, kdf=CHEAP)
    token, _ = people.sign_in(two.state, "bob", PASSPHRASE, "cli")
    assert two.state.sessions.session(token, two.clock.now()) is not None
    with two.hearing(Change.OPERATORS, Change.SETTING + "roster_seal"):
        people.change_operator(one.state, admin, "bob", disabled=True)
    assert two.state.sessions.session(token, two.clock.now()) is None


def test_without_its_listener_a_replica_asks_the_store_until_it_listens_again(
    pair: tuple[Replica, Replica], url: str, server: postgres.Server
) -> None:
    one, two = pair
    wipe, admin = operation("wipe_cache", {"resource": "main"}), one.sign_in()
    eventually(two.allows)
    assert two.ask(wipe).allowed
    database, elsewhere = url.rpartition("@/")[2].partition("?")[0], server.url("postgres")
    run(elsewhere, f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")  # so that it cannot come back by itself
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = %s"
    run(elsewhere, ended, database, NAME)
    eventually(lambda: not two.store.hears())
    assert two.quick() is None
    found = two.ask(EVERYDAY)
    assert found.allowed and not two.state.fresh()  # the store was asked
    granting.add_pattern(one.state, admin, WIPE)
    agents.set_mode(one.state, admin, "monitoring")
    agents.set_mode(one.state, admin, "enforcing")
    assert not two.ask(wipe).allowed  # nobody told it, and it knows
    agents.block(one.state, admin, AGENT.principal, "enough")
    assert two.ask(EVERYDAY).outcome == "block"
    run(elsewhere, f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
    eventually(two.state.fresh)
    assert two.state.blocked(AGENT.principal) == "enough" and two.quick() is None
    with two.hearing(Change.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    eventually(two.allows)


def test_a_replica_that_cannot_read_a_change_is_not_fresh_until_it_can(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    run(url, "ALTER TABLE patterns RENAME TO hidden")
    with two.hearing(Change.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    eventually(two.store.hears)
    assert not two.state.fresh() and two.quick() is None
    assert two.ask(EVERYDAY).unknown  # the state cannot be known: denied
    run(url, "ALTER TABLE hidden RENAME TO patterns")
    assert two.ask(EVERYDAY).outcome == "block"
    eventually(two.state.fresh)
