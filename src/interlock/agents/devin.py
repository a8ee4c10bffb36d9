"""Devin CLI: Claude-like hooks in its own files; exit 2 blocks, every other failure lets the call run."""

from __future__ import annotations

from pathlib import Path

from interlock.agents import HookClient, HookFile
from interlock.agents.calls import CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import one_file, unreadable_files, with_groups
from interlock.agents.hook_protocol import AgentDialect, refuse_by_exit_code

WORD = "devin"
LIMIT = 300.0  # seconds
KINDS = {
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PermissionRequest": "permission",
    "SessionStart": "session",
    "SessionEnd": "session",
}
_FILES = one_file(user=".config/devin/config.json", project=".devin/hooks.v1.json")
_FILL = fill_calls(
    ToolNames(frozenset({"exec", "bash", "Bash", "shell"})),
    CallFields(transcript=("transcript_path",)),
    lambda given, event: event.kind == "permission",  # an ask happens only in Devin's own prompt
)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    lead = () if place.path.name == "hooks.v1.json" else ("hooks",)  # that file has events at the top
    return with_groups(text, client, WORD, ("PreToolUse", "PostToolUse"), LIMIT, ".*", *lead)


def _off(home: Path, project: Path) -> list[str]:
    return unreadable_files(_FILES, home, project)


AGENT = AgentDialect(
    WORD, "Devin CLI", KINDS, _FILL, refuse_by_exit_code, _FILES, _write, disablers=_off, limit_seconds=LIMIT
)
