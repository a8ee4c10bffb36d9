"""Audit trail of hooks: the journal of verdicts without a daemon, chained by the next one, and hooks installed or removed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import json
import os
import secrets
import stat
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from interlock.audit.chain import AuditEvent, event_body
from interlock.canonical_json import json_table
from interlock.error_codes import AnswerRefused
from interlock.identity.isolation import FOLDER, JAILED, JOURNAL, is_jailed
from interlock.times import iso

if TYPE_CHECKING:  # a hook without a daemon appends a line, and loads no more than that takes
    from interlock.identity.sessions import OperatorSession
    from interlock.ports import Tx
    from interlock.runtime.state import State

NAME = "hook-journal.jsonl"
_TAKEN = "hook-journal.taken"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_TRIES, _PAUSE = 50, 0.02  # seconds; a hook holds it for one line
MOST_LINE = 16_384  # bytes
MOST_LINES = 20_000  # that one reading takes; whatever is more is counted
Entry = dict[str, Any]


def journal_path(folder: Path) -> Path:
    """Beside the state, or inside a jail, which cannot see it, in a folder of its own."""
    return folder / FOLDER / JOURNAL if is_jailed(folder) else folder


def append(folder: Path, entry: Entry) -> None:
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
    """It may be moved between opening and locking it."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(handle))
    return False


def is_pending(folder: Path) -> bool:
    return any(os.path.lexists(one / name) for one in _places(folder) for name in (NAME, _TAKEN))


def _places(folder: Path) -> tuple[Path, Path]:
    return folder, folder / FOLDER / JOURNAL


def take(state: State, folder: Path) -> list[Entry]:
    return [entry for journal_path in _places(folder) for entry in _take(state, journal_path)]


def _take(state: State, folder: Path) -> list[Entry]:
    taken: list[Entry] = []
    for _ in range(2):  # the unfinished work of a daemon that died, then newer lines
        if not os.path.lexists(folder / _TAKEN) and not _aside(folder):
            break
        found, more = _read(folder / _TAKEN)
        if found or more:
            _record(state, found, more, jailed=folder.name == JOURNAL)
        _remove(folder / _TAKEN)
        taken += found
    return taken


def _remove(path: Path) -> None:
    """Something other than a file was put there to keep the journal in place."""
    try:
        path.unlink()
    except OSError:
        path.rename(path.with_name(f"{path.name}.{secrets.token_hex(4)}"))


def _locked(handle: int) -> bool:
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_PAUSE)
    return False


def _aside(folder: Path) -> bool:
    try:
        handle = os.open(folder / NAME, _READING)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link, which no hook would follow
            _remove(folder / NAME)
        return False
    try:
        if not _locked(handle) or not _still_there(folder / NAME, handle):
            return False
        (folder / NAME).rename(folder / _TAKEN)
        return True
    finally:
        os.close(handle)


def _read(path: Path) -> tuple[list[Entry], int]:
    found: list[Entry] = []
    more = 0
    with _opened(path) as file:
        while line := file.readline(MOST_LINE + 1):
            if not line.strip():
                continue
            if len(found) >= MOST_LINES:
                more += 1
                continue
            found.append(json_table(line) or {"unreadable": line[:200].decode("latin-1")})
    return found, more


def _opened(path: Path) -> BinaryIO:
    """A regular file and nothing else: those in a jail can put a link or a pipe there."""
    with contextlib.suppress(OSError):
        handle = os.open(path, _READING)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
    return io.BytesIO()


def _record(state: State, found: list[Entry], more: int, jailed: bool) -> None:
    now, times = state.clock.now(), [entry["at"] for entry in found if isinstance(entry.get("at"), int | float)]
    calls, denied = len(found) + more, sum(entry.get("verdict") != "allow" for entry in found)
    span = {"from": iso(min(times)), "to": iso(max(times))} if times else {}
    details = {"calls": calls, "denied": denied, "unread": more, **span}
    told: list[AuditEvent] = [("daemon_was_down", event_body(now, "daemon_was_down", "interlock", details))]
    strength = {"strength": JAILED} if jailed else {}
    told += [("journal", event_body(now, "journal", "hook", {"entry": entry, **strength})) for entry in found]
    state.store.write(lambda tx: state.recorder.these(tx, told))
    words = (
        f"the daemon was down: hooks decided {calls} call{'' if calls == 1 else 's'} by themselves and denied {denied}; "
        "`interlock audit` has them"
    )
    state.alerts["daemon was down"] = words
    state.tell("alert", None, words)


INSTALLED, REMOVED = "installed", "removed"
CHANGES = (INSTALLED, REMOVED)


def note_hooks(
    state: State, by: OperatorSession | str, change: str, agent: str, scope: str, files: Sequence[str]
) -> None:
    who = by if isinstance(by, str) else by.operator

    def work(tx: Tx) -> None:
        if change != INSTALLED and isinstance(by, str) and tx.operators():
            raise AnswerRefused("taking hooks out is for operators", "PERMISSION_DENIED")
        details = {"change": change, "agent": agent, "scope": scope, "files": list(files)}
        state.recorder.event(tx, "hook_change", who, details)

    state.store.write(work)
    if change != INSTALLED:
        state.tell("hooks", None, f"{who} took the hooks of {agent} out ({scope})")
