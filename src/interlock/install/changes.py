"""Plans changes of agents' settings files, shows them as a diff, and performs them with a backup and an entry in the register."""

from __future__ import annotations

import difflib
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from interlock.agents import AgentDialect, HookClient, HookFile
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.install import register
from interlock.install.discovery import is_hooked
from interlock.install.files import FileProblem, FileState, back_up, digest, read_state, remove_file, replace_file
from interlock.install.register import RegisteredFile, find_registered


@dataclass(frozen=True, slots=True)
class FileChange:
    """What would happen to one file; `after` is None where it is taken away."""

    agent: AgentDialect
    scope: str
    project: Path
    place: HookFile
    seen: FileState
    after: bytes | None
    replaces: bool = False  # hooks of ours are there already, and would become others
    entry: RegisteredFile | None = None  # what the register has about it

    @property
    def needed(self) -> bool:
        return self.after != self.seen.data

    @property
    def name(self) -> str:
        """The file, and where a link leads."""
        real = self.seen.path
        return str(self.place.path) if real == self.place.path else f"{self.place.path} -> {real}"


@dataclass(frozen=True, slots=True)
class InstallRefusal:
    """A file, or an agent, for which nothing can be done."""

    agent: AgentDialect
    words: str


def plan_install(
    agents: Sequence[tuple[AgentDialect, HookClient]], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[FileChange], list[InstallRefusal]]:
    """What install would write."""
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for agent, client in agents:
        places = agent.places(scope, home, project)
        if not places:
            refused.append(InstallRefusal(agent, f"{agent.title} has no place for hooks with --{scope}"))
        for place in places:
            try:
                changes.append(_installed(agent, client, scope, project, place, config))
            except (FileProblem, EditError) as error:
                refused.append(InstallRefusal(agent, _said(place, error)))
    return changes, refused


def plan_uninstall(
    agents: Sequence[AgentDialect], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[FileChange], list[InstallRefusal]]:
    """What uninstall would write; nothing for files that have nothing of ours."""
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for agent in agents:
        for place in agent.places(scope, home, project):
            try:
                if change := _removed(agent, scope, project, place, config):
                    changes.append(change)
            except (FileProblem, EditError) as error:
                refused.append(InstallRefusal(agent, _said(place, error)))
    return changes[::-1], refused  # folders that were made for the first file are empty after the last


def diff(change: FileChange) -> list[str]:
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


def _installed(
    agent: AgentDialect, client: HookClient, scope: str, project: Path, place: HookFile, config: Config
) -> FileChange:
    seen = read_state(place.path)
    text = seen.text
    after = agent.installed(place, text, client)
    ours = text is not None and is_hooked(agent, place, text)
    replaces = ours and after != text
    return FileChange(agent, scope, project, place, seen, after.encode(), replaces, find_registered(config, place.path))


def _removed(agent: AgentDialect, scope: str, project: Path, place: HookFile, config: Config) -> FileChange | None:
    seen, entry = read_state(place.path), find_registered(config, place.path)
    text = seen.text
    if text is None or not is_hooked(agent, place, text):
        return None
    return FileChange(agent, scope, project, place, seen, _before(agent, place, seen, text, entry), True, entry)


def _before(
    agent: AgentDialect, place: HookFile, seen: FileState, text: str, entry: RegisteredFile | None
) -> bytes | None:
    """The bytes that were there before us, where nothing else was changed since; else the file without us."""
    if entry is not None and seen.data is not None and digest(seen.data) == entry.written:
        if not entry.backup:
            return None
        try:
            kept = read_state(Path(entry.backup)).data
        except FileProblem:
            kept = None
        if kept is not None and digest(kept) == entry.before:  # a backup that somebody touched is none
            return kept
    without = agent.removed(place, text)
    return None if without is None else without.encode()


def _said(place: HookFile, error: Exception) -> str:
    words = str(error)
    return words if words.startswith(str(place.path)) else f"{place.path}: {words}"


def install(change: FileChange, client: HookClient, config: Config) -> str:
    """Writes the file; answers the backup's path, or nothing where there was no file or an older backup stays the one to go back to.

    1. the backup is on disk, 2. the file is replaced whole, 3. the register knows both.
    """
    assert change.after is not None
    older = _untouched(change)
    backup = ""
    if change.seen.data is not None and older is None:
        backup = str(back_up(change.seen, stamp()))  # 1
    try:
        made = replace_file(change.seen, change.after, change.place.mode)  # 2
    except BaseException:
        if backup:
            Path(backup).unlink(missing_ok=True)
        raise
    entry = RegisteredFile(
        agent=change.agent.word,
        scope=change.scope,
        project=str(change.project),
        path=str(change.place.path),
        written=digest(change.after),
        client=client.path,
        url=client.url,
        backup=backup,
        before=digest(change.seen.data) if change.seen.data is not None and not change.replaces else "",
        made=tuple(map(str, made)),
    )
    register.register_file(config, register.with_first_backup(entry, older))  # 3
    return backup


def _untouched(change: FileChange) -> RegisteredFile | None:
    """The older installation in this file, where nothing else was changed since."""
    entry, data = change.entry, change.seen.data
    return entry if change.replaces and entry and data is not None and digest(data) == entry.written else None


def uninstall(change: FileChange, config: Config) -> None:
    """Puts the file back, or takes it away; a backup that was gone back to is not kept."""
    made = change.entry.made if change.entry else ()
    if change.after is None:
        remove_file(change.seen, tuple(map(Path, made)))
    else:
        replace_file(change.seen, change.after, change.seen.mode)
    if change.entry is None:
        return
    register.unregister_file(config, change.entry.path)
    if not change.entry.backup:
        return
    with suppress(FileProblem, OSError):
        if change.after is not None and read_state(Path(change.entry.backup)).data == change.after:
            Path(change.entry.backup).unlink()


def stamp() -> str:
    """This moment, as it stands in a backup's name."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
