"""What a look saw lowers what is asked for, and nothing else: not the level, not what cannot be seen, not another decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import Gate
from interlock.audit.chain import body_of
from interlock.audit.search import is_attempt
from interlock.engine.replay import AGREES, replay_policy, replay_record
from interlock.model import Level, Loss, command
from interlock.policy.impact import Impact
from repositories import PATIENT, files, git, inspector, repository

Look = Callable[[Any], Impact]


@pytest.fixture(scope="module")
def look() -> Iterator[Look]:
    with inspector() as found:
        yield lambda question: found({**question, "ms": PATIENT, "temp": []})


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def test_what_can_be_had_back_passes_with_a_notice_and_keeps_its_level(gate: Gate, repo: Path, look: Look) -> None:
    found = gate.ask(command("git reset --hard HEAD~1", str(repo)), inspect_impact=look)
    assert found.allowed and found.assessment is not None and found.assessment.level is Level.DESTRUCTIVE
    assert found.reason.startswith("Allowed, for nothing would be lost: would take 1 commit off")
    assert "relief: what would be lost is recoverable" in found.factors


def test_what_would_be_lost_is_asked_and_said(gate: Gate, repo: Path, look: Look) -> None:
    (repo / "src/a.py").write_text("three days of work\n")
    found = gate.ask(command("git reset --hard", str(repo)), inspect_impact=look)
    assert found.outcome == "confirm" and found.ticket is not None
    words = "would discard the changes of 1 file, 19 bytes; it exists nowhere else: src/a.py"
    assert f"looked: {words}" in found.ticket.factors and words in found.reason


@pytest.mark.parametrize(
    "answer", [Impact(problem="the inspection failed"), Impact(Loss.UNKNOWN, files=3), Impact(Loss.LOST, only=1)]
)
def test_what_nobody_knows_is_asked(gate: Gate, repo: Path, answer: Impact) -> None:
    assert gate.ask(command("git reset --hard", str(repo)), inspect_impact=lambda question: answer).outcome == "confirm"


def test_without_a_look_nothing_is_lowered(gate: Gate, repo: Path) -> None:
    assert gate.ask(command("git reset --hard", str(repo))).outcome == "confirm"


def test_a_look_is_for_one_decision(gate: Gate, repo: Path, look: Look) -> None:
    action = command("git checkout -- .", str(repo))
    assert gate.ask(action, inspect_impact=look).allowed
    (repo / "src/a.py").write_text("new\n")
    assert gate.ask(action, inspect_impact=look).outcome == "confirm"
    git(repo, "commit", "-qam", "kept")
    assert gate.ask(action, inspect_impact=look).allowed


@pytest.mark.parametrize(
    "text", ["sudo git reset --hard", "git push --force origin main", "git stash && git stash drop", "ssh host git reset --hard",
             "git reset --hard && $CLEANUP", "git -c core.fsmonitor=./x reset --hard"],
)  # fmt: skip
def test_no_relief_for_what_a_look_cannot_answer(gate: Gate, repo: Path, text: str) -> None:
    found = gate.ask(
        command(text, str(repo)), inspect_impact=lambda question: Impact(Loss.NONE, notes=("all is well",))
    )
    assert not found.allowed


def test_what_an_operators_pattern_asks_for_is_not_lowered(tmp_path: Path, repo: Path, look: Look) -> None:
    policy = tmp_path / "mine.toml"
    policy.write_text('name = "mine"\nextends = "default"\n[patterns]\napprove = ["git reset*"]\n')
    gate = Gate(tmp_path / "other", policy={"use": str(policy)})
    gate.enrol()
    try:
        assert gate.ask(command("git reset --hard", str(repo)), inspect_impact=look).outcome == "approve"
    finally:
        gate.close()


def test_relief_can_be_switched_off_and_the_look_stays(tmp_path: Path, repo: Path, look: Look) -> None:
    gate = Gate(tmp_path / "other", impact={"exempt": False})
    gate.enrol()
    try:
        found = gate.ask(command("git reset --hard HEAD~1", str(repo)), inspect_impact=look)
        assert found.outcome == "confirm" and "Impact: would take 1 commit off" in found.reason
    finally:
        gate.close()


def test_what_was_seen_is_recorded_and_the_decision_can_be_made_again(gate: Gate, repo: Path, look: Look) -> None:
    files(repo, {"src/a.py": "changed\n"})
    assert gate.ask(command("git branch -D feature", str(repo)), inspect_impact=look).allowed
    assert not gate.ask(command("git reset --hard", str(repo)), inspect_impact=look).allowed
    rows = [row for row in gate.records() if is_attempt(row)]
    seen = [body_of(row)["facts"]["circumstances"]["seen"]["loss"] for row in rows]
    assert sorted(seen) == ["lost", "recoverable"]
    assert [replay_record(row, replay_policy(gate.config)).verdict for row in rows] == [AGREES, AGREES]
