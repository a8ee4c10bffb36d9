"""Two replicas on one PostgreSQL: a run at a terminal that nobody watches any more is ended by whichever is left."""

from __future__ import annotations

import os

import pytest

from interlock.plans import history, planning, running
from planner_desk import consent_to
from shared_services import Replica

pytestmark = pytest.mark.xdist_group("pg")


def test_a_run_at_a_terminal_does_not_run_for_ever_when_its_replica_is_gone(pair: tuple[Replica, Replica]) -> None:
    one, two = pair
    by = one.sign_in()
    plan = planning.plan_command(one.state, by, "echo something", "/srv", "test")
    running.release_to_terminal(one.state, by, plan.id, consent_to(plan), os.getpid())
    for _ in range(3):  # while its replica watches, the other leaves it alone
        for replica in pair:
            replica.clock.forward(history.LEASE / 2)
        assert (history.renew_leases(one.state), history.renew_leases(two.state)) == (0, 0)
    two.clock.forward(history.LEASE + 1)  # and then the first one dies
    assert history.renew_leases(two.state) == 1 and history.renew_leases(two.state) == 0
    assert planning.find(two.state, plan.id).status == "interrupted"
