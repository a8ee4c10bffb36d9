"""A harmless call in each agent's own words, and the same call with its command left out, which must be denied."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

COMMAND = "echo interlock-canary"
SESSION = "interlock-doctor"
_AT = "2026-01-01T00:00:00.000Z"

Payload = dict[str, Any]


def canary(word: str, event: str, command: str | None, cwd: str, session: str = SESSION) -> bytes | None:
    """What the agent would send before it runs this command in a shell; None for an event that does not gate one."""
    make = _MAKERS.get(word)
    payload = make(event, {} if command is None else {"command": command}, cwd) if make else None
    return None if payload is None else json.dumps(payload).replace(SESSION, session).encode()


def environment(word: str, cwd: str) -> Mapping[str, str]:
    """What the agent adds to its own environment for a hook."""
    return {name: SESSION if name.endswith("_ID") else cwd for name in _VARIABLES.get(word, ())}


_VARIABLES = MappingProxyType(
    {
        "claude-code": ("CLAUDE_PROJECT_DIR",),
        "gemini": ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR"),
        "droid": ("FACTORY_PROJECT_DIR",),
        "devin": ("DEVIN_PROJECT_DIR",),
    }
)


def _like_claude(tool: str, event_name: str = "PreToolUse") -> Callable[[str, Payload, str], Payload | None]:
    def make(event: str, given: Payload, cwd: str) -> Payload | None:
        if event != event_name:
            return None
        return {
            "session_id": SESSION,
            "transcript_path": None,
            "cwd": cwd,
            "timestamp": _AT,
            "permission_mode": "default",
            "hook_event_name": event,
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": SESSION,
        }

    return make


def _cursor(event: str, given: Payload, cwd: str) -> Payload | None:
    common = {
        "conversation_id": SESSION,
        "generation_id": SESSION,
        "workspace_roots": [cwd],
        "hook_event_name": event,
        "cwd": cwd,
    }
    if event == "beforeShellExecution":
        return {**common, **given}
    if event == "preToolUse":
        return {**common, "tool_name": "Shell", "tool_input": given, "tool_use_id": SESSION}
    return None


def _copilot(event: str, given: Payload, cwd: str) -> Payload | None:
    if event != "preToolUse":
        return None
    return {"sessionId": SESSION, "timestamp": 0, "cwd": cwd, "toolName": "bash", "toolArgs": json.dumps(given)}


def _windsurf(event: str, given: Payload, cwd: str) -> Payload | None:
    if event != "pre_run_command":
        return None
    line = {"command_line": given["command"]} if given else {}
    return {
        "trajectory_id": SESSION,
        "execution_id": SESSION,
        "timestamp": _AT,
        "agent_action_name": event,
        "tool_info": {**line, "cwd": cwd},
    }


def _cline(event: str, given: Payload, cwd: str) -> Payload | None:
    if event != "PreToolUse":
        return None
    return {
        "taskId": SESSION,
        "timestamp": _AT,
        "workspaceRoots": [cwd],
        "hookName": event,
        "preToolUse": {"toolName": "execute_command", "parameters": given},
    }


def _plugin(tool: str, key: str, event_name: str) -> Callable[[str, Payload, str], Payload | None]:
    """What our plugin sends for the agent."""

    def make(event: str, given: Payload, cwd: str) -> Payload | None:
        args = {key: given["command"]} if given else {}
        call = {"tool": tool, "session_id": SESSION, "call_id": SESSION, "cwd": cwd, "args": args}
        return {"hook_event_name": event_name, **call}

    return make


_MAKERS: Mapping[str, Callable[[str, Payload, str], Payload | None]] = MappingProxyType(
    {
        "amp": _plugin("Bash", "cmd", "tool.call"),
        "claude-code": _like_claude("Bash"),
        "cline": _cline,
        "codex": _like_claude("Bash"),
        "copilot": _copilot,
        "cursor": _cursor,
        "devin": _like_claude("exec"),
        "droid": _like_claude("Execute"),
        "gemini": _like_claude("run_shell_command", "BeforeTool"),
        "kiro": _like_claude("execute_bash"),
        "opencode": _plugin("bash", "command", "tool.execute.before"),
        "windsurf": _windsurf,
    }
)
