"""Claude Code: groups of handlers in settings.json; JSON in, `hookSpecificOutput` out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import GATING, STATUS_LINE, AgentCall, Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import ToolNames, judged_calls
from interlock.agents.claude_permissions import passage
from interlock.agents.hook_files import (
    Hook,
    find_switches,
    hook_group,
    is_ours,
    read_json_files,
    with_hooks,
    with_member,
    without_hooks,
    without_member,
)
from interlock.agents.hook_protocol import (
    JsonAgent,
    MalformedInput,
    answer,
    reason_of,
    reason_text,
    required_text,
    table,
    text,
    tidy,
    word_of,
)
from interlock.agents.rewriting import Rewriting

WORD = "claude-code"
LIMIT = 300.0  # seconds
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolBatch": "after",
    "PostToolUseFailure": "failed",
    "PermissionRequest": "permission",
    "ConfigChange": "config",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "ConfigChange")
_TOOL_EVENTS = frozenset({"before", "after", "failed", "permission"})
_ASKING = frozenset({"default", "acceptEdits", "plan"})  # in any other mode, or in none, no prompt is shown
_STATUS_KEY = "statusLine"
_DIALECT = ToolNames(frozenset({"Bash"}), {"Monitor": "Bash"}, frozenset({"timeout_ms"}))


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    word = word_of(event, verdict)
    if word == "allow" and not verdict.context and verdict.rewrite is None:
        return answer(None)
    name, reason = event.name or "PreToolUse", reason_text(reason_of(event, verdict))
    context = {"additionalContext": tidy(verdict.context)} if verdict.context else {}
    shown = {"systemMessage": tidy(verdict.notice)} if verdict.notice else {}
    if event.kind == "before" and word == "allow" and verdict.rewrite is not None:
        new = verdict.rewrite
        decision = {"permissionDecision": "ask" if new.asked else "allow", "permissionDecisionReason": tidy(new.reason)}
        output = {"hookEventName": "PreToolUse", **decision, "updatedInput": new.whole, **context}
        return answer({**shown, "hookSpecificOutput": output})
    if event.kind == "before" and word != "allow":
        decision = {"permissionDecision": word, "permissionDecisionReason": reason}
        return answer({**shown, "hookSpecificOutput": {"hookEventName": "PreToolUse", **decision, **context}})
    if event.kind == "permission":  # an allow would answer in the human's place
        denied = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": reason}}
        return answer({**shown, "hookSpecificOutput": denied} if word == "deny" else None)
    if word == "deny" and event.kind in ("after", "config"):
        return answer({"decision": "block", "reason": reason})
    if context and event.kind in _TOOL_EVENTS and name != "PostToolBatch":
        return answer({**shown, "hookSpecificOutput": {"hookEventName": name, **context}})
    return answer(None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {
        "user": home / ".claude" / "settings.json",
        "project": project / ".claude" / "settings.json",
        "system": _managed(),
    }
    return (HookFile(found[scope], status=scope == "user"),) if scope in found else ()


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    written = with_hooks(text, [_hook(event, client) for event in HOOKED], is_ours)
    if not place.status or not client.status:
        return written
    return with_member(written, _STATUS_KEY, {"type": "command", "command": client.status})


def _erase(place: HookFile, text: str) -> str | None:
    """A status line of ours goes with the hooks, and is none by itself."""
    without = without_hooks(text, is_ours)
    if without == text:
        return text
    return without_hooks(without_member(text, _STATUS_KEY, _is_own_status), is_ours)


def _is_own_status(value: Any) -> bool:
    return isinstance(value, Mapping) and STATUS_LINE in str(value.get("command", ""))


def _off(home: Path, project: Path) -> list[str]:
    paths = [
        home / ".claude" / "settings.json",
        project / ".claude" / "settings.json",
        project / ".claude" / "settings.local.json",
        _managed(),
    ]
    found = find_switches(paths, {("disableAllHooks",): True})
    for path, data in read_json_files([_managed()], []):
        if data.get("allowManagedHooksOnly") is True and is_ours_nowhere(data.get("hooks")):
            found.append(f"{path}: allowManagedHooksOnly is true, so only hooks in this file run; install --system")
    return found


def _hook(event: str, client: HookClient) -> Hook:
    how: dict[str, Any] = {"timeout": int(LIMIT), "onFailure": "block"}
    if client.url:
        handler = {"type": "http", "url": client.post(WORD, event), **how}
    else:
        program, *words = client.argv(WORD, event)
        handler = {"type": "command", "command": program, "args": words, **how}
    return hook_group(("hooks", event), handler, None if event == "ConfigChange" else "*")


def is_ours_nowhere(hooks: Any) -> bool:
    """True when nothing in a tree of hooks is ours."""
    if is_ours(hooks):
        return False
    inner = hooks.values() if isinstance(hooks, Mapping) else hooks if isinstance(hooks, list) else ()
    return all(is_ours_nowhere(item) for item in inner)


def _managed() -> Path:
    if sys.platform == "darwin":
        return Path("/Library/Application Support/ClaudeCode/managed-settings.json")
    return Path("/etc/claude-code/managed-settings.json")


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    session = text(given, "session_id", "sessionId")
    return replace(
        event,
        calls=_all_calls(given, event) if event.kind in _TOOL_EVENTS else (),
        session=session,
        cwd=text(given, "cwd"),
        parent=session if text(given, "agent_id") else "",
        transcript=text(given, "transcript_path"),
        asks=event.kind in GATING and text(given, "permission_mode") in _ASKING,
        mode=text(given, "permission_mode"),
    )


def _all_calls(given: Mapping[str, Any], event: Event) -> tuple[AgentCall, ...]:
    cwd = required_text(given, "cwd")
    if event.name != "PostToolBatch":
        return _calls(given, cwd)
    batch = given.get("tool_calls")
    if not isinstance(batch, list) or not all(isinstance(entry, dict) for entry in batch):
        raise MalformedInput("tool_calls: expected a list of objects")
    return tuple(call for entry in batch for call in _calls(entry, cwd))


def _calls(given: Mapping[str, Any], cwd: str) -> tuple[AgentCall, ...]:
    return judged_calls(
        _DIALECT, required_text(given, "tool_name"), table(given, "tool_input"), cwd, text(given, "tool_use_id")
    )


AGENT = JsonAgent(
    WORD, "Claude Code", KINDS, _fill, _say, _places, _write, _erase, _off, limit_seconds=LIMIT, posts=True,
    rewrites=Rewriting(passage, flags=frozenset("--settings --disallowedTools --disallowed-tools --permission-prompt-tool --tools".split())),
    state=tuple(f".claude/{name}" for name in "debug file-history projects session-env shell-snapshots statsig todos".split()),
)  # fmt: skip
