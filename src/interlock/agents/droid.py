"""Factory Droid: Claude-like hooks; a deny by exit 2, since the first hook with a JSON decision wins there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import find_switches, json_or_empty, with_groups
from interlock.agents.hook_protocol import (
    AgentDialect,
    answer,
    refuse_by_exit_code,
    text,
)

WORD = "droid"
LIMIT = 300.0  # seconds
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse")
_ASKING = frozenset({"default", "plan", "spec", "acceptEdits"})
_DIALECT = ToolNames(
    frozenset({"Execute", "Bash"}),
    incidental=frozenset("riskLevel riskLevelReason riskLevelJustification fireAndForget".split()),
)


def _asks(given: Mapping[str, Any], event: Event) -> bool:
    return event.kind == "before" and text(given, "permission_mode", "permissionMode") in _ASKING


_FIELDS = CallFields(
    ("tool_name", "toolName"),
    ("tool_input", "toolInput"),
    ("tool_use_id", "toolUseId"),
    ("session_id", "sessionId"),
    transcript=("transcript_path", "transcriptPath"),
)


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    if event.kind == "before" and verdict.word == "deny":
        return refuse_by_exit_code(event, verdict)
    if event.kind == "before" and verdict.word == "ask":
        decision = {"permissionDecision": "ask", "permissionDecisionReason": verdict.reason}
        return answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}})
    if event.kind == "after" and (verdict.context or verdict.word == "deny"):
        told = verdict.context or verdict.reason
        return answer({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": told}})
    return answer(None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    if scope not in ("user", "project"):
        return ()
    folder = (home if scope == "user" else project) / ".factory"
    # Some versions read settings.json alone, others hooks.json where there is one: making one would hide the settings' hooks.
    hooks = (HookFile(folder / "hooks.json"),) if (folder / "hooks.json").exists() else ()
    return (HookFile(folder / "settings.json"), *hooks)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    lead = ("hooks",) if place.path.name == "settings.json" or (text and '"hooks"' in text and _nested(text)) else ()
    return with_groups(text, client, WORD, HOOKED, LIMIT, "*", *lead)


def _off(home: Path, project: Path) -> list[str]:
    folders = [home / ".factory", project / ".factory"]
    paths = [folder / name for folder in folders for name in ("settings.json", "settings.local.json")]
    return find_switches(paths, {("hooksDisabled",): True, ("disableAllHooks",): True})


def _nested(text: str) -> bool:
    """True for a hooks.json that has its events under `hooks`, as the settings do."""
    return isinstance(json_or_empty(text).get("hooks"), dict)


AGENT = AgentDialect(
    WORD, "Factory Droid", KINDS, fill_calls(_DIALECT, _FIELDS, _asks), _say, _places, _write, disablers=_off, limit_seconds=LIMIT,
    state=(".factory/logs", ".factory/sessions"),
)  # fmt: skip
