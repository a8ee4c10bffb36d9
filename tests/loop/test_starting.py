"""Executions start when a person agrees, and end: R-11, R-13, ESL-03, ESL-05, ESL-13, LC-01 to LC-03, C-15, C-22."""

from __future__ import annotations

from pathlib import Path

import pytest

from aql_lint import clean
from gate import Gate
from interlock.identity.agents import block, unblock
from interlock.loop.executions import end_session
from interlock.loop.state import CORE_STATES, LIVE, MOVES, STATES
from loop_agents import Agent, code_of, permissive_gate, protocol_code, refusal_of


def test_ESL_05_R_11_an_execution_starts_only_when_a_person_agrees(gate: Gate) -> None:
    agent = Agent(gate)
    problem = refusal_of(agent.start)
    assert problem is not None and problem.code == "CONFIRMATION_REQUIRED"
    token = problem.details["confirmation_token"]
    assert problem.confirmation is not None and problem.confirmation["token"] == token
    assert problem.confirmation["expires_at"] == problem.details["expires_at"]
    assert code_of(agent.step) == "NOT_FOUND_RESOURCE"
    agent.approve(agent.tickets()[0])
    data = agent.start(token=token)
    assert data["status"] == "running" and data["safety_loop"] == "enforcing"
    assert agent.told()["continue"] is True


def test_C_14_whoever_wants_to_start_cannot_arm_its_own_token(gate: Gate) -> None:
    agent = Agent(gate)
    problem = refusal_of(agent.start)
    assert problem is not None
    token = problem.details["confirmation_token"]
    unarmed = refusal_of(lambda: agent.start(token=token))
    assert unarmed is not None and unarmed.code == "PERMISSION_DENIED" and unarmed.details["reason"] == "self-approval"
    assert code_of(lambda: agent.confirm(token, "execute_agent")) == "PERMISSION_DENIED"
    assert code_of(agent.start) == "CONFIRMATION_REQUIRED"


def test_an_armed_start_can_be_confirmed_first_and_is_good_for_one_start(gate: Gate) -> None:
    agent = Agent(gate)
    problem = refusal_of(agent.start)
    assert problem is not None
    agent.approve(agent.tickets()[0])
    assert agent.confirm(problem.details["confirmation_token"], "execute_agent")["confirmed"]
    agent.start()
    assert code_of(agent.start) == "CONFIRMATION_REQUIRED"


def test_a_start_is_bound_to_what_was_shown(gate: Gate) -> None:
    agent = Agent(gate)
    refusal_of(lambda: agent.start(parameters={"goal": "update the docs"}))
    agent.approve(agent.tickets()[0])
    assert code_of(lambda: agent.start(parameters={"goal": "something else"})) == "CONFIRMATION_REQUIRED"
    assert agent.start(parameters={"goal": "update the docs"})["status"] == "running"
    assert agent.standing()["goal"] == {"goal": "update the docs"}


def test_R_11_a_policy_can_let_executions_start(tmp_path: Path) -> None:
    with_start = permissive_gate(tmp_path)
    assert Agent(with_start).start()["steps_remaining"] == 10
    with_start.close()


@pytest.mark.parametrize(("asked", "got"), [(None, 10), (3, 3), (0, 0), (10, 10), (11, 10), (10_000, 10)])
def test_R_13_whoever_starts_can_only_lower_the_step_limit(tmp_path: Path, asked: int | None, got: int) -> None:
    made = permissive_gate(tmp_path)
    data = Agent(made).start(max_autonomous_steps=asked)
    assert data["max_autonomous_steps"] == data["steps_remaining"] == data["applied"]["max_autonomous_steps"] == got
    made.close()


def test_R_13_nobody_has_more_steps_than_the_operators_ceiling(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=10_000)
    assert Agent(made).start()["max_autonomous_steps"] == 100
    made.close()


@pytest.mark.parametrize("asked", [-1, True, 1.5])
def test_a_step_limit_is_a_whole_number(gate: Gate, asked: int) -> None:
    code = protocol_code(gate, "execute", "execute_agent", max_autonomous_steps=asked)
    assert code == ("VALIDATION_INVALID_VALUE" if asked == -1 else "VALIDATION_INVALID_TYPE")


def test_C_15_C_18_a_blocked_principal_starts_nothing_under_any_name(gate: Gate) -> None:
    agent = Agent(gate).started()
    block(gate.state, gate.sign_in(), agent.ref.principal, "looks odd")
    for name in ("builder", "BUILDER", " builder ", "ｂuilder", "another"):
        problem = refusal_of(lambda name=name: Agent(gate, name, session="mcp_two").start())
        assert problem is not None and problem.code == "PERMISSION_DENIED" and problem.details["reason"] == "blocked"
        assert clean(problem.message) and "interlock codes" in problem.message
    assert code_of(agent.complete) == "PERMISSION_DENIED"
    assert agent.abort()["status"] == "cancelled"  # only takes power away
    assert code_of(Agent(gate).start) == "PERMISSION_DENIED"  # and lifts nothing
    unblock(gate.state, gate.sign_in(), agent.ref.principal, "fine")
    assert Agent(gate).started()


def test_LC_02_complete_and_abort_say_how_it_ended(gate: Gate) -> None:
    agent = Agent(gate).started()
    done = agent.complete(outcome="partial", summary="half of it")
    assert done["status"] == "completed" and done["finished_at"] and done["started_at"]
    assert (agent.standing()["outcome"], agent.standing()["summary"]) == ("partial", "half of it")
    assert code_of(agent.complete) == code_of(agent.abort) == code_of(agent.step) == "NOT_FOUND_RESOURCE"
    assert agent.started().complete(outcome="failure")["status"] == "failed"
    gate.clock.forward(1)
    assert agent.started().abort(reason="enough")["status"] == "cancelled"
    assert (agent.standing()["status"], agent.standing()["summary"]) == ("cancelled", "enough")


def test_LC_01_LC_03_the_lifecycle_is_a_table_and_cancelled_is_always_near() -> None:
    assert {state for state, _ in MOVES} | set(MOVES.values()) == set(STATES)
    assert all((state, "cancel") in MOVES for state in LIVE)
    assert not {state for state, _ in MOVES} & {"completed", "failed", "cancelled"}  # nothing leaves them
    assert set(CORE_STATES) == {"paused", "blocked"} and set(CORE_STATES.values()) == {"running"}


def test_ESL_13_what_belongs_to_a_connection_ends_with_it(gate: Gate) -> None:
    agent, other = Agent(gate).started(), Agent(gate, session="mcp_two").started()
    held = agent.step("delete_user 42")
    end_session(gate.state, agent.ref.principal, agent.ref.session)
    assert agent.standing()["status"] == "cancelled"
    assert code_of(agent.step) == "NOT_FOUND_RESOURCE"
    token = held["confirmation"]
    assert code_of(lambda: agent.confirm(token["token"], token["operation"])) == "TOKEN_EXPIRED"
    assert other.told()["continue"] is True


def test_ESL_13_a_block_is_no_session_state(gate: Gate) -> None:
    agent = Agent(gate).started()
    assert agent.told("rm -rf /")["stopped"] is True
    end_session(gate.state, agent.ref.principal, agent.ref.session)
    assert code_of(Agent(gate, session="mcp_three").start) == "PERMISSION_DENIED"


def test_each_connection_has_an_execution_of_its_own(gate: Gate) -> None:
    one, two = Agent(gate).started(), Agent(gate, session="mcp_two").started()
    assert one.step()["execution_id"] != two.step()["execution_id"]
    one.complete()
    assert two.told()["continue"] is True


def test_C_21_a_restart_forgets_no_step(gate: Gate) -> None:
    agent = Agent(gate).started()
    for _ in range(4):
        agent.step()
    gate.restart()
    assert agent.step()["step"] == 5


def test_every_start_and_end_is_on_record(gate: Gate) -> None:
    Agent(gate).started().complete()
    told = [row.body for row in gate.records("execution")]
    assert '"status":"running"' in told[0] and '"status":"completed"' in told[1]


def test_an_agent_without_a_name_starts_nothing(gate: Gate) -> None:
    assert code_of(Agent(gate, "").start) == code_of(Agent(gate, "").step) == "VALIDATION_MISSING_PARAM"
    assert code_of(Agent(gate).standing) == "NOT_FOUND_RESOURCE"
