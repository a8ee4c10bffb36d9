"""Windsurf Cascade: one event for each kind of tool; exit 2 blocks, and nothing else does."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.agents.calls import mcp_name
from interlock.agents.facts import all_facts
from interlock.agents.hook_protocol import AgentCall, Event, Json, required_text, table, text

FACTS = all_facts()["windsurf"]


def _fill(given: Json, event: Event) -> Event:
    info = table(given, "tool_info")
    event = replace(event, cwd=text(info, "cwd"))
    return replace(event, calls=_calls(event, info, text(given, "execution_id")))


def _calls(event: Event, info: Json, id: str) -> tuple[AgentCall, ...]:
    action = event.name.partition("_")[2]
    if action == "run_command":
        return FACTS.tools.judged(action, {"command": required_text(info, "command_line")}, event.cwd, id)
    if action == "mcp_tool_use":
        name = mcp_name(text(info, "mcp_server_name"), required_text(info, "mcp_tool_name"))
        return FACTS.tools.judged(name, table(info, "mcp_tool_arguments"), event.cwd, id)
    required_text(info, "file_path")
    return FACTS.tools.judged(action, info, event.cwd, id)


AGENT = FACTS.agent(_fill)
