"""A full queue locks nobody out for long, an answer that asks for more than before says why, and without an operator nothing waits."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from gate import AGENT, Gate
from interlock.analysis.assess import judge
from interlock.approvals.answers import PATIENCE, abandon
from interlock.approvals.rendering import ticket_lines
from interlock.console.cards import card_of
from interlock.model import Assessment, TicketState, command, operation
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import evaluate_policy
from interlock.policy.impact import ESCALATION_PREFIX, escalation_reasons
from interlock.policy.match_names import match_names
from interlock.records import TicketQuery
from interlock.web.wire import ticket_json

CWD = "/home/dev/app"
OTHER = replace(AGENT, session="s2")


def held(at: int) -> str:
    return f"ssh db1 rm -rf /srv/{at}"


def full(gate: Gate) -> list[str]:
    return [gate.held(command(held(at), CWD)).id for at in range(gate.state.policy.open_tickets)]


def test_a_full_queue_is_one_sessions_and_says_so(gate: Gate) -> None:
    full(gate)
    denied = gate.ask(command(held(99), CWD))
    assert denied.outcome == "deny" and denied.ticket is None and denied.code == "RATE_LIMIT_EXCEEDED"
    assert "the queue is full: 5 actions of this session wait" in denied.reason and "reject --all" in denied.reason
    assert gate.held(command(held(99), CWD), OTHER).open


def test_what_nobody_asks_for_any_more_makes_room_and_what_somebody_does_stays(gate: Gate) -> None:
    first, *others = full(gate)
    gate.clock.forward(PATIENCE - 1)
    assert gate.ask(command(held(0), CWD)).ticket is not None  # its caller is there
    assert gate.ask(command(held(98), CWD)).ticket is None
    gate.clock.forward(1)
    made = gate.held(command(held(99), CWD))
    open_now = {one.id for one in gate.store.read(lambda tx: tx.tickets(TicketQuery((TicketState.WAITING,))))}
    assert open_now == {first, made.id}
    gone = gate.store.read(lambda tx: tx.ticket(others[0]))
    assert (
        gone is not None
        and gone.state is TicketState.EXPIRED
        and "nobody asked for it any more" in gone.decision_reason
    )
    assert gate.held(command(held(1), CWD)).id not in others  # and can be asked for anew


def test_a_call_that_was_broken_off_waits_for_nobody(gate: Gate) -> None:
    ticket = gate.held(command(held(1), CWD))
    abandon(gate.state, ticket.id)
    abandon(gate.state, ticket.id)  # once is enough
    gone = gate.store.read(lambda tx: tx.ticket(ticket.id))
    assert gone is not None and gone.state is TicketState.EXPIRED and "went away" in gone.decision_reason
    assert gate.held(command(held(1), CWD)).id != ticket.id
    assert [row.event for row in gate.records("expire")] == ["expire"]


def test_the_sum_of_an_hour_is_named_where_it_raises_what_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "few.toml"
    path.write_text(
        'extends = "default"\ntiers = false\nirreversible = "off"\n[levels]\ndestructive = "allow"\n[escalation]\ncumulative = 150\n'
    )
    gate = Gate(tmp_path / "state", policy={"use": str(path)})
    gate.enrol()
    for at in range(3):
        assert gate.ask(command(f"git branch -D old{at}", CWD)).allowed
    answer = gate.ask(command("git branch -D old3", CWD))
    words = "this agent's actions add up to 150 points of risk within an hour, and from 150 on somebody is asked"
    assert (
        answer.outcome == "confirm" and answer.reason.startswith(f"Held: {words}.") and answer.reason.count(words) == 1
    )
    assert answer.ticket is not None and f"{ESCALATION_PREFIX}asked about this time: {words}" in answer.ticket.factors
    assert not any(
        one.startswith(ESCALATION_PREFIX) for one in gate.ask(command(held(1), CWD)).factors
    )  # asks for more by itself
    gate.close()


def test_what_repetition_raises_is_said_to_the_agent_on_the_ticket_and_on_the_card(gate: Gate) -> None:
    action = operation("delete_user", {"id": 7}, cwd=CWD)
    judged = judge(action, gate.state.rules)
    assessment: Assessment = judged.assessment
    plain = evaluate_policy(assessment, match_names(action, judged.facts), gate.state.policy, Circumstances())
    more = evaluate_policy(assessment, match_names(action, judged.facts), gate.state.policy, Circumstances(repeats=50))
    assert more.requirement.human > plain.requirement.human
    (said,) = escalation_reasons(more.factors)
    assert said.startswith("more is asked this time: the same operation 50 times") and not escalation_reasons(
        plain.factors
    )
    assert more.reason() == plain.reason()  # what it does comes first
    ticket = replace(gate.held(action), factors=more.factors)
    lines = "\n".join("".join(part.text for part in line) for line in ticket_lines(ticket_json(ticket, [])))
    assert said.capitalize() in lines
    assert said.capitalize() in card_of(ticket).reasons


def test_without_an_operator_what_only_one_could_free_is_denied_at_once(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "state")
    reset = command("git branch -D old", CWD)  # a confirm
    for action, agent, asks, outcome in (
        (command(held(1), CWD), AGENT, False, "deny"),
        (command(held(1), CWD), AGENT, True, "deny"),  # a prompt is no operator
        (command("rm -rf /", CWD), AGENT, True, "deny"),
        (reset, AGENT, False, "deny"),
        (reset, AGENT, True, "confirm"),
        (command("rm /srv/notes.txt", CWD), AGENT, True, "deny"),  # not in its folder: its user cannot judge that
        (command("git branch -D mine", CWD), replace(AGENT, session="mcp_1"), False, "confirm"),
        (command("ls", CWD), AGENT, False, "allow"),
    ):
        answer = gate.ask(action, agent, may_prompt=asks)
        assert answer.outcome == outcome, (action.text, answer)
        if outcome == "deny":
            assert answer.ticket is None and "`interlock operator add`" in answer.reason
    assert gate.ask(command(held(1), CWD)).reason.startswith("Denied as dangerous: deletes a directory")
    gate.enrol()
    assert gate.held(command(held(1), CWD)).open
    gate.close()


def test_what_time_alone_frees_needs_no_operator(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "state", policy={"use": "headless"})
    assert gate.ask(command("git branch -D old", CWD)).outcome == "cool_off"
    gate.close()
