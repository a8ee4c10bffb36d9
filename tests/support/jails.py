"""A user's home with a daemon, hooks and `interlock run`, for tests of the jail."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm_processes
from hook_client import HookedDaemon, claude_input, hooked_daemon


@dataclass
class Home:
    """A user's home, with a daemon whose state is in it, and Claude Code's hooks installed."""

    folder: Path
    guard: HookedDaemon

    @property
    def settings(self) -> Path:
        return self.folder / ".claude" / "settings.json"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def environ(self) -> dict[str, str]:
        away = ("XDG_", "DBUS_", "SSH_", "DISPLAY", "TMUX")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(away)}
        return {**kept, "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "runtime")}

    def words(self, *command: str, grant: str = "") -> list[str]:
        granted = ["--grant", grant] if grant else []
        return [
            *warm_processes.INTERLOCK,
            "run",
            "--config",
            str(self.folder / "interlock.toml"),
            *granted,
            "--",
            *command,
        ]

    def run(self, script: str, *given: str, grant: str = "", **more: Any) -> subprocess.CompletedProcess[str]:
        """A shell script as the agent."""
        how: dict[str, Any] = {"env": self.environ, "cwd": self.project, **more}
        words = self.words("sh", "-c", script, "sh", *given, grant=grant)
        return warm_processes.run(*words[3:], timeout=120, **how)

    def hook(self, command: str, id: str = "toolu_1") -> str:
        """A shell command that fires the hook as the agent does; its input is left in the project."""
        path = self.project / f"{id}.json"
        path.write_text(json.dumps(claude_input(command, id, cwd=str(self.project))))
        return f"{self.guard.client} claude-code PreToolUse < {path}"


def install_hooks(folder: Path) -> None:
    """Creates a home folder and installs the hooks in it."""
    (folder / ".claude" / "projects").mkdir(parents=True)
    for name in ("project", "runtime"):
        (folder / name).mkdir(mode=0o700)
    config = ["--config", str(folder / "interlock.toml")]
    done = warm_processes.run(
        "install", "claude-code", "--yes", *config, env={**os.environ, "HOME": str(folder)}, cwd=folder
    )
    assert done.returncode == 0, done.stderr


@contextmanager
def guarded_home(folder: Path) -> Iterator[Home]:
    with hooked_daemon(folder) as guard:
        install_hooks(folder)
        yield Home(folder, guard)
