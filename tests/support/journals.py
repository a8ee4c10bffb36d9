"""A journal of a test: a supervisor that is built once, a store, commands run below it, and trees compared to the last bit."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.config import Config
from interlock.journal.build import SOURCES, build, is_built
from interlock.journal.entries import ActionJournal, JournalState, _records, read_journal
from interlock.journal.store import JournalStore, StoredJournal
from interlock.journal.undo import plan_undo, undo

SECONDS = 60.0


class Journal:
    """A store with its supervisor."""

    def __init__(self, folder: Path, supervisor: Path, **bounds: int) -> None:
        self.supervisor = supervisor
        self.store = JournalStore(folder / "journal")
        self.settings(folder, **bounds)

    def settings(self, folder: Path, **bounds: int) -> None:
        text = "\n".join(f"undo.{key} = {value}" for key, value in {"free_bytes": 0, **bounds}.items())
        (folder / "interlock.toml").parent.mkdir(parents=True, exist_ok=True)
        (folder / "interlock.toml").write_text(f'store.url = "sqlite://{folder}"\n{text}\n')
        from interlock.config import load_config

        self.config: Config = load_config(folder / "interlock.toml", {})
        self.store.prepare(self.config)

    def argv(self, command: Sequence[str | Path], *options: str) -> list[str]:
        return [str(self.supervisor), str(self.store.path), *options, "--", *map(str, command)]

    def run(self, *command: str | Path, options: Sequence[str] = (), **how: Any) -> subprocess.CompletedProcess[bytes]:
        """Runs a command and waits until its last process has ended."""
        done = subprocess.run(self.argv(command, *options), timeout=SECONDS, capture_output=True, **how)
        self.settle()
        return done

    def python(self, code: str, *arguments: str | Path, **how: Any) -> subprocess.CompletedProcess[bytes]:
        return self.run(sys.executable, "-I", "-S", "-B", "-c", code, *arguments, **how)

    def settle(self) -> None:
        settle(self.store)

    def last(self) -> StoredJournal:
        return self.store.journal(self.store.ids()[0])

    def read(self) -> ActionJournal:
        with self.last().mapped() as data:
            return read_journal(data)

    def plan(self, id: str = "") -> dict[str, Any]:
        return plan_undo(self.store, id or self.last().id)

    def undo(self, id: str = "", force: bool = False) -> dict[str, Any]:
        found = undo(self.store, self.supervisor, id or self.last().id, force)
        self.settle()
        return found


def processes(stored: StoredJournal) -> dict[int, JournalState]:
    """By their ids; a process has its name, its parent and its start as a path, a device and an inode."""
    with stored.mapped() as data:
        return {pid: states[0] for type, _, _, pid, _, states in _records(data) if type == "P"}


def settle(store: JournalStore) -> None:
    """Waits until every action has ended: a command's status comes at once, its supervisor may take a moment longer."""
    for id in store.ids():
        stored = store.journal(id)
        assert stored.wait(SECONDS), "its supervisor still runs"
        until = time.monotonic() + 0.1
        while stored.folder.exists() and not (stored.folder / "journal").exists() and time.monotonic() < until:
            time.sleep(0.001)  # it changed nothing, and its folder goes next


def table() -> list[str]:
    """The names of the calls that the supervisor is told of."""
    return re.findall(r"^    AT\((\w+),", (SOURCES / "calls.c").read_text(), re.MULTILINE)


def built(folder: Path) -> Path:
    """The supervisor, built in this folder by whichever process comes first."""
    program = folder / "interlock-journal"
    if not is_built(program):
        build(program)
    return program


def tree(folder: Path, times: bool = True) -> Mapping[str, Any]:
    """Everything below a folder: kinds, contents, modes, owners, times, links, attributes; equal for equal trees."""
    found: dict[str, Any] = {}
    names: dict[tuple[int, int], list[str]] = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        name, status = str(path.relative_to(folder)), path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        content: Any = (
            os.readlink(path) if kind == stat.S_IFLNK else path.read_bytes() if kind == stat.S_IFREG else None
        )
        attributes = {} if kind == stat.S_IFLNK else {one: os.getxattr(path, one) for one in os.listxattr(path)}
        when = status.st_mtime_ns if times else 0
        found[name] = (oct(status.st_mode), status.st_uid, status.st_gid, when, content, attributes)
        if kind == stat.S_IFREG:
            names.setdefault((status.st_dev, status.st_ino), []).append(name)
    found["(names of one file)"] = sorted(one for one in names.values() if len(one) > 1)
    return found


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.01)
