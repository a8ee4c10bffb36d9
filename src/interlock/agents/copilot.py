"""GitHub Copilot CLI, its cloud agent, and VS Code: one hooks file for all, both shapes in one answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import GATING, Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import ToolNames, judged_calls
from interlock.agents.hook_files import Hook, erase_hooks, find_switches, is_ours, one_file, with_hooks
from interlock.agents.hook_protocol import (
    AgentDialect,
    answer,
    required_text,
    table,
    text,
)
from interlock.agents.rewriting import ASKED, LEAVE, Rewriting, ShellCall, folders_above, read_tables

WORD = "copilot"
LIMIT = 30.0  # past this limit the call runs, whatever the hook would answer
KINDS = {
    "preToolUse": "before",
    "postToolUse": "after",
    "postToolUseFailure": "failed",
    "permissionRequest": "permission",
    "sessionStart": "session",
    "sessionEnd": "session",
}
HOOKED = ("preToolUse", "postToolUse", "postToolUseFailure")
_BASE = {"version": 1}
_FILES = one_file(
    user=".copilot/hooks/interlock.json",
    project=".github/hooks/interlock.json",
    system="/etc/github-copilot/policy.d/interlock.json",
)
_DIALECT = ToolNames(
    frozenset("bash shell Bash run_in_terminal runInTerminal runTerminalCommand".split()),
    {
        "write_bash": "BashInput",
        "read_bash": "BashOutput",
        "stop_bash": "KillBash",
        "replace_string_in_file": "Edit",
        "multi_replace_string_in_file": "MultiEdit",
        "editFiles": "Edit",
        "createFile": "Write",
    },
    frozenset("sessionId mode async detach initialWait".split()),
)
_FIELDS = {"multi_replace_string_in_file": {"replacements": "edits"}}


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word, reason = verdict.word, verdict.reason
    if event.kind == "permission":
        return answer({"behavior": "deny", "message": reason} if word == "deny" else {})
    context = {"additionalContext": verdict.context} if verdict.context else {}
    if event.kind == "before" and word != "allow":
        decision = {"permissionDecision": word, "permissionDecisionReason": reason}
        return answer({**decision, "hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}})
    if event.kind == "after" and word == "deny":
        context = {"additionalContext": reason}
    changed = {"modifiedArgs": verdict.rewrite.whole} if verdict.rewrite is not None and event.kind == "before" else {}
    if (context or changed) and event.kind in ("before", "after"):
        name = "PreToolUse" if event.kind == "before" else "PostToolUse"
        return answer({**context, **changed, "hookSpecificOutput": {"hookEventName": name, **context}})
    return answer({})


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    hooks = []
    for event in HOOKED:
        handler = {"type": "command", "bash": client.shell(WORD, event)}
        hooks.append(Hook(("hooks", event), {**handler, "timeoutSec": int(LIMIT)}))
    return with_hooks(text, hooks, is_ours, base=_BASE)


def _off(home: Path, project: Path) -> list[str]:
    paths = [
        *(home / ".copilot" / name for name in ("settings.json", "config.json", "hooks/interlock.json")),
        *(project / ".github/copilot" / name for name in ("settings.json", "settings.local.json")),
        project / ".github/hooks/interlock.json",
    ]
    return find_switches(paths, {("disableAllHooks",): True})


def _passage(call: ShellCall) -> str:
    """The rules of Copilot CLI are on its command line; those of VS Code's terminal are in settings of its own."""
    if call.call.tool != "bash":
        return LEAVE
    folders = [call.home / ".copilot/hooks", *(folder / ".github/hooks" for folder in folders_above(call.event.cwd))]
    tables = read_tables(path for folder in folders for path in folder.glob("*.json"))
    return ASKED if tables is not None and all(map(_is_alone, tables)) else LEAVE


def _is_alone(table: Mapping[str, Any]) -> bool:
    """Whether no other hook than ours may rewrite a call."""
    hooks = table.get("hooks")
    found = [
        hook for name in ("preToolUse", "PreToolUse") if isinstance(hooks, Mapping) for hook in hooks.get(name) or ()
    ]
    return all(map(is_ours, found))


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    event = replace(
        event,
        session=text(given, "sessionId", "session_id"),
        cwd=text(given, "cwd"),
        transcript=text(given, "transcript_path", "transcriptPath"),
        asks=event.kind in GATING,
    )
    if event.kind not in ("before", "after", "failed", "permission"):
        return event
    name = required_text(given, "toolName", "tool_name")
    fields = _FIELDS.get(name, {})
    inner = {fields.get(key, key): value for key, value in table(given, "toolArgs", "tool_input", "toolInput").items()}
    id = text(given, "tool_use_id", "toolUseId", "toolCallId")
    return replace(event, calls=judged_calls(_DIALECT, name, inner, required_text(given, "cwd"), id))


AGENT = AgentDialect(
    WORD, "GitHub Copilot CLI and VS Code", KINDS, _fill, _say, _FILES, _write, partial(erase_hooks, base=_BASE), _off, limit_seconds=LIMIT,
    rewrites=Rewriting(_passage, persistent=True, flags=frozenset("--deny-tool --excluded-tools --available-tools --allow-tool".split())),
    state=(".copilot/history-session-state", ".copilot/logs", ".copilot/session-state"),
)  # fmt: skip
