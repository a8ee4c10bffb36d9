"""Windsurf Cascade: one event for each kind of tool; exit 2 blocks, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.agents import AgentCall, Event, HookClient, HookFile
from interlock.agents.calls import ToolNames, judged_calls, mcp_name
from interlock.agents.hook_files import Hook, is_ours, one_file, system_folder, unreadable_files, with_hooks
from interlock.agents.hook_protocol import AgentDialect, refuse_by_exit_code, required_text, table, text

WORD = "windsurf"
LIMIT = 30.0  # its own limit is not published; the hooks file cannot set one
_ACTIONS = ("run_command", "write_code", "read_code", "mcp_tool_use")
HOOKED = tuple(f"{when}_{action}" for when in ("pre", "post") for action in _ACTIONS)
KINDS = {name: "before" if name.startswith("pre_") else "after" for name in HOOKED}
_DIALECT = ToolNames(frozenset({"run_command"}), {"write_code": "Edit", "read_code": "Read"})
_FILES = one_file(
    user=".codeium/windsurf/hooks.json",
    project=".windsurf/hooks.json",
    system=f"{system_folder('Windsurf', 'windsurf')}/hooks.json",
)


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    hooks = []
    for event in HOOKED:
        entry = {"command": client.shell(WORD, event), "show_output": event.startswith("pre_")}
        hooks.append(Hook(("hooks", event), entry))
    return with_hooks(text, hooks, is_ours)


def _off(home: Path, project: Path) -> list[str]:
    return unreadable_files(_FILES, home, project)


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    if event.kind not in ("before", "after"):
        return replace(event, session=text(given, "trajectory_id"))
    info = table(given, "tool_info")
    event = replace(event, session=text(given, "trajectory_id"), cwd=text(info, "cwd"))
    return replace(event, calls=_calls(event, info, text(given, "execution_id")))


def _calls(event: Event, info: Mapping[str, Any], id: str) -> tuple[AgentCall, ...]:
    action = event.name.partition("_")[2]
    if action == "run_command":
        return judged_calls(_DIALECT, action, {"command": required_text(info, "command_line")}, event.cwd, id)
    if action == "mcp_tool_use":
        name = mcp_name(text(info, "mcp_server_name"), required_text(info, "mcp_tool_name"))
        return judged_calls(_DIALECT, name, table(info, "mcp_tool_arguments"), event.cwd, id)
    required_text(info, "file_path")
    return judged_calls(_DIALECT, action, info, event.cwd, id)


AGENT = AgentDialect(
    WORD,
    "Windsurf",
    KINDS,
    _fill,
    refuse_by_exit_code,
    _FILES,
    _write,
    disablers=_off,
    names=("agent_action_name",),
    limit_seconds=LIMIT,
)
