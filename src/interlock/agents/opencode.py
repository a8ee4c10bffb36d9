"""OpenCode: a plugin file that asks before each tool and throws unless it is told to go on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.agents.calls import Dialect
from interlock.agents.claude_form import tables
from interlock.agents.contract import Client, Event, Place, Reply, Verdict
from interlock.agents.plugin import plugin_encode, plugin_fill, plugin_installed, plugin_removed, plugin_text
from interlock.agents.reading import decoded

BEFORE, AFTER = "tool.execute.before", "tool.execute.after"
KINDS = {BEFORE: "before", AFTER: "after"}
_DIALECT = Dialect(frozenset({"bash"}), {"list": "LS"})
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


@dataclass(frozen=True, slots=True)
class OpenCode:
    word: str = "opencode"
    title: str = "OpenCode"
    limit_seconds: float = 300.0
    posts: bool = False

    def decode(self, data: bytes, event: str = "") -> Event:
        return decoded(data, event, KINDS, ("hook_event_name",), _fill)

    def encode(self, event: Event, verdict: Verdict) -> Reply:
        return plugin_encode(event, verdict)

    def broken(self, reason: str) -> Reply:
        return plugin_encode(Event("before", BEFORE), Verdict("deny", reason))

    def places(self, scope: str, home: Path, project: Path) -> tuple[Place, ...]:
        found = {
            "user": home / ".config" / "opencode" / "plugins" / "interlock.js",
            "project": project / ".opencode" / "plugins" / "interlock.js",
        }
        return (Place(found[scope], "plugin"),) if scope in found else ()

    def installed(self, place: Place, text: str | None, client: Client) -> str:
        return plugin_installed(text, plugin_text(self.word, self.limit_seconds, client, _BODY))

    def removed(self, place: Place, text: str) -> str | None:
        return plugin_removed(text)

    def disablers(self, home: Path, project: Path) -> list[str]:
        found: list[str] = []
        if os.environ.get("OPENCODE_PURE"):
            found.append("OPENCODE_PURE is set, so OpenCode loads no plugins")
        tables([home / ".config" / "opencode" / "opencode.json", project / "opencode.json"], found)
        return found


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    return plugin_fill(_DIALECT, given, event)


AGENT = OpenCode()
