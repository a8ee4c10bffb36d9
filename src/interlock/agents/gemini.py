"""Gemini CLI: groups in settings.json with milliseconds; one JSON object always, since silence and most exits let the call run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from interlock.agents.calls import mcp_name
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import is_ours
from interlock.agents.hook_protocol import Event, Json, required_text, table, text
from interlock.agents.rewriting import ASKED, LEAVE, ShellCall, only_our_hooks, read_tables
from interlock.strict_json import list_in, table_in

FACTS = all_facts()["gemini"]
SHELL = "run_shell_command"
_NAME = "interlock"
_SETTINGS, _SYSTEM = FACTS.path("user"), Path(FACTS.path("system")).parent


def _off(path: Path, data: Json) -> Iterator[str]:
    for section in ("hooksConfig", "hooks"):
        if any(name == _NAME or is_ours({"command": name}) for name in list_in(table_in(data, section), "disabled")):
            yield f"{section}.disabled names our hook, so it does not run"


def _passage(call: ShellCall) -> str:
    """Its policy is applied to the new text: a rule about commands may be meant for the original."""
    folders = [call.home, *call.folders]
    files = [folder / _SETTINGS for folder in folders]
    tables = read_tables([*files, _SYSTEM / "settings.json"])
    policies = [*(folder / ".gemini/policies" for folder in folders), _SYSTEM / "policies"]
    if tables is None or any(any(folder.glob("*.toml")) for folder in policies):
        return LEAVE
    return ASKED if only_our_hooks(tables, "BeforeTool") and not any(map(_restricts, tables)) else LEAVE


def _restricts(table: Json) -> bool:
    inner, names = table_in(table, "tools"), ("exclude", "core", "allowed")
    return any(inner.get(name) or table.get(f"{name}Tools") for name in names) or bool(
        table.get("sandbox") or inner.get("sandbox")
    )


def _calls(given: Json, event: Event) -> Event:
    name, context = required_text(given, "tool_name"), given.get("mcp_context")
    if isinstance(context, Mapping):
        name = mcp_name(text(context, "server_name"), text(context, "tool_name") or name)
    calls = FACTS.tools.judged(name, table(given, "tool_input"), required_text(given, "cwd"))
    # Only the shell tool always asks when requested: a trusted MCP server or a file without a diff runs without a prompt.
    return replace(event, calls=calls, asks=event.kind == "before" and name == SHELL)


AGENT = FACTS.agent(_calls, disabling=_off, passage=_passage)
