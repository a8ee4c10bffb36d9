"""Sends a harmless call through a hook as its agent would, and tells which verdict the agent reads in the reply."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from pwd import struct_passwd
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from interlock.agents import AgentDialect, Event, HookOutput, HookVerdict
from interlock.install.discovery import Handler

COMMAND = "echo interlock-canary"
SESSION = "interlock-doctor"
_AT = "2026-01-01T00:00:00.000Z"

Payload = dict[str, Any]


def canary(word: str, event: str, command: str | None, cwd: str, session: str = SESSION) -> bytes | None:
    """The input an agent sends before it runs this shell command; None for an event that does not gate one."""
    make = _MAKERS.get(word)
    payload = make(event, {} if command is None else {"command": command}, cwd) if make else None
    return None if payload is None else json.dumps(payload).replace(SESSION, session).encode()


def environment(word: str, cwd: str) -> Mapping[str, str]:
    """The variables that the agent sets for a hook."""
    return {name: SESSION if name.endswith("_ID") else cwd for name in _VARIABLES.get(word, ())}


_VARIABLES = {
    "claude-code": ("CLAUDE_PROJECT_DIR",),
    "gemini": ("GEMINI_PROJECT_DIR", "GEMINI_CWD", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR"),
    "droid": ("FACTORY_PROJECT_DIR",),
    "devin": ("DEVIN_PROJECT_DIR",),
}


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


def _grok(event: str, given: Payload, cwd: str) -> Payload | None:
    if event != "PreToolUse":
        return None
    call = {"toolName": "run_terminal_command", "toolInput": given, "toolUseId": SESSION}
    return {
        "hookEventName": "pre_tool_use",
        "sessionId": SESSION,
        "cwd": cwd,
        "workspaceRoot": cwd,
        "timestamp": _AT,
        **call,
    }


def _antigravity(event: str, given: Payload, cwd: str) -> Payload | None:
    if event != "PreToolUse":
        return None
    line = {"CommandLine": given["command"]} if given else {}
    call = {"name": "run_command", "args": {**line, "Cwd": cwd}}
    return {"conversationId": SESSION, "stepIdx": 1, "toolCall": call, "workspacePaths": [cwd]}


def _plugin(tool: str, key: str, event_name: str) -> Callable[[str, Payload, str], Payload | None]:
    """The input that our plugin sends for the agent."""

    def make(event: str, given: Payload, cwd: str) -> Payload | None:
        args = {key: given["command"]} if given else {}
        call = {"tool": tool, "session_id": SESSION, "call_id": SESSION, "cwd": cwd, "args": args}
        return {"hook_event_name": event_name, **call}

    return make


_MAKERS: Mapping[str, Callable[[str, Payload, str], Payload | None]] = {
    "amp": _plugin("Bash", "cmd", "tool.call"),
    "antigravity": _antigravity,
    "claude-code": _like_claude("Bash"),
    "cline": _cline,
    "codex": _like_claude("Bash"),
    "copilot": _copilot,
    "cursor": _cursor,
    "devin": _like_claude("exec"),
    "droid": _like_claude("Execute"),
    "gemini": _like_claude("run_shell_command", "BeforeTool"),
    "grok": _grok,
    "hermes": _like_claude("terminal", "pre_tool_call"),
    "kimi": _like_claude("Shell"),
    "kiro": _like_claude("execute_bash"),
    "opencode": _plugin("bash", "command", "tool.execute.before"),
    "pi": _plugin("bash", "command", "tool_call"),
    "windsurf": _windsurf,
}


_MOST_BYTES = 4 << 20
_DRIVERS = Path(__file__).with_name("drivers")  # each calls a plugin as its agent does


class DidNotFire(Exception):
    """The hook could not be run; the message says why."""


class HookReply(Struct, frozen=True):
    """One answer and its time."""

    reply: HookOutput
    milliseconds: float


def fire(
    agent: AgentDialect,
    handler: Handler,
    payload: bytes,
    cwd: Path,
    more: Mapping[str, str],
    user: struct_passwd | None = None,
) -> HookReply:
    """Runs the handler once, as root also as another user; raises DidNotFire where it cannot start or exceeds the agent's time limit."""
    if handler.how == "url":
        return _post(handler.words[0], payload, agent.limit_seconds)
    if handler.how == "plugin":
        return _run_plugin(agent, Path(handler.words[0]), payload, cwd)
    argv = {
        "argv": list(handler.words),
        "script": list(handler.words),
        "bash": [shutil.which("bash") or "bash", "-c", *handler.words],
        "shell": ["/bin/sh", "-c", *handler.words],
    }[handler.how]
    start = time.perf_counter()
    out, err, code = _run(argv, payload, cwd, {**os.environ, **more}, agent.limit_seconds, user)
    return HookReply(HookOutput(out, err, code), (time.perf_counter() - start) * 1000)


def _run(
    argv: list[str],
    given: bytes,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    user: struct_passwd | None = None,
) -> tuple[bytes, bytes, int]:
    rights: dict[str, Any] = {}
    if user is not None:
        rights = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        env = {**env, "HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            **rights,
        )
    except OSError as error:
        raise DidNotFire(f"{argv[0]} cannot be run: {error.strerror}") from None
    try:
        out, err = process.communicate(given, seconds)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise DidNotFire(f"no answer within {seconds:g} s, which is all that the agent waits") from None
    return out[:_MOST_BYTES], err[:_MOST_BYTES], process.returncode


def _post(url: str, payload: bytes, seconds: float) -> HookReply:
    """Sends an HTTP hook's request, without a proxy; only status 200 is an answer."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    start = time.perf_counter()
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        try:
            connection.request("POST", f"{parts.path}?{parts.query}", payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read(_MOST_BYTES)
        finally:
            connection.close()
    except (OSError, HTTPException, ValueError) as error:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} does not answer: {error}") from None
    if not 200 <= answer.status < 300:
        raise DidNotFire(f"{parts.scheme}://{parts.netloc} answered {answer.status}")
    said = b"" if body.strip() == b"{}" else body  # an empty object stands for empty stdout
    return HookReply(HookOutput(said), (time.perf_counter() - start) * 1000)


def _run_plugin(agent: AgentDialect, plugin: Path, payload: bytes, cwd: Path) -> HookReply:
    """Runs the plugin in node as the agent does; the answer has the shape that the plugin reads from the daemon."""
    node = shutil.which("node") or shutil.which("bun")
    if node is None:
        raise DidNotFire("the plugin is JavaScript, and there is no node here to try it with")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plugin.mjs").write_bytes(plugin.read_bytes())
        driver = Path(folder) / "driver.mjs"
        ask = (_DRIVERS / f"{agent.word}.mjs").read_text("utf-8")
        driver.write_text((_DRIVERS / "drive.mjs").read_text("utf-8").replace("@ASK@", ask), "utf-8")
        env = {**os.environ, "INTERLOCK_CALL": payload.decode()}
        out, err, code = _run([node, str(driver)], b"", cwd, env, agent.limit_seconds + 10)
    try:
        found = json.loads(out)
        said = found["said"]
        allowed = said["decision"] == "allow"
        reply = HookOutput(
            json.dumps(said).encode(), b"" if allowed else str(said["reason"]).encode(), 0 if allowed else 2
        )
        return HookReply(reply, float(found["ms"]))
    except (ValueError, KeyError, TypeError):
        last = (err.decode("utf-8", "replace").strip().splitlines() or [f"exit code {code}"])[-1]
        raise DidNotFire(f"the plugin cannot be loaded: {last[:200]}") from None


_WORDS = frozenset(
    "permissionDecisionReason reason message user_message agent_message errorMessage systemMessage stopReason".split()
)
_CONTEXT = frozenset("additionalContext additional_context context contextModification".split())
BROKEN = "broken"


def verdict_of(agent: AgentDialect, event: Event, reply: HookOutput) -> str:
    """The verdict whose shape this answer has, texts aside; `broken` where none fits."""
    words = ("allow", "deny") if event.problem else ("allow", "ask", "deny")
    shapes = {word: _shape(agent.encode(event, HookVerdict(word, "because"))) for word in words}
    found = _shape(reply)
    for word in ("deny", "ask", "allow"):  # the stricter verdict where two have one shape
        if shapes.get(word) == found:
            return word
    allowed = _shape(agent.encode(event, HookVerdict("allow", context="told")))
    return "allow" if not event.problem and found == allowed else BROKEN


def _shape(reply: HookOutput) -> tuple[int, Any, bool]:
    text = reply.stdout.decode("utf-8", "replace")
    try:
        said = _bare(json.loads(text)) if text.strip() else None
    except (ValueError, RecursionError):
        said = text
    return reply.exit, said, reply.exit != 0 and bool(reply.stderr.strip())


def _bare(value: Any) -> Any:
    """A value with its texts blanked and its context removed."""
    if isinstance(value, dict):
        return {
            key: "*" if key in _WORDS and isinstance(item, str) else _bare(item)
            for key, item in value.items()
            if key not in _CONTEXT
        }
    return [_bare(item) for item in value] if isinstance(value, list) else value
