"""OpenCode: a plugin file that asks before each tool and throws unless it is told to go on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from msgspec.structs import replace

from interlock.agents import HookFile
from interlock.agents.calls import ToolNames
from interlock.agents.hook_files import read_json_files
from interlock.agents.plugin import Plugin, plugin_agent
from interlock.agents.rewriting import LEAVE, SILENT, Rewriting, ShellCall, folders_above, read_tables

KINDS = {"tool.execute.before": "before", "tool.execute.after": "after"}
_DIALECT = ToolNames(frozenset({"bash"}), {"list": "LS"})
_BODY = """\
// The one export: OpenCode loads every export of a file as a plugin.
export const Interlock = async ({ directory, worktree }) => {
  const cwd = directory || worktree || process.cwd()
  const told = new Map()
  const asked = (input, args) => ({ tool: input.tool, session_id: input.sessionID, call_id: input.callID, cwd, args })
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await consult("tool.execute.before", asked(input, output.args ?? {}))
      if (answer.context && told.size < 1000) told.set(input.callID, answer.context)
      if (answer.args && output.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      let context = told.get(input.callID) ?? ""
      told.delete(input.callID)
      try {
        const answer = await consult("tool.execute.after", asked(input, input.args ?? {}))
        if (answer.context) context = [context, answer.context].filter(Boolean).join("\\n")
      } catch (error) {
        context = [context, error.message].filter(Boolean).join("\\n")
      }
      if (context && output && typeof output.output === "string") output.output += "\\n\\n" + context
    },
  }
}
"""


def _places(scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
    found = {
        "user": home / ".config" / "opencode" / "plugins" / "interlock.js",
        "project": project / ".opencode" / "plugins" / "interlock.js",
    }
    return (HookFile(found[scope], "plugin"),) if scope in found else ()


def _off(home: Path, project: Path) -> list[str]:
    found: list[str] = []
    if os.environ.get("OPENCODE_PURE"):
        found.append("OPENCODE_PURE is set, so OpenCode loads no plugins")
    read_json_files([home / ".config" / "opencode" / "opencode.json", project / "opencode.json"], found)
    return found


def _passage(call: ShellCall) -> str:
    """OpenCode applies its permissions to the new text: it runs what they do not mention."""
    folders = [call.home / ".config/opencode", *folders_above(call.event.cwd)]
    names = ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc")
    tables = read_tables(folder / name for folder in folders for name in names)
    return LEAVE if tables is None or any('"permission"' in json.dumps(table) for table in tables) else SILENT


PLUGIN = Plugin(_places, _BODY, off=_off)
AGENT = replace(
    plugin_agent("opencode", "OpenCode", 300.0, KINDS, _DIALECT, PLUGIN),
    rewrites=Rewriting(_passage),
    state=tuple(f".local/share/opencode/{name}" for name in ("log", "snapshot", "storage")),
)
