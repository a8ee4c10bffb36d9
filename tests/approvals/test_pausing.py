"""An operator's pause: what passes while it lasts, what does not, how it ends, and what a restart leaves of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, Gate
from interlock.approvals import pausing, signed_orders
from interlock.error_codes import AnswerRefused
from interlock.identity import agents
from interlock.loop import executions, steps
from interlock.loop.steps import ReportedStep
from interlock.model import Action, command, intent

RESET = command("git reset --hard HEAD~3", "/home/dev/app")
FORCE = command("git push --force origin main", "/home/dev/app")
DATABASE = command("psql -c 'DROP DATABASE shop'", "/home/dev/app")
ZEROES = command("dd if=/dev/zero of=/dev/sda", "/home/dev/app")
GUARD = command("rm -rf ~/.config/interlock", "/home/dev/app")


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    made = Gate(tmp_path)
    made.enrol()
    yield made
    made.close()


def paused(gate: Gate, seconds: int = 600, by: str = "ann") -> None:
    pausing.pause(gate.state, gate.sign_in(by), seconds, "restoring staging by hand")


def bodies(gate: Gate, event: str) -> list[dict[str, Any]]:
    return [json.loads(row.body) for row in gate.records(event)]


@pytest.mark.parametrize("action", [RESET, FORCE, DATABASE], ids=lambda action: action.text)
def test_in_a_pause_what_would_be_held_passes_and_the_record_says_whose_pause_it_was(
    gate: Gate, action: Action
) -> None:
    assert not gate.ask(action).allowed
    paused(gate)
    found = gate.ask(action)
    assert found.allowed and "paused_by_operator: ann; would have:" in " ".join(found.factors)
    told = bodies(gate, "OPERATION_ALLOWED")[-1]
    assert told["paused_by_operator"] == "ann" and told["decision"] == "allow"


def test_everyday_work_in_a_pause_is_recorded_as_such_too(gate: Gate) -> None:
    paused(gate)
    assert gate.ask(command("ls", "/home/dev/app")).allowed
    assert bodies(gate, "OPERATION_ALLOWED")[-1]["paused_by_operator"] == "ann"


@pytest.mark.parametrize("action", [ZEROES, GUARD], ids=lambda action: action.text)
def test_a_pause_frees_nothing_that_nobody_may_approve_and_nothing_that_touches_the_guard(
    gate: Gate, action: Action
) -> None:
    paused(gate)
    found = gate.ask(action)
    assert not found.allowed and "paused_by_operator: not for this" in " ".join(found.factors)


def test_a_blocked_agent_stays_blocked_in_a_pause(gate: Gate) -> None:
    agents.block(gate.state, gate.sign_in(), AGENT.principal, "it went wild")
    paused(gate)
    assert not gate.ask(RESET).allowed and not gate.ask(command("touch x", "/home/dev/app")).allowed


def test_the_pause_of_somebody_who_is_no_admin_lets_nothing_pass_that_takes_one(gate: Gate) -> None:
    gate.add("ben")
    paused(gate, by="ben")
    assert gate.ask(FORCE).allowed
    found = gate.ask(command("rm -rf /usr /etc", "/home/dev/app"))
    assert not found.allowed and "forbidden actions take an admin" in " ".join(found.factors)


def test_a_pause_ends_by_itself_and_people_hear_of_it(gate: Gate) -> None:
    heard: list[tuple[str, str]] = []

    class Channel:
        name = "test"

        def tell(self, event: str, about: object, words: str) -> None:
            heard.append((event, words))

    gate.state.channels = (Channel(),)
    paused(gate, 60)
    gate.clock.forward(61)
    assert not gate.ask(RESET).allowed  # before anybody has looked at the clock
    pausing.refresh(gate.state)
    pausing.refresh(gate.state)
    assert [event for event, _ in heard if event.startswith("pause")] == ["pause", "pause_end"]
    assert [body["by"] for body in bodies(gate, "pause_end")] == ["time"]


def test_an_operator_ends_a_pause_early(gate: Gate) -> None:
    paused(gate)
    pausing.end(gate.state, gate.sign_in())
    assert not gate.ask(RESET).allowed
    with pytest.raises(AnswerRefused, match="nothing is paused"):
        pausing.end(gate.state, gate.sign_in())


def test_a_pause_survives_a_restart_once_somebody_has_proved_whose_it_is(gate: Gate) -> None:
    paused(gate)
    gate.restart()
    assert not gate.ask(RESET).allowed and "interlock unlock" in gate.state.alerts["pause"]
    gate.sign_in()
    pausing.refresh(gate.state)
    assert gate.ask(RESET).allowed and "pause" not in gate.state.alerts


def test_a_pause_that_was_ended_is_not_brought_back_by_its_row(gate: Gate) -> None:
    paused(gate)
    row = gate.store.read(lambda tx: tx.setting(signed_orders.PAUSE))
    assert row is not None
    pausing.end(gate.state, gate.sign_in())
    gate.store.write(lambda tx: tx.save_setting(signed_orders.PAUSE, row))
    gate.sign_in()
    pausing.refresh(gate.state)
    assert not gate.ask(RESET).allowed
    gate.restart()
    gate.sign_in()
    pausing.refresh(gate.state)
    assert not gate.ask(RESET).allowed


@pytest.mark.parametrize("altered", ["words", "by", "signature"])
def test_a_pause_that_no_operator_signed_is_none(gate: Gate, altered: str) -> None:
    paused(gate, 60)
    kept = json.loads(gate.store.read(lambda tx: tx.setting(signed_orders.PAUSE)) or "")
    until = repr(gate.clock.now() + 3_600)
    kept |= {"words": [*kept["words"][:3], until, "4"]} if altered == "words" else {altered: "somebody"}
    gate.store.write(lambda tx: tx.save_setting(signed_orders.PAUSE, json.dumps(kept)))
    gate.restart()
    gate.sign_in()
    pausing.refresh(gate.state)
    assert gate.state.pause.found is None and not gate.ask(RESET).allowed


@pytest.mark.parametrize(
    ("seconds", "reason", "words"),
    [
        (3_601, "long", "60 minutes here and no longer"),
        (0, "short", "60 minutes here and no longer"),
        (60, "  ", "say why"),
    ],
)
def test_a_pause_has_a_reason_and_an_end(gate: Gate, seconds: int, reason: str, words: str) -> None:
    with pytest.raises(AnswerRefused, match=words):
        pausing.pause(gate.state, gate.sign_in(), seconds, reason)


def test_a_pause_takes_a_fresh_sign_in(gate: Gate) -> None:
    session = gate.sign_in()
    gate.clock.forward(300)
    with pytest.raises(AnswerRefused, match="passphrase again"):
        pausing.pause(gate.state, session, 60, "a test")


def test_pauses_can_be_switched_off(tmp_path: Path) -> None:
    gate = Gate(tmp_path, pause={"max_minutes": 0})
    gate.enrol()
    with pytest.raises(AnswerRefused, match="switched off"):
        pausing.pause(gate.state, gate.sign_in(), 60, "a test")
    gate.close()


def test_in_a_pause_the_loop_goes_on_and_says_what_it_would_have_said(gate: Gate) -> None:
    paused(gate)
    executions.execute_agent(gate.state, AGENT)
    told = steps.record_step(gate.state, AGENT, ReportedStep("drop the production database"))["autonomy"]
    assert told["continue"] and any("would have" in factor for factor in told["factors"])
    stopped = steps.record_step(gate.state, AGENT, ReportedStep("run `dd if=/dev/zero of=/dev/sda`"))["autonomy"]
    assert not stopped["continue"]


def test_an_intent_passes_like_any_other_action(gate: Gate) -> None:
    paused(gate)
    assert gate.ask(intent("drop the production database")).allowed
