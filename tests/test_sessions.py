"""Recorded sessions of coding agents as their users live them: what is irrecoverable is asked about, and little else."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorded_sessions import read_session, session_names, world
from session_replay import Replay, replay, share

STEP = 8  # every eighth session by its name, whatever is found in it
SAMPLE = session_names()[::STEP]
# Needless questions of each as they were measured; fewer is better, one more is a step back.
MOST = {"ansible_homelab": 10, "debugging": 0, "go_service": 0, "monorepo": 0, "release": 3, "vue_laravel": 2}
TOOLS = {
    "Bash", "BashOutput", "KillShell", "Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "Glob", "Grep", "TodoWrite", "WebFetch", "WebSearch",
    "Task",
}  # fmt: skip


def test_there_are_forty_two_sessions_of_at_least_150_calls() -> None:
    sessions = [read_session(name) for name in session_names()]
    assert len(sessions) == 42
    assert {one.name: len(one.calls) for one in sessions if len(one.calls) < 150} == {}
    assert {call["tool"] for one in sessions for call in one.calls if not call["tool"].startswith("mcp__")} <= TOOLS
    assert all(set(call) <= {"tool", "input", "then", "loses"} for one in sessions for call in one.calls)
    assert sum(bool(call.get("loses")) for one in sessions for call in one.calls) == 60  # there is something to catch


def test_a_session_starts_in_the_state_that_it_assumes() -> None:
    with world(read_session("refactor_python").state) as made:
        assert (made.repository / "media/scan_001.pdf").is_file()
        assert (made.repository / "static/site.css").read_text() == "changed by a person\n"
        assert "github.com" in (made.repository / ".git/config").read_text()
        home = made.home
    assert not home.exists()


@pytest.mark.slow("150 calls before and after they run, and the git commands that make the state they meet")
@pytest.mark.parametrize("name", SAMPLE)
def test_nothing_irrecoverable_passes_a_session_unasked_and_few_questions_are_needless(
    name: str, tmp_path: Path
) -> None:
    found = replay(read_session(name), tmp_path)
    for question in found.questions:  # shown where it fails, and with -rP
        print(f"{question.outcome:<8} {', '.join(question.rules):<40} {question.number}: {question.text[:100]}")
    assert found.unasked == ()
    assert found.needless <= MOST[name]
    assert all(question.rules and "could not be judged" not in question.reason for question in found.questions)


def test_a_share_is_one_of_the_values_that_were_measured() -> None:
    assert [share([4.0, 1.0, 3.0, 2.0, 5.0], part) for part in (0.0, 0.5, 0.9, 1.0)] == [1.0, 3.0, 5.0, 5.0]
    assert Replay("a", 240, (), ()).an_hour == 0
