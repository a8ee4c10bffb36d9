"""Blocks that block, told to everybody who runs, and modes that do not: R-9, R-12, R-18, C-15, C-16, C-18, C-43, ESL-08 to ESL-11, AE-10, AE-13, OOB-01 to OOB-11."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from gate import Gate
from interlock.identity.agents import block, unblock
from interlock.loop.executions import end_session
from interlock.loop.state import UNJUDGED
from interlock.loop.steps import ReportedStep, record_step
from loop_agents import READ, Agent, code_of, notes, permissive_gate

WIPE, PUSH = "rm -rf /", "git push --force origin main"


def challenge(agent: Agent) -> str:
    return next(one.id for one in agent.challenges() if one.kind == "block")


def test_OOB_02_the_danger_zone_stops_and_blocks_on_disk_and_on_record(gate: Gate) -> None:
    agent = Agent(gate).started()
    data = agent.step(WIPE)
    directive = data["autonomy"]
    assert (directive["continue"], directive["stopped"], data["status"]) == (False, True, "blocked")
    (note,) = notes(directive, "danger_zone")
    assert str(uuid.UUID(note["metadata"]["verificationId"], version=4)) == challenge(agent)
    assert "confirmation" not in data
    (row,) = gate.records("block")
    assert json.loads(row.body)["principal"] == agent.ref.principal
    gate.restart()
    assert agent.told(READ)["stopped"] is True


def test_C_15_a_blocked_step_is_answered_and_neither_judged_nor_counted(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step()
    agent.step(WIPE)
    before = len(gate.records())
    for hint in (READ, WIPE, "drop_table users"):
        data = agent.step(hint)
        assert data["status"] == "blocked" and data["autonomy"]["stopped"] is True
        assert notes(data["autonomy"], "danger_zone")[0]["metadata"]["verificationId"] == challenge(agent)
    assert len(gate.records()) == before
    assert agent.standing()["status"] == "blocked" and agent.standing()["steps"] == 1


def test_C_18_OOB_10_neither_a_name_nor_a_connection_nor_an_execution_escapes_a_block(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    other = Agent(made, "other").started()
    Agent(made).started().step(WIPE)
    for name, session in (("BUILDER", "mcp_one"), ("builder ", "mcp_two"), ("other", "mcp_one"), ("new", "mcp_new")):
        agent = Agent(made, name, session=session)
        assert code_of(agent.start) == "PERMISSION_DENIED"
        assert agent.told(READ)["stopped"] is True
    assert other.told(READ)["stopped"] is True
    assert Agent(made, principal="uid:2000").started().told(READ)["continue"] is True
    made.close()


def test_R_10_lifting_a_block_approves_nothing(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(WIPE)
    id = challenge(agent)
    agent.verify(id, agent.code(id))
    assert agent.told(READ)["continue"] is True
    assert agent.told(WIPE)["stopped"] is True
    assert challenge(agent) != id


def test_C_16_a_block_whose_challenge_ended_gets_another_one_within_a_cap(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(WIPE)
    seen = {challenge(agent)}
    for _ in range(6):
        gate.clock.forward(301)
        agent.step(READ)
        seen.add(notes(agent.told(READ), "danger_zone")[0]["metadata"]["verificationId"])
    assert len(seen) == 7  # one after the other, never two at a time
    id = notes(agent.told(READ), "danger_zone")[0]["metadata"]["verificationId"]
    gate.restart()
    assert agent.verify(id, agent.code(id))["unblocked_agent"]


def test_R_9_an_operators_block_is_told_to_the_loop_with_a_challenge(gate: Gate) -> None:
    agent = Agent(gate).started()
    block(gate.state, gate.sign_in(), agent.ref.principal, "looks odd")
    id = notes(agent.told(READ), "danger_zone")[0]["metadata"]["verificationId"]
    assert agent.verify(id, agent.code(id))["verified"]
    assert agent.told(READ)["continue"] is True


def test_AE_13_R_18_every_agent_that_runs_is_told_who_was_stopped_and_never_what_it_wanted(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    bystander = Agent(made, "bystander", principal="uid:2000").started()
    idle = Agent(made, "idle", principal="uid:3000").started()
    idle.complete()
    offender = Agent(made).started()
    offender.step("rm -rf /srv/customers-of-acme /")
    (note,) = notes(bystander.told(READ), "danger_zone")
    assert "'builder'" in note["message"] and note["metadata"]["level"] == "danger_zone"
    assert note["metadata"]["verificationId"] == challenge(offender)
    assert "acme" not in json.dumps(bystander.told(READ)) and "rm -rf" not in json.dumps(note)
    assert notes(bystander.told(READ), "danger_zone")  # until it is lifted
    assert not notes(idle.started().told(READ), "danger_zone")
    unblock(made.state, made.sign_in(), offender.ref.principal, "fine")
    assert not notes(bystander.told(READ), "danger_zone")
    assert not notes(offender.told(READ), "danger_zone")
    made.close()


def test_AE_13_a_bystander_goes_on_and_cannot_lift_the_block(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    bystander = Agent(made, "bystander", principal="uid:2000").started()
    offender = Agent(made).started()
    offender.step(WIPE)
    directive = bystander.told(READ)
    assert directive["continue"] is True
    id = challenge(offender)
    code = offender.code(id)
    assert code_of(lambda: bystander.verify(id, code)) == "TOKEN_INVALID"
    assert offender.verify(id, code)["verified"]  # nobody burnt it
    made.close()


def test_a_name_that_is_told_to_others_is_short_and_shows_what_it_hides(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    bystander = Agent(made, "bystander", principal="uid:2000").started()
    Agent(made, "x\u202e\n" + "please obey " * 20).started().step(WIPE)
    (note,) = notes(bystander.told(READ), "danger_zone")
    assert len(note["message"]) < 160 and "\n" not in note["message"] and "\u202e" not in note["message"]
    made.close()


def test_AE_10_AE_12_notifications_wait_for_their_agent_across_restarts_and_are_told_once(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=1)
    agent = Agent(made).started()
    agent.step()
    agent.step("reading two.md")
    agent.approve(agent.tickets()[0])
    agent.resume()
    made.restart()
    made.sign_in()
    first, second = agent.told("reading two.md"), agent.told("reading three.md")
    assert [note["message"] for note in notes(first, "status")] == ["A person agreed: 1 more steps"]
    assert not notes(second, "status")
    assert set(notes(first, "status")[0]) == {"type", "message", "timestamp"}
    made.close()


def test_a_session_that_ended_leaves_no_pause_behind(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    agent = Agent(made).started()
    agent.step("delete_user 42")
    end_session(made.state, agent.ref.principal, agent.ref.session)
    fresh = Agent(made, session="mcp_two").started()
    directive = fresh.told(READ)
    assert directive["continue"] is True and not notes(directive, "permission_pending")
    made.close()


# Modes


def in_mode(folder: Path, mode: str) -> Gate:
    made = Gate(folder / "state", safetyLoop={"mode": mode})
    made.enrol()
    return made


@pytest.mark.parametrize(
    ("hint", "would"),
    [(READ, ""), ("delete_user 42", "would have: confirm"), (PUSH, "would have: verify"), (WIPE, "would have: stop")],
)
def test_ESL_09_R_12_monitoring_judges_and_lets_pass(tmp_path: Path, hint: str, would: str) -> None:
    made = in_mode(tmp_path, "monitoring")
    agent = Agent(made)
    assert agent.start()["safety_loop"] == "monitoring"
    data = agent.step(hint)
    directive = data["autonomy"]
    assert directive["continue"] is True and "stopped" not in directive and data["status"] == "running"
    assert [factor for factor in directive["factors"] if factor.startswith("would have")] == ([would] if would else [])
    assert "confirmation" not in data and not directive.get("notifications")
    assert not agent.tickets() and not agent.challenges() and not made.records("block")
    made.close()


def test_ESL_09_monitoring_pauses_neither_for_a_failure_nor_for_the_step_limit(tmp_path: Path) -> None:
    made = in_mode(tmp_path, "monitoring")
    agent = Agent(made)
    agent.start(max_autonomous_steps=1)
    assert [agent.told(outcome="failure")["continue"] for _ in range(3)] == [True] * 3
    assert "would have: confirm" in agent.told()["factors"]
    made.close()


def test_C_43_a_block_is_kept_and_reported_in_monitoring_and_counts_again_in_enforcing(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(WIPE)
    gate.state.enforce(mode="monitoring")
    directive = agent.told(READ)
    assert directive["continue"] is True and "stopped" not in directive
    assert any(factor.startswith("would have: stop (this agent is blocked") for factor in directive["factors"])
    gate.state.enforce(mode="enforcing")
    assert agent.told(READ)["stopped"] is True


def test_C_43_a_pause_counts_again_as_well(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step("delete_user 42")
    gate.state.enforce(mode="monitoring")
    assert agent.told(READ)["continue"] is True
    gate.state.enforce(mode="enforcing")
    assert agent.told(READ)["continue"] is False


def test_ESL_10_logging_records_and_does_not_judge(tmp_path: Path) -> None:
    made = in_mode(tmp_path, "logging")
    agent = Agent(made).started()
    directive = agent.told(WIPE)
    assert directive["continue"] is True and "nextStepRisk" not in directive
    assert directive["factors"] == ["Not evaluated: in this mode the loop only records (logging)"]
    assert any("rm -rf /" in row.body for row in made.records())
    made.close()


def test_ESL_11_R_25_a_disabled_loop_goes_on_and_says_that_nothing_is_judged(tmp_path: Path) -> None:
    made = in_mode(tmp_path, "disabled")
    agent = Agent(made)
    assert agent.told(WIPE) == {"continue": True, "factors": [UNJUDGED["disabled"]]}  # also before it started
    assert agent.start()["safety_loop"] == "disabled"
    for step in range(12):  # and beyond every limit
        directive = agent.told(WIPE, outcome="failure", risk=100)
        assert directive["continue"] is True and directive["factors"] == [UNJUDGED["disabled"]], step
        assert "nextStepRisk" not in directive and "stopped" not in directive
    assert agent.tickets() == agent.challenges() == []
    assert any("rm -rf /" in row.body for row in made.records())
    assert agent.complete()["status"] == "completed"
    assert code_of(agent.abort) == "NOT_FOUND_RESOURCE"
    made.close()


def test_R_25_C_43_a_block_from_before_is_kept_while_the_loop_is_disabled(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(WIPE)
    gate.state.enforce(mode="disabled")
    assert agent.told(READ)["continue"] is True and agent.standing()["status"] == "blocked"
    gate.state.enforce(mode="enforcing")
    assert agent.told(READ)["stopped"] is True


def test_nothing_is_answered_with_a_yes_when_the_store_fails(gate: Gate) -> None:
    agent = Agent(gate).started()
    gate.store.close()
    with pytest.raises(Exception, match="closed"):
        record_step(gate.state, agent.ref, ReportedStep(READ))
