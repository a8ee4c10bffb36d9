"""Calls of a hook or a proxy beside what their agent reports to the loop: whose call is whose, and what a difference costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate import Gate
from interlock.engine.evaluate import Request, evaluate
from interlock.model import AgentRef, Decision, command
from loop_agents import PRINCIPAL, Agent, permissive_gate

HOOKED = AgentRef(PRINCIPAL, "claude-code", "s-1")
DATA, EDIT = command("rm -rf /srv/data", "/home/dev/app"), command("echo x > settings.py", "/home/dev/app")


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = permissive_gate(tmp_path)
    yield made
    made.close()


def call(gate: Gate, action: object = DATA, who: AgentRef = HOOKED, door: str = "hook") -> Decision:
    return evaluate(gate.state, Request(action, who, door))  # type: ignore[arg-type]


def said(decision: Decision) -> str:
    """The finding; empty where there is none."""
    return next((part.name for part in decision.parts if part.name.startswith("loop.")), "")


def linked(gate: Gate, session: str = "s-1", name: str = "builder") -> None:
    gate.state.declarations.linked(PRINCIPAL, session, name)


def test_a_call_that_nobody_reported_is_held_for_a_person_and_named_in_the_record(gate: Gate) -> None:
    Agent(gate).started()
    linked(gate)
    found = call(gate)
    assert said(found) == "loop.undeclared" and found.requirement.human.name == "VERIFY"
    assert "loop.undeclared" in json.loads(gate.records("CONFIRMATION_REQUIRED")[-1].body)["findings"]


def test_a_different_call_at_level_two_takes_an_approval_where_a_confirm_would_do(gate: Gate) -> None:
    Agent(gate).started().step("run the tests")
    reset = command("git reset --hard", "/home/dev/app")
    assert call(gate, reset).outcome == "confirm"
    linked(gate)
    assert (call(gate, reset).outcome, said(call(gate, reset))) == ("approve", "loop.mismatch")


def test_everyday_changes_are_noted_and_pass(gate: Gate) -> None:
    Agent(gate).started().step("look at the logs")
    linked(gate)
    found = call(gate, EDIT)
    assert found.allowed and said(found) == "loop.mismatch"
    told = [json.loads(row.body) for row in gate.records("OPERATION_ALLOWED")]
    assert ["loop.mismatch"] in [body.get("findings") for body in told]


def test_what_was_reported_is_no_finding_and_neither_is_reading(gate: Gate) -> None:
    Agent(gate).started().step("delete the data folder under /srv/data")
    linked(gate)
    assert not said(call(gate)) and not said(call(gate, command("cat /etc/hosts", "/")))


def test_the_approval_of_an_intent_approves_no_call(gate: Gate) -> None:
    agent = Agent(gate).started()
    linked(gate)
    agent.step("delete the data folder under /srv/data")
    agent.approve(agent.tickets()[0])
    agent.step("delete the data folder under /srv/data")
    assert not call(gate).allowed and not call(gate, command("rm -rf /srv/uploads", "/home/dev/app")).allowed


@pytest.mark.parametrize(
    ("who", "door"),
    [
        (AgentRef(PRINCIPAL, "codex", "s-2"), "hook"),  # another agent of the same user
        (AgentRef(PRINCIPAL, "builder", "s-2"), "hook"),  # another window of the same agent
        (AgentRef("uid:1001", "builder", "s-1"), "hook"),
        (AgentRef(PRINCIPAL, "claude-code", "s-1"), "http"),  # an interface that does not see calls as they are made
        (AgentRef(PRINCIPAL, "files", "s-3"), "proxy"),
    ],
)
def test_calls_of_others_are_compared_with_nothing(gate: Gate, who: AgentRef, door: str) -> None:
    Agent(gate).started().step("run the tests")
    linked(gate)
    assert not said(call(gate, who=who, door=door))


@pytest.mark.parametrize(
    ("principal", "who", "door"),
    [
        (PRINCIPAL, AgentRef(PRINCIPAL, "Builder", "s-9"), "proxy"),
        ("agent:ci", AgentRef("agent:ci", "claude-code", "s-9"), "hook"),
    ],
)
def test_a_name_behind_a_proxy_and_a_token_of_ones_own_say_whose_call_it_is(
    gate: Gate, principal: str, who: AgentRef, door: str
) -> None:
    Agent(gate, principal=principal).started().step("run the tests")
    assert said(call(gate, who=who, door=door)) == "loop.mismatch"


def test_only_while_an_execution_runs(gate: Gate) -> None:
    agent = Agent(gate).started()
    linked(gate)
    agent.step("run the tests")
    agent.complete()
    assert not said(call(gate))


def test_after_a_restart_nothing_is_held_against_an_agent_before_its_next_report(gate: Gate) -> None:
    agent = Agent(gate).started()
    gate.restart()
    linked(gate)
    assert not said(call(gate))
    agent.step("run the tests")
    assert said(call(gate)) == "loop.mismatch"


def test_a_difference_blocks_where_the_operator_wants_that(tmp_path: Path) -> None:
    gate = Gate(tmp_path, loop={"mismatch": {"destructive": "block"}})
    gate.enrol()
    Agent(gate).started().step("run the tests")
    linked(gate)
    assert call(gate).outcome == "block" and gate.state.blocked(PRINCIPAL).startswith("loop.mismatch")
    gate.close()


def test_memory_is_bounded(gate: Gate) -> None:
    for number in range(3_000):
        gate.state.declarations.opened(AgentRef(PRINCIPAL, f"agent-{number}", "s"))
        linked(gate, f"s-{number}", "x")
    assert len(gate.state.declarations.executions) <= 1_000 and len(gate.state.declarations._names) <= 1_000


def test_a_decision_about_a_difference_can_be_made_again_from_its_record(gate: Gate) -> None:
    Agent(gate).started()
    linked(gate)
    call(gate)
    body = json.loads(gate.records("CONFIRMATION_REQUIRED")[-1].body)
    assert body["facts"]["circumstances"]["differs"]["name"] == "loop.undeclared"
