"""The private folder of journals: the supervisor's settings, the list of actions, and pruning."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import mmap
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.canonical_json import json_table
from interlock.config import Config
from interlock.identity.isolation import FOLDER, JOURNAL
from interlock.journal import ID, JournaledAction, JournalError, parse_journal_id, write_whole
from interlock.journal.entries import Fingerprint, has_changes, read_head, read_journal
from interlock.journal.undo_plan import JournalPlan, JournalPlanner

DAY = 86_400.0
_HEAD = 70_000  # bytes in which the first record of a journal stands
_UNDOS = "undos.jsonl"  # performed and refused ones, until the daemon has recorded them
_PATIENCE = 5.0  # seconds for a supervisor to write down how its action left things


class StoredJournal(Struct, frozen=True):
    store: JournalStore
    id: str

    @property
    def folder(self) -> Path:
        return self.store.path / "actions" / parse_journal_id(self.id)

    def object(self, number: int) -> Path:
        return self.folder / "objects" / str(number)

    def sums(self) -> dict[int, bytes]:
        """The hashes of objects that were kept unread, as far as the supervisor has come with them since the action's end."""
        words = (line.split() for line in self._read("sums").splitlines(keepends=True) if line.endswith("\n"))
        return {int(number): bytes.fromhex(sum) for number, sum in words}

    @contextmanager
    def mapped(self) -> Iterator[mmap.mmap | bytes]:
        """Raises JournalError where there is none."""
        at, last = self._tail()
        try:
            with (
                open(self.folder / "journal", "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
            ):
                yield data[:at] + last if any(last[:4]) and len(data) >= at else data
        except (FileNotFoundError, ValueError):
            raise JournalError(f"there is no action {self.id}") from None

    def _tail(self) -> tuple[int, bytes]:
        """Of an action that runs or was killed, with their place in the journal; none begin with a length of 0."""
        try:
            with open(self.folder / "tail", "rb", buffering=0) as file:
                while True:
                    found = file.read()
                    file.seek(0)
                    if file.read(8) == found[:8]:  # else they were written to the journal meanwhile
                        return int.from_bytes(found[:8], "little"), found[8:]
                    file.seek(0)
        except FileNotFoundError:
            return 0, b""

    def plan(self, data: Any) -> JournalPlan:
        status = os.stat(self.folder / "journal")
        journal = read_journal(data, (status.st_uid, status.st_gid))
        return JournalPlanner(journal, self.store.same(self.id), self.is_running()).plan()

    def is_running(self) -> bool:
        """Its supervisor holds a lock on the journal."""
        if (self.folder / "end").exists():
            return False
        with contextlib.suppress(OSError), open(self.folder / "journal", "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:  # another failure than its lock does not tell either that it has ended
                return True
        return False

    def wait(self, seconds: float = 0.0) -> bool:
        """False where it still runs."""
        until = time.monotonic() + (seconds or _PATIENCE)
        while self.is_running():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True

    def action(self) -> JournaledAction | None:
        """None where its head is damaged."""
        try:
            with open(self.folder / "journal", "rb") as file:
                head = read_head(self.id, file.read(_HEAD))
        except OSError:
            return None
        if head is None:
            return None
        end = self._end()
        return replace(
            head, running=not end and self.is_running(), files=end.get("files", 0), bytes=end.get("bytes", 0),
            undoes=str(self.note().get("undoes", "")), undone_by=self._read("undone").strip(),
        )  # fmt: skip

    def size(self) -> int:
        end = self._end()
        try:
            kept = end["bytes"] if end else sum(entry.stat().st_size for entry in os.scandir(self.folder / "objects"))
            return kept + (self.folder / "journal").stat().st_size
        except OSError:  # pruned meanwhile
            return 0

    def note(self) -> dict[str, Any]:
        """What the undo that this action was has noted; empty for others."""
        return json_table(self._read("undo.json"))

    def _end(self) -> dict[str, int]:
        return {word: int(value) for word, value in (line.split(" ", 1) for line in self._read("end").splitlines())}

    def _read(self, name: str) -> str:
        try:
            return (self.folder / name).read_text("ascii")
        except OSError:
            return ""


class JournalStore(Struct, frozen=True):
    """Every action has a folder of its own, named so that the names sort by time."""

    path: Path

    def prepare(self, config: Config) -> None:
        undo = config.undo
        guards = dict.fromkeys(os.path.realpath(path) for path in (self.path, config.folder))
        if any("\n" in guard for guard in guards):
            raise JournalError("the state folder has a line break in its name")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.path, self.path / "actions"):
            folder.mkdir(mode=0o700, exist_ok=True)
        self.path.chmod(0o700)
        spared = os.path.realpath(config.folder / FOLDER / JOURNAL)  # where hooks in a jail note what they decide
        lines = [*(f"guard {guard}\n" for guard in guards), f"spare {spared}\nbytes {undo.journal_bytes}\n"]
        lines.append(f"files {undo.journal_files}\ntotal {undo.journal_total_bytes}\nfree {undo.free_bytes}\n")
        write_whole(self.path / "settings", os.fsencode("".join(lines)))

    def journal(self, id: str) -> StoredJournal:
        return StoredJournal(self, parse_journal_id(id))

    def ids(self) -> list[str]:
        try:
            return sorted((name for name in os.listdir(self.path / "actions") if ID.fullmatch(name)), reverse=True)
        except OSError:
            return []

    def actions(self, limit: int = 200, before: float = 0.0) -> Iterator[JournaledAction]:
        """The newest of those that began before a time, if any is given."""
        found = (self.journal(id).action() for id in self.ids())
        return islice((one for one in found if one is not None and one.at < (before or math.inf)), limit)

    def labelled(self, label: str) -> str:
        """Among the newest; empty where there is none."""
        return next((action.id for action in self.actions() if action.label == label), "")

    def newest(self) -> JournaledAction | None:
        """That changed something and is not undone."""
        for action in self.actions(sys.maxsize):
            if not action.undone_by and not action.undoes:
                with contextlib.suppress(JournalError), self.journal(action.id).mapped() as data:
                    if has_changes(data):
                        return action
        return None

    def same(self, id: str) -> dict[tuple[str, Fingerprint], Fingerprint]:
        """What the undos after an action made, and which states that stands for."""
        found: dict[tuple[str, Fingerprint], Fingerprint] = {}
        for later in self.ids():
            if later <= id:
                break
            for path, made, meant in self.journal(later).note().get("same", ()):
                found[path, tuple(made)] = tuple(meant)
        return found

    def end_undo(self, id: str, new: str, same: object) -> None:
        """Notes that an action was undone by another; an undone undo makes its action undoable again."""
        stored, later = self.journal(id), self.journal(new)
        write_whole(later.folder / "undo.json", json.dumps({"undoes": id, "same": same}).encode())
        write_whole(stored.folder / "undone", f"{new}\n".encode())
        first = str(stored.note().get("undoes", ""))
        if ID.fullmatch(first):
            with contextlib.suppress(FileNotFoundError):
                (self.journal(first).folder / "undone").unlink()

    def prune(self, now: float, days: float) -> list[str]:
        """Those whose processes have ended; nothing younger goes to make room."""
        gone = []
        for id in reversed(self.ids()):
            stored = self.journal(id)
            action = stored.action()
            if (action.at if action is not None else stored.folder.stat().st_mtime) >= now - days * DAY:
                break
            if not stored.is_running():
                shutil.rmtree(stored.folder, ignore_errors=True)
                gone.append(id)
        if gone:
            with open(os.open(self.path / "usage", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(b"%020d\n" % sum(self.journal(id).size() for id in self.ids()))
        return gone

    def log_undo(self, entry: Mapping[str, Any]) -> None:
        """For the daemon's audit record."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(self.path / _UNDOS, flags, 0o600), "ab") as file:
            file.write(json.dumps(entry, ensure_ascii=True).encode() + b"\n")

    def logged_undos(self) -> list[dict[str, Any]]:
        """Also where `forget_undos` never came."""
        taken = self.path / f"{_UNDOS}.taken"
        if not taken.exists():
            try:
                (self.path / _UNDOS).rename(taken)
            except OSError:
                return []
        return [entry for line in taken.read_bytes().splitlines() if (entry := json_table(line))]

    def forget_undos(self) -> None:
        (self.path / f"{_UNDOS}.taken").unlink(missing_ok=True)
