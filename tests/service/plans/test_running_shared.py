"""Two replicas on one PostgreSQL: a run at a terminal that nobody watches any more is ended by whichever is left."""

from __future__ import annotations

import os

import pytest

from interlock.service.plans import making, running, terminals
from planning import yes
from sharing import Replica

pytestmark = pytest.mark.xdist_group("pg")


def test_a_run_at_a_terminal_does_not_run_for_ever_when_its_replica_is_gone(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    by = one.sign_in()
    plan = making.own(one.state, by, "echo something", "/srv", "test")
    running.leave(one.state, by, plan.id, yes(plan), os.getpid())
    for _ in range(3):  # while its replica watches, the other leaves it alone
        for replica in pair:
            replica.clock.forward(terminals.LEASE / 2)
        assert (terminals.look(one.state), terminals.look(two.state)) == (0, 0)
    two.clock.forward(terminals.LEASE + 1)  # and then the first one dies
    assert terminals.look(two.state) == 1 and terminals.look(two.state) == 0
    assert making.find(two.state, plan.id).status == "interrupted"
