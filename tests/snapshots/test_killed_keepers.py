"""Killed in the middle of a snapshot or of an undo, at any moment: nothing is worse than before, and the next one finishes."""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from file_trees import (
    EXAMPLES,
    NOW,
    PATIENT,
    describe_repository,
    describe_tree,
    fresh_snapshot_id,
    run_git,
    shell,
    snapshotter,
)
from interlock.impact.warm_child import WarmChild
from interlock.snapshots import TakenSnapshot, UndoResult
from interlock.snapshots.client import WarmSnapshotter
from repositories import files, git, repository

MANY = 400
DEEDS: list[dict[str, Any]] = [
    {"verb": "git", "words": ["reset", "--hard", "HEAD~1"]},
    {"verb": "git", "words": ["clean", "-fdx"]},
    {"verb": "delete", "target": "twins"},
]
ACTION = "git reset -q --hard HEAD~1; git clean -qfdx; rm -rf twins"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository in which much is changed, untracked and ignored."""
    top = repository(tmp_path / "work" / "app")
    files(top, {f"src/m{number}.py": f"m{number}\n" for number in range(MANY // 2)})
    git(top, "add", "-A", "src")
    git(top, "commit", "-qm", "many")
    files(top, {f"src/m{number}.py": f"changed {number}\n" for number in range(0, MANY // 2, 2)})
    files(top, {f"loose/{number % 20}/{number}.txt": f"{number}\n" * 50 for number in range(MANY // 2)})
    files(top, {"twins/one": "one file\n", "src/staged.py": "staged\n"})
    os.link(top / "twins/one", top / "twins/two")
    git(top, "add", "src/staged.py")
    return top


def _killed(keep: WarmSnapshotter, work: Any, delay: float) -> Any:
    """The work, during which its process is killed."""
    keep.settle(fresh_snapshot_id())  # it is warm
    child = keep._child
    assert isinstance(child, WarmChild)
    pid = child.pid
    assert pid is not None
    timer = threading.Timer(delay, lambda: os.kill(pid, signal.SIGKILL) if child.pid == pid else None)
    timer.start()
    try:
        return work()
    finally:
        timer.cancel()
        timer.join()


def _asked(top: Path) -> dict[str, Any]:
    return {"bases": [str(top)], "deeds": DEEDS}


def test_a_snapshot_that_is_killed_changes_nothing_and_leaves_nothing(tmp_path: Path, top: Path) -> None:
    before = describe_tree(tmp_path / "work"), describe_repository(top)
    chance = random.Random(1)
    with snapshotter(tmp_path / "state") as keep:
        good: list[TakenSnapshot] = []
        for number in range(EXAMPLES // 3):
            kept = _killed(
                keep,
                lambda: keep.take(_asked(top), fresh_snapshot_id(), NOW, PATIENT),
                chance.uniform(0, 0.2 + 0.03 * number),
            )
            good += [kept] if kept.verified else []
        assert (describe_tree(tmp_path / "work"), describe_repository(top)) == before
        for kept in good:
            assert not keep.plan(kept.id, kept.digest).problem
        kept = keep.take(_asked(top), fresh_snapshot_id(), NOW, PATIENT)
        assert kept.verified, kept
        pruned = keep.prune(NOW + 1, 7, 0)
        assert not pruned.problem and kept.id in pruned.ids
        assert run_git(top, "for-each-ref", "refs/interlock") == "0 "
        left = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
        assert {path.name for path in left} <= {"lock", "undo.lock"}


def test_an_undo_that_is_killed_again_and_again_is_finished_by_the_next_one(tmp_path: Path, top: Path) -> None:
    before = describe_tree(tmp_path / "work"), describe_repository(top)
    chance = random.Random(2)
    with snapshotter(tmp_path / "state") as keep:
        kept = keep.take(_asked(top), fresh_snapshot_id(), NOW, PATIENT)
        assert kept.verified, kept
        shell(top, ACTION)
        after = describe_tree(tmp_path / "work")
        for number in range(EXAMPLES // 3):
            undone: UndoResult = _killed(
                keep,
                lambda: keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest),
                chance.uniform(0.02, 0.25 + 0.05 * number),
            )
            assert not undone.refused, undone
            _never_worse(describe_tree(tmp_path / "work"), before[0], after)
            assert "error" not in run_git(top, "fsck", "--no-progress"), number
        undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
        assert undone.done, undone
        assert (describe_tree(tmp_path / "work"), describe_repository(top)) == before
        assert not list((tmp_path / "work").rglob(".interlock-*")) and not list(top.rglob("*.lock"))


def _never_worse(now: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    """Every path is what it was before or what the action left, but for folders that are being filled."""
    for path, state in now.items():
        if path == "=" or ".interlock-" in path or state[0] == "folder":
            continue
        assert state[:3] in ((before.get(path) or ())[:3], (after.get(path) or ())[:3]), path
    for path in before.keys() & after.keys():
        assert path in now
