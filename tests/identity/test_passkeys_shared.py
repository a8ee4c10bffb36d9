"""Passkeys with two replicas: registered at one, known at the other; what is touched here is spent there, and ends everywhere."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from browsers import (
    HERE,
    SITE,
    SignedInBrowser,
    add_authenticator,
    add_passkey,
    enter_with_code,
    enter_with_passkey,
    touch_passkey,
)
from gate import AGENT, Gate
from interlock.approvals import step_up
from interlock.engine.evaluate import Request, evaluate
from interlock.identity import credentials, passkeys
from interlock.identity.console_access import enter_by_link, set_up_link, visitor_of
from interlock.identity.sessions import SignInRefused
from interlock.model import operation
from interlock.ports import StoreEvent
from interlock.redaction import hash_token
from shared_services import Replica

pytestmark = pytest.mark.xdist_group("pg")
DROP = operation("drop_database", {"name": "main"})


def as_gate(replica: Replica) -> Gate:
    """What browsers need of a gate, a replica has."""
    return cast(Gate, cast(Any, replica))


def test_a_passkey_and_its_touch_count_at_every_replica_until_it_is_removed(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    with two.hearing(StoreEvent.OPERATORS):
        key = add_passkey(as_gate(one))
    entered = enter_with_passkey(as_gate(two), key)
    held = evaluate(two.state, Request(DROP, AGENT, "test"))
    assert held.ticket is not None
    asked = step_up.approve_begin(two.state, entered.visitor, held.ticket.id, SITE)
    answer = key.get(asked["publicKey"])
    step_up.approve(two.state, entered.visitor, held.ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    assert evaluate(one.state, Request(DROP, AGENT, "test")).allowed
    here = enter_with_passkey(as_gate(one), key)
    one.state.visitors.shelf.drop_owned("ann")
    assert visitor_of(two.state, entered.token) is None
    assert visitor_of(one.state, here.token) is None
    one.clock.forward(1)
    again = enter_with_passkey(as_gate(one), key)
    with two.hearing(StoreEvent.OPERATORS):
        credentials.remove(one.state, touch_passkey(again, key), key.id.hex(), even_last=True)
    asked = passkeys.sign_in_begin(two.state, SITE)
    with pytest.raises(SignInRefused, match="not known here"):
        passkeys.sign_in_finish(two.state, asked["ceremony"], key.get(asked["publicKey"]), SITE, "")


def test_a_browser_that_signed_in_at_one_replica_is_signed_in_at_the_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    with two.hearing(StoreEvent.OPERATORS):
        key = add_passkey(as_gate(one))
    begun = passkeys.sign_in_begin(one.state, SITE)
    token, entered = passkeys.sign_in_finish(two.state, begun["ceremony"], key.get(begun["publicKey"]), SITE, HERE)
    here = visitor_of(one.state, token)
    assert here is not None and (here.id, here.csrf, here.role) == (entered.id, entered.csrf, "admin")
    held = evaluate(two.state, Request(DROP, AGENT, "test"))
    assert held.ticket is not None
    asked = step_up.approve_begin(two.state, here, held.ticket.id, SITE)
    answer = key.get(asked["publicKey"])
    step_up.approve(one.state, here, held.ticket.id, step_up.Touch(asked["ceremony"], answer, SITE))
    assert evaluate(two.state, Request(DROP, AGENT, "test")).allowed
    fresh = touch_passkey(SignedInBrowser(as_gate(two), token), key)
    assert fresh.fresh(two.clock.now())
    again = visitor_of(one.state, token)
    assert again is not None and again.fresh(one.clock.now())
    one.state.visitors.shelf.drop(token)
    assert visitor_of(two.state, token) is None


def test_a_set_up_link_and_a_passphrase_work_at_any_replica_and_a_link_once(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    link = set_up_link(one.state, as_gate(one).sign_in())
    enter_by_link(two.state, link, HERE)
    with pytest.raises(SignInRefused, match="used already"):
        enter_by_link(one.state, link, HERE)
    with two.hearing(StoreEvent.OPERATORS):
        app = add_authenticator(as_gate(one))
    two.clock.forward(30)
    entered = enter_with_code(as_gate(one), app)
    there = visitor_of(two.state, entered.token)
    assert there is not None
    assert there.session.unlocked.sign("x") == entered.visitor.session.unlocked.sign("x")


def test_a_row_of_a_session_opens_with_its_own_cookie_at_an_unlocked_replica_and_not_otherwise(
    pair: tuple[Replica, Replica], url: str
) -> None:
    one, two = pair
    with two.hearing(StoreEvent.OPERATORS):
        key = add_passkey(as_gate(one))
    first, second = (enter_with_passkey(as_gate(one), key) for _ in range(2))
    marks = {entered.token: hash_token(entered.token) for entered in (first, second)}
    rows = one.store.read(lambda tx: {token: tx.sealed_session(mark) for token, mark in marks.items()})
    kept = repr(list(rows.values()))
    assert first.token not in kept and first.visitor.csrf not in kept
    swapped = replace(rows[second.token], mark=marks[first.token])
    one.store.write(lambda tx: tx.save_session(swapped))
    assert visitor_of(two.state, first.token) is None
    assert visitor_of(two.state, second.token) is not None
    locked = Replica(url)
    try:
        assert visitor_of(locked.state, second.token) is None
        locked.sign_in()
        assert visitor_of(locked.state, second.token) is not None
    finally:
        locked.store.close()


def test_a_request_at_one_replica_keeps_the_session_from_idling_at_the_other(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    with two.hearing(StoreEvent.OPERATORS):
        key = add_passkey(as_gate(one))
    entered = enter_with_passkey(as_gate(one), key)
    for _ in range(3):
        for replica in pair:
            replica.clock.forward(20 * 60)
        assert visitor_of(one.state, entered.token) is not None
    assert visitor_of(two.state, entered.token, idles=True) is not None
    for replica in pair:
        replica.clock.forward(31 * 60)
    assert visitor_of(two.state, entered.token) is None
