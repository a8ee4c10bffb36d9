"""A real daemon, an agent that wants its code and a person who is shown it: the agent gets it from nobody but the person."""

from __future__ import annotations

import json
import re
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from daemons import Daemon, bearer, daemon, start_daemon
from interlock.identity.keys.codes import new_code, normal_code

POLICY = 'name = "looped"\nextends = "default"\n[loop]\nstart = "allow"\n'
WIPE = "delete the production database"
PUSH = "run git push --force origin main"
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Agent:
    """An agent of this machine's user; keeps every byte that it was ever sent."""

    def __init__(self, running: Daemon, name: str = "claude") -> None:
        self.running, self.name = running, name
        self.session = f"mcp_{secrets.token_urlsafe(18)}"
        self.client = running.here()
        self.seen = b""

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = self.client.request(method, path, json=body)
        self.seen += b"\n".join(value for pair in answer.headers.raw for value in pair) + answer.content
        return answer

    def call(self, endpoint: str, operation: str, **params: Any) -> dict[str, Any]:
        asked = {"operation": operation, "params": params}
        body = {"endpoint": endpoint, "session": self.session, "arguments": asked}
        answer = self.ask("POST", "/api/v1/aql", body)
        assert answer.status_code == 200, answer.text
        envelope: dict[str, Any] = answer.json()["envelope"]
        return envelope

    def start(self) -> dict[str, Any]:
        return self.call("execute", "execute_agent", element_name=self.name, parameters={"goal": "tidy up"})

    def step(self, hint: str) -> dict[str, Any]:
        said = self.call("create", "record_execution_step", element_name=self.name, next_action_hint=hint)
        assert said["success"], said
        directive: dict[str, Any] = said["data"]["autonomy"]
        return directive

    def verify(self, challenge: str, code: str) -> dict[str, Any]:
        return self.call("create", "verify_challenge", challenge_id=challenge, code=code)


def challenge_in(directive: dict[str, Any]) -> str:
    """OOB-05."""
    found = [
        note["metadata"]["verificationId"]
        for note in directive["notifications"]
        if note["type"] in ("danger_zone", "autonomy_pause") and "verificationId" in note.get("metadata", {})
    ]
    assert found and UUID4.fullmatch(found[0]), directive
    return str(found[0])


def shown(running: Daemon, challenge: str) -> str:
    """What an operator is shown who signs in."""
    answer = running.here().post(f"/api/v1/challenges/{challenge}/reveal", json={}, headers=running.sign_in())
    assert answer.status_code == 200, answer.text
    return str(answer.json()["code"])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Daemon]:
    (tmp_path / "policy.toml").write_text(POLICY)
    with daemon(tmp_path, policy=str(tmp_path / "policy.toml"), anew=True) as made:
        yield made


def test_an_agent_finds_its_code_nowhere_and_gets_past_nothing_without_it(running: Daemon, tmp_path: Path) -> None:
    agent = Agent(running)
    agent.start()
    directive = agent.step(WIPE)
    assert directive["stopped"] is True and directive["continue"] is False
    challenge = challenge_in(directive)
    code = shown(running, challenge)
    # what it is sent
    for path in running.here().get("/openapi.json").json()["paths"]:
        here = path.replace("{id}", challenge).replace("{principal}", "uid:0").replace("{name}", "x")
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if "wait" not in here:
                agent.ask(method, here, None if method == "GET" else {})
    for operation in ("introspect", "get_execution_state"):
        agent.call(
            "read", operation, **({"query": "operations"} if operation == "introspect" else {"element_name": "claude"})
        )
    # whatever it calls itself, and whatever it starts (C-18, OOB-10)
    for name in ("claude", "CLAUDE", " claude ", "somebody-else"):
        other = Agent(running, name)
        assert other.start()["error"]["code"] == "PERMISSION_DENIED"
        agent.seen += other.seen
    assert agent.step("list the files")["stopped"] is True
    assert agent.call("execute", "abort_execution", element_name="claude")["success"] is True
    assert agent.start()["success"] is False
    # what it can read
    for secret in (code.encode(), normal_code(code).encode()):
        assert secret not in agent.seen
        for path in tmp_path.rglob("*"):
            assert not path.is_file() or secret not in path.read_bytes(), path
        for process in Path("/proc").glob("[0-9]*"):
            for kind in ("cmdline", "environ"):
                assert secret not in read(process / kind), process
    # and with it
    assert agent.verify(challenge, code)["data"]["verified"] is True
    assert agent.start()["success"] is True
    assert agent.step(WIPE)["stopped"] is True  # nothing was approved by it


def test_a_paused_step_goes_on_once_its_code_came_back(running: Daemon) -> None:
    agent = Agent(running)
    agent.start()
    directive = agent.step(PUSH)
    assert directive["continue"] is False and not directive.get("stopped")
    challenge = challenge_in(directive)
    assert agent.step("list the files")["continue"] is False  # C-19
    assert agent.verify(challenge, new_code())["error"]["code"] == "TOKEN_INVALID"
    said = agent.verify(challenge, shown(running, challenge))
    assert said["data"]["verified"] is True and "unblocked_agent" not in said["data"]
    assert agent.step(PUSH)["continue"] is True
    assert agent.step(PUSH)["continue"] is False


def test_a_block_outlives_a_killed_daemon_and_its_code_is_shown_anew(running: Daemon, tmp_path: Path) -> None:
    agent = Agent(running)
    agent.start()
    challenge = challenge_in(agent.step(WIPE))
    before = shown(running, challenge)
    running.stop(signal.SIGKILL)
    again = start_daemon(tmp_path)
    try:
        agent = Agent(again)
        assert agent.start()["error"]["code"] == "PERMISSION_DENIED"
        listed = again.here().get("/api/v1/challenges", headers=again.sign_in()).json()["challenges"]
        assert [one["id"] for one in listed] == [challenge]
        assert agent.verify(challenge, before)["error"]["code"] == "TOKEN_INVALID"
        assert agent.verify(challenge, shown(again, challenge))["data"]["unblocked_agent"] == "claude"
        again.stop(signal.SIGKILL)
        again = start_daemon(tmp_path)
        assert Agent(again).start()["success"] is True
    finally:
        again.stop(signal.SIGKILL)
        assert again.process.stdout is not None
        again.process.stdout.close()


def test_a_killed_daemon_forgets_no_failure(running: Daemon, tmp_path: Path) -> None:
    agent = Agent(running)
    for _ in range(10):
        assert agent.verify("5f0c0000-0000-4000-8000-000000000000", new_code())["error"]["code"] == "TOKEN_INVALID"
    running.stop(signal.SIGKILL)
    again = start_daemon(tmp_path)
    try:
        said = Agent(again).verify("5f0c0000-0000-4000-8000-000000000000", new_code())
        assert said["error"]["code"] == "RATE_LIMIT_EXCEEDED"
        assert said["error"]["details"]["retry_after_seconds"] > 0
    finally:
        again.stop(signal.SIGKILL)
        assert again.process.stdout is not None
        again.process.stdout.close()


def test_another_principal_with_the_code_frees_nobody(running: Daemon) -> None:
    agent = Agent(running)
    agent.start()
    challenge = challenge_in(agent.step(WIPE))
    code = shown(running, challenge)
    token = running.here().post("/api/v1/agents", json={"name": "other"}, headers=running.sign_in()).json()["token"]
    body = {
        "endpoint": "create",
        "session": f"mcp_{secrets.token_urlsafe(18)}",
        "arguments": {"operation": "verify_challenge", "params": {"challenge_id": challenge, "code": code}},
    }
    answer = running.tcp().post("/api/v1/aql", json=body, headers=bearer(token)).json()["envelope"]
    assert answer["error"]["code"] == "TOKEN_INVALID" and code not in json.dumps(answer)
    assert agent.verify(challenge, code)["data"]["verified"] is True


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
