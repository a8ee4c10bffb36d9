"""What a model reads when it may not go on: which action, whom it waits for, how long, and what it can do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aql_lint import clean
from gate import Gate
from interlock.analysis.display_text import short_id
from interlock.approvals import answers
from interlock.loop import confirmations
from interlock.model import TicketState
from interlock.records import TicketQuery
from loop_agents import FREE, READ, Agent, notes, refusal_of

DELETE, PUSH = "delete_user 42", "git push --force origin main"


def rejects(gate: Gate, agent: Agent) -> None:
    answers.reject(gate.state, gate.sign_in(), agent.tickets()[0].id, "keep them")


def test_a_pause_names_the_action_the_ticket_and_the_command(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.told("calling delete_user on 42 for good")
    ticket = agent.tickets()[0]
    (note,) = notes(held, "permission_pending")
    assert note["message"] == "Operation 'delete_user' requires confirmation: calling delete_user on 42 for good"
    for words in (held["reason"], notes(held, "autonomy_pause")[0]["message"], agent.told(READ)["reason"]):
        assert f"`interlock approve {short_id(ticket.id)}`" in words
    assert "calling delete_user on 42" in agent.told(READ)["reason"]


def test_after_a_no_the_answer_says_so_and_names_what_to_do(gate: Gate) -> None:
    agent = Agent(gate).started()
    held = agent.step(DELETE)
    rejects(gate, agent)
    for hint in (READ, DELETE):
        said = agent.step(hint)
        reason = said["autonomy"]["reason"]
        assert "keep them" in reason and "abort_execution" in reason and "interlock approve" not in reason
        assert "confirmation" not in said, "a token that leads nowhere"
    given = held["confirmation"]
    problem = refusal_of(lambda: agent.confirm(given["token"], given["operation"]))
    assert problem is not None and "abort_execution" in problem.message and clean(problem.message)


def test_after_a_no_to_what_was_to_be_verified_another_step_goes_on(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(PUSH)
    rejects(gate, agent)
    assert "Report another step" in agent.told(PUSH)["reason"]
    assert agent.told(READ)["continue"] is True


def test_a_no_to_a_start_says_so(tmp_path: Path) -> None:
    made = Gate(tmp_path)
    made.enrol()
    agent = Agent(made)
    assert refusal_of(agent.start) is not None
    rejects(made, agent)
    problem = refusal_of(agent.start)
    assert problem is not None and "ann rejected" in problem.message and "keep them" in problem.message


def test_a_hint_that_says_too_little_is_told_so(gate: Gate) -> None:
    reason = Agent(gate).started().told("doing something")["reason"]
    assert reason.startswith("Nothing can be told from the words") and "score 31" in reason


@pytest.mark.parametrize("ends", ["complete", "abort"])
def test_nobody_is_asked_any_more_for_what_has_ended(gate: Gate, ends: str) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    confirmations.release_deadlock(gate.state, agent.ref, agent.via)
    assert len(agent.tickets()) == 2
    getattr(agent, ends)()
    assert agent.tickets() == []


def test_a_yes_that_was_not_used_yet_is_named_as_one(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    agent.approve(agent.tickets()[0])
    reason = agent.told(READ)["reason"]
    assert "A person agreed" in reason and "report the same step now" in reason


def test_a_ticket_that_nobody_answered_in_time_is_named_as_one(gate: Gate) -> None:
    agent = Agent(gate).started()
    agent.step(DELETE)
    gate.clock.forward(3_700)
    assert "report the same step once more to ask anew" in agent.told(READ)["reason"]


def test_a_token_that_was_not_armed_says_who_can(gate: Gate) -> None:
    agent = Agent(gate).started()
    given = agent.step(DELETE)["confirmation"]
    problem = refusal_of(lambda: agent.confirm(given["token"], given["operation"]))
    assert problem is not None and f"`interlock approve {short_id(agent.tickets()[0].id)}`" in problem.message
    assert clean(problem.message)


def test_a_cooling_token_says_how_long(tmp_path: Path) -> None:
    text = FREE.format(steps=10, ceiling=100)
    cools = 'destructive = { require = "confirm", cooling_seconds = 90 }'
    (tmp_path / "cools.toml").write_text(text.replace('destructive = "confirm"', cools))
    made = Gate(tmp_path / "state", policy={"use": str(tmp_path / "cools.toml")})
    made.enrol()
    agent = Agent(made).started()
    step = agent.step(DELETE)
    given = step["confirmation"]
    agent.approve(agent.tickets()[0])
    made.clock.forward(30)
    problem = refusal_of(lambda: agent.confirm(given["token"], given["operation"]))
    assert problem is not None and "60 s more" in problem.message and problem.details["retry_after_seconds"] == 60
    for hint, words in ((DELETE, "cools off for 60 s more"), (READ, "report the same step in 60 s")):
        reason = agent.told(hint)["reason"]
        assert words in reason and "interlock approve" not in reason
    made.clock.forward(61)
    assert agent.told(DELETE)["continue"] is True


def released(gate: Gate, agent: Agent, **more: Any) -> dict[str, Any]:
    return confirmations.release_deadlock(gate.state, agent.ref, agent.via, **more)


@pytest.mark.parametrize("hint", [DELETE, PUSH])
def test_R_15_a_deadlock_waits_in_the_queue_and_a_yes_ends_the_wait_and_approves_nothing(gate: Gate, hint: str) -> None:
    agent = Agent(gate).started()
    agent.step(hint)
    held = agent.tickets()[0]
    said = released(gate, agent, reason="nobody answers")
    (asked,) = [one for one in agent.tickets() if one.operation == "release_deadlock"]
    assert said["released"] is False and f"`interlock approve {short_id(asked.id)}`" in said["message"]
    assert "nobody answers" in asked.reason and hint in asked.reason and hint in asked.title
    assert agent.told(READ)["continue"] is False
    agent.approve(asked)
    assert agent.told(READ)["continue"] is False, "until it is used"
    assert released(gate, agent, reason="still")["released"] is True
    assert agent.told(READ)["continue"] is True
    found = gate.store.read(lambda tx: tx.ticket(held.id))
    assert found is not None and found.state is TicketState.EXPIRED
    assert agent.told(hint)["continue"] is False, "the step itself was never approved"
    assert released(gate, agent)["released"] is False, "a yes counts once"


def test_R_15_a_deadlock_that_was_refused_stays_and_one_of_another_name_takes_nothing_back(gate: Gate) -> None:
    one, two = Agent(gate, "one").started(), Agent(gate, "two").started()
    one.step(PUSH)
    held = one.tickets()[0]
    two.step(PUSH)
    released(gate, two)
    asked = two.tickets()[0]
    two.approve(asked)
    assert released(gate, two)["released"] is True and two.told(READ)["continue"] is True
    assert [ticket.id for ticket in one.tickets()] == [held.id]
    released(gate, one)
    (mine,) = [ticket for ticket in one.tickets() if ticket.operation == "release_deadlock"]
    answers.reject(gate.state, gate.sign_in(), mine.id, "wait for ben")
    assert "wait for ben" in released(gate, one)["message"]
    assert len(gate.store.read(lambda tx: tx.tickets(TicketQuery(principal=one.ref.principal, name="one")))) == 2 + 1


def test_R_15_whom_nothing_holds_is_told_so(gate: Gate) -> None:
    agent = Agent(gate).started()
    said = released(gate, agent, reason="stuck")
    assert said["released"] is False and "nothing holds this agent" in said["message"] and not agent.tickets()
