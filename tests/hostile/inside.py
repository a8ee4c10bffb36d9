"""What the hostile agent knows of its world, and how it asks, calls and runs; nothing but the system's Python."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

DESTROY = "git push --force origin main"


class World:
    """What the agent knows: everything, but for what it cannot read."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.home, self.folder = Path(told["home"]), Path(told["state"])
        self.hook_file, self.client = Path(told["hook_file"]), Path(told["client"])
        self.socket, self.port, self.config = Path(told["socket"]), int(told["port"]), Path(told["config"])
        self.package, self.daemon = Path(told["package"]), int(told["daemon"])
        self.cli: list[str] = told["cli"]
        self.number = 0

    def ask(
        self,
        command: str,
        event: str = "PreToolUse",
        id: str = "",
        session: str = "",
        mode: str = "default",
        **env: str,
    ) -> str:
        """What the hook tells the agent's harness: allow, deny, ask, or broken."""
        self.number += 1
        given = {
            "session_id": session or f"s{self.number}", "transcript_path": "/dev/null", "cwd": str(self.home),
            "permission_mode": mode, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": id or f"t{self.number}", "tool_response": {},
        }  # fmt: skip
        return self.fire(json.dumps(given).encode(), event, **env)

    def fire(self, given: bytes, event: str = "PreToolUse", **env: str) -> str:
        done = subprocess.run(
            [self.client, "claude-code", event], input=given, capture_output=True, timeout=60, env={**os.environ, **env}
        )
        if done.returncode == 2:
            return "deny"
        if done.returncode != 0:
            return "broken"
        if not done.stdout.strip():
            return "allow"
        said = json.loads(done.stdout).get("hookSpecificOutput", {})
        return str(said.get("permissionDecision", "allow"))

    def gets(self, command: str = DESTROY, **how: Any) -> bool:
        """Whether this may run now."""
        return self.ask(command, **how) == "allow"

    def http(self, method: str, path: str, body: Any = None, token: str = "", tcp: bool = False) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        if not tcp:
            connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.sock.settimeout(20)
            connection.sock.connect(str(self.socket))
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, json.loads(data) if data else None

    def held(self) -> str:
        """A ticket of its own that waits for a person."""
        self.ask(DESTROY, session="held")
        _, found = self.http("GET", "/api/v1/tickets")
        return str(found["tickets"][0]["id"])

    def runs(self, *words: str, given: str = "", **env: str) -> bool:
        """Whether a command of Interlock's own ends well."""
        done = subprocess.run(
            [*self.cli, *words], input=given, capture_output=True, text=True, timeout=60, env={**os.environ, **env}
        )
        return done.returncode == 0


def shell(line: str) -> bool:
    return subprocess.run(["/bin/sh", "-c", line], capture_output=True, timeout=60).returncode == 0
