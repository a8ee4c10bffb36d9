"""Cursor: hooks.json with failClosed; one JSON object always, since an empty answer counts as a failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from interlock.agents.calls import mcp_name
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import AgentCall, Event, Json, required_text, table, text
from interlock.agents.rewriting import LEAVE, SILENT, ShellCall, only_our_hooks, read_tables

FACTS = all_facts()["cursor"]


def _off(path: Path, data: Json) -> Iterator[str]:
    if data.get("version") != 1:
        yield "version is not 1, so Cursor does not read it"


def _passage(call: ShellCall) -> str:
    """The command line's rules are in files; the editor's in a database, and cannot be read."""
    if call.event.name != "preToolUse" or (call.home / ".config/Cursor/User/globalStorage/state.vscdb").exists():
        return LEAVE
    folders = call.folders
    rules = read_tables([call.home / ".cursor/cli-config.json", *(folder / ".cursor/cli.json" for folder in folders)])
    hooks = read_tables([folder / FACTS.path("user") for folder in (call.home, *folders)])
    if rules is None or hooks is None or any("Shell(" in str(table.get("permissions")) for table in rules):
        return LEAVE
    return SILENT if only_our_hooks(hooks, "preToolUse") else LEAVE


def _fill(given: Json, event: Event) -> Event:
    calls = _calls(given, event)
    paired = any(call.tool == "Shell" or call.tool.startswith("MCP:") for call in calls)
    pair = f"{event.session}/{text(given, 'generation_id')}" if paired else ""
    return replace(event, calls=calls, pair=pair)


def _calls(given: Json, event: Event) -> tuple[AgentCall, ...]:
    id = text(given, "tool_use_id")
    if event.name in ("beforeShellExecution", "afterShellExecution"):
        return FACTS.tools.judged("Shell", {"command": required_text(given, "command")}, event.cwd, id)
    if event.name in ("beforeReadFile", "beforeTabFileRead"):
        return FACTS.tools.judged("Read", {"file_path": required_text(given, "file_path")}, event.cwd, id)
    name, inner = required_text(given, "tool_name"), table(given, "tool_input")
    if event.name in ("beforeMCPExecution", "afterMCPExecution") or name.startswith("MCP:"):
        # Cursor names no server on preToolUse; both events must mean the same.
        plain = name.removeprefix("MCP:").strip()
        calls = FACTS.tools.judged(mcp_name("", plain), inner, event.cwd, id)
        return tuple(replace(call, tool=f"MCP:{plain}") for call in calls)
    return FACTS.tools.judged(name, inner, event.cwd, id)


AGENT = FACTS.agent(_fill, disabling=_off, passage=_passage)
