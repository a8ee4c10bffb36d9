"""Recorded sessions of coding agents through the gate: what is irrecoverable is asked about, and every question has its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from replayed import names, recorded, replay, world

SAMPLE = ("debugging", "release", "security_fix")
TOOLS = {
    "Bash", "Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "Glob", "Grep", "TodoWrite", "WebFetch", "Task",
}  # fmt: skip


def test_there_are_twenty_sessions_of_at_least_150_calls() -> None:
    sessions = [recorded(name) for name in names()]
    assert len(sessions) >= 20
    assert {one.name: len(one.calls) for one in sessions if len(one.calls) < 150} == {}
    assert {call["tool"] for one in sessions for call in one.calls} <= TOOLS
    assert all(set(call) <= {"tool", "input", "then", "loses"} for one in sessions for call in one.calls)


def test_a_session_starts_in_the_state_that_it_assumes() -> None:
    with world(recorded("refactor_python").state) as made:
        assert (made.repository / "media/scan_001.pdf").is_file()
        assert (made.repository / "static/site.css").read_text() == "changed by a person\n"
        assert "github.com" in (made.repository / ".git/config").read_text()
        home = made.home
    assert not home.exists()


@pytest.mark.slow("150 calls, and the git commands that make the state they meet")
@pytest.mark.parametrize("name", SAMPLE)
def test_nothing_irrecoverable_passes_a_session_unasked(name: str, tmp_path: Path) -> None:
    found = replay(recorded(name), tmp_path)
    for question in found.questions:  # shown where it fails, and with -rP
        print(f"{question.outcome:<8} {', '.join(question.rules):<40} {question.number}: {question.text[:100]}")
    assert found.unasked == ()
    assert sum(bool(question.loses) for question in found.questions) >= 2  # it had something to catch
    assert all(question.rules and "could not be judged" not in question.reason for question in found.questions)
