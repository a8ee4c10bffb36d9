"""Real Git repositories, and a child process that inspects them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from interlock.impact.warm_child import WarmInspector
from interlock.policy.impact import Impact

PATIENT = 20_000  # milliseconds: the machine may be busy
_WHO = {
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org",
}
_ALONE = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": "/nonexistent",
    "PATH": os.environ["PATH"],
}


def git(folder: Path, *words: str) -> str:
    """Git itself, with nobody's settings."""
    run = subprocess.run(
        ["git", *words], cwd=folder, env={**_ALONE, **_WHO}, capture_output=True, text=True, check=True
    )
    return run.stdout


def files(folder: Path, contents: Mapping[str, str]) -> None:
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@cache
def _made() -> TemporaryDirectory[str]:
    """The template repository, made once because a copy is much faster."""
    kept = TemporaryDirectory()
    _make(Path(kept.name) / "app")
    return kept


def repository(folder: Path) -> Path:
    """Three commits on main, one more on `feature`, and around them what is untracked, ignored and empty."""
    shutil.copytree(Path(_made().name) / "app", folder, symlinks=True)
    git(folder, "update-index", "-q", "--refresh")
    return folder


def _make(folder: Path) -> None:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    files(folder, {".gitignore": "node_modules/\n*.log\n", "src/a.py": "a\n", "src/b.py": "b\n", "kept.txt": "kept\n"})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    for number in (2, 3):
        (folder / "src/a.py").write_text(f"a{number}\n")
        git(folder, "commit", "-qam", str(number))
    git(folder, "checkout", "-qb", "feature")
    files(folder, {"src/f.py": "f\n"})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "feature")
    git(folder, "checkout", "-q", "main")
    files(
        folder,
        {"notes.txt": "notes\n", "data/run7.csv": "1\n", "node_modules/x/i.js": "1\n", "x.log": "l\n", "empty": ""},
    )


def inspection_request(
    bases: Path | list[Path], *deeds: Mapping[str, Any], ms: int = PATIENT, **more: Any
) -> dict[str, Any]:
    """An inspection request for effects in these folders, none of them temporary."""
    given = bases if isinstance(bases, list) else [bases]
    return {"bases": [str(base) for base in given], "deeds": list(deeds), "ms": ms, "temp": [], **more}


def request_effect(command: str) -> dict[str, Any]:
    """`rm x`, `empty x` or a git command as one effect of a request."""
    program, *words = command.split()
    if program == "git":
        return {"verb": "git", "words": words}
    return {"verb": {"rm": "delete", "empty": "truncate"}[program], "target": words[0]}


@contextmanager
def inspector() -> Iterator[WarmInspector]:
    found = WarmInspector()
    try:
        yield found
    finally:
        found.close()


def describe_impact(seen: Impact) -> str:
    return f"{seen.loss.value}: {seen.words}"
