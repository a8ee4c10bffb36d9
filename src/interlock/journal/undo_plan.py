"""Compares the model of the tree before an action with the disk: the steps of an undo, and which would lose later work."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import stat
import struct
from collections.abc import Iterator, Mapping

from msgspec import Struct

from interlock.journal.entries import ActionJournal, Fingerprint, Identity, JournalState, PathKind
from interlock.journal.undo_model import Place, UndoModel
from interlock.snapshots.folder import LARGEST_ATTRIBUTES

SLACK = 2.0  # seconds between the last record of a killed supervisor and the changes that it let go on
_KINDS = {stat.S_IFREG: PathKind.FILE, stat.S_IFDIR: PathKind.FOLDER, stat.S_IFLNK: PathKind.LINK}
_BIRTH = 0x800  # STATX_BTIME
Same = Mapping[tuple[str, Fingerprint], Fingerprint]  # what an undo made, and what it stands for


class JournalStep(Struct, frozen=True):
    path: str
    what: str  # create, replace, delete, move, mode
    later: bool
    place: Place
    base: str = ""  # of what moves


class JournalPlan(Struct):
    steps: list[JournalStep] = []
    folders: list[tuple[str, JournalState]] = []  # whose times come back
    names: dict[Identity, str] = {}  # where a file is that may get other names again
    notes: list[str] = []


class JournalPlanner:
    """What an undo made is taken for what it restored."""

    def __init__(self, journal: ActionJournal, same: Same, running: bool) -> None:
        self._journal, self._same, self._running = journal, same, running
        self._found: dict[str, os.stat_result | None] = {}

    def plan(self) -> JournalPlan:
        model = UndoModel(self._journal, self._was_object)
        every = list(model.places())
        places = [(path, place, moves, place.was) for path, place, moves in every if place.was is not None]
        used = {place.base for _, place, _ in every}
        gone = sorted((base for base in model.touched if base not in used and self.now(base) is not None), reverse=True)
        leaving = {*gone, *(place.base for _, place, moves, _ in places if moves)}
        found = JournalPlan([JournalStep(base, "delete", not self.is_left(base), Place()) for base in gone])
        for path, place, moves, was in places:
            if place.base is not None and self.now(place.base) is not None:
                if self._is_object(place.base, was):
                    found.names[was.identity] = path
                if moves:
                    found.steps.append(JournalStep(path, "move", not self.is_left(place.base), place, place.base))
                self._add_present(found, path, place, place.base)
            elif place.state is not None or place.content is not None:
                occupied = self.now(path) is not None and leaving.isdisjoint(ancestors(path))
                self._add_missing(found, path, place, occupied)
        return found

    def _add_missing(self, plan: JournalPlan, path: str, place: Place, occupied: bool) -> None:
        state = place.state or place.was
        assert state is not None
        if state.kind is PathKind.OTHER:
            plan.notes.append(f"{path} was no file: it is not brought back")
        elif state.kind is PathKind.FILE and place.content is None:
            plan.notes.append(f"{path} was not kept: it is not brought back")
        else:
            missing = place.base is not None  # somebody removed it since
            plan.steps.append(JournalStep(path, "create", occupied or missing, place))

    def _add_present(self, plan: JournalPlan, path: str, place: Place, base: str) -> None:
        found = self.now(base)
        assert found is not None
        if place.content is not None and self._differs(base, found, place.content):
            plan.steps.append(JournalStep(path, "replace", not self.is_left(base), place))
        elif place.marks is not None and place.times_only:
            after = self._journal.after.get(base)
            if found.st_mtime_ns != place.marks.mtime and (after is None or after.mtime == found.st_mtime_ns):
                plan.folders.append((path, place.marks))
        elif place.marks is not None and marks_differ(base, found, place.marks):
            plan.steps.append(JournalStep(path, "mode", not self.is_left(base), place))

    def now(self, path: str) -> os.stat_result | None:
        if path not in self._found:
            self._found[path] = None
            with contextlib.suppress(OSError):
                self._found[path] = os.lstat(path)
        return self._found[path]

    def is_left(self, path: str) -> bool:
        found, after = self.now(path), self._journal.after.get(path)
        if found is None:
            return after is None or after.kind is PathKind.ABSENT
        if after is not None and _KINDS.get(stat.S_IFMT(found.st_mode), PathKind.OTHER) is not after.kind:
            return False
        if stat.S_ISDIR(found.st_mode) or (after is None and self._running):
            return True
        prints = self._earlier_prints(path, fingerprint(found))
        if after is not None:
            return after.fingerprint in prints
        # by another name in the journal, or its supervisor was killed
        return any(changed <= (self._journal.last + SLACK) * 1e9 for *_, changed in prints)

    def _earlier_prints(self, path: str, print: Fingerprint) -> list[Fingerprint]:
        found = [print]
        while len(found) < 100 and (earlier := self._same.get((path, found[-1]))) is not None:
            found.append(earlier)
        return found

    def _was_object(self, path: str, state: JournalState) -> bool:
        """An undo taken back has made some of them anew since."""
        after = self._journal.after.get(path)
        return after.identity == state.identity if after is not None else self._is_object(path, state)

    def _is_object(self, path: str, state: JournalState) -> bool:
        found = self.now(path)
        if found is None or (found.st_dev, found.st_ino) != (state.dev, state.ino):
            return False
        return not state.btime or birth_time(path) in (0, state.btime)

    def _differs(self, path: str, found: os.stat_result, saved: JournalState) -> bool:
        if fingerprint(found) == saved.fingerprint:
            return False
        if not stat.S_ISREG(found.st_mode) or found.st_size != saved.size or not any(saved.hash):
            return True
        try:
            with open(path, "rb") as file:
                return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).digest() != saved.hash
        except OSError:
            return True


def ancestors(path: str) -> Iterator[str]:
    """The path itself included, the deepest first."""
    yield path
    while path != "/":
        path = os.path.dirname(path)
        yield path


def fingerprint(found: os.stat_result) -> Fingerprint:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def marks_differ(path: str, found: os.stat_result, saved: JournalState) -> bool:
    if saved.kind is PathKind.LINK:
        return found.st_mtime_ns != saved.mtime or (found.st_uid, found.st_gid) != saved.owner
    now = (found.st_mode, (found.st_uid, found.st_gid), found.st_mtime_ns)
    return now != (saved.mode, saved.owner, saved.mtime) or read_attributes(path) != dict(saved.attributes)


def read_attributes(path: str) -> dict[str, bytes]:
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listxattr(path, follow_symlinks=False):
            with contextlib.suppress(OSError):
                found[name] = os.getxattr(path, name, follow_symlinks=False)
    return {name: value for name, value in found.items() if len(value) <= LARGEST_ATTRIBUTES}


def birth_time(path: str) -> int:
    """Links not followed; 0 where the file system has none."""
    buffer, nofollow = ctypes.create_string_buffer(256), 0x100
    if ctypes.CDLL(None).statx(-100, os.fsencode(path), nofollow, _BIRTH, buffer) != 0:
        return 0
    mask, seconds, rest = struct.unpack_from("<I76xqI", buffer.raw)
    return int(seconds * 1_000_000_000 + rest) if mask & _BIRTH else 0
