"""A snapshot and what is there now -> what an undo has to do, step by step, and which of it would undo later work."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.core.undo import Change
from interlock.keeper import databases, git_state
from interlock.keeper.contents import Reader
from interlock.keeper.folder import Folder
from interlock.keeper.manifest import Database, Entry, Git, Manifest, Ref
from interlock.keeper.places import Places
from interlock.keeper.present import Now, below, now, read, same, twin_of
from interlock.looker.budget import Budget, Unclear
from interlock.looker.opened import blob_id
from interlock.looker.repository import Repository
from interlock.looker.standing import Standing
from interlock.looker.tally import Tally

_WHATS = {"index": "index", "head": "ref", "config": "config", "stash": "stash", "log": "ref", "state": "ref"}
_TEXT = 4 << 20  # bytes of what is compared with its lines converted
_NEVER = frozenset({"state", "log", "stash"})  # where nothing is lost that anybody made


@dataclass(frozen=True, slots=True)
class Step:
    """One path that has to become what it was; `data` where its content is made and not kept."""

    entry: Entry
    now: Now
    what: str
    later: bool
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """One branch that has to become what it was."""

    git: Git
    ref: Ref
    now: str
    later: bool


@dataclass(frozen=True, slots=True)
class Refill:
    """One database that has to become what it was."""

    database: Database
    later: bool


@dataclass(slots=True)
class Planned:
    """All of it."""

    steps: list[Step] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    refills: list[Refill] = field(default_factory=list)

    def changes(self) -> Iterator[Change]:
        for step in self.steps:
            yield Change(step.entry.path, step.what, step.later)
        for move in self.moves:
            yield Change(move.ref.name, "ref", move.later)
        for refill in self.refills:
            yield Change(refill.database.path, "database", refill.later)


@dataclass(slots=True)
class Planner:
    """Compares; what the action is known to have left, and what an undo that broke off met, is no later work."""

    folder: Folder
    manifest: Manifest
    reader: Reader
    places: Places
    budget: Budget
    after: Mapping[str, Any] | None = None  # what was there when the action had run
    met: Manifest | None = None  # what an undo that broke off has kept
    _repositories: Standing | None = None

    @property
    def _standing(self) -> Standing:
        if self._repositories is None:
            self._repositories = Standing(Tally(), self.budget, ())
        return self._repositories

    def __call__(self) -> Planned:
        found = Planned()
        met = {entry.path: entry for entry in self.met.entries} if self.met is not None else {}
        for entry in self.manifest.entries:
            step = self._step(entry, met.get(entry.path))
            if step is not None:
                found.steps.append(step)
        found.moves = [move for git in self.manifest.git for move in self._moves(git)]
        found.refills = [refill for one in self.manifest.databases if (refill := self._refill(one)) is not None]
        return found

    def _step(self, entry: Entry, met: Entry | None) -> Step | None:
        state = now(self.places, entry.path, self.budget)
        settled = self.after["states"].get(entry.path) if self.after is not None else None
        if entry.role in git_state.READERS:
            return self._git(entry, state, settled, met)
        mark = _marked(entry, state) if not entry.role else ""
        if same(entry, state) and not mark:
            return None
        if same(entry, state):
            mark = "replace" if _shared(entry, state) else mark
            return Step(entry, state, mark, settled is not None and settled != state.key and entry.kind == "file")
        what = "create" if state.kind == "absent" else "delete" if entry.kind == "absent" else "replace"
        later = not (met is not None and self._broken_off(met, state)) and self._later(entry, state, settled)
        return Step(entry, state, _WHATS.get(entry.role, what), later)

    def _git(self, entry: Entry, state: Now, settled: list[Any] | None, met: Entry | None) -> Step | None:
        if same(entry, state):
            return None
        known = settled is not None and settled == git_state.key(self.places, entry, state, self.budget)
        known = known or (met is not None and self._broken_off(met, state))
        kept = self.reader.data(entry.sha256, entry.size) if entry.kind == "file" else b""
        found = git_state.READERS[entry.role](self, entry, kept, known, settled is None)
        if found is None:
            return None
        data, later = found
        return Step(entry, state, _WHATS[entry.role], later, data)

    def _later(self, entry: Entry, state: Now, settled: list[Any] | None) -> bool:
        if entry.role in _NEVER or state.kind == "absent":
            return False
        if state.kind == "folder" and entry.kind in ("file", "link"):
            return any(self._made_since(path) for path in below(self.places, entry.path, self.budget))
        if settled is not None:
            return settled != state.key
        if entry.leaves == "empty" and state.kind == "file" and not state.size:
            return False
        if entry.kind == "absent" and state.kind == "folder":
            return False  # it goes only if nothing is in it
        return not self._in_git(entry.path, state)

    def _made_since(self, path: str) -> bool:
        """A file in a folder that has to go: neither the action's nor in Git."""
        state = now(self.places, path, self.budget)
        settled = self.after["states"].get(path) if self.after is not None else None
        return state.kind != "folder" and settled != state.key and not self._in_git(path, state)

    def _broken_off(self, met: Entry, state: Now) -> bool:
        """What the undo that was killed met, or had half written."""
        return same(met, state) or state.size == 0 or bool(met.twin)

    def _in_git(self, path: str, state: Now) -> bool:
        """Whether a content is among the objects of the repository that a path is in."""
        try:
            repository = self._standing.repository(os.path.dirname(path))
            if repository is None or state.found is None:
                return False
            oid = blob_id(path, state.found, self.budget)
            if oid is not None and repository.objects.has(oid):
                return True
            return any(repository.objects.has(oid) for oid in self._converted(path, state))
        except (Unclear, OSError, struct.error, ValueError):
            return False

    def _converted(self, path: str, state: Now) -> Iterator[bytes]:
        """What Git would call a text whose lines end as on Windows, where it keeps them with plain ends."""
        if state.kind == "file" and state.size <= _TEXT:
            data = read(self.places, path).replace(b"\r\n", b"\n")
            yield hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()

    def _moves(self, git: Git) -> Iterator[Move]:
        met = {(one.git_dir, ref.name): ref.old for one in self.met.git for ref in one.refs} if self.met else {}
        for ref in git.refs:
            oid = self.repository(git).history.ref(ref.name)
            value = oid.hex() if oid is not None else ""
            if value != ref.old:
                settled = self.after["refs"].get(f"{git.git_dir}\0{ref.name}") if self.after is not None else None
                known = {settled} if settled is not None else {ref.leaves, ""}
                yield Move(git, ref, value, value not in known and value != met.get((git.git_dir, ref.name)))

    def _refill(self, one: Database) -> Refill | None:
        content = databases.state(self.folder, one.path, self.manifest.id, self.budget)
        if content == one.sha256:
            return None
        settled = self.after["databases"].get(one.path) if self.after is not None else None
        met = {database.path: database.sha256 for database in self.met.databases} if self.met is not None else {}
        return Refill(one, content not in ("", settled, met.get(one.path)))

    def repository(self, git: Git) -> Repository:
        """Of a snapshot, wherever its work tree is now."""
        return Repository(git.work_tree, git.git_dir, git.shared, self.budget)


def _shared(entry: Entry, state: Now) -> bool:
    """Whether another file came here that has other names too, which keep their mode and times."""
    found = state.found
    return entry.kind == "file" and found is not None and found.st_nlink > 1 and entry.twin != twin_of(found)


def _marked(entry: Entry, state: Now) -> str:
    """Whether what is as it was has another mode, a file another time, or other attributes."""
    if state.found is None or entry.kind == "link":
        return ""
    if entry.mode != state.mode or (entry.kind == "file" and entry.mtime_ns != state.found.st_mtime_ns):
        return "mode"
    return "attributes" if entry.attributes not in (None, state.attributes) else ""
