"""A decision depends on the world that was gathered for it, and on nothing else."""

from __future__ import annotations

from gate import AGENT, Gate
from interlock.engine.decide import decide
from interlock.engine.evaluate import _judge
from interlock.engine.gathering import gather_world, identify
from interlock.model import command
from interlock.runtime import Request

PUSH = command("git push --force origin main", "/home/dev/app")


def test_what_happens_after_the_world_was_gathered_changes_no_decision_on_it(gate: Gate) -> None:
    ticket = gate.approve(gate.held(PUSH))
    judged = identify(gate.state, _judge(gate.state, Request(PUSH, AGENT, "test")))
    world = gather_world(gate.state, judged)
    before = decide(judged, world)
    assert before.held.outcome == "allow"
    gate.state.baseline.ended(ticket.id)
    gate.state.sessions.roster = None
    assert decide(judged, world) == before
    assert decide(judged, gather_world(gate.state, judged)).held.outcome == "deny"
