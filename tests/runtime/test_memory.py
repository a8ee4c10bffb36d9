"""Two services on one PostgreSQL: what an operator says at one counts at the other, at once."""

from __future__ import annotations

import pytest

import postgres
from gate import AGENT, CHEAP, PASSPHRASE
from interlock.approvals import grants, pausing, signed_orders
from interlock.identity import agents, operators
from interlock.model import command, operation
from interlock.ports import StoreEvent
from interlock.storage.postgres import NAME
from shared_services import EVERYDAY, WIPE, InterruptedStore, Replica, eventually, run

pytestmark = pytest.mark.xdist_group("pg")


def test_everyday_work_needs_no_store_while_the_listener_is_alive(pair: tuple[Replica, Replica]) -> None:
    for replica in pair:
        eventually(replica.allows)


def test_a_block_and_its_lifting_reach_the_other_replica(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    with two.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"
    with two.hearing(StoreEvent.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    eventually(two.allows)


def test_a_replica_that_nobody_unlocked_follows_what_tightens_and_waits_with_the_rest(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, admin = pair[0], pair[0].sign_in()
    locked = Replica(url)
    eventually(locked.state.fresh)
    for mode in ("disabled", "enforcing", "disabled"):
        with locked.hearing(StoreEvent.SETTING + "mode"):
            agents.set_mode(one.state, admin, mode)
    with locked.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    assert locked.state.mode == "enforcing" and locked.ask(EVERYDAY).outcome == "block"
    with locked.hearing(StoreEvent.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    assert locked.state.blocked(AGENT.principal)  # whoever signed that is not known here
    locked.sign_in()
    assert locked.quick() is None  # first what could not be proved before
    assert locked.ask(EVERYDAY).allowed and locked.state.mode == "disabled"
    locked.store.close()


def test_a_block_of_another_replica_outlives_the_lifting_that_came_before_it(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    agents.block(one.state, admin, AGENT.principal, "first")
    two.clock.forward(1)

    def again() -> None:
        with one.hearing(StoreEvent.BLOCKS):
            agents.block(two.state, two.sign_in(), AGENT.principal, "second")

    one.state.store = InterruptedStore(one.store, again)  # type: ignore[assignment]
    agents.unblock(one.state, admin, AGENT.principal)
    assert one.state.blocked(AGENT.principal) == "second" and one.quick() is None


def test_a_pattern_of_another_replica_outlives_the_removal_that_came_before_it(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    with two.hearing(StoreEvent.PATTERNS):
        grants.add_pattern(one.state, admin, WIPE)

    def again() -> None:
        eventually(lambda: WIPE["id"] not in two.patterns())
        with one.hearing(StoreEvent.PATTERNS):
            grants.add_pattern(two.state, two.sign_in(), WIPE)

    one.state.store = InterruptedStore(one.store, again)  # type: ignore[assignment]
    grants.remove_pattern(one.state, admin, "custom_wipe")
    assert "custom_wipe" in one.patterns() and "custom_wipe" in two.patterns()


def test_a_pattern_and_its_removal_reach_the_other_replica(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    wipe = operation("wipe_cache", {"resource": "main"})
    admin = one.sign_in()
    assert two.ask(wipe).allowed
    with two.hearing(StoreEvent.PATTERNS):
        grants.add_pattern(one.state, admin, WIPE)
    assert two.quick(wipe) is None and not two.ask(wipe).allowed
    with two.hearing(StoreEvent.PATTERNS):
        grants.remove_pattern(one.state, admin, "custom_wipe")
    assert two.ask(wipe).allowed
    with two.hearing(StoreEvent.PATTERNS):
        grants.add_pattern(one.state, admin, WIPE)
    assert not two.ask(wipe).allowed


def test_a_built_in_pattern_that_an_admin_removed_is_removed_everywhere(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    ids = {pattern.id for pattern in two.state.registry}
    gone = min(ids)
    with two.hearing(StoreEvent.SETTING + "order.remove"):
        grants.remove_pattern(one.state, one.sign_in(), gone)
    assert {pattern.id for pattern in two.state.registry} == ids - {gone}


def test_the_mode_that_an_admin_set_is_everybodys(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    for mode in ("monitoring", "enforcing", "disabled"):
        with two.hearing(StoreEvent.SETTING + "mode"):
            agents.set_mode(one.state, admin, mode)
        assert one.state.mode == two.state.mode == mode
    two.clock.time = one.clock.time - 3600  # a clock that is behind
    with one.hearing(StoreEvent.SETTING + "mode"):
        agents.set_mode(two.state, two.sign_in(), "enforcing")
    assert one.state.mode == two.state.mode == "enforcing"


def test_a_pause_and_its_end_are_everybodys(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin, drop = one.sign_in(), command("git push --force origin main", "/home/dev/app")
    two.sign_in()
    with two.hearing(StoreEvent.SETTING + signed_orders.PAUSE):
        pausing.pause(one.state, admin, 600, "a test")
    assert one.ask(drop).allowed and two.ask(drop).allowed
    with one.hearing(StoreEvent.SETTING + signed_orders.PAUSE):
        pausing.end(two.state, two.sign_in())
    assert not one.ask(drop).allowed and not two.ask(drop).allowed


def test_an_operator_who_is_disabled_at_one_replica_is_nobody_at_the_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    admin = one.sign_in()
    operators.add_operator(one.state, admin, "bob", PASSPHRASE, kdf=CHEAP)
    token, _ = operators.sign_in(two.state, "bob", PASSPHRASE, "cli")
    assert two.state.sessions.session(token, two.clock.now()) is not None
    with two.hearing(StoreEvent.OPERATORS, StoreEvent.SETTING + "roster_seal"):
        operators.change_operator(one.state, admin, "bob", disabled=True)
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
    grants.add_pattern(one.state, admin, WIPE)
    agents.set_mode(one.state, admin, "monitoring")
    agents.set_mode(one.state, admin, "enforcing")
    assert not two.ask(wipe).allowed  # nobody told it, and it knows
    agents.block(one.state, admin, AGENT.principal, "enough")
    assert two.ask(EVERYDAY).outcome == "block"
    run(elsewhere, f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
    eventually(two.state.fresh)
    assert two.state.blocked(AGENT.principal) == "enough" and two.quick() is None
    with two.hearing(StoreEvent.BLOCKS):
        agents.unblock(one.state, admin, AGENT.principal)
    eventually(two.allows)


def test_a_replica_that_cannot_read_a_change_is_not_fresh_until_it_can(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    run(url, "ALTER TABLE patterns RENAME TO hidden")
    with two.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "enough")
    eventually(two.store.hears)
    assert not two.state.fresh() and two.quick() is None
    assert two.ask(EVERYDAY).unknown  # the state cannot be known: denied
    run(url, "ALTER TABLE hidden RENAME TO patterns")
    assert two.ask(EVERYDAY).outcome == "block"
    eventually(two.state.fresh)
