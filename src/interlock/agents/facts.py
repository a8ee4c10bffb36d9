"""The facts of each coding agent, as `agents.toml` states them, and the agent that they make with the code of its dialect."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from interlock.agents.calls import Asks, CallFields, ToolNames, fill_calls
from interlock.agents.hook_files import (
    SCOPES,
    Files,
    Hook,
    HookClient,
    HookFile,
    erase_hooks,
    find_switches,
    hook_group,
    is_ours,
    with_hooks,
)
from interlock.agents.hook_protocol import AgentDialect, Event, Fill, HookOutput, HookVerdict
from interlock.analysis.packs import load_packs

_FORMS = {".toml": "toml", ".js": "plugin", ".ts": "plugin"}
_ABOUT_CALLS = frozenset({"before", "after", "failed"})
Write = Callable[[HookFile, str | None, HookClient], str]


class AgentFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """The facts of one agent; `agents.toml` says what each of them means."""

    title: str
    events: dict[str, str]
    tools: ToolNames
    fields: CallFields = CallFields()
    hooked: tuple[str, ...] = ()
    limit: int = 300
    files: dict[str, str] = {}
    notes: dict[str, str] = {}
    base: dict[str, int | str] = {}  # other keys that the agent needs at the top of its hooks file
    form: str = ""  # of its files, where their names do not tell
    status_line: bool = False  # whether the user's file may set one
    settings: tuple[str, ...] = SCOPES
    switches: dict[str, bool] = {}
    state: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    event_fields: tuple[str, ...] = ("hook_event_name", "hookEventName")
    plugin_head: str = ""
    word: str = ""

    def path(self, scope: str) -> str:
        """The path of its hooks file in a scope; empty where it has none."""
        on_macos = self.files.get(f"{scope}_on_macos", "") if sys.platform == "darwin" else ""
        return on_macos or self.files.get(scope, "")

    def places(self, scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
        """Its hooks file in a scope."""
        name, user = self.path(scope), scope == "user"
        path, note = (home if user else project) / name, self.notes.get(scope, "")
        form = self.form or _FORMS.get(path.suffix, "json")
        return (HookFile(path, form, note=note, status=user and self.status_line),) if name else ()

    def disabled(self, home: Path, project: Path) -> list[str]:
        """A description of every switch in its settings that disables hooks, and of every such file that cannot be read."""
        paths: list[Path] = []
        for name in self.settings:
            if name in SCOPES:
                paths += [file.path for file in self.places(name, home, project)]
            else:
                paths.append(home / name[2:] if name.startswith("~/") else project / name)
        return find_switches(paths, self.switches)

    def write(self, entry: Callable[[str, HookClient], Hook]) -> Write:
        """Writes a hooks file with an entry for each hooked event."""

        def written(place: HookFile, text: str | None, client: HookClient) -> str:
            hooks = [entry(event, client) for event in self.hooked]
            return with_hooks(text, hooks, is_ours, comments=place.form == "jsonc", base=self.base)

        return written

    def write_groups(self, matcher: str | None, *lead: str) -> Write:
        """Writes a hooks file with a group for each hooked event, below the keys `lead`."""
        return self.write(lambda event, client: hook_group((*lead, event), self.handler(event, client), matcher))

    def handler(self, event: str, client: HookClient) -> dict[str, Any]:
        """The hook of an event in the form of Claude Code's."""
        return {"type": "command", "command": client.shell(self.word, event), "timeout": self.limit}

    def fill(self, asks: Asks = lambda given, event: False) -> Fill:
        """Decodes its events, where each has one call."""
        return fill_calls(self.tools, self.fields, asks)

    def agent(
        self,
        fill: Fill,
        say: Callable[[Event, HookVerdict], HookOutput],
        installed: Write,
        *,
        places: Files | None = None,
        removed: Callable[[HookFile, str], str | None] | None = None,
        **more: Any,
    ) -> AgentDialect:
        """The agent with the code of its dialect; `more` are fields of AgentDialect."""
        return AgentDialect(
            self.word, self.title, self.events, fill, say, places or self.places, installed, removed or partial(erase_hooks, base=self.base),
            names=self.event_fields, limit_seconds=float(self.limit), state=self.state, **more,
        )  # fmt: skip


@cache
def all_facts() -> dict[str, AgentFacts]:
    """The facts of all agents, by word."""
    kind = dict[str, AgentFacts]
    found = load_packs(Path(__file__).parent, lambda packs: [convert(packs[0], kind)], "agents.toml", kind)[0]
    return {
        word: replace(one, word=word, hooked=one.hooked or tuple(n for n, kind in one.events.items() if kind in _ABOUT_CALLS))
        for word, one in sorted(found.items())
    }  # fmt: skip
