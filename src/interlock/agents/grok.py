"""Grok Build: Claude-like groups in a hooks file of our own; camel case in, a `decision` at the top and exit 2 out, and nothing asks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import ToolNames, judged_calls
from interlock.agents.hook_files import with_groups
from interlock.agents.hook_protocol import (
    JsonAgent,
    answer,
    reason_of,
    reason_text,
    required_text,
    table,
    text,
    word_of,
)

WORD = "grok"
LIMIT = 300.0  # seconds; without a number it waits for five
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "failed",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
_TOOL_EVENTS = frozenset({"before", "after", "failed"})
_TRUST = "Grok runs a project's hooks once the folder is trusted: /hooks-trust, or start it with --trust."
_DIALECT = ToolNames(frozenset({"run_terminal_command", "Bash", "Shell"}))


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    """Any exit but 0 and 2 lets the call run, so that a refusal says it twice."""
    if event.kind == "before" and word_of(event, verdict) != "allow":
        reason = reason_text(reason_of(event, verdict))
        return answer({"decision": "deny", "reason": reason}, reason, 2)
    return answer(None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {
        "user": HookFile(home / ".grok" / "hooks" / "interlock.json"),
        "project": HookFile(project / ".grok" / "hooks" / "interlock.json", note=_TRUST),
    }
    return (found[scope],) if scope in found else ()


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    return with_groups(text, client, WORD, HOOKED, LIMIT, None, "hooks")


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    session, cwd = text(given, "sessionId", "session_id"), text(given, "cwd", "workspaceRoot")
    event = replace(event, session=session, cwd=cwd)
    if event.kind not in _TOOL_EVENTS:
        return event
    name, inner = required_text(given, "toolName", "tool_name"), table(given, "toolInput", "tool_input")
    folder = required_text(given, "cwd", "workspaceRoot")
    return replace(event, calls=judged_calls(_DIALECT, name, inner, folder, text(given, "toolUseId", "toolCallId")))


AGENT = JsonAgent(
    WORD,
    "Grok Build",
    KINDS,
    _fill,
    _say,
    _places,
    _write,
    names=("hookEventName", "hook_event_name"),
    limit_seconds=LIMIT,
)
