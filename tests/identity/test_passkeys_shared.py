"""Passkeys with two replicas: registered at one, known at the other; what is touched here is spent there, and ends everywhere."""

from __future__ import annotations

from typing import Any, cast

import pytest

from browsers import SITE, add_passkey, enter_with_passkey, touch_passkey
from gate import AGENT, Gate
from interlock.approvals import step_up
from interlock.engine.evaluate import Request, evaluate
from interlock.identity import credentials, passkeys
from interlock.identity.console_access import sign_out_everywhere, visitor_of
from interlock.identity.sessions import SignInRefused
from interlock.model import operation
from interlock.ports import StoreEvent
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
    asked = step_up.stepup_begin(two.state, entered.visitor, held.ticket.id, SITE)
    answer = key.get(asked["publicKey"])
    step_up.approve_with_assertion(two.state, entered.visitor, held.ticket.id, asked["ceremony"], answer, SITE)
    assert evaluate(one.state, Request(DROP, AGENT, "test")).allowed
    here = enter_with_passkey(as_gate(one), key)
    sign_out_everywhere(one.state, "ann")
    assert visitor_of(two.state, entered.token, two.clock.now()) is None
    assert visitor_of(one.state, here.token, one.clock.now()) is None
    one.clock.forward(1)
    again = enter_with_passkey(as_gate(one), key)
    with two.hearing(StoreEvent.OPERATORS):
        credentials.remove(one.state, touch_passkey(again, key), key.id.hex(), even_last=True)
    asked = passkeys.sign_in_begin(two.state, SITE)
    with pytest.raises(SignInRefused, match="not known here"):
        passkeys.sign_in_finish(two.state, asked["ceremony"], key.get(asked["publicKey"]), SITE, "")
