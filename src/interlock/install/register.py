"""The register of installed files and what was there before them, kept beside the daemon's state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from interlock.config import Config, state_folder
from interlock.install.files import FileProblem, read_state, replace_file

NAME = "hooks.json"
_VERSION = 1


class RegisteredFile(Struct, frozen=True):
    """One file with hooks of ours."""

    agent: str
    scope: str
    project: str  # the folder where install ran
    path: str  # as the agent spells it
    written: str  # the hash of the file as install left it
    client: str = ""  # the hook client's path
    url: str = ""  # the daemon's address, for HTTP hooks
    backup: str = ""  # the copy of the original; empty where there was none
    before: str = ""  # the hash of the original
    made: tuple[str, ...] = ()  # the folders that install created


def register_path(config: Config) -> Path:
    """The register's path: beside the state, or in this user's own state folder where that belongs to another user."""
    folder = state_folder() if config.separate.on and not os.access(config.folder, os.W_OK) else config.folder
    return folder / NAME


def registered_files(config: Config) -> tuple[RegisteredFile, ...]:
    """The installed files; an unreadable register is empty, as the files themselves are what counts."""
    try:
        text = read_state(register_path(config)).text
        data = json.loads(text) if text else {}
    except (FileProblem, ValueError, RecursionError):
        return ()
    return tuple(_read(data))


def find_registered(config: Config, path: Path) -> RegisteredFile | None:
    return next((entry for entry in registered_files(config) if entry.path == str(path)), None)


def register_file(config: Config, entry: RegisteredFile) -> None:
    """Registers an installation; uninstall restores the original from before the first one."""
    known = [other for other in registered_files(config) if other.path != entry.path]
    _save(config, [*known, entry])


def unregister_file(config: Config, path: str) -> None:
    _save(config, [entry for entry in registered_files(config) if entry.path != path])


def with_first_backup(entry: RegisteredFile, older: RegisteredFile | None) -> RegisteredFile:
    """The entry of a repeated installation, with the backup of the first."""
    if older is None:
        return entry
    return replace(entry, backup=older.backup, before=older.before, made=older.made)


def _save(config: Config, rows: Iterable[RegisteredFile]) -> None:
    path = register_path(config)
    data = {"version": _VERSION, "hooks": [asdict(row) for row in rows]}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(read_state(path), json.dumps(data, indent=2).encode() + b"\n", 0o600)


def _read(data: Any) -> Iterator[RegisteredFile]:
    rows = data.get("hooks") if isinstance(data, dict) else None
    names = set(RegisteredFile.__struct_fields__)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("made", []), list):
            texts = {key: value for key, value in row.items() if key in names - {"made"} and isinstance(value, str)}
            if {"agent", "scope", "project", "path", "written"} <= set(texts):
                yield RegisteredFile(**texts, made=tuple(map(str, row.get("made", []))))
