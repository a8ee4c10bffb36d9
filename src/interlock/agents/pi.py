"""Pi: an extension that asks before each tool call and blocks unless it is told to go on."""

from __future__ import annotations

from pathlib import Path

from interlock.agents import HookFile
from interlock.agents.calls import ToolNames
from interlock.agents.plugin import Plugin, plugin_agent

KINDS = {"tool_call": "before", "tool_result": "after"}
_DIALECT = ToolNames(frozenset({"bash"}))
_NOTE = "Run /reload in Pi. Started with --no-extensions, it loads none."


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {
        "user": home / ".pi" / "agent" / "extensions" / "interlock.ts",
        "project": project / ".pi" / "extensions" / "interlock.ts",
    }
    return (HookFile(found[scope], "plugin", note=_NOTE),) if scope in found else ()


AGENT = plugin_agent("pi", "Pi", 300.0, KINDS, _DIALECT, Plugin(_places))
