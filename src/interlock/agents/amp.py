"""Amp: a plugin file that asks before each tool and rejects unless it is told to go on."""

from __future__ import annotations

from pathlib import Path

from interlock.agents import HookFile
from interlock.agents.calls import ToolNames
from interlock.agents.plugin import Plugin, plugin_agent

KINDS = {"tool.call": "before", "tool.result": "after"}
_DIALECT = ToolNames(frozenset({"Bash", "shell_command"}))
_HEAD = "// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now\n"
_NOTE = "Amp's plugin interface is experimental; older versions load plugins only when started with PLUGINS=all."


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {
        "user": home / ".config" / "amp" / "plugins" / "interlock.ts",
        "project": project / ".amp" / "plugins" / "interlock.ts",
    }
    return (HookFile(found[scope], "plugin", note=_NOTE),) if scope in found else ()


AGENT = plugin_agent("amp", "Amp", 60.0, KINDS, _DIALECT, Plugin(_places, _HEAD))
