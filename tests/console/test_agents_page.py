"""Agents: who asked, how they stand, what they run, and an operator who blocks one and lets it go again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console_visitor import LIST, PUSH, ConsoleVisitor, visit_console
from daemons import PASSPHRASE
from hook_client import claude_input
from interlock.approvals.pausing import pause
from interlock.hooks.route import ROUTE as HOOK
from interlock.identity.operators import sign_in
from interlock.model import AgentRef, Level
from interlock.records import AuditQuery, HistoryEntry
from loop_agents import FREE, Agent

ONE = "/console/agents/one"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[ConsoleVisitor]:
    (tmp_path / "free.toml").write_text(FREE.format(steps=10, ceiling=100))
    with visit_console(tmp_path, policy={"use": str(tmp_path / "free.toml")}) as found:
        yield found


def test_everybody_who_asked_or_has_a_token_is_listed_with_what_they_did(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    here.ask(PUSH)
    here.app.call("POST", "/api/v1/evaluate", {"agent": {"name": "Codex"}, "command": LIST}, peer="uid:1000")
    said = here.said("/console/agents")
    assert "claude agent:" in said and "2 1" in said
    assert "codex uid:1000" in said
    assert "No hook has asked" in said


def test_one_agent_has_its_risk_over_time_and_what_it_asked_for(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    here.later(7_200)
    here.ask(PUSH)
    (link,) = here.links("/console/agents", ONE)
    page, said = here.page(link), here.said(link)
    assert page.count('<rect class="fill-0"') >= 2  # the bar and the legend
    assert "2 actions in the last 24 hours, the worst with a score of 85" in said
    assert PUSH in said and "No executions under the safety loop." in said
    here.later(2 * 86_400)
    assert "No requests in the last 24 hours" in here.said(link)
    assert "2 actions in the last 7 days" in here.said(f"{link}&period=week")


def test_an_execution_is_told_step_by_step_with_what_it_waits_for(here: ConsoleVisitor) -> None:
    agent = Agent(here.app)  # type: ignore[arg-type]
    agent.start(parameters={"objective": "tidy up"})
    agent.step("reading src/app.py to understand the login flow")
    here.app.clock.forward(1)
    agent.step("running: rm -rf src")
    said = here.said("/console/agents")
    assert "paused, step 1 of 10" in said
    one = next(link for link in here.links("/console/agents", ONE) if "builder" in link)
    assert "tidy up" in here.said(one)
    (run,) = here.links(one, "/console/agents/execution")
    steps = here.said(run)
    assert steps.index("reading src/app.py") < steps.index("running: rm -rf src")
    assert "paused" in steps and "the ticket" in steps


def test_an_operator_blocks_an_agent_with_a_reason_and_lifts_it_again(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    (link,) = here.links("/console/agents", ONE)
    principal = link.partition("principal=")[2].partition("&")[0].replace("%3A", ":")
    who = {"principal": principal, "name": "claude"}
    assert here.window.form("/console/agents/block", who).status_code == 422
    assert here.window.form("/console/agents/block", {**who, "reason": "goes wild"}).headers["location"] == link
    assert here.ask("npm install")["decision"] != "allow"
    assert "blocked goes wild" in here.said(link) and "in force" in here.said(link)
    assert "blocked" in here.said("/console/agents")
    assert here.window.form("/console/agents/lift", {**who, "reason": "calm again"}).headers["location"] == link
    assert here.ask("npm install")["decision"] == "allow"
    events = here.app.state.store.read(lambda tx: [row.event for row in tx.audit(AuditQuery(text="agent:"))])
    assert "block" in events and "unblock" in events


def test_calls_that_went_around_their_hook_are_counted(here: ConsoleVisitor) -> None:
    for id, event in (("t1", "PreToolUse"), ("t1", "PostToolUse"), ("t2", "PostToolUse")):
        given = claude_input("git status", id, event, **({} if event == "PreToolUse" else {"tool_response": {}}))
        answer = here.app.call("POST", f"{HOOK}claude-code", given, {"interlock-event": event}, peer="uid:1000")
        assert answer.status_code == 200, answer.text
    said = here.said("/console/agents")
    assert "1 call ran without a hook being asked" in said
    assert "claude-code 1 2 1 1 0" in said


def test_a_pause_of_enforcement_is_told_with_whose_it_is_and_why(here: ConsoleVisitor) -> None:
    _, session = sign_in(here.app.state, "ana", PASSPHRASE, "cli")
    pause(here.app.state, session, 600, "deploying by hand")
    assert "ana paused enforcement for another 10 min : deploying by hand" in here.said("/console/agents")
    here.app.clock.forward(601)
    assert "paused enforcement" not in here.said("/console/agents")


def test_nobody_is_blocked_who_is_not_there(here: ConsoleVisitor) -> None:
    answer = here.window.form("/console/agents/block", {"principal": "uid:4711", "reason": "x"})
    assert answer.status_code == 404 and here.app.state.blocks == {}
    assert here.window.get(f"{ONE}?principal=uid:4711").status_code == 404
    assert here.window.get("/console/agents/execution?id=none").status_code == 404


def test_people_who_run_commands_themselves_stand_apart_from_agents(here: ConsoleVisitor) -> None:
    here.ask(LIST)
    state = here.app.state
    done = HistoryEntry(AgentRef("person:ana", "ask", "s1"), "command:ls", Level.SAFE, 5, "allow", state.clock.now())
    state.store.write(lambda tx: tx.add_deeds([done]))
    agents, _, people = here.page("/console/agents").partition('<h2 id="people">People</h2>')
    assert "<b>claude</b>" in agents and "person:ana" not in agents.partition("<main")[2]
    assert "<b>ana</b>" in people and "<b>claude</b>" not in people
