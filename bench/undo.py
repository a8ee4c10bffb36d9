"""Measures taking and restoring snapshots of 10, 1,000 and 5,000 files, beside the usual alternatives, in one run."""

from __future__ import annotations

import base64
import itertools
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.impact import BYTES, COUNTS, git, made
from interlock.snapshots import SnapshotLimits
from interlock.snapshots.client import WarmSnapshotter

ROUNDS = 3
LIMITS = SnapshotLimits(ms=60_000)
_NUMBERS = itertools.count()


def main() -> None:
    print(f"Files of {BYTES:,} bytes each, snapshot and undo, median of {ROUNDS}, in milliseconds; the budget is 300\n")
    print(f"{'':<40}" + "".join(f"{f'{count:,} files':>14}" for count in COUNTS))
    columns = [measured(count) for count in COUNTS]
    for name in columns[0]:
        print(f"{name:<40}" + "".join(f"{statistics.median(column[name]):>14.1f}" for column in columns))


def measured(count: int) -> dict[str, list[float]]:
    """One column: each way to copy what an action removes, and to restore it."""
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "app"
        made(repo, count)
        keep = WarmSnapshotter(Path(folder) / "state" / "undo")
        try:
            keep.settle("u_none")  # starts the child
            for number in range(ROUNDS):
                _deleted(repo, keep, found)
                _changed(repo, number)
                _reset(repo, keep, found)
        finally:
            keep.close()
    return found


def _deleted(repo: Path, keep: WarmSnapshotter, found: dict[str, list[float]]) -> None:
    copy = repo.with_name("copy")
    _time(found, "cp -r", lambda: subprocess.run(["cp", "-r", repo / "src", copy], check=True))
    _measure_snapshot(
        repo, keep, found, "rm -r", {"verb": "delete", "target": "src"}, lambda: shutil.rmtree(repo / "src")
    )
    shutil.rmtree(repo / "src")
    _time(found, "cp -r, back", lambda: subprocess.run(["cp", "-r", copy, repo / "src"], check=True))
    shutil.rmtree(copy)
    git(repo, "status")


def _reset(repo: Path, keep: WarmSnapshotter, found: dict[str, list[float]]) -> None:
    _time(found, "git stash create", lambda: git(repo, "stash", "create"))
    words = ["reset", "-q", "--hard"]
    _measure_snapshot(repo, keep, found, "git reset --hard", {"verb": "git", "words": words}, lambda: git(repo, *words))
    git(repo, *words)


def _measure_snapshot(
    repo: Path,
    keep: WarmSnapshotter,
    found: dict[str, list[float]],
    name: str,
    effect: dict[str, Any],
    act: Callable[[], object],
) -> None:
    """One action with a snapshot before and an undo after it."""
    request = {"bases": [str(repo)], "deeds": [effect]}
    taken = _time(found, f"{name}, snapshot", lambda: keep.take(request, _id(), 0.0, LIMITS))
    assert taken.verified, taken
    act()
    undone = _time(found, f"{name}, undone", lambda: keep.undo(taken.id, _id(), 0.0, taken.digest))
    assert undone.done, undone


def _changed(repo: Path, number: int) -> None:
    for path in (repo / "src").rglob("*.txt"):
        path.write_bytes(b"%d, " % number + path.read_bytes())


def _id() -> str:
    return "u_" + base64.b32encode(next(_NUMBERS).to_bytes(6, "big")).decode().lower()[:10]


def _time(found: dict[str, list[float]], name: str, work: Callable[[], Any]) -> Any:
    begun = time.perf_counter()
    answer = work()
    found.setdefault(name, []).append((time.perf_counter() - begun) * 1000)
    return answer


if __name__ == "__main__":
    main()
