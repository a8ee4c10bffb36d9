"""Kimi CLI and Kimi Code: `[[hooks]]` tables in config.toml; only exit 2 blocks, and nothing asks."""

from __future__ import annotations

import json
from pathlib import Path

from interlock.agents import Event, HookClient, HookFile, HookOutput, HookVerdict
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_protocol import AgentDialect, answer, refuse_by_exit_code
from interlock.agents.toml_edit import with_block, without_block

WORD = "kimi"
LIMIT = 300.0  # seconds; it takes up to 600
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "failed",
    "SessionStart": "session",
    "SessionEnd": "session",
}
HOOKED = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
_FOLDERS = (".kimi", ".kimi-code")
_DIALECT = ToolNames(
    frozenset({"Shell", "Bash"}),
    {"WriteFile": "Write", "StrReplaceFile": "Edit", "ReadFile": "Read", "Glob": "Glob", "Grep": "Grep"},
)
_FILL = fill_calls(_DIALECT, CallFields(id=("tool_call_id",)))


def _say(event: Event, verdict: HookVerdict) -> HookOutput:
    if event.kind == "before" and verdict.word != "allow":
        return refuse_by_exit_code(event, verdict)
    return answer({"message": verdict.context} if verdict.context else None)


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    """The files of those of the two programs that are there; a new file would stand in the way of their own defaults."""
    if scope != "user":
        return ()
    there = [folder for folder in _FOLDERS if (home / folder).is_dir()]
    return tuple(HookFile(home / folder / "config.toml", "toml") for folder in there or _FOLDERS[:1])


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    return with_block(text, "\n".join(_table(event, client) for event in HOOKED))


def _table(event: str, client: HookClient) -> str:
    command = json.dumps(client.shell(WORD, event), ensure_ascii=False)
    return f'[[hooks]]\nevent = "{event}"\ncommand = {command}\ntimeout = {int(LIMIT)}'


def _erase(place: HookFile, text: str) -> str | None:
    return without_block(text)


AGENT = AgentDialect(WORD, "Kimi CLI", KINDS, _FILL, _say, _places, _write, _erase, limit_seconds=LIMIT)
