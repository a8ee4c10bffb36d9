"""A user's word through a client: one confirm, up to level 2, for the session that was asked, and never anything more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gate import Gate
from interlock.approvals import confirmations
from interlock.approvals.statements import TicketProof, unmet
from interlock.approvals.tickets import token_of
from interlock.model import AgentRef, Human, Level, Requirement, command
from interlock.records import Ticket
from loop_agents import Agent, code_of, permissive_gate, refusal_of

AGENT = AgentRef("uid:1000", "builder", "mcp_s1")
RESET = command("git reset --hard HEAD~3", "/home/dev/app")  # a confirm
PUSH = command("git push --force origin main", "/home/dev/app")  # a verification


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path, policy={"use": "default"})
    made.enrol()
    yield made
    made.close()


def asked(gate: Gate, ticket: Ticket, principal: str = "uid:1000", session: str = "mcp_s1") -> str:
    found = confirmations.question(gate.state, principal, session, token_of(gate.state, ticket))
    return found[0] if found else ""


def said(gate: Gate, ask: str, approve: bool = True, principal: str = "uid:1000", session: str = "mcp_s1") -> bool:
    return confirmations.accept_answer(gate.state, principal, session, ask, approve)


def test_a_yes_frees_the_action_once(gate: Gate) -> None:
    ticket = gate.held(RESET, AGENT)
    assert said(gate, asked(gate, ticket))
    assert gate.ask(RESET, AGENT).allowed
    assert not gate.ask(RESET, AGENT).allowed
    assert '"attested":false' in gate.records("elicited")[0].body.replace(" ", "")


def test_it_frees_nothing_else(gate: Gate) -> None:
    ticket = gate.held(RESET, AGENT)
    assert said(gate, asked(gate, ticket))
    for other in (AgentRef("uid:1001", "builder", "mcp_s1"), AgentRef("uid:1000", "other", "mcp_s1")):
        assert not gate.ask(RESET, other).allowed
    assert not gate.ask(command("git reset --hard HEAD~4", "/home/dev/app"), AGENT).allowed


def test_it_counts_in_the_session_that_was_asked_and_nowhere_else(gate: Gate) -> None:
    """An agent that is its own client frees nothing that a hook or another client asks about."""
    ticket = gate.held(RESET, AGENT)
    assert said(gate, asked(gate, ticket))
    for session in ("", "mcp_s2", "5f0c61de-hook"):
        assert not gate.ask(RESET, replace(AGENT, session=session)).allowed
    assert gate.ask(RESET, AGENT).allowed


def test_a_ticket_whose_row_says_another_session_is_not_asked_about(gate: Gate) -> None:
    ticket = gate.held(RESET, replace(AGENT, session="5f0c61de-hook"))
    moved = replace(ticket, agent=AGENT, version=ticket.version + 1)
    gate.store.write(lambda tx: tx.change_ticket(moved, ticket))
    assert asked(gate, ticket) == ""


def test_a_verification_is_not_even_asked_for(gate: Gate) -> None:
    assert asked(gate, gate.held(PUSH, AGENT)) == ""


def test_only_the_session_of_the_ticket_is_asked_and_answers(gate: Gate) -> None:
    ticket = gate.held(RESET, AGENT)
    assert asked(gate, ticket, session="mcp_s2") == "" and asked(gate, ticket, "uid:1001") == ""
    assert asked(gate, gate.held(RESET, replace(AGENT, session="")), session="") == ""
    ask = asked(gate, ticket)
    assert not said(gate, ask, session="mcp_s2") and not said(gate, ask, principal="uid:1001")
    assert not said(gate, "ask_of_my_own") and said(gate, ask)


def test_a_question_is_answered_once_and_in_time(gate: Gate) -> None:
    ticket = gate.held(RESET, AGENT)
    late, no = asked(gate, ticket), asked(gate, ticket)
    assert not said(gate, no, approve=False) and not said(gate, no)
    gate.clock.forward(confirmations.PATIENCE)
    assert not said(gate, late)
    assert not gate.ask(RESET, AGENT).allowed


def test_a_yes_is_forgotten_with_the_process_and_the_connection(gate: Gate) -> None:
    ticket = gate.held(RESET, AGENT)
    ask = asked(gate, ticket)
    gate.state.elicitations.forget("mcp_s1")
    assert not said(gate, ask)
    assert said(gate, asked(gate, ticket))
    gate.state.elicitations = (
        confirmations.Elicitations()
    )  # as after a restart: the row says approved, and nobody agreed
    assert not gate.ask(RESET, AGENT).allowed


@pytest.mark.parametrize("how", ["confirm_operation", "continue_execution"])
def test_AE_14_in_the_loop_a_users_yes_confirms_in_its_session_and_the_step_passes_once(
    tmp_path: Path, how: str
) -> None:
    gate = permissive_gate(tmp_path)
    agent = Agent(gate, session="mcp_s1").started()
    held = agent.step("executing shell command: git reset --hard HEAD~3")["confirmation"]
    before = refusal_of(lambda: agent.confirm(held["token"], held["operation"]))
    assert before is not None and before.details["reason"] == "self-approval"
    assert said(gate, asked(gate, agent.tickets()[0]))
    elsewhere = Agent(gate, session="mcp_s2")
    assert code_of(lambda: elsewhere.confirm(held["token"], held["operation"])) == "PERMISSION_DENIED"
    if how == "confirm_operation":
        assert agent.confirm(held["token"], held["operation"])["confirmed"] is True
        assert code_of(lambda: agent.confirm(held["token"], held["operation"])) == "TOKEN_ALREADY_USED"
    else:
        assert agent.resume()["status"] == "running"
    assert agent.told("executing shell command: git reset --hard HEAD~3")["continue"] is True
    assert agent.told("executing shell command: git reset --hard HEAD~3")["continue"] is False
    gate.close()


MORE = [
    Requirement(human=Human.APPROVE),
    Requirement(human=Human.VERIFY),
    Requirement(human=Human.CONFIRM, approvers=frozenset({"role:admin"})),
    Requirement(human=Human.CONFIRM, approvers=frozenset({"ben"})),
    Requirement(human=Human.CONFIRM, quorum=2),
    Requirement(human=Human.CONFIRM, reauth=True),
    Requirement(human=Human.CONFIRM, blocked=True),
    Requirement(human=Human.NONE, cooling_seconds=30),
]


@pytest.mark.parametrize("requirement", MORE, ids=lambda one: f"{one.word}-{one.quorum}-{len(one.approvers)}")
def test_whatever_asks_for_more_is_not_satisfied(gate: Gate, requirement: Requirement) -> None:
    ticket = gate.held(RESET, AGENT)
    assert ticket.requirement.is_plain_confirm(ticket.level)
    assert not requirement.is_plain_confirm(ticket.level)
    if requirement.human is not Human.NONE:
        confirmed = TicketProof(user=True)  # what is asked for now counts as well
        assert unmet(confirmed, ticket, (), requirement, 0.0) and not unmet(confirmed, ticket, (), Requirement(), 0.0)
    assert not ticket.requirement.is_plain_confirm(Level.DANGEROUS)
