"""`gate.undo`: at a daemon, and in the program itself once the daemon is gone; what was kept comes back, or it says why not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import daemon
from interlock import AsyncGate, Gate, GateError
from interlock.core.decision import Decision
from keeping import let_through
from looked import files, git, repository

EXAMPLE = Path(__file__).parents[3] / "examples" / "undo_agent.py"


def discarded(gate: Gate, repo: Path) -> Decision:
    files(repo, {"src/a.py": "three days of work\n"})
    found = let_through(lambda: gate.evaluate(command="git checkout -- src/a.py", cwd=str(repo)))
    git(repo, "checkout", "--", "src/a.py")
    return found


def test_what_a_daemon_kept_comes_back_there_and_later_without_it(tmp_path: Path) -> None:
    repo, config = repository(tmp_path / "app"), tmp_path / "interlock.toml"
    work = repo / "src/a.py"
    with daemon(tmp_path, toml="[undo]\nms = 10000\n", policy="default"), Gate(config, agent="bot") as gate:
        decision = discarded(gate, repo)
        assert decision.kept.startswith("u_") and decision.kept in decision.reason
        undone = gate.undo(decision.kept)
        assert undone.done and undone.as_id and work.read_text() == "three days of work\n"
        with pytest.raises(GateError, match="was undone already"):
            gate.undo(decision.kept)
        again = discarded(gate, repo)
        files(repo, {"src/a.py": "since\n"})
        assert gate.undo().refused and work.read_text() == "since\n"
        assert asyncio.run(_forced(gate, again.kept)) and work.read_text() == "three days of work\n"
        left = discarded(gate, repo).kept
        shown = subprocess.run([sys.executable, str(EXAMPLE), str(config)], capture_output=True, text=True, timeout=120)
        assert shown.returncode == 0 and "Everything is as it was." in shown.stdout, shown.stderr
    with Gate(config, agent="bot") as gate:
        assert gate.undo(left).done and work.read_text() == "three days of work\n"
        with pytest.raises(GateError, match="nothing is kept here"):
            gate.undo()
        assert not gate.evaluate(command="git checkout -- src/a.py", cwd=str(repo)).kept  # no daemon, no snapshot


async def _forced(gate: Gate, id: str) -> bool:
    return (await AsyncGate.over(gate).undo(id, force=True)).done
