"""The register of installed files and what was there before them, kept beside the daemon's state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from interlock.config import Config, state_folder
from interlock.install.files import FileProblem, read_state, replace_file

NAME = "hooks.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class RegisteredFile:
    """One file that has hooks of ours."""

    agent: str
    scope: str
    project: str  # the folder that install was run in
    path: str  # as the agent names it
    written: str  # the hash of the file as install left it
    client: str = ""  # the hook client's path
    url: str = ""  # the daemon's address, for HTTP hooks
    backup: str = ""  # the copy of what was there; empty where there was nothing
    before: str = ""  # the hash of what was there
    made: tuple[str, ...] = ()  # the folders that did not exist before


def register_path(config: Config) -> Path:
    """Beside the state; where that is another user's, beside this user's own."""
    folder = state_folder() if config.separate.on and not os.access(config.folder, os.W_OK) else config.folder
    return folder / NAME


def registered_files(config: Config) -> tuple[RegisteredFile, ...]:
    """Everything that was installed and not taken out; a register that cannot be read is an empty one: the files are what counts."""
    try:
        text = read_state(register_path(config)).text
        data = json.loads(text) if text else {}
    except (FileProblem, ValueError, RecursionError):
        return ()
    return tuple(_read(data))


def find_registered(config: Config, path: Path) -> RegisteredFile | None:
    return next((entry for entry in registered_files(config) if entry.path == str(path)), None)


def register_file(config: Config, entry: RegisteredFile) -> None:
    """Notes an installation. What was there before the first one stays what uninstall goes back to."""
    known = [other for other in registered_files(config) if other.path != entry.path]
    _save(config, [*known, entry])


def unregister_file(config: Config, path: str) -> None:
    _save(config, [entry for entry in registered_files(config) if entry.path != path])


def with_first_backup(entry: RegisteredFile, older: RegisteredFile | None) -> RegisteredFile:
    """An installation over an older one of ours: the backup of the first is the one to go back to."""
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
    names = set(RegisteredFile.__slots__)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("made", []), list):
            texts = {key: value for key, value in row.items() if key in names - {"made"} and isinstance(value, str)}
            if {"agent", "scope", "project", "path", "written"} <= set(texts):
                yield RegisteredFile(**texts, made=tuple(map(str, row.get("made", []))))
