"""Agents and a scope -> the files that would change, as a person can read it; nothing is written here."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.agents import Agent, Client, Place
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.doors.install.files import FileProblem, Seen, digest, look
from interlock.doors.install.present import is_hooked
from interlock.doors.install.register import Entry, find


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one file; `after` is None where it is taken away."""

    agent: Agent
    scope: str
    project: Path
    place: Place
    seen: Seen
    after: bytes | None
    replaces: bool = False  # hooks of ours are there already, and would become others
    entry: Entry | None = None  # what the register has about it

    @property
    def needed(self) -> bool:
        return self.after != self.seen.data

    @property
    def name(self) -> str:
        """The file, and where a link leads."""
        real = self.seen.path
        return str(self.place.path) if real == self.place.path else f"{self.place.path} -> {real}"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file, or an agent, for which nothing can be done."""

    agent: Agent
    words: str


def installing(
    agents: Sequence[tuple[Agent, Client]], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[Change], list[Refusal]]:
    """What install would write."""
    changes: list[Change] = []
    refused: list[Refusal] = []
    for agent, client in agents:
        places = agent.places(scope, home, project)
        if not places:
            refused.append(Refusal(agent, f"{agent.title} has no place for hooks with --{scope}"))
        for place in places:
            try:
                changes.append(_installed(agent, client, scope, project, place, config))
            except (FileProblem, EditError) as error:
                refused.append(Refusal(agent, _said(place, error)))
    return changes, refused


def removing(
    agents: Sequence[Agent], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[Change], list[Refusal]]:
    """What uninstall would write; nothing for files that have nothing of ours."""
    changes: list[Change] = []
    refused: list[Refusal] = []
    for agent in agents:
        for place in agent.places(scope, home, project):
            try:
                if change := _removed(agent, scope, project, place, config):
                    changes.append(change)
            except (FileProblem, EditError) as error:
                refused.append(Refusal(agent, _said(place, error)))
    return changes[::-1], refused  # folders that were made for the first file are empty after the last


def diff(change: Change) -> list[str]:
    """The change as a unified diff."""
    before = (change.seen.data or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    names = (
        "/dev/null" if change.seen.data is None else str(change.seen.path),
        "/dev/null" if change.after is None else str(change.seen.path),
    )
    return [
        line.rstrip("\r\n") for line in difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names)
    ]


def _installed(agent: Agent, client: Client, scope: str, project: Path, place: Place, config: Config) -> Change:
    seen = look(place.path)
    text = seen.text
    after = agent.installed(place, text, client)
    ours = text is not None and is_hooked(agent, place, text)
    replaces = ours and after != text
    return Change(agent, scope, project, place, seen, after.encode(), replaces, find(config, place.path))


def _removed(agent: Agent, scope: str, project: Path, place: Place, config: Config) -> Change | None:
    seen, entry = look(place.path), find(config, place.path)
    text = seen.text
    if text is None or not is_hooked(agent, place, text):
        return None
    return Change(agent, scope, project, place, seen, _before(agent, place, seen, text, entry), True, entry)


def _before(agent: Agent, place: Place, seen: Seen, text: str, entry: Entry | None) -> bytes | None:
    """The bytes that were there before us, where nothing else was changed since; else the file without us."""
    if entry is not None and seen.data is not None and digest(seen.data) == entry.written:
        if not entry.backup:
            return None
        try:
            kept = look(Path(entry.backup)).data
        except FileProblem:
            kept = None
        if kept is not None and digest(kept) == entry.before:  # a backup that somebody touched is none
            return kept
    without = agent.removed(place, text)
    return None if without is None else without.encode()


def _said(place: Place, error: Exception) -> str:
    words = str(error)
    return words if words.startswith(str(place.path)) else f"{place.path}: {words}"
