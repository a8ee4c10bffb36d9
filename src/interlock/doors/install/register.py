"""What did install write, and what was there before? One file beside the daemon's state."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from interlock.config import Config, state_folder
from interlock.doors.install.files import FileProblem, look, put

NAME = "hooks.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Entry:
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


def entries(config: Config) -> tuple[Entry, ...]:
    """Everything that was installed and not taken out; a register that cannot be read is an empty one: the files are what counts."""
    try:
        text = look(register_path(config)).text
        data = json.loads(text) if text else {}
    except (FileProblem, ValueError, RecursionError):
        return ()
    return tuple(_read(data))


def find(config: Config, path: Path) -> Entry | None:
    return next((entry for entry in entries(config) if entry.path == str(path)), None)


def keep(config: Config, entry: Entry) -> None:
    """Notes an installation. What was there before the first one stays what uninstall goes back to."""
    known = [other for other in entries(config) if other.path != entry.path]
    _save(config, [*known, entry])


def drop(config: Config, path: str) -> None:
    _save(config, [entry for entry in entries(config) if entry.path != path])


def continued(entry: Entry, older: Entry | None) -> Entry:
    """An installation over an older one of ours: the backup of the first is the one to go back to."""
    if older is None:
        return entry
    return replace(entry, backup=older.backup, before=older.before, made=older.made)


def _save(config: Config, rows: Iterable[Entry]) -> None:
    path = register_path(config)
    data = {"version": _VERSION, "hooks": [asdict(row) for row in rows]}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    put(look(path), json.dumps(data, indent=2).encode() + b"\n", 0o600)


def _read(data: Any) -> Iterator[Entry]:
    rows = data.get("hooks") if isinstance(data, dict) else None
    names = set(Entry.__slots__)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("made", []), list):
            texts = {key: value for key, value in row.items() if key in names - {"made"} and isinstance(value, str)}
            if {"agent", "scope", "project", "path", "written"} <= set(texts):
                yield Entry(**texts, made=tuple(map(str, row.get("made", []))))
