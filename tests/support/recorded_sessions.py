"""Recorded sessions from their files, and a folder in the state that a session assumes."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.impact.inspector import inspect_targets
from interlock.policy.impact import Impact
from repository import TESTS

SESSIONS = TESTS / "sessions"
_GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_EDITOR": "true", "PATH": os.environ["PATH"],
    "GIT_AUTHOR_NAME": "dev", "GIT_AUTHOR_EMAIL": "dev@example.com",
    "GIT_COMMITTER_NAME": "dev", "GIT_COMMITTER_EMAIL": "dev@example.com",
}  # fmt: skip


@dataclass(frozen=True)
class RecordedSession:
    """A session as it lies in its file: the state it assumes, and its calls with what each of them really loses."""

    name: str
    about: str
    state: Mapping[str, Any]
    calls: tuple[Mapping[str, Any], ...]


@dataclass
class World:
    """The folder in which a session goes on."""

    home: Path
    repository: Path

    def filled(self, value: Any) -> Any:
        """The session's own places in a recorded value."""
        if isinstance(value, str):
            return value.replace("{repo}", str(self.repository)).replace("{home}", str(self.home))
        if isinstance(value, dict):
            return {key: self.filled(one) for key, one in value.items()}
        return [self.filled(one) for one in value] if isinstance(value, list) else value

    def look(self, question: Mapping[str, Any]) -> Impact:
        """Inspects targets as the daemon does, in the session's own home and with time enough for a busy machine."""
        return inspect_targets({**question, "ms": 10_000}, str(self.home))

    def contents(self) -> dict[str, str]:
        """Every file below the session's home with what is in it; Git's own are left out."""
        found = (path for path in self.home.rglob("*") if ".git" not in path.parts and path.is_file())
        return {str(path): path.read_text(errors="replace") for path in found}

    def every_byte(self) -> dict[str, bytes]:
        """Every file below the session's home, Git's own too."""
        return {str(path): path.read_bytes() for path in self.home.rglob("*") if path.is_file()}

    def run(self, script: str) -> None:
        """Runs a call's script in the folder; a failure there was one in the session as well."""
        subprocess.run(
            ["bash", "-c", script], cwd=self.repository, env={**_GIT, "HOME": str(self.home)},
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip


def read_session(name: str) -> RecordedSession:
    """One session by its name."""
    head, *calls = map(json.loads, (SESSIONS / f"{name}.jsonl").read_text().splitlines())
    return RecordedSession(head["session"], head["about"], head["state"], tuple(calls))


def session_names() -> list[str]:
    return sorted(path.stem for path in SESSIONS.glob("*.jsonl"))


@contextmanager
def world(state: Mapping[str, Any]) -> Iterator[World]:
    """The state that a session assumes; not below a folder for temporary files, where nothing would matter."""
    home = Path.home() / f"replayed-{secrets.token_hex(4)}"
    made = World(home, home / "src" / state["repository"])
    made.repository.mkdir(parents=True)
    before = os.environ.get("HOME", "")
    try:
        os.environ["HOME"] = str(home)
        _build(made, state)
        yield made
    finally:
        os.environ["HOME"] = before
        shutil.rmtree(home, ignore_errors=True)


def _build(made: World, state: Mapping[str, Any]) -> None:
    remote = made.home / "remote.git"
    made.run(f"git init -q -b main . && git init -q --bare {remote} && git remote add origin {remote}")
    _put(made.repository, state.get("tracked", ()), "committed\n")
    (made.repository / ".gitignore").write_text("\n".join(state.get("ignore", ())) + "\n")
    made.run("git add -A && git commit -qm one && touch .second && git add -A && git commit -qm two")
    for branch, ahead in state.get("branches", {}).items():
        commits = " && ".join(f"git commit -q --allow-empty -m {branch}-{n}" for n in range(ahead)) or "true"
        made.run(f"git switch -q -C {branch} main && {commits}; git switch -q main")
    for branch in state.get("pushed", ()):
        made.run(f"git push -q origin {branch} || git push -q origin main:{branch}; git fetch -q")
    made.run(f"git remote set-url origin git@github.com:acme/{state['repository']}.git && rm -rf {remote}")
    _put(made.repository, state.get("ignored", ()), "ignored\n")
    _put(made.repository, state.get("untracked", ()), "untracked\n")
    _put(made.repository, state.get("modified", ()), "changed by a person\n")
    _put(made.home, state.get("home", ()), "at home\n")


def _put(folder: Path, paths: Any, text: str) -> None:
    for name in paths:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def apply_call(made: World, call: Mapping[str, Any]) -> None:
    """Changes the session's folder as the call did."""
    given = made.filled(call["input"])
    if "then" in call:
        made.run(made.filled(call["then"]))
    elif call["tool"] == "Write":
        path = Path(given["file_path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(given["content"])
    elif call["tool"] in ("Edit", "MultiEdit") and Path(given["file_path"]).is_file():
        with Path(given["file_path"]).open("a") as file:
            file.write(given.get("new_string", "edited\n"))


def text_of(call: Mapping[str, Any]) -> str:
    given = call["input"]
    return str(given.get("command") or f"{call['tool']} {given.get('file_path', given)}")
