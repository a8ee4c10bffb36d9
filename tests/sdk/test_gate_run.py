"""`gate.run` runs what is allowed and nothing else; what it changes is kept by the journal, and `gate.undo` brings it back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from daemons import folder_config
from interlock import AsyncGate, Gate, NotAllowed
from interlock.sdk.in_process import InProcessBackend, open_in_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the journal is Linux's")


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> InProcessBackend:
    folder = tmp_path_factory.mktemp("gate")
    made = open_in_process(folder_config(folder, policy={"use": "default"}, undo={"free_bytes": 0}))
    yield made
    made.close()


@pytest.fixture
def gate(inside: InProcessBackend) -> Gate:
    return Gate._over(inside).for_agent("bot")


def test_what_a_command_changed_comes_back(gate: Gate, tmp_path: Path) -> None:
    done = gate.run("cat > new; echo out; echo err >&2; exit 3", cwd=tmp_path, input="text")
    assert (done.returncode, done.stdout, done.stderr, (tmp_path / "new").read_text()) == (3, "out\n", "err\n", "text")
    undone = gate.undo(done.undo)
    assert undone.done and undone.changes[0].what == "delete" and list(tmp_path.iterdir()) == []
    assert gate.undo(undone.as_id).done and (tmp_path / "new").read_text() == "text"


def test_a_program_gets_its_arguments_as_they_are(gate: Gate, tmp_path: Path) -> None:
    done = asyncio.run(AsyncGate.over(gate).run(["printf", "%s|", "a b", "$HOME", "'"], cwd=tmp_path))
    assert (done.stdout, done.undo) == ("a b|$HOME|'|", "")


def test_what_is_not_allowed_does_not_run(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(NotAllowed):
        gate.run("touch made; git push --force origin main", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_takes_too_long_ends(gate: Gate, tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        gate.run("sleep 60", cwd=tmp_path, timeout=0.3)


def test_without_a_journal_it_runs_and_has_no_id(tmp_path: Path) -> None:
    config = folder_config(tmp_path / "state", policy={"use": "default"}, undo={"journal": False})
    made = open_in_process(config)
    try:
        done = Gate._over(made).run("echo > new", cwd=tmp_path)
        assert (done.returncode, done.undo) == (0, "") and (tmp_path / "new").exists()
    finally:
        made.close()
