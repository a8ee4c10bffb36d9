"""Measures inspections of 10, 1,000 and 5,000 files, beside the usual alternatives, in one run."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlock.impact.warm_child import WarmInspector

COUNTS = (10, 1_000, 5_000)
ROUNDS = 7
BYTES = 2_000  # of each file
_ENV = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": "/nonexistent",
    "PATH": os.environ["PATH"],
}
_WHO = ("-c", "user.name=t", "-c", "user.email=t@example.org")


def main() -> None:
    print(f"A look at tracked files of {BYTES:,} bytes each, median of {ROUNDS}, in milliseconds; the budget is 300\n")
    print(f"{'':<34}" + "".join(f"{f'{count:,} files':>14}" for count in COUNTS))
    columns = [measured(count) for count in COUNTS]
    for name in columns[0]:
        print(f"{name:<34}" + "".join(f"{column[name]:>14}" for column in columns))


def measured(count: int) -> dict[str, str]:
    """One column: each way to inspect or copy what a deletion removes."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder) / "app"
        made(repo, count)
        look = WarmInspector()
        try:
            look(_request(repo, {"verb": "git", "words": ["reset", "--hard"]}))  # the child is there
            return {
                "rm -r of a folder, looked at": _time(
                    lambda: _sure(look, _request(repo, {"verb": "delete", "target": "src"}))
                ),
                "git reset --hard, looked at": _time(
                    lambda: _sure(look, _request(repo, {"verb": "git", "words": ["reset", "--hard"]}))
                ),
                "git clean -fd, looked at": _time(
                    lambda: _sure(look, _request(repo, {"verb": "git", "words": ["clean", "-fd"]}))
                ),
                "git status": _time(lambda: git(repo, "status", "--porcelain")),
                "git stash create": _time(lambda: git(repo, "stash", "create")),
                "cp -r": _time(lambda: _copied(repo)),
            }
        finally:
            look.close()


def made(repo: Path, count: int) -> None:
    for number in range(count):
        path = repo / "src" / str(number % 50) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{number}\n".encode() * (BYTES // len(f"{number}\n")))
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")


def _request(repo: Path, effect: dict[str, Any]) -> dict[str, Any]:
    return {"bases": [str(repo)], "deeds": [effect], "ms": 10_000, "temp": []}


def _sure(look: WarmInspector, question: dict[str, Any]) -> None:
    seen = look(question)
    assert not seen.problem, seen


def git(repo: Path, *words: str) -> None:
    subprocess.run(["git", *_WHO, *words], cwd=repo, env=_ENV, check=True, capture_output=True)


def _copied(repo: Path) -> None:
    target = repo.with_name("copy")
    subprocess.run(["cp", "-r", repo, target], check=True)
    shutil.rmtree(target)


def _time(work: Callable[[], object]) -> str:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1000)
    return f"{statistics.median(times):.1f}"


if __name__ == "__main__":
    main()
