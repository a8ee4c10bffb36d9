"""Pi: an extension that asks before each tool call and blocks unless it is told to go on."""

from __future__ import annotations

from interlock.agents.calls import ToolNames
from interlock.agents.hook_files import one_file
from interlock.agents.plugin import Plugin, plugin_agent

KINDS = {"tool_call": "before", "tool_result": "after"}
_NOTE = "Run /reload in Pi. Started with --no-extensions, it loads none."
_FILES = one_file("plugin", _NOTE, user=".pi/agent/extensions/interlock.ts", project=".pi/extensions/interlock.ts")
AGENT = plugin_agent("pi", "Pi", 300.0, KINDS, ToolNames(frozenset({"bash"})), Plugin(_FILES))
