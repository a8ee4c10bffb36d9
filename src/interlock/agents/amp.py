"""Amp: a plugin file that asks before each tool and rejects unless it is told to go on."""

from __future__ import annotations

from interlock.agents.calls import ToolNames
from interlock.agents.hook_files import one_file
from interlock.agents.plugin import Plugin, plugin_agent

KINDS = {"tool.call": "before", "tool.result": "after"}
_DIALECT = ToolNames(frozenset({"Bash", "shell_command"}))
_HEAD = "// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now\n"
_NOTE = "Amp's plugin interface is experimental; older versions load plugins only when started with PLUGINS=all."
_FILES = one_file("plugin", _NOTE, user=".config/amp/plugins/interlock.ts", project=".amp/plugins/interlock.ts")
AGENT = plugin_agent("amp", "Amp", 60.0, KINDS, _DIALECT, Plugin(_FILES, _HEAD))
