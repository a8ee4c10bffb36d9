"""A real daemon, the client that was built for it, and agents' hook input as they send it."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from daemons import Daemon, daemon
from interlock.config import load_config
from interlock.install.client_build import build
from repository import TESTS

GOLDEN = TESTS / "agents" / "golden"
PATIENCE = 20.0
CWD = "/home/u/app"


@dataclass(frozen=True)
class HookOutput:
    """A hook's answer to its agent: exit code and output."""

    exit: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.stdout) if self.stdout else {}
        return found

    @property
    def words(self) -> str:
        return self.stdout + self.stderr

    @property
    def decision(self) -> str:
        """Claude Code's word; empty where the hook said nothing."""
        found = self.json.get("hookSpecificOutput", {})
        return str(found.get("permissionDecision", ""))


@dataclass
class HookedDaemon:
    """A daemon with its hook client."""

    daemon: Daemon
    client: str

    def fire(self, word: str, event: str, given: Any, home: str = "/nonexistent", **how: Any) -> HookOutput:
        """The hook as its agent runs it."""
        data = given if isinstance(given, bytes) else json.dumps(given).encode()
        done = subprocess.run(
            [self.client, word, event], input=data, capture_output=True, env={"HOME": home}, timeout=90, **how
        )
        return HookOutput(done.returncode, done.stdout.decode(), done.stderr.decode())

    def claude(self, command: str, id: str = "toolu_1", event: str = "PreToolUse", **more: Any) -> HookOutput:
        return self.fire("claude-code", event, claude_input(command, id, event, **more))

    def tickets(self, state: str = "") -> list[dict[str, Any]]:
        found = self.daemon.here().get("/api/v1/tickets", params={"state": state})
        return list(found.json()["tickets"])

    def approve(self, id: str) -> None:
        answer = self.daemon.here().post(f"/api/v1/tickets/{id}/approve", json={}, headers=self.daemon.sign_in())
        assert answer.status_code == 200, answer.text

    def records(self, event: str) -> list[dict[str, Any]]:
        found = self.daemon.here().get(
            "/api/v1/audit", params={"event": event, "limit": 100}, headers=self.daemon.sign_in()
        )
        assert found.status_code == 200, found.text
        return [row["body"] for row in found.json()["records"]]


def claude_input(command: str, id: str = "toolu_1", event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    """Claude Code's hook input for a shell command."""
    given = {"session_id": "s-1", "transcript_path": "/dev/null", "cwd": CWD, "permission_mode": "default"}
    given |= {"hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id}
    return {**given, **more}


def golden_input(word: str, name: str) -> tuple[str, dict[str, Any]]:
    """An agent's own input from the golden files: the event, and what it sends."""
    found = json.loads((GOLDEN / word / f"{name}.json").read_text())
    return found["event"], found["stdin"]


@contextmanager
def hooked_daemon(folder: Path, wait: int = 0, more: str = "", policy: str = "default") -> Iterator[HookedDaemon]:
    """A daemon with the client in its state folder; impact gives no relief unless a test asks for it, because most targets do not exist."""
    impact = "" if "[impact]" in more or "[undo]" in more else "\n[impact]\nexempt = false\n"
    toml = f"[hooks]\nwait_seconds = {wait}\n{more}{impact}"
    with daemon(folder, toml=toml, policy=policy) as running:
        yield HookedDaemon(running, build_hook_client(folder))


def build_hook_client(folder: Path) -> str:
    config = load_config(folder / "interlock.toml", {})
    return build(config).path


def until(seen: Callable[[], Any], words: str) -> Any:
    """Polls until there is a result and returns it; fails after a timeout."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = seen()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"never seen: {words}")


class BackgroundWork(threading.Thread):
    """Work in a thread beside the test; `result` waits for it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._work, self._found = work, None
        self.start()

    def run(self) -> None:
        self._found = self._work()

    def result(self) -> Any:
        self.join(60)
        assert not self.is_alive()
        return self._found
