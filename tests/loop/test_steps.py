"""One step, one directive: AE-01 to AE-07, C-09 to C-11, C-20, C-45, R-13, 2.1, 2.3, 2.11, GK-07."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gate import Gate
from interlock.analysis.display_text import short_id
from interlock.loop import steps
from interlock.records import AuditQuery
from loop_agents import READ, Agent, code_of, notes, permissive_gate, protocol_code, refusal_of

FIELDS = {"continue", "factors", "stopped", "reason", "stepsRemaining", "nextStepRisk", "notifications"}
STAGES = ("Step limit", "Previous outcome", "Pattern", "Safety tier", "Risk tolerance")


def with_patterns(folder: Path, **lists: list[str]) -> Gate:
    folder.mkdir(exist_ok=True)
    return permissive_gate(
        folder, more=f"[patterns]\n{''.join(f'{key} = {value!r}{chr(10)}' for key, value in lists.items())}"
    )


def test_AE_01_AE_02_an_everyday_step_goes_on_and_says_why_in_five_stages(gate: Gate) -> None:
    data = Agent(gate).started().step(outcome="success", description="looked around", findings="nothing odd")
    directive = data["autonomy"]
    assert (data["status"], data["step"], directive["continue"]) == ("running", 1, True)
    assert set(directive) <= FIELDS and "stopped" not in directive and "reason" not in directive
    assert [factor.startswith(stage) for factor, stage in zip(directive["factors"], STAGES)] == [True] * 5
    assert directive["factors"][1] == "Previous outcome: success"
    assert (directive["stepsRemaining"], directive["nextStepRisk"]) == (9, "advisory")
    assert "confirmation" not in data


@pytest.mark.parametrize("hint", ["", "   ", "\n\t", "\u200b\u200d", "\u2060"])
def test_an_empty_hint_is_an_error_and_no_pass(gate: Gate, hint: str) -> None:
    problem = refusal_of(lambda: Agent(gate).started().step(hint))
    assert problem is not None and problem.code == "VALIDATION_MISSING_PARAM"
    assert "next_action_hint" in problem.message


@pytest.mark.parametrize("wrong", [{"outcome": "partial"}, {"risk_score": 101}, {"risk_score": -1}])
def test_2_3_values_that_nobody_knows_are_refused(gate: Gate, wrong: dict[str, Any]) -> None:
    Agent(gate).started()
    code = protocol_code(gate, "create", "record_execution_step", next_action_hint=READ, **wrong)
    assert code == "VALIDATION_INVALID_VALUE"


def test_one_step_is_one_evaluation_and_everyday_work_one_write(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    agent, seen = Agent(gate).started(), Counter[str]()
    evaluate, write, soon = steps.evaluate_and_keep, gate.store.write, gate.store.write_soon
    monkeypatch.setattr(steps, "evaluate_and_keep", lambda *given: (seen.update(["evaluate"]), evaluate(*given))[1])
    monkeypatch.setattr(gate.store, "write", lambda work: (seen.update(["write"]), write(work))[1])
    monkeypatch.setattr(gate.store, "write_soon", lambda work: (seen.update(["soon"]), soon(work))[1])
    assert agent.told()["continue"] is True
    assert seen == {"evaluate": 1, "soon": 1}


def test_every_step_is_on_record_with_its_execution_and_what_was_said_of_the_one_before(gate: Gate) -> None:
    agent = Agent(gate).started()
    data = agent.step(outcome="success", description="token=hunter2secret is in the file")
    agent.step("delete_user 42")
    gate.state.recorder.flush()
    rows = gate.store.read(lambda tx: tx.audit(AuditQuery(text=data["execution_id"])))
    told = sorted((row.body for row in rows if '"step"' in row.body), key=lambda body: '"number":2' in body)
    assert len(told) == 2 and '"number":1' in told[0] and '"outcome":"success"' in told[0]
    assert "hunter2secret" not in "".join(told)


# Stage 1


def test_AE_03_C_20_the_step_after_the_last_one_pauses(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=3)
    agent = Agent(made).started()
    assert [agent.told()["stepsRemaining"] for _ in range(3)] == [2, 1, 0]
    data = agent.step()
    assert data["autonomy"]["continue"] is False and data["autonomy"]["reason"].startswith("Step limit exceeded. ")
    ticket = agent.tickets()[0]
    assert f"`interlock approve {short_id(ticket.id)}`" in data["autonomy"]["reason"]
    given = f"A yes allows this step and 2 more after it, of execution {data['execution_id']}"
    assert ticket.reason == f"Step limit exceeded. {given}"
    assert data["status"] == "paused" and data["step"] == 4
    assert code_of(lambda: agent.confirm(**_token(data))) == "PERMISSION_DENIED"
    agent.approve(agent.tickets()[0])
    assert agent.confirm(**_token(data))["confirmed"]
    assert [agent.told(f"reading file {n}.md")["continue"] for n in range(4)] == [True] * 3 + [False]  # one more quota
    made.close()


def test_C_20_reporting_the_same_step_once_armed_grants_the_quota_as_well(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=2)
    agent = Agent(made).started()
    for _ in range(3):
        agent.step()
    assert agent.tickets()[0].reason.startswith(
        "Step limit exceeded. A yes allows this step and 1 more after it, of exec"
    )
    agent.approve(agent.tickets()[0])
    assert agent.told()["stepsRemaining"] == 1
    assert agent.standing()["steps"] == 3
    made.close()


def test_C_20_no_steps_at_all_means_to_pause_at_once(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    agent = Agent(made)
    agent.start(max_autonomous_steps=0)
    first = agent.step()
    assert "a yes allows one more step" in first["autonomy"]["reason"]
    agent.approve(agent.tickets()[0])
    assert agent.told()["continue"] is True  # the one that a person agreed to
    assert agent.told("reading another.md")["continue"] is False
    made.close()


# Stage 2


def test_AE_04_a_failure_pauses_and_leaving_the_outcome_out_does_not_help(gate: Gate) -> None:
    agent = Agent(gate).started()
    data = agent.step(outcome="failure")
    assert data["autonomy"]["continue"] is False
    assert data["autonomy"]["factors"][1] == "Previous outcome: failure; a person has to review it first"
    assert agent.told()["continue"] is False
    assert agent.told("reading another.md")["continue"] is False
    agent.approve(agent.tickets()[0])
    assert agent.told()["continue"] is True


@pytest.mark.parametrize("outcome", ["success", "skipped", ""])
def test_AE_04_other_outcomes_do_not_pause(gate: Gate, outcome: str) -> None:
    assert Agent(gate).started().told(outcome=outcome)["continue"] is True


# Stage 3

SEED = {"deny": ["drop_*", "rm -rf*"], "approve": ["delete_*", "git push*"], "allow": ["read_*", "delete_temp"]}


def test_AE_05_deny_then_approval_then_auto_approval(tmp_path: Path) -> None:
    made = with_patterns(tmp_path, **SEED)
    agent = Agent(made).started()
    assert agent.told("read_config of the project")["continue"] is True
    held = agent.step("git push origin main")
    assert held["autonomy"]["continue"] is False and held["autonomy"].get("stopped") is None
    assert held["autonomy"]["reason"].startswith("Action requires approval: git_push")
    assert "Pattern match: git push* requires approval" in held["autonomy"]["factors"]
    made.close()


def test_GK_07_C_25_C_23_a_pattern_that_requires_approval_says_so_twice_and_a_denied_one_stops(tmp_path: Path) -> None:
    made = with_patterns(tmp_path, **SEED)
    agent = Agent(made).started()
    directive = agent.told("git push origin main")
    pending, paused = notes(directive, "permission_pending"), notes(directive, "autonomy_pause")
    assert pending[0]["metadata"] == {"operation": "git_push", "level": "CONFIRM_SINGLE_USE"} and len(paused) == 1
    assert notes(agent.told("reading a.md"), "permission_pending")  # and in the next directive
    denied = agent.told("drop_index users_by_name")
    assert denied["stopped"] is True and "Pattern match: drop_* is denied" in denied["factors"]
    made.close()


def test_C_11_an_auto_approving_pattern_covers_one_whole_action(tmp_path: Path) -> None:
    made = with_patterns(tmp_path, allow=["read_*", "list_*"])
    agent = Agent(made).started()
    assert agent.told("read_file x; rm -rf /")["stopped"] is True
    made.close()


@pytest.mark.parametrize("masking", [{"outcome": "failure"}, {"steps": 0}])
def test_C_10_neither_a_failure_nor_the_step_limit_hides_a_denied_action(
    tmp_path: Path, masking: dict[str, Any]
) -> None:
    made = with_patterns(tmp_path, deny=["drop_*"])
    agent = Agent(made)
    agent.start(max_autonomous_steps=masking.pop("steps", None))
    directive = agent.told("drop_index users_by_name", **masking)
    assert directive["stopped"] is True and notes(directive, "danger_zone")
    made.close()


def test_C_10_neither_does_a_pause(tmp_path: Path) -> None:
    made = with_patterns(tmp_path, deny=["drop_*"])
    agent = Agent(made).started()
    assert agent.told("delete_user 42")["continue"] is False
    assert agent.told("drop_index users_by_name")["stopped"] is True
    assert agent.told("rm -rf /")["stopped"] is True
    made.close()


# Stages 4 and 5


@pytest.mark.parametrize(
    ("hint", "tier", "stopped"),
    [
        (READ, "advisory", None),
        ("calling write_file on project/config.json to update database URL", "advisory", None),
        ("executing shell command: npm install express", "advisory", None),
        ("delete_user 42", "confirm", None),
        ("git push --force origin main", "verify", None),
        ("deleting all records from staging_users table via database MCP server", "danger_zone", True),
        ("rm -rf /", "danger_zone", True),
    ],
)
def test_AE_06_the_tier_decides(gate: Gate, hint: str, tier: str, stopped: bool | None) -> None:
    directive = Agent(gate).started().told(hint)
    assert (directive["nextStepRisk"], directive.get("stopped")) == (tier, stopped)
    assert directive["continue"] is (tier == "advisory")


@pytest.mark.parametrize("hint", ["doing something", "writing a file", "running a command", "continue as planned"])
def test_C_45_a_vague_hint_is_asked_about_and_told_to_give_detail(gate: Gate, hint: str) -> None:
    directive = Agent(gate).started().told(hint)
    assert (directive["continue"], directive["nextStepRisk"]) == (False, "confirm")
    assert any("give detail" in factor for factor in directive["factors"])


@pytest.mark.parametrize(
    ("risk", "tier"), [(0, "advisory"), (30, "advisory"), (31, "confirm"), (61, "verify"), (86, "danger_zone")]
)
def test_C_45_an_agents_own_estimate_only_raises(gate: Gate, risk: int, tier: str) -> None:
    assert Agent(gate).started().told(risk=risk)["nextStepRisk"] == tier


def test_C_45_an_agents_own_estimate_lowers_nothing(gate: Gate) -> None:
    assert Agent(gate).started().told("git push --force origin main", risk=0)["nextStepRisk"] == "verify"


@pytest.mark.parametrize(("tolerance", "goes"), [("conservative", False), ("moderate", True), ("aggressive", True)])
def test_AE_07_C_09_a_tolerance_can_only_tighten(tmp_path: Path, tolerance: str, goes: bool) -> None:
    made = permissive_gate(tmp_path, more=f'tolerance = "{tolerance}"\n')
    agent = Agent(made).started()
    assert agent.told("executing shell command: npm install express")["continue"] is goes  # a score of 30
    assert agent.told("delete_user 42")["continue"] is False
    made.close()


def test_R_13_DL_13_fifty_of_the_same_raise_the_tier(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path, steps=100)
    agent = Agent(made).started()
    for number in range(50):
        assert agent.told(f"calling write_file on docs/{number}.md to add a title")["continue"] is True
    directive = agent.told("calling write_file on docs/51.md to add a title")
    assert (directive["continue"], directive["nextStepRisk"]) == (False, "confirm")
    words = "the same operation 50 times in this execution, and from 50 on more is asked"
    assert f"repetition: {words}" in directive["factors"]
    assert f"raised: asked about this time: {words}" in directive["factors"]
    made.close()


def test_2_11_a_held_step_carries_a_token_that_frees_nothing_by_itself(gate: Gate) -> None:
    data = Agent(gate).started().step("calling delete_user with id 5")
    assert set(data["confirmation"]) == {"token", "operation", "expires_at"}
    assert data["confirmation"]["operation"] == "delete_user" and data["confirmation"]["token"].startswith("conf_")
    prose = Agent(gate, "other").started().step("doing something")
    assert prose["confirmation"]["operation"] == "record_execution_step"


def test_2_11_a_dangerous_operation_that_went_on_by_its_name_alone_carries_a_warning(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step("calling purge_cache on the build server")
    agent.approve(agent.tickets()[0])
    data = agent.step("calling purge_cache on the build server")
    assert data["autonomy"]["continue"] is True
    (warning,) = data["warnings"]
    assert warning["code"] == "DANGER_LEVEL_INFERRED" and warning["details"]["pattern"] == "purge_*"


def test_a_step_that_cannot_be_judged_does_not_go_on_and_says_so(gate: Gate) -> None:
    agent = Agent(gate).started()
    gate.state.baseline = None  # type: ignore[assignment]
    directive = agent.told("delete_user 42")
    assert directive["continue"] is False and notes(directive, "error") and "nextStepRisk" not in directive


def _token(data: dict[str, Any]) -> dict[str, Any]:
    return {"token": data["confirmation"]["token"], "operation": data["confirmation"]["operation"]}
