"""A crash at the edge of a process or a protocol is a denial in that protocol's own words, and says nothing of the crash."""

from __future__ import annotations

import asyncio
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from daemons import in_process_daemon
from hook_client import claude_input
from interlock.config import config_of
from interlock.engine import fallback
from interlock.hooks.evaluation import HookEvaluation
from interlock.mcp import server as mcp_server
from interlock.proxy import fallback as proxy_fallback
from interlock.proxy.relay import Relay
from interlock.server.routes import aql
from interlock.server.routes import evaluate as evaluating

SECRET = "hunter2secret"
ME = f"uid:{os.getuid()}"


def crash(*_: Any, **__: Any) -> Any:
    raise RuntimeError(SECRET)


@pytest.mark.parametrize(
    ("path", "body", "inside", "name", "denied"),
    [
        ("evaluate", {"command": "ls"}, evaluating, "_request", lambda said: said["allowed"] is False),
        ("hook/claude-code?event=PreToolUse", claude_input("ls"), HookEvaluation, "verdict",
         lambda said: said["hookSpecificOutput"]["permissionDecision"] == "deny"),
        ("aql", {"endpoint": "read"}, aql, "_body", lambda said: said["envelope"]["success"] is False),
    ],
    ids=["evaluate", "hook", "aql"],
)  # fmt: skip
def test_a_crash_of_the_daemon_is_a_denial_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, body: Any, inside: Any, name: str, denied: Any
) -> None:
    with in_process_daemon(tmp_path) as daemon:
        monkeypatch.setattr(inside, name, crash)
        reply = daemon.call("POST", f"/api/v1/{path}", body, peer=ME)
        assert denied(reply.json()), reply.text
        assert SECRET not in reply.text


def test_a_crash_without_a_daemon_is_a_denial_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(fallback, "judge_calls", crash)
    monkeypatch.setattr(fallback, "make_undumpable", lambda: None)
    given = json.dumps(claude_input("ls")).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(given)))
    assert fallback.run([str(tmp_path / "interlock"), "", "claude-code", "PreToolUse"], None) == 0
    said = capfdbinary.readouterr().out
    assert json.loads(said)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert SECRET.encode() not in said


def test_a_crash_of_the_proxy_is_a_denial_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_fallback, "_judge", crash)
    allowed, words = proxy_fallback.judge_locally({}, *(SimpleNamespace() for _ in range(3)))  # type: ignore[arg-type]
    assert not allowed and words.startswith("Denied") and SECRET not in words
    sent: list[bytes] = []

    async def call() -> None:
        gate = SimpleNamespace(config=config_of({}, environ={}))
        relay = Relay(gate, sent.append, crash, lambda _: None)  # type: ignore[arg-type]
        relay._judging[1] = asyncio.current_task()  # type: ignore[index,assignment]
        await relay._call({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}, 1)  # type: ignore[arg-type]

    monkeypatch.setattr(Relay, "_decide_call", crash)
    asyncio.run(call())
    (line,) = sent
    assert json.loads(line)["result"]["isError"] is True and SECRET.encode() not in line


def test_a_crash_of_the_mcp_server_is_a_refusal_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_server, "decoding_problem", crash)
    backend = SimpleNamespace(session_of=lambda who: "mcp_1")
    call = SimpleNamespace(arguments={}, who=None, tool="mcp_aql")
    found: Any = asyncio.run(mcp_server._answer(backend, None, None, call))  # type: ignore[arg-type]
    assert found.is_error is True and SECRET not in str(found)
