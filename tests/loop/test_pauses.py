"""A pause lasts until a person ends it: C-14, C-19, R-10, AE-11, AE-12, AE-14, OOB-12, 2.7, R-15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aql_lint import clean
from gate import Gate
from interlock.analysis.display_text import short_id
from interlock.approvals import answers
from interlock.loop import confirmations
from loop_agents import READ, Agent, code_of, notes, permissive_gate, refusal_of

DELETE, PUSH = "delete_user 42", "git push --force origin main"


def token(data: dict[str, Any]) -> dict[str, Any]:
    return {"token": data["confirmation"]["token"], "operation": data["confirmation"]["operation"]}


def test_C_19_nothing_else_goes_on_before_the_held_step_is_answered(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    ticket = agent.tickets()[0]
    for hint, more in ((READ, {}), (READ, {"outcome": "success"}), ("delete user 42", {}), ("DELETE_USER 42", {})):
        directive = agent.told(hint, **more)
        assert directive["continue"] is False, hint
    assert short_id(ticket.id) in agent.told(READ)["reason"]
    assert agent.step(READ)["confirmation"]["token"] == held["confirmation"]["token"]
    assert len(agent.tickets()) == 1  # nobody is asked twice
    assert agent.standing()["status"] == "paused" and agent.standing()["pause"]["waits_for"] == ticket.id


def test_reporting_the_held_step_once_armed_spends_its_ticket_and_goes_on(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    agent.approve(agent.tickets()[0])
    assert agent.told(READ)["continue"] is False  # armed, and not used yet
    directive = agent.told(DELETE)
    assert directive["continue"] is True and any("ann approved it" in factor for factor in directive["factors"])
    assert agent.told(DELETE)["continue"] is False  # once
    assert len(gate.records("CONFIRMATION_GRANTED")) == 2  # the start, and this


def test_2_7_confirm_operation_resumes_and_its_token_is_used_up(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    agent.approve(agent.tickets()[0])
    said = agent.confirm(**token(held))
    assert said["confirmed"] is True and said["operation"] == "delete_user" and said["element_name"] == "builder"
    assert said["level"] == "CONFIRM_SINGLE_USE" and said["expires_at"] and said["message"]
    assert code_of(lambda: agent.confirm(**token(held))) == "TOKEN_ALREADY_USED"
    assert agent.told(READ)["continue"] is True
    assert agent.told(DELETE)["continue"] is True
    assert agent.told(DELETE)["continue"] is False


def test_AE_14_C_14_an_agent_cannot_confirm_itself_and_its_tries_are_counted(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    for _ in range(10):
        problem = refusal_of(lambda: agent.confirm(**token(held)))
        assert problem is not None and problem.code == "PERMISSION_DENIED"
        assert problem.details["reason"] == "self-approval" and clean(problem.message)
    assert code_of(lambda: agent.confirm(**token(held))) == "RATE_LIMIT_EXCEEDED"
    assert notes(agent.told(READ), "permission_pending")  # AE-11: failed tries clear nothing
    assert len(gate.records("TOKEN_REJECTED")) == 10
    gate.restart()
    gate.sign_in()
    assert code_of(lambda: agent.confirm(**token(held))) == "RATE_LIMIT_EXCEEDED"
    gate.clock.forward(61)
    agent.approve(agent.tickets()[0])
    assert agent.confirm(**token(held))["confirmed"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"token": "conf_nobody"}, "TOKEN_INVALID"),
        ({"token": "rubbish\0"}, "TOKEN_INVALID"),
        ({"operation": "delete_all"}, "TOKEN_SCOPE_MISMATCH"),
    ],
)
def test_CT_05_a_token_counts_for_its_operation_alone(gate: Gate, given: dict[str, str], code: str) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    agent.approve(agent.tickets()[0])
    problem = refusal_of(lambda: agent.confirm(**(token(held) | given)))
    assert problem is not None and problem.code == code and clean(problem.message)
    assert "conf_" not in str(problem.details)


def test_another_principals_token_is_no_token(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    agent.approve(agent.tickets()[0])
    assert code_of(lambda: Agent(gate, principal="uid:2000").confirm(**token(held))) == "TOKEN_INVALID"


def test_a_rejected_step_stays_paused_until_it_is_aborted(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    answers.reject(gate.state, gate.sign_in(), agent.tickets()[0].id, "keep them")
    assert agent.told(READ)["continue"] is False
    assert "keep them" in agent.told(DELETE)["reason"]
    assert code_of(lambda: agent.confirm(**token(held))) == "TOKEN_INVALID"
    agent.abort()
    assert agent.started().told(READ)["continue"] is True
    assert agent.told(DELETE)["continue"] is False


def test_an_abort_takes_back_what_it_asked_for(gate: Gate) -> None:
    agent = Agent(gate)
    for _ in range(gate.state.policy.open_tickets + 2):  # and the queue never fills up with what will not run
        agent.started()
        assert agent.told(DELETE)["continue"] is False and len(agent.tickets()) == 1
        agent.abort()
        assert agent.tickets() == []


def test_a_ticket_that_nobody_answered_is_asked_anew(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    first = agent.tickets()[0]
    gate.clock.forward(3_700)
    assert agent.told(READ)["continue"] is False
    assert agent.told(DELETE)["continue"] is False
    second = agent.tickets()[0]
    assert second.id != first.id
    agent.approve(second)
    assert agent.told(DELETE)["continue"] is True


def test_a_new_execution_does_not_escape_a_pause_and_an_abort_ends_it(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    agent = Agent(made).started()
    agent.step(DELETE)
    agent.start()
    assert agent.told(READ)["continue"] is False  # carried over
    other = Agent(made, "Builder", session="mcp_two").started()
    assert other.told(READ)["continue"] is False  # the same agent elsewhere
    assert Agent(made, "somebody else").started().told(READ)["continue"] is True
    agent.abort()
    assert other.told(READ)["continue"] is True
    made.close()


def test_a_pause_of_a_connection_that_died_does_not_hold_its_name_forever(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    Agent(made, session="mcp_dead").started().step(DELETE)
    agent = Agent(made).started()
    assert agent.told(READ)["continue"] is False
    agent.abort()
    assert agent.started().told(READ)["continue"] is True
    made.close()


# Verify


def test_R_10_OOB_12_a_code_frees_the_step_once(gate: Gate) -> None:
    agent = Agent(gate).started()
    directive = agent.told(PUSH)
    assert directive["continue"] is False and directive.get("stopped") is None
    (note,) = notes(directive, "autonomy_pause")
    id = note["metadata"]["verificationId"]
    assert id in directive["reason"] and "interlock codes" in directive["reason"]
    assert id in agent.told(READ)["reason"]
    agent.verify(id, agent.code(id))
    assert agent.told(READ)["continue"] is True
    after = agent.told(PUSH)
    assert after["continue"] is True and not notes(after, "autonomy_pause")
    assert agent.told(PUSH)["continue"] is False  # another one, with another challenge
    assert agent.challenges()[0].id != id


def test_OOB_07_a_wrong_code_ends_no_pause(gate: Gate) -> None:
    agent = Agent(gate).started()
    id = notes(agent.told(PUSH), "autonomy_pause")[0]["metadata"]["verificationId"]
    assert code_of(lambda: agent.verify(id, "AAAA-AAAA")) == "TOKEN_INVALID"
    assert agent.told(READ)["continue"] is False
    assert agent.told(PUSH)["continue"] is False


def test_OOB_12_a_verify_pause_ends_with_its_time_and_the_step_is_judged_again(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(PUSH)
    gate.clock.forward(301)
    assert agent.told(READ)["continue"] is True
    directive = agent.told(PUSH)
    assert directive["continue"] is False and notes(directive, "autonomy_pause")[0]["metadata"]["verificationId"]


def test_R_10_a_verify_pause_ends_with_a_restart_and_the_step_is_judged_again(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(PUSH)
    gate.restart()
    assert agent.told(READ)["continue"] is True
    assert agent.told(PUSH)["continue"] is False


def test_R_10_new_executions_start_and_wait_while_the_challenge_lives(tmp_path: Path) -> None:
    made = permissive_gate(tmp_path)
    agent = Agent(made).started()
    agent.step(PUSH)
    agent.complete()
    assert agent.start()["status"] == "running"
    id = agent.challenges()[0].id
    assert id in agent.told(READ)["reason"]
    agent.abort()
    assert agent.started().told(READ)["continue"] is True
    made.close()


def test_an_operator_who_approves_the_ticket_ends_a_verify_pause_as_well(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(PUSH)
    agent.approve(agent.tickets()[0])
    assert agent.told(PUSH)["continue"] is True
    assert agent.told(READ)["continue"] is True


def test_a_client_s_user_cannot_verify(gate: Gate) -> None:
    from interlock.approvals import confirmations as unattested

    agent = Agent(gate).started()
    held = agent.step(PUSH)
    asked = unattested.question(gate.state, agent.ref.principal, agent.ref.session, held["confirmation"]["token"])
    assert asked is None


def test_a_client_s_user_can_confirm_at_level_two(gate: Gate) -> None:
    from interlock.approvals import confirmations as unattested

    agent = Agent(gate).started()
    held = agent.step(DELETE)
    who = (gate.state, agent.ref.principal, agent.ref.session)
    asked = unattested.question(*who, held["confirmation"]["token"])
    assert asked is not None and unattested.accept_answer(*who, asked[0], True)
    assert agent.told(DELETE)["continue"] is True


#


def test_R_15_continue_execution_resumes_after_an_armed_confirm(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    assert code_of(agent.resume) == "PERMISSION_DENIED"
    agent.approve(agent.tickets()[0])
    assert code_of(lambda: agent.resume(confirmation_token="conf_another")) == "TOKEN_INVALID"
    assert agent.resume()["status"] == "running"
    assert agent.told(READ)["continue"] is True
    assert agent.resume()["status"] == "running"  # nothing to resume
    id = notes(agent.told(PUSH), "autonomy_pause")[0]["metadata"]["verificationId"]
    assert code_of(agent.resume) == "PERMISSION_DENIED" and id


def test_R_15_permission_prompt_speaks_a_clients_language(gate: Gate) -> None:
    agent = Agent(gate)
    given = {"command": "git status"}
    ask = confirmations.permission_prompt
    said = ask(gate.state, agent.ref, tool_name="Bash", input=given)
    assert said == {"behavior": "allow", "updatedInput": given}
    no = ask(gate.state, agent.ref, tool_name="Bash", input={"command": "git reset --hard"})
    assert no["behavior"] == "deny" and "pdact_" in no["message"] and set(no) == {"behavior", "message"}


def test_R_15_an_agent_lists_what_waits_and_approves_nothing(gate: Gate) -> None:
    agent = Agent(gate)
    call = {"tool_name": "Bash", "input": {"command": "git reset --hard"}}
    confirmations.permission_prompt(gate.state, agent.ref, **call)
    (listed,) = confirmations.get_pending_cli_approvals(gate.state, agent.ref)["pending"]
    assert listed["armed"] is False and "conf_" not in str(listed)
    id = listed["request_id"]
    approve = lambda: confirmations.approve_cli_permission(gate.state, agent.ref, request_id=id)  # noqa: E731
    assert code_of(approve) == "PERMISSION_DENIED"
    assert (
        code_of(lambda: confirmations.approve_cli_permission(gate.state, agent.ref, request_id="x")) == "TOKEN_INVALID"
    )
    agent.approve(agent.tickets()[0])
    assert approve()["approved"] is True
    assert confirmations.permission_prompt(gate.state, agent.ref, **call)["behavior"] == "allow"
    assert code_of(approve) == "TOKEN_ALREADY_USED"


def test_R_15_a_deadlock_is_told_to_operators_and_frees_nothing(gate: Gate) -> None:
    heard: list[str] = []

    class Ear:
        name = "ear"

        def tell(self, event: str, about: object, words: str) -> None:
            heard.append(f"{event}: {words}")

    gate.state.channels = (Ear(),)
    agent = Agent(gate).started()
    agent.step(DELETE)
    for _ in range(3):
        assert (
            confirmations.release_deadlock(gate.state, agent.ref, agent.via, reason="nobody answers")["requested"]
            is True
        )
    assert any("nobody answers" in words for words in heard)
    assert code_of(lambda: confirmations.release_deadlock(gate.state, agent.ref, agent.via)) == "RATE_LIMIT_EXCEEDED"
    assert agent.told(READ)["continue"] is False


def test_C_19_ESL_08_what_is_held_under_one_name_pauses_another_name_that_tries_the_same(gate: Gate) -> None:
    one, two = Agent(gate, "one").started(), Agent(gate, "two").started()
    assert one.told(PUSH)["continue"] is False
    tried = two.step(PUSH)
    assert tried["autonomy"]["continue"] is False and tried["status"] == "paused"
    waits = two.step()
    assert waits["autonomy"]["continue"] is False and short_id(one.tickets()[0].id) in waits["autonomy"]["reason"]
    assert code_of(two.resume) == "PERMISSION_DENIED"  # not by itself
    one.approve(one.tickets()[0])
    assert two.told()["continue"] is True  # a person has answered: the one yes was for the other's step
    assert two.told(PUSH)["continue"] is False
    assert one.told(PUSH)["continue"] is True


def test_C_19_an_abort_ends_a_pause_that_another_name_s_ticket_made(gate: Gate) -> None:
    one, two = Agent(gate, "one").started(), Agent(gate, "two").started()
    one.step(PUSH)
    two.step(PUSH)
    assert two.abort()["status"] == "cancelled"
    assert len(one.tickets()) == 1  # which is not the aborted one's to take back
    assert two.started().told()["continue"] is True


def test_a_refusal_that_a_person_gave_pauses_nobody_a_second_time(gate: Gate) -> None:
    one, two = Agent(gate, "one").started(), Agent(gate, "two").started()
    one.step(PUSH)
    answers.reject(gate.state, gate.sign_in(), one.tickets()[0].id, "not today")
    assert two.told(PUSH)["continue"] is False
    assert two.told()["continue"] is True
