"""Devin CLI: Claude-like hooks in its own files; exit 2 blocks, every other failure lets the call run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import GATING, Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import ToolNames, judged_calls
from interlock.agents.hook_files import read_json_files, with_groups
from interlock.agents.hook_protocol import JsonAgent, answer, reason_of, refusal, required_text, table, text, word_of

WORD = "devin"
LIMIT = 300.0  # seconds
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PermissionRequest": "permission",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse")
_DIALECT = ToolNames(frozenset({"exec", "bash", "Bash", "shell"}))


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    denied = event.kind in GATING and word_of(event, verdict) == "deny"  # an ask happens only in Devin's own prompt
    return refusal(reason_of(event, verdict)) if denied else answer(None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {"user": _user(home), "project": _project(project)}
    return (HookFile(found[scope]),) if scope in found else ()


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    lead = () if place.path.name == "hooks.v1.json" else ("hooks",)  # that file has events at the top
    return with_groups(text, client, WORD, HOOKED, LIMIT, ".*", *lead)


def _off(home: Path, project: Path) -> list[str]:
    found: list[str] = []
    read_json_files([_user(home), _project(project)], found)
    return found


def _user(home: Path) -> Path:
    return home / ".config" / "devin" / "config.json"


def _project(project: Path) -> Path:
    return project / ".devin" / "hooks.v1.json"


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    event = replace(
        event,
        session=text(given, "session_id"),
        cwd=text(given, "cwd"),
        transcript=text(given, "transcript_path"),
        asks=event.kind == "permission",
    )
    if event.kind not in ("before", "after", "permission"):
        return event
    name, inner = required_text(given, "tool_name"), table(given, "tool_input")
    calls = judged_calls(_DIALECT, name, inner, required_text(given, "cwd"), text(given, "tool_use_id"))
    return replace(event, calls=calls)


AGENT = JsonAgent(WORD, "Devin CLI", KINDS, _fill, _say, _places, _write, off=_off, limit_seconds=LIMIT)
