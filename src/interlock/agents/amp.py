"""Amp: a plugin file that asks before each tool and rejects unless it is told to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.agents.calls import Dialect
from interlock.agents.contract import Client, Event, Place, Reply, Verdict
from interlock.agents.plugin import plugin_encode, plugin_fill, plugin_installed, plugin_removed, plugin_text
from interlock.agents.reading import decoded

BEFORE, AFTER = "tool.call", "tool.result"
KINDS = {BEFORE: "before", AFTER: "after"}
_DIALECT = Dialect(frozenset({"Bash", "shell_command"}))
_HEAD = "// @i-know-the-amp-plugin-api-is-wip-and-very-experimental-right-now\n"
_NOTE = "Amp's plugin interface is experimental; older versions load plugins only when started with PLUGINS=all."
_BODY = """\
export default function (amp) {
  const asked = (event) => ({
    tool: event.tool,
    session_id: String(event.thread?.id ?? ""),
    call_id: String(event.toolUseID ?? ""),
    cwd: process.cwd(),
    args: event.input ?? {},
  })
  amp.on("tool.call", async (event) => {
    try {
      await consult("tool.call", asked(event))
      return { action: "allow" }
    } catch (error) {
      return { action: "reject-and-continue", message: error.message }
    }
  })
  amp.on("tool.result", async (event) => {
    try {
      await consult("tool.result", asked(event))
    } catch {}
  })
}
"""


@dataclass(frozen=True, slots=True)
class Amp:
    word: str = "amp"
    title: str = "Amp"
    limit_seconds: float = 60.0
    posts: bool = False

    def decode(self, data: bytes, event: str = "") -> Event:
        return decoded(data, event, KINDS, ("hook_event_name",), _fill)

    def encode(self, event: Event, verdict: Verdict) -> Reply:
        return plugin_encode(event, verdict)

    def broken(self, reason: str) -> Reply:
        return plugin_encode(Event("before", BEFORE), Verdict("deny", reason))

    def places(self, scope: str, home: Path, project: Path) -> tuple[Place, ...]:
        found = {
            "user": home / ".config" / "amp" / "plugins" / "interlock.ts",
            "project": project / ".amp" / "plugins" / "interlock.ts",
        }
        return (Place(found[scope], "plugin", note=_NOTE),) if scope in found else ()

    def installed(self, place: Place, text: str | None, client: Client) -> str:
        return plugin_installed(text, plugin_text(self.word, self.limit_seconds, client, _BODY, _HEAD))

    def removed(self, place: Place, text: str) -> str | None:
        return plugin_removed(text)

    def disablers(self, home: Path, project: Path) -> list[str]:
        return []


def _fill(given: Mapping[str, Any], event: Event) -> Event:
    return plugin_fill(_DIALECT, given, event)


AGENT = Amp()
