"""What an action changes is kept first, at a daemon and in the program itself; `gate.undo` brings it back, or says why not."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from daemons import daemon, folder_config
from interlock import AsyncGate, Gate, GateError
from interlock.engine import undoing
from interlock.impact.warm_child import WarmChild
from interlock.model import Decision
from interlock.records import AuditQuery
from interlock.sdk.in_process import open_in_process
from interlock.snapshots.client import WarmSnapshotter
from repositories import files, git, repository
from repository import ROOT
from snapshot_child import until_allowed

EXAMPLE = ROOT / "examples" / "undo_agent.py"


def discarded(gate: Gate, repo: Path) -> Decision:
    files(repo, {"src/a.py": "three days of work\n"})
    found = until_allowed(lambda: gate.evaluate(command="git checkout -- src/a.py", cwd=str(repo)))
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
        with pytest.raises(GateError, match="there is no snapshot here"):
            gate.undo()


def test_without_a_daemon_the_program_itself_keeps_first(tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    made = open_in_process(folder_config(tmp_path, policy={"use": "default"}, undo={"ms": 10_000}))
    try:
        gate = Gate._over(made).for_agent("bot", "s1")
        for harmless in ("ls", "git status", "git branch -d feature"):
            gate.evaluate(command=harmless, cwd=str(repo))
        taker = made.state.snapshots.taker
        assert isinstance(taker, WarmSnapshotter) and isinstance(taker._child, WarmChild)
        assert taker._child.pid is None  # none is started for these
        decision = discarded(gate, repo)
        assert decision.kept and f"gate.undo('{decision.kept}') brings it back" in decision.reason
        made.state.recorder.flush()
        bodies = [json.loads(row.body) for row in made.state.store.read(lambda tx: tx.audit(AuditQuery()))]
        (told,) = [body["kept"] for body in bodies if body.get("kept")]
        (row,) = undoing.list_snapshots(made.state)
        assert (told["id"], told["digest"]) == (row.id, row.digest) and row.id == decision.kept
        assert gate.undo().done and (repo / "src/a.py").read_text() == "three days of work\n"
        child = taker._child.pid
        assert child is not None
    finally:
        made.close()
    assert not Path(f"/proc/{child}").exists()


def test_a_program_that_keeps_nothing_is_asked_as_before(tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    files(repo, {"src/a.py": "three days of work\n"})
    made = open_in_process(folder_config(tmp_path, policy={"use": "default"}, undo={"enabled": False}))
    try:
        found = Gate._over(made).for_agent("bot", "s1").evaluate(command="git checkout -- src/a.py", cwd=str(repo))
        assert not found.allowed and not found.kept
    finally:
        made.close()


async def _forced(gate: Gate, id: str) -> bool:
    return (await AsyncGate.over(gate).undo(id, force=True)).done
