"""Grok Build: Claude-like groups in a hooks file of our own; camel case in, a `decision` at the top and exit 2 out, and nothing asks."""

from __future__ import annotations

from pathlib import Path

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import one_file, with_groups
from interlock.agents.hook_protocol import AgentDialect, answer

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
_PATH = ".grok/hooks/interlock.json"
_TRUST = "Grok runs a project's hooks once the folder is trusted: /hooks-trust, or start it with --trust."
_FILL = fill_calls(
    ToolNames(frozenset({"run_terminal_command", "Bash", "Shell"})),
    CallFields(
        ("toolName", "tool_name"),
        ("toolInput", "tool_input"),
        ("toolUseId", "toolCallId"),
        ("sessionId", "session_id"),
        ("cwd", "workspaceRoot"),
    ),
)


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    """Any exit but 0 and 2 lets the call run, so that a refusal says it twice."""
    if event.kind == "before" and verdict.word != "allow":
        return answer({"decision": "deny", "reason": verdict.reason}, verdict.reason, 2)
    return answer(None)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    return with_groups(text, client, WORD, HOOKED, LIMIT, None, "hooks")


AGENT = AgentDialect(
    WORD,
    "Grok Build",
    KINDS,
    _FILL,
    _say,
    one_file(user=_PATH, project=HookFile(Path(_PATH), note=_TRUST)),
    _write,
    names=("hookEventName", "hook_event_name"),
    limit_seconds=LIMIT,
)
