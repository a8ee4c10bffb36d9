"""Two services on one PostgreSQL that somebody edits: a row loosens nothing, and neither does a signature from another day."""

from __future__ import annotations

import pytest

from gate import AGENT
from interlock.approvals import grants
from interlock.identity import agents
from interlock.model import operation
from interlock.ports import StoreEvent
from shared_services import EVERYDAY, WIPE, Replica, edit, eventually, run

pytestmark = pytest.mark.xdist_group("pg")


@pytest.mark.parametrize("sql", ["DELETE FROM blocks", "UPDATE blocks SET lifted_at = 1, lifted_by = 'ann'"])
def test_a_block_that_somebody_edited_away_stays(pair: tuple[Replica, Replica], url: str, sql: str) -> None:
    one, two = pair
    with two.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, one.sign_in(), AGENT.principal, "enough")
    with two.hearing(*StoreEvent):
        edit(url, sql)
    eventually(two.state.fresh)
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"


def test_an_old_lifting_does_not_lift_a_new_block(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    agents.block(one.state, admin, AGENT.principal, "first")
    agents.unblock(one.state, admin, AGENT.principal)
    one.clock.forward(1)
    with two.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "second")
    with two.hearing(*StoreEvent):
        edit(url, "UPDATE blocks SET lifted_at = 1 WHERE reason = 'second'")
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"


def test_a_lifting_that_was_signed_for_an_earlier_block_lifts_no_later_one(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, two = pair
    admin = one.sign_in()
    first = agents.block(one.state, admin, AGENT.principal, "first")
    agents.unblock(one.state, admin, AGENT.principal)
    one.clock.forward(1)
    with two.hearing(StoreEvent.BLOCKS):
        agents.block(one.state, admin, AGENT.principal, "second")
    with two.hearing(*StoreEvent):
        run(url, "DELETE FROM blocks WHERE reason = 'first'")
        edit(
            url, "UPDATE blocks SET lifted_at = 1, since = %s", first.since
        )  # the second one in the place of the first
    assert two.quick() is None and two.ask(EVERYDAY).outcome == "block"


@pytest.mark.parametrize("sql", ["DELETE FROM patterns", "UPDATE patterns SET body = replace(body, 'wipe_', 'dont_')"])
def test_a_pattern_that_somebody_edited_away_stays(pair: tuple[Replica, Replica], url: str, sql: str) -> None:
    one, two = pair
    with two.hearing(StoreEvent.PATTERNS):
        grants.add_pattern(one.state, one.sign_in(), WIPE)
    with two.hearing(*StoreEvent):
        edit(url, sql)
    eventually(two.state.fresh)
    assert not two.ask(operation("wipe_cache", {"resource": "main"})).allowed


def test_a_mode_that_somebody_wrote_into_the_database_loosens_nothing(pair: tuple[Replica, Replica], url: str) -> None:
    one, two = pair
    admin = one.sign_in()
    agents.set_mode(one.state, admin, "disabled")
    [(old,)] = run(url, "SELECT value FROM settings WHERE key = 'order.mode'")
    with two.hearing(StoreEvent.SETTING + "mode"):
        agents.set_mode(one.state, admin, "enforcing")
    with two.hearing(*StoreEvent):
        edit(url, "UPDATE settings SET value = 'disabled' WHERE key = 'mode'")
    assert two.state.mode == "enforcing"
    with two.hearing(*StoreEvent):
        edit(url, "UPDATE settings SET value = %s WHERE key = 'order.mode'", old)  # sealed, and said before
    assert two.state.mode == "enforcing"


def test_what_a_locked_replica_could_not_prove_is_not_made_up_for_by_an_older_order(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, locked = pair[0], Replica(url)
    admin = one.sign_in()
    agents.set_mode(one.state, admin, "disabled")
    [(old,)] = run(url, "SELECT value FROM settings WHERE key = 'order.mode'")
    with locked.hearing(StoreEvent.PATTERNS):
        grants.add_pattern(one.state, admin, WIPE)
    with locked.hearing(StoreEvent.PATTERNS):
        grants.remove_pattern(one.state, admin, "custom_wipe")
    with locked.hearing(StoreEvent.SETTING + "mode", StoreEvent.PATTERNS):
        agents.set_mode(one.state, admin, "enforcing")
        grants.add_pattern(one.state, admin, WIPE)
    with locked.hearing(*StoreEvent):
        run(url, "DELETE FROM patterns")
        edit(url, "UPDATE settings SET value = %s WHERE key = 'order.mode'", old)
    locked.sign_in()
    assert not locked.ask(operation("wipe_cache", {"resource": "main"})).allowed
    assert locked.state.mode == "enforcing"
    locked.store.close()


def test_a_trust_tier_counts_at_every_replica_where_an_admin_gave_it_and_nowhere_else(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, two = pair[0], Replica(url, gate={"bypassForTrustTiers": ["privileged"]})
    admin, rename = one.sign_in(), operation("rename_label", {"resource": "main"})
    with two.hearing(StoreEvent.PATTERNS):
        cooled = {**WIPE, "pattern": "rename_label", "requiresHumanApproval": False, "coolingOffMs": 60_000}
        grants.add_pattern(one.state, admin, cooled)
    agents.change_agent(one.state, admin, AGENT.principal, AGENT.name, trust_tier="")
    run(url, "UPDATE agents SET trust_tier = 'privileged'")
    two.sign_in()
    assert two.ask(rename).outcome == "cool_off"
    agents.change_agent(one.state, admin, AGENT.principal, AGENT.name, trust_tier="privileged")
    assert two.ask(rename).allowed
    two.store.close()
