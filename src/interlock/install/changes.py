"""Plans changes of agents' settings files, shows them as a diff, and performs them with a backup and an entry in the register."""

from __future__ import annotations

import difflib
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from interlock.agents import AgentDialect, HookClient, HookFile
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.install.discovery import hooked_files, is_hooked
from interlock.install.files import (
    FileProblem,
    FileState,
    RegisteredFile,
    back_up,
    digest,
    find_registered,
    read_state,
    register_file,
    remove_file,
    replace_file,
    unregister_file,
    with_first_backup,
)


class FileChange(Struct, frozen=True):
    """The planned change of one file; `after` is None where it is removed."""

    agent: AgentDialect
    scope: str
    project: Path
    place: HookFile
    current: FileState
    after: bytes | None
    replaces: bool = False  # other hooks of ours are there already
    entry: RegisteredFile | None = None  # its entry in the register

    @property
    def needed(self) -> bool:
        return self.after != self.current.data

    @property
    def name(self) -> str:
        """The file, with the target of a link."""
        real = self.current.path
        return str(self.place.path) if real == self.place.path else f"{self.place.path} -> {real}"


class InstallRefusal(Struct, frozen=True):
    """A file or an agent that cannot be changed, and why."""

    agent: AgentDialect
    words: str


def plan_install(
    agents: Sequence[tuple[AgentDialect, HookClient]], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[FileChange], list[InstallRefusal]]:
    """The changes that install would make."""
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for agent, client in agents:
        places = agent.places(scope, home, project)
        if not places:
            refused.append(InstallRefusal(agent, f"{agent.title} has no place for hooks with --{scope}"))
        for place in places:
            try:
                changes.append(_install_change(agent, client, scope, project, place, config))
            except (FileProblem, EditError) as error:
                refused.append(InstallRefusal(agent, _message(place, error)))
    return changes, refused


def plan_uninstall(
    agents: Sequence[AgentDialect], scope: str, home: Path, project: Path, config: Config
) -> tuple[list[FileChange], list[InstallRefusal]]:
    """The changes that uninstall would make; none for files without our hooks."""
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for agent in agents:
        for place in agent.places(scope, home, project):
            try:
                if change := _uninstall_change(agent, scope, project, place, config):
                    changes.append(change)
            except (FileProblem, EditError) as error:
                refused.append(InstallRefusal(agent, _message(place, error)))
    return changes[::-1], refused  # folders created for the first file are empty after the last


def plan_uninstall_all(config: Config, home: Path, project: Path) -> tuple[list[FileChange], list[InstallRefusal]]:
    """The changes that take our hooks out of every file of this user, in whatever project."""
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for one in hooked_files(config, home, project):
        if one.scope == "system":
            continue
        try:
            if change := _uninstall_change(one.agent, one.scope, one.project, one.place, config):
                changes.append(change)
        except (FileProblem, EditError) as error:
            refused.append(InstallRefusal(one.agent, _message(one.place, error)))
    return changes[::-1], refused


def diff(change: FileChange) -> list[str]:
    """The change as a unified diff."""
    before = (change.current.data or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    names = (
        "/dev/null" if change.current.data is None else str(change.current.path),
        "/dev/null" if change.after is None else str(change.current.path),
    )
    return [
        line.rstrip("\r\n") for line in difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names)
    ]


def _install_change(
    agent: AgentDialect, client: HookClient, scope: str, project: Path, place: HookFile, config: Config
) -> FileChange:
    current = read_state(place.path)
    text = current.text
    after = agent.installed(place, text, client)
    ours = text is not None and is_hooked(agent, place, text)
    replaces = ours and after != text
    return FileChange(
        agent, scope, project, place, current, after.encode(), replaces, find_registered(config, place.path)
    )


def _uninstall_change(
    agent: AgentDialect, scope: str, project: Path, place: HookFile, config: Config
) -> FileChange | None:
    current, entry = read_state(place.path), find_registered(config, place.path)
    text = current.text
    if text is None or not is_hooked(agent, place, text):
        return None
    return FileChange(agent, scope, project, place, current, _original(agent, place, current, text, entry), True, entry)


def _original(
    agent: AgentDialect, place: HookFile, current: FileState, text: str, entry: RegisteredFile | None
) -> bytes | None:
    """The original bytes where nothing else changed since; else the file without our hooks."""
    if entry is not None and current.data is not None and digest(current.data) == entry.written:
        if not entry.backup:
            return None
        try:
            kept = read_state(Path(entry.backup)).data
        except FileProblem:
            kept = None
        if kept is not None and digest(kept) == entry.before:  # an altered backup does not count
            return kept
    without = agent.removed(place, text)
    return None if without is None else without.encode()


def _message(place: HookFile, error: Exception) -> str:
    words = str(error)
    return words if words.startswith(str(place.path)) else f"{place.path}: {words}"


def install(change: FileChange, client: HookClient, config: Config) -> str:
    """Writes the file and returns the backup's path; empty where there was no file, or an older backup remains valid.

    1. writes the backup, 2. replaces the file atomically, 3. registers both.
    """
    assert change.after is not None
    older = _unchanged_installation(change)
    backup = ""
    if change.current.data is not None and older is None:
        backup = str(back_up(change.current, stamp()))  # 1
    try:
        made = replace_file(change.current, change.after, change.place.mode)  # 2
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
        before=digest(change.current.data) if change.current.data is not None and not change.replaces else "",
        made=tuple(map(str, made)),
    )
    register_file(config, with_first_backup(entry, older))  # 3
    return backup


def _unchanged_installation(change: FileChange) -> RegisteredFile | None:
    """The older installation in this file, where nothing else changed since."""
    entry, data = change.entry, change.current.data
    return entry if change.replaces and entry and data is not None and digest(data) == entry.written else None


def uninstall(change: FileChange, config: Config) -> None:
    """Restores or removes the file; deletes the backup it restored."""
    made = change.entry.made if change.entry else ()
    if change.after is None:
        remove_file(change.current, tuple(map(Path, made)))
    else:
        replace_file(change.current, change.after, change.current.mode)
    if change.entry is None:
        return
    unregister_file(config, change.entry.path)
    if not change.entry.backup:
        return
    with suppress(FileProblem, OSError):
        if change.after is not None and read_state(Path(change.entry.backup)).data == change.after:
            Path(change.entry.backup).unlink()


def stamp() -> str:
    """The current time for a backup's name."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
