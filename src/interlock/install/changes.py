"""Changes of agents' settings files: planned, shown as a diff, performed with a backup and an entry in the register."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents import AgentDialect, HookClient, HookFile
from interlock.agents.jsonc import EditError
from interlock.config import Config
from interlock.install.discovery import HookedFile, files_of, message_of
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
)


class FileChange(Struct, frozen=True):
    """`after` is None where the file is removed."""

    agent: AgentDialect
    scope: str
    project: Path
    place: HookFile
    current: FileState
    after: bytes | None
    replaces: bool = False  # other hooks of ours are there already
    entry: RegisteredFile | None = None  # its entry in the register
    client: HookClient | None = None  # that installed hooks will call

    @property
    def needed(self) -> bool:
        return self.after != self.current.data

    @property
    def name(self) -> str:
        real = self.current.path
        return str(self.place.path) if real == self.place.path else f"{self.place.path} -> {real}"


class InstallRefusal(Struct, frozen=True):
    agent: AgentDialect
    words: str


Planned = tuple[list[FileChange], list[InstallRefusal]]


def plan_install(
    agents: Sequence[tuple[AgentDialect, HookClient]], scope: str, home: Path, project: Path, config: Config
) -> Planned:
    clients = {agent.word: client for agent, client in agents}
    files = files_of((agent for agent, _ in agents), scope, home, project)
    changes, refused = _plan(lambda one: _install_change(one, clients[one.agent.word], config), files)
    none = (agent for agent, _ in agents if not agent.places(scope, home, project))
    words = "{} has no place for hooks with --{}"
    return changes, [*(InstallRefusal(agent, words.format(agent.title, scope)) for agent in none), *refused]


def plan_uninstall(files: Iterable[HookedFile], config: Config) -> Planned:
    changes, refused = _plan(lambda one: _uninstall_change(one, config), files)
    return changes[::-1], refused  # folders created for the first file are empty after the last


def _plan(change_of: Callable[[HookedFile], FileChange | None], files: Iterable[HookedFile]) -> Planned:
    changes: list[FileChange] = []
    refused: list[InstallRefusal] = []
    for one in files:
        try:
            if change := change_of(one):
                changes.append(change)
        except (FileProblem, EditError) as error:
            refused.append(InstallRefusal(one.agent, message_of(error, one.place.path)))
    return changes, refused


def diff(change: FileChange) -> list[str]:
    before = (change.current.data or b"").decode("utf-8", "replace")
    after = (change.after or b"").decode("utf-8", "replace")
    path = str(change.current.path)
    old, new = ("/dev/null" if data is None else path for data in (change.current.data, change.after))
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, new)
    return [line.rstrip("\r\n") for line in lines]


def _install_change(one: HookedFile, client: HookClient, config: Config) -> FileChange:
    current = read_state(one.place.path)
    text = current.text
    after = one.agent.installed(one.place, text, client)
    replaces = text is not None and one.is_hooked(text) and after != text
    entry = find_registered(config, one.place.path)
    return FileChange(one.agent, one.scope, one.project, one.place, current, after.encode(), replaces, entry, client)


def _uninstall_change(one: HookedFile, config: Config) -> FileChange | None:
    current, entry = read_state(one.place.path), find_registered(config, one.place.path)
    text = current.text
    if text is None or not one.is_hooked(text):
        return None
    after = _original(one, current, text, entry)
    return FileChange(one.agent, one.scope, one.project, one.place, current, after, True, entry)


def _original(one: HookedFile, current: FileState, text: str, entry: RegisteredFile | None) -> bytes | None:
    """Its bytes where nothing else changed since; else the file without our hooks."""
    if entry is not None and current.data is not None and digest(current.data) == entry.written:
        if not entry.backup:
            return None
        with suppress(FileProblem):
            kept = read_state(Path(entry.backup)).data
            if kept is not None and digest(kept) == entry.before:  # an altered backup does not count
                return kept
    without = one.agent.removed(one.place, text)
    return None if without is None else without.encode()


def install(change: FileChange, config: Config) -> str:
    """Returns the backup's path; empty where there was no file, or an older backup remains valid.

    1. writes the backup, 2. replaces the file atomically, 3. registers both.
    """
    assert change.after is not None and change.client is not None
    before, backup, older = change.current.data, "", None
    if change.replaces and change.entry and before is not None and digest(before) == change.entry.written:
        older = change.entry  # an installation in this file, and nothing else changed since
    if before is not None and older is None:
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
        client=change.client.path,
        url=change.client.url,
        backup=backup,
        before=digest(before) if before is not None and not change.replaces else "",
        made=tuple(map(str, made)),
    )
    if older is not None:  # its backup is of the original
        entry = replace(entry, backup=older.backup, before=older.before, made=older.made)
    register_file(config, entry)  # 3
    return backup


def uninstall(change: FileChange, config: Config) -> None:
    entry = change.entry
    if change.after is None:
        remove_file(change.current, list(map(Path, entry.made if entry else ())))
    else:
        replace_file(change.current, change.after, change.current.mode)
    if entry is None:
        return
    unregister_file(config, entry.path)
    with suppress(FileProblem, OSError):
        if entry.backup and change.after is not None and read_state(Path(entry.backup)).data == change.after:
            Path(entry.backup).unlink()


def stamp() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
