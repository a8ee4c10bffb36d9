"""Whether a call that has run is known to have succeeded: what agents say of it, in their own shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.agents import agent
from interlock.agents.hook_protocol import outcome_of

BASH = {"session_id": "s", "cwd": "/srv", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t"}


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        ({}, ""),
        ({"tool_response": "ok"}, ""),
        ({"tool_response": {"stdout": "", "stderr": "", "interrupted": False}}, ""),
        ({"tool_response": {"exit_code": 0}}, ""),
        ({"toolResult": {"resultType": "success", "textResultForLlm": "done"}}, ""),
        ({"tool_response": {"stdout": "0 errors, 3 warnings"}}, ""),
        ({"tool_response": {"exit_code": 1}}, "failed"),
        ({"tool_output": '{"exitCode": 2, "output": ""}'}, "failed"),
        ({"tool_response": {"interrupted": True}}, "failed"),
        ({"tool_response": {"is_error": True}}, "failed"),
        ({"toolResult": {"resultType": "failure"}}, "failed"),
        ({"tool_response": {"stdout": "ERROR: failed to solve: process did not complete"}}, "failed"),
        ({"tool_response": {"stderr": 'createdb: error: database creation failed: database "x" already exists'}}, "failed"),
        ({"extra": {"result": '{"output": "", "exit_code": 0, "error": null}', "status": "ok"}}, ""),
        ({"extra": {"result": '{"output": "", "exit_code": 1, "error": null}', "status": "ok"}}, "failed"),
        ({"extra": {"result": '{"error": "no such file"}', "status": "error"}}, "failed"),
        ({"tool_response": {"backgroundTaskId": "b1"}}, "unknown"),
        ({"tool_input": {"command": "createdb x", "run_in_background": True}, "tool_response": {}}, "unknown"),
        ({"toolArgs": {"command": "createdb x", "async": True}, "toolResult": {"resultType": "success"}}, "unknown"),
        ({"toolArgs": '{"command": "createdb x", "async": true}', "toolResult": {"resultType": "success"}}, "unknown"),
        ({"toolArgs": '{"command": "createdb x"}', "toolResult": {"resultType": "success"}}, ""),
    ],
)  # fmt: skip
def test_a_result_says_whether_it_succeeded(given: dict[str, Any], outcome: str) -> None:
    assert outcome_of(given) == outcome


def test_an_event_carries_what_its_result_says() -> None:
    body = {**BASH, "tool_input": {"command": "createdb x"}, "tool_response": {"exit_code": 1}}
    assert agent("claude-code").decode(json.dumps(body).encode(), "PostToolUse").outcome == "failed"
    body = {**body, "hook_event_name": "PreToolUse"}
    assert agent("claude-code").decode(json.dumps(body).encode(), "PreToolUse").outcome == ""
