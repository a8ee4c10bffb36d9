"""The files that decide whether an agent's hooks run: those that install writes, and those that could switch them off."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from interlock.agents import SCOPES, AgentDialect, agent, words
from interlock.config import Config
from interlock.install.discovery import PROGRAMS, hooked_files

# In addition to the places of install: below the home, and below the project.
_MORE = {
    "claude-code": ("", ".claude/settings.json .claude/settings.local.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "copilot": (
        ".copilot/settings.json .copilot/config.json",
        ".github/copilot/settings.json .github/copilot/settings.local.json",
    ),
    "droid": (
        ".factory/settings.json .factory/settings.local.json",
        ".factory/settings.json .factory/settings.local.json",
    ),
    "opencode": (".config/opencode/opencode.json .config/opencode/opencode.jsonc", "opencode.json opencode.jsonc"),
}
# Those that are created as an empty object where they are missing, until the agent ends, so that nobody else creates them.
_PLACEHOLDERS = {
    "claude-code": ".claude/settings.json .claude/settings.local.json",
    "droid": ".factory/settings.json .factory/settings.local.json",
    "gemini": ".gemini/settings.json",
}
EMPTY = b"{}\n"


def guarded_files(config: Config, home: Path, project: Path) -> dict[str, set[Path]]:
    """The files with hooks of ours, by agent."""
    found: dict[str, set[Path]] = {}
    for one in hooked_files(config, home, project):
        if not one.problem:
            found.setdefault(one.agent.word, set()).add(one.place.path)
    return found


def deciding_files(word: str, home: Path, project: Path) -> list[Path]:
    """Every file that decides about an agent's hooks, whether it exists or not."""
    known: AgentDialect = agent(word)
    found = [place.path for scope in SCOPES for place in known.places(scope, home, project)]
    for base, names in zip((home, project), _MORE.get(word, ("", "")), strict=True):
        found += [base / name for name in names.split()]
    return list(dict.fromkeys(found))


def missing_files(word: str, project: Path) -> Iterator[Path]:
    """Missing files of the project that could switch the hooks off once somebody creates them."""
    for name in _PLACEHOLDERS.get(word, "").split():
        if not os.path.lexists(project / name):
            yield project / name


def agent_of_program(program: str) -> str:
    """The agent of a program by its file name; empty for any other."""
    name = os.path.basename(program)
    return next((word for word in words() if name in PROGRAMS.get(word, (word,))), "")


class Placeholders(Struct):
    """Empty settings files where an agent could create others; the last sandbox that needs one removes it."""

    made: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    held: dict[Path, int] = field(default_factory=dict)

    def make(self, paths: Iterable[Path]) -> list[str]:
        """Creates them; returns the problems of those that could not be created."""
        problems = []
        for path in paths:
            try:
                self._make(path)
            except OSError as error:
                problems.append(f"{path} could be created by the agent: {error.strerror or error}")
        return problems

    def _make(self, path: Path) -> None:
        for folder in [one for one in reversed(path.parents) if not one.exists()]:
            folder.mkdir()
            self.folders.append(folder)
        with suppress(FileExistsError), path.open("xb") as file:  # another sandbox may have been quicker
            file.write(EMPTY)
        self.made.append(path)
        self.held[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        fcntl.flock(self.held[path], fcntl.LOCK_SH | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Removes those that nobody changed and no other sandbox needs."""
        for path in self.made:
            with suppress(OSError):
                handle = self.held.pop(path)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.pread(handle, len(EMPTY) + 1, 0) == EMPTY:
                        path.unlink()
                finally:
                    os.close(handle)
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()
