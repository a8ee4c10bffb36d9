"""Which agents are on this machine, and which of them have hooks of ours?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.agents import Agent, Place, agent, words
from interlock.agents.contract import SCOPES
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.doors.install.files import FileProblem, digest, look
from interlock.doors.install.register import entries, find

# How their programs are called, where not by their word.
PROGRAMS = {
    "claude-code": ("claude",),
    "cursor": ("cursor", "cursor-agent"),
    "kiro": ("kiro", "kiro-cli"),
}
_SHARED = frozenset({".config", ".codeium", "Documents"})  # folders of the home that belong to nobody in particular


@dataclass(frozen=True, slots=True)
class Hooked:
    """A file that has hooks of ours, or cannot be read though it had some."""

    agent: Agent
    scope: str
    project: Path
    place: Place
    text: str = ""
    problem: str = ""

    def state(self, config: Config) -> str:
        """In one word: installed, edited (something in the file changed since), or broken."""
        if self.problem:
            return "broken"
        entry = find(config, self.place.path)
        if entry is None and self.scope == "system":  # what root wrote down is root's to read
            return "installed"
        return "installed" if entry and digest(self.text.encode()) == entry.written else "edited"


def on_this_machine(home: Path) -> list[tuple[Agent, str]]:
    """The agents that seem to be used here, and what shows it."""
    found = []
    for word in words():
        if sign := _sign(agent(word), home):
            found.append((agent(word), sign))
    return found


def hooked(config: Config, home: Path, project: Path) -> list[Hooked]:
    """Every file with hooks of ours: in the places of this user, this folder and this machine, and where install wrote before."""
    wrote = {Path(entry.path) for entry in entries(config)}
    found: dict[Path, Hooked] = {}
    for one in _places(config, home, project):
        if one.place.path not in found and (seen := _seen(one, one.place.path in wrote)):
            found[one.place.path] = seen
    return list(found.values())


def is_hooked(agent: Agent, place: Place, text: str) -> bool:
    """True for a text that has anything of ours in it."""
    return bool(text.strip("\ufeff \t\r\n")) and agent.removed(place, text) != text


def _places(config: Config, home: Path, project: Path) -> Iterator[Hooked]:
    for word in words():
        for scope in SCOPES:
            for place in agent(word).places(scope, home, project):
                yield Hooked(agent(word), scope, project, place)
    for entry in entries(config):
        if entry.agent in words():
            known = agent(entry.agent)
            for place in known.places(entry.scope, home, Path(entry.project)):
                if str(place.path) == entry.path:
                    yield Hooked(known, entry.scope, Path(entry.project), place)


def _seen(one: Hooked, wrote: bool) -> Hooked | None:
    """The file with its text; where install wrote, also a file that is broken or has lost what was written."""
    path = one.place.path
    try:
        text = look(path).text
        if text is not None and is_hooked(one.agent, one.place, text):
            return replace(one, text=text)
        problem = f"{path}: the hooks that were installed here are gone"
    except (FileProblem, EditError) as error:
        problem = str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
    return replace(one, problem=problem) if wrote else None


def _sign(agent: Agent, home: Path) -> str:
    for name in PROGRAMS.get(agent.word, (agent.word,)):
        if path := shutil.which(name):
            return path
    for place in agent.places("user", home, home):
        parts = place.path.relative_to(home).parts
        folder = home.joinpath(*parts[: 2 if parts[0] in _SHARED else 1])
        if folder.is_dir():
            return str(folder)
    return ""
