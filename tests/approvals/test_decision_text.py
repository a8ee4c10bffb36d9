"""What an agent, and whoever reads over its shoulder, is told: what would happen, why not, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate import AGENT, Gate
from interlock.analysis.display_text import short_id
from interlock.approvals import answers
from interlock.identity import agents
from interlock.model import AgentRef, command
from interlock.policy.wire import decision_json

CWD = "/home/dev/app"
PUSH = command("git push --force origin main", CWD)


def test_what_is_held_says_its_level_what_it_would_do_and_who_can_answer(gate: Gate) -> None:
    answer = gate.ask(PUSH)
    assert answer.reason.startswith("Held as dangerous: replaces or deletes what others see at the remote")
    assert (
        answer.ticket is not None and f"An operator can answer ticket {short_id(answer.ticket.id)} (" in answer.reason
    )
    assert "An admin can answer ticket" in gate.ask(command("rm -rf /", CWD)).reason


def test_who_can_answer_is_named_where_the_policy_names_them(tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    path.write_text(
        'extends = "default"\n[levels]\ndangerous = { require = "verify", approvers = ["team:data", "ben"] }\n'
    )
    gate = Gate(tmp_path / "state", policy={"use": str(path)})
    gate.enrol()
    try:
        assert "ben or team:data can answer ticket" in gate.ask(PUSH).reason
    finally:
        gate.close()


def test_a_blocked_agent_is_told_who_lifts_it_and_that_the_user_is_blocked(gate: Gate) -> None:
    agents.block(gate.state, gate.sign_in(), "uid:1000", "looked odd")
    agents.block(gate.state, gate.sign_in(), "agent:9f2c", "looked odd")
    said = gate.ask(command("npm install", CWD)).reason
    assert "this agent is blocked: looked odd" in said and "`interlock unblock uid:1000 --reason …`" in said
    assert "every agent of this user" in said and "`interlock agents add NAME`" in said
    said = gate.ask(command("npm install", CWD), AgentRef("agent:9f2c", "ci")).reason
    assert "`interlock unblock agent:9f2c --reason …`" in said and "every agent" not in said
    assert "unblock" not in gate.ask(command("mkfs.ext4 /dev/sda1", CWD), AgentRef("uid:7", "x")).reason


def test_a_rejected_action_does_not_say_that_an_approval_is_needed(gate: Gate) -> None:
    held = gate.ask(PUSH)
    assert decision_json(held)["requiresApproval"] is True and decision_json(held)["approvers"] == ["human"]
    assert held.ticket is not None
    answers.reject(gate.state, gate.sign_in(), held.ticket.id, "not today")
    answer = gate.ask(PUSH)
    told = decision_json(answer)
    assert told["pendingId"] == held.ticket.id and not {"requiresApproval", "approvers"} & told.keys()
    assert answer.reason.startswith("Denied: rejected by ann: not today.")


def test_a_retry_with_an_expired_ticket_does_not_either(gate: Gate) -> None:
    held = gate.ask(PUSH)
    assert held.ticket is not None
    gate.clock.forward(3_601)
    late = gate.ask(PUSH, AGENT, pending=held.ticket.id)
    assert late.code == "TOKEN_EXPIRED" and "requiresApproval" not in decision_json(late)


@pytest.mark.parametrize("by", ["time", "somebody"])
def test_what_is_allowed_once_says_who_allowed_it(tmp_path: Path, by: str) -> None:
    gate = Gate(tmp_path / "state", policy={"use": "headless" if by == "time" else "default"})
    gate.enrol()
    action = command("git branch -D old", CWD) if by == "time" else PUSH
    ticket = gate.held(action)
    if by == "time":
        gate.clock.forward(31)
    else:
        gate.approve(ticket)
    who = "it cooled off and nobody objected" if by == "time" else "ann approved it"
    assert gate.ask(action).reason == f"Allowed once: {who} ({short_id(ticket.id)})."
    gate.close()
