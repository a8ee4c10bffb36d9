"""Approvals of the same again and again: a narrow grant is suggested, with the command that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gate import AGENT, Gate
from interlock.approvals.grants import add_grant
from interlock.engine.trials import Habit, find_habit
from interlock.error_codes import AnswerRefused
from interlock.model import AgentRef, command

CWD = "/home/dev/app"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    opened = Gate(tmp_path, policy={"use": "default"})
    opened.enrol()
    yield opened
    opened.close()


def agreed(gate: Gate, *texts: str, agent: AgentRef = AGENT) -> Habit | None:
    """What is suggested after the last of these was approved and used."""
    found = None
    for text in texts:
        ticket = gate.approve(gate.held(command(text, CWD), agent))
        found = find_habit(gate.state, ticket.id)
        assert gate.ask(command(text, CWD), agent).allowed
        gate.clock.forward(60)
    return found


def test_the_third_approval_of_the_same_suggests_a_grant_from_its_ticket(gate: Gate) -> None:
    assert agreed(gate, *["rm src/a.txt"] * 2) is None
    found = agreed(gate, "rm src/a.txt")
    assert found is not None and found.count == 3
    assert found.command[:4] == ("interlock", "grants", "add", "--from") and "--any-session" in found.command


def test_three_of_one_folder_suggest_that_folder_and_the_grant_answers_the_next(gate: Gate) -> None:
    found = agreed(gate, "rm data/a.csv", "rm data/b.csv", "rm data/c.csv")
    assert found is not None and found.count == 3
    words = dict(zip(found.command[3::2], found.command[4::2], strict=True))
    assert (words["--effect"], words["--target"], words["--ceiling"]) == ("remove", f"{CWD}/data/**", "destructive")
    terms = {"effect": words["--effect"], "targets": [words["--target"]], "ceiling": words["--ceiling"], "why": "tests"}
    add_grant(gate.state, gate.sign_in(), terms)
    assert gate.ask(command("rm data/d.csv", CWD)).allowed
    assert not gate.ask(command("rm other/d.csv", CWD)).allowed


@pytest.mark.parametrize(
    "texts",
    [
        ("rm a.csv", "rm b.csv", "rm c.csv"),  # the folder of the project itself
        ("rm data/a.csv", "rm data/b.csv", "rm src/c.csv"),
        ("rm /srv/a/x", "rm /srv/a/y", "rm /srv/a/z"),  # not below where the agent works
    ],
)
def test_nothing_wide_is_suggested(texts: tuple[str, ...], gate: Gate) -> None:
    assert agreed(gate, *texts) is None


def test_others_approvals_old_ones_and_what_is_forbidden_suggest_nothing(gate: Gate) -> None:
    other = AgentRef("uid:1000", "codex", "s1")
    agreed(gate, "rm data/a.csv", "rm data/b.csv", agent=other)
    assert agreed(gate, "rm data/c.csv") is None
    gate.clock.forward(15 * 86_400)
    assert agreed(gate, "rm data/d.csv", agent=other) is None
    with pytest.raises(AnswerRefused, match="no ticket"):
        find_habit(gate.state, "pdact_none")
