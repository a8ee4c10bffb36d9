"""What was decided while no daemon answered: lines in a file, which the next daemon chains into the record."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.core.times import iso
from interlock.ports import Tx
from interlock.service.record import Told, deed
from interlock.service.state import State

NAME = "hook-journal.jsonl"
_TAKEN = "hook-journal.taken"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
MOST_LINE = 16_384  # bytes
MOST_LINES = 20_000  # that one reading takes; whatever is more is counted
Entry = dict[str, Any]


def append(folder: Path, entry: Entry) -> None:
    """Keeps one line; raises OSError where it cannot be kept."""
    line = json.dumps(entry, ensure_ascii=True, separators=(",", ":")).encode()
    if len(line) > MOST_LINE:
        line = json.dumps({**entry, "action": {"cut": True}}, ensure_ascii=True).encode()[:MOST_LINE]
    for _ in range(5):
        handle = os.open(folder / NAME, _FLAGS, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if _still_there(folder / NAME, handle):
                os.write(handle, line + b"\n")
                os.fsync(handle)
                return
        finally:
            os.close(handle)
    raise OSError("the journal is taken away again and again")


def _still_there(path: Path, handle: int) -> bool:
    """Whether nobody took the file away between opening and locking it."""
    try:
        found, own = path.stat(), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)


def waits(folder: Path) -> bool:
    """Whether there is something to take."""
    return (folder / NAME).exists() or (folder / _TAKEN).exists()


def take(state: State, folder: Path) -> list[Entry]:
    """Chains what was kept into the record and says that the daemon was down; what was taken, for whoever counts calls."""
    taken: list[Entry] = []
    for _ in range(2):  # what a daemon that died left half done, then what came since
        if not (folder / _TAKEN).exists() and not _aside(folder):
            break
        found, more = _read(folder / _TAKEN)
        if found or more:
            _record(state, found, more)
        (folder / _TAKEN).unlink()
        taken += found
    return taken


def _aside(folder: Path) -> bool:
    """Moves the journal away from those who write; False where there is none."""
    try:
        handle = os.open(folder / NAME, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not _still_there(folder / NAME, handle):
            return False
        (folder / NAME).rename(folder / _TAKEN)
        return True
    finally:
        os.close(handle)


def _read(path: Path) -> tuple[list[Entry], int]:
    """The lines, and how many there are beyond; one that is no entry says so."""
    found: list[Entry] = []
    more = 0
    with path.open("rb") as file:
        for line in _lines(file):
            if len(found) >= MOST_LINES:
                more += 1
                continue
            try:
                entry = json.loads(line)
            except ValueError:
                entry = None
            found.append(entry if isinstance(entry, dict) else {"unreadable": line[:200].decode("latin-1")})
    return found, more


def _lines(file: Any) -> Iterator[bytes]:
    while line := file.readline(MOST_LINE + 1):
        if line.strip():
            yield line


def _record(state: State, found: list[Entry], more: int) -> None:
    now, times = state.clock.now(), [entry["at"] for entry in found if isinstance(entry.get("at"), int | float)]
    denied = sum(entry.get("verdict") != "allow" for entry in found)
    span = {"from": iso(min(times)), "to": iso(max(times))} if times else {}
    details = {"calls": len(found) + more, "denied": denied, "unread": more, **span}
    told: list[Told] = [("daemon_was_down", deed(now, "daemon_was_down", "interlock", details))]
    told += [("journal", deed(now, "journal", "hook", {"entry": entry})) for entry in found]

    def work(tx: Tx) -> None:
        state.recorder.these(tx, told)

    state.store.write(work)
    calls = f"{len(found) + more} call{'' if len(found) + more == 1 else 's'}"
    words = f"the daemon was down: hooks decided {calls} by themselves and denied {denied}; `interlock audit` has them"
    state.alerts["daemon was down"] = words
    state.tell("alert", None, words)
