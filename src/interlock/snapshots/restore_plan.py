"""Compares a snapshot with the present state of paths and of Git's own files: the steps of an undo, and which of them would overwrite later work."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.impact import Budget, Unclear, blob_id, object_id
from interlock.impact.git import Repository, Tree, parse_index
from interlock.impact.survey import FileSurvey
from interlock.snapshots import UndoChange
from interlock.snapshots.contents import ContentReader, hash_file
from interlock.snapshots.folder import Attributes, FolderHandles, attributes, closing_handle
from interlock.snapshots.manifest import Manifest, SavedDatabase, SavedPath, SavedRef, SavedRepository

_LARGEST = 64 << 20  # bytes of a file of Git
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class PathState(Struct, frozen=True):
    kind: str  # as an entry has it, or "other"
    mode: int = 0
    size: int = 0
    sha256: str = ""
    link: str = ""
    found: os.stat_result | None = None
    attributes: Attributes = ()


def state_key(one: PathState | SavedPath) -> list[Any]:
    """As the note of a settled action has it; without attributes where there are none."""
    mode = one.mode if one.kind != "link" else 0
    more = [[list(pair) for pair in one.attributes]] if one.attributes else []
    return [one.kind, mode, one.size, one.sha256, one.link, *more]


def now(places: FolderHandles, path: str) -> PathState:
    """Raises Unclear for a path that changes while it is read."""
    places.budget.entry()
    found = places.stat(path)
    if found is None:
        return PathState("absent")
    kind, mode = _KINDS.get(stat.S_IFMT(found.st_mode), "other"), stat.S_IMODE(found.st_mode)
    handle, name = places.split(path)
    if kind == "link":
        return PathState(kind, mode, link=os.readlink(name, dir_fd=handle), found=found)
    if kind == "other":
        return PathState(kind, mode, found=found)
    size, sha = 0, ""
    if kind == "file":
        with closing_handle(places.open_file(path)) as opened:
            sha, size = hash_file(opened, places.budget)
        if size != found.st_size:
            raise Unclear(f"{os.path.basename(path)} changes while it is read")
    return PathState(kind, mode, size, sha, found=found, attributes=attributes(f"/proc/self/fd/{handle}/{name}"))


def walk_below(places: FolderHandles, path: str) -> Iterator[str]:
    todo = [path]
    while todo:
        at = todo.pop()
        for name in places.names(at):
            places.budget.entry()
            full = f"{at}/{name}"
            found = places.stat(full)
            if found is not None and stat.S_ISDIR(found.st_mode):
                todo.append(full)
            yield full


def inode_key(found: os.stat_result | None) -> str:
    """As a manifest entry has them; empty for anything but a regular file."""
    return f"{found.st_dev}:{found.st_ino}" if found is not None and stat.S_ISREG(found.st_mode) else ""


def is_unchanged(entry: SavedPath, state: PathState) -> bool:
    """Apart from mode, attributes and times."""
    return (entry.kind, entry.size, entry.sha256, entry.link) == (state.kind, state.size, state.sha256, state.link)


def read_git_file(places: FolderHandles, path: str) -> bytes:
    """Empty where it is missing."""
    if places.stat(path) is None:
        return b""
    with open(places.open_file(path), "rb") as given:
        data = given.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise Unclear("a file of the repository is too large")
    return data


def ref_value(repository: Repository, name: str) -> str:
    return (repository.history.ref(name) or b"").hex()


def index_listing(data: bytes, budget: Budget) -> dict[str, tuple[int, bytes, bool]]:
    entries = parse_index(data, (0, 0), budget).entries if data else {}
    return {path: (entry.mode, entry.oid, entry.trusted) for path, entry in entries.items()}


# The content to write (None: the saved one), and whether that would undo later work; None where there is nothing to do.
GitFileChange = tuple[bytes | None, bool] | None
_LINE = re.compile(rb"^([0-9a-f]{40}) ([0-9a-f]{40}) (.*)$", re.MULTILINE)


def git_file_key(places: FolderHandles, entry: SavedPath, state: PathState) -> list[Any]:
    """Equal for states of one of Git's files that mean the same."""
    if entry.role == "index" and state.kind == "file":
        with contextlib.suppress(Unclear):
            rows = sorted(index_listing(read_git_file(places, entry.path), places.budget).items())
            return ["index", hashlib.sha256(repr(rows).encode("utf-8", "surrogateescape")).hexdigest()]
    kind, _, *rest = state_key(state)
    return [kind, 0, *rest]


class GitFile(Struct, frozen=True):
    planner: RestorePlanner
    entry: SavedPath
    saved: bytes
    present: bytes
    known: bool  # it is as the action left it, or as an interrupted undo met it
    settled: bool  # it was noted how the action left it


def _index(one: GitFile) -> GitFileChange:
    before, present = (index_listing(data, one.planner.places.budget) for data in (one.saved, one.present))
    if before == present:
        return None
    if one.known or one.settled:
        return None, not one.known
    trees = list(_trees(one.planner, one.entry))
    new = ((path, row) for path, row in present.items() if row != before.get(path))
    return None, any(all(row[:2] != tree.get(path) for tree in trees) for path, row in new)


def _trees(planner: RestorePlanner, entry: SavedPath) -> Iterator[Tree]:
    """Of the commit checked out now, and of the one that the action names."""
    for git in planner.manifest.git:
        if git.git_dir == os.path.dirname(entry.path):
            repository = planner.repository(git)
            for oid in {repository.history.head(), bytes.fromhex(entry.leaves) or None}:
                if oid is not None and repository.objects.has(oid):
                    yield repository.tree(oid)


def _head(one: GitFile) -> GitFileChange:
    text = one.present.strip()
    if text == one.saved.strip():
        return None
    return None, not one.known and (one.settled or text != os.fsencode(one.entry.leaves))


def _config(one: GitFile) -> GitFileChange:
    """A line that is not in the saved file is later work."""
    lines, present = ({line.strip() for line in data.splitlines()} for data in (one.saved, one.present))
    return None, not one.known if one.settled else bool(present - lines - {b""})


def _stash(one: GitFile) -> GitFileChange:
    """Later ones stay on top of the saved ones."""
    old, new = _LINE.findall(one.saved), _LINE.findall(one.present)
    names = {line[1] for line in old}
    more = [line for line in new if line[1] not in names]
    if one.known or not more:
        return None, False
    if {line[1] for line in new} >= names:
        return None
    rows, last = [], b"0" * 40
    for _, oid, rest in (*old, *more):
        rows.append(b"%s %s %s\n" % (last, oid, rest))
        last = oid
    return b"".join(rows), False


def _log(one: GitFile) -> GitFileChange:
    """One that exists has only grown."""
    if one.present.startswith(one.saved) if one.entry.kind == "file" else one.entry.kind == "absent" and not one.known:
        return None
    return None, False


READERS: dict[str, Callable[[GitFile], GitFileChange]] = {
    "index": _index,
    "head": _head,
    "config": _config,
    "stash": _stash,
    "log": _log,
}


_WHATS = {"index": "index", "head": "ref", "config": "config", "stash": "stash", "log": "ref", "state": "ref"}
_TEXT = 4 << 20  # bytes of what is compared with its lines converted
_NEVER = frozenset({"state", "log", "stash"})  # where nothing is lost that anybody made


class RestoreStep(Struct, frozen=True):
    """`data` where its content is computed instead of saved."""

    entry: SavedPath
    now: PathState
    what: str
    later: bool
    data: bytes | None = None


class RefMove(Struct, frozen=True):
    git: SavedRepository
    ref: SavedRef
    now: str
    later: bool


class DatabaseRefill(Struct, frozen=True):
    database: SavedDatabase
    later: bool


class RestorePlan(Struct):
    steps: list[RestoreStep] = []
    moves: list[RefMove] = []
    refills: list[DatabaseRefill] = []

    def changes(self) -> Iterator[UndoChange]:
        for step in self.steps:
            yield UndoChange(step.entry.path, step.what, step.later)
        for move in self.moves:
            yield UndoChange(move.ref.name, "ref", move.later)
        for refill in self.refills:
            yield UndoChange(refill.database.path, "database", refill.later)


class RestorePlanner(Struct, dict=True):
    """What the action left, and what an interrupted undo met, is no later work."""

    manifest: Manifest
    reader: ContentReader
    places: FolderHandles
    after: Mapping[str, Any] = MappingProxyType({})  # the state when the action had run, where that was noted
    interrupted: Manifest | None = None  # the snapshot that an interrupted undo took
    interrupted_digest: str = ""

    @cached_property
    def _survey(self) -> FileSurvey:
        return FileSurvey(self.places.budget)

    @cached_property
    def _met(self) -> Manifest:
        return self.interrupted or Manifest(self.manifest.id, 0.0)

    def __call__(self) -> RestorePlan:
        met = {entry.path: entry for entry in self._met.entries}
        steps = (self._step(entry, met.get(entry.path)) for entry in self.manifest.entries)
        return RestorePlan(
            [step for step in steps if step is not None],
            [move for git in self.manifest.git for move in self._moves(git)],
            [refill for one in self.manifest.databases if (refill := self._refill(one)) is not None],
        )

    def _settled(self, what: str, name: str) -> Any:
        return self.after.get(what, {}).get(name)

    def _step(self, entry: SavedPath, met: SavedPath | None) -> RestoreStep | None:
        state = now(self.places, entry.path)
        settled = self._settled("states", entry.path)
        unchanged = is_unchanged(entry, state)
        known = met is not None and (is_unchanged(met, state) or state.size == 0 or bool(met.twin))  # or half written
        if entry.role in READERS:
            return self._git(entry, state, settled, known) if not unchanged else None
        if unchanged:
            mark = _metadata_change(entry, state) if not entry.role else ""
            later = settled is not None and settled != state_key(state) and entry.kind == "file"
            return RestoreStep(entry, state, mark, later) if mark else None
        what = "create" if state.kind == "absent" else "delete" if entry.kind == "absent" else "replace"
        later = not known and self._is_later_work(entry, state, settled)
        return RestoreStep(entry, state, _WHATS.get(entry.role, what), later)

    def _git(self, entry: SavedPath, state: PathState, settled: list[Any] | None, known: bool) -> RestoreStep | None:
        left = settled is not None and settled == git_file_key(self.places, entry, state)
        saved = self.reader.entry(entry)
        present = read_git_file(self.places, entry.path)
        found = READERS[entry.role](GitFile(self, entry, saved, present, left or known, settled is not None))
        return RestoreStep(entry, state, _WHATS[entry.role], found[1], found[0]) if found is not None else None

    def _is_later_work(self, entry: SavedPath, state: PathState, settled: list[Any] | None) -> bool:
        if entry.role in _NEVER or state.kind == "absent":
            return False
        if state.kind == "folder" and entry.kind in ("file", "link"):
            return any(map(self._is_created_since, walk_below(self.places, entry.path)))
        if settled is not None:
            return settled != state_key(state)
        if entry.leaves == "empty" and state.kind == "file" and not state.size:
            return False
        if entry.kind == "absent" and state.kind == "folder":
            return False  # it goes only if nothing is in it
        return not self._is_in_git(entry.path, state)

    def _is_created_since(self, path: str) -> bool:
        state = now(self.places, path)
        ours = state.kind == "folder" or self._settled("states", path) == state_key(state)
        return not ours and not self._is_in_git(path, state)

    def _is_in_git(self, path: str, state: PathState) -> bool:
        try:
            repository = self._survey.repository(os.path.dirname(path))
            if repository is None or state.found is None:
                return False
            oid = blob_id(path, state.found, self.places.budget)
            if oid is not None and repository.objects.has(oid):
                return True
            if state.kind != "file" or state.size > _TEXT:
                return False  # else it may be a text with Windows line ends, which Git stores with plain ones
            text = read_git_file(self.places, path)
            return repository.objects.has(object_id(b"blob", text.replace(b"\r\n", b"\n")))
        except (Unclear, OSError, struct.error, ValueError):
            return False

    def _moves(self, git: SavedRepository) -> Iterator[RefMove]:
        met = {(one.git_dir, ref.name): ref.old for one in self._met.git for ref in one.refs}
        for ref in git.refs:
            value = ref_value(self.repository(git), ref.name)
            if value != ref.old:
                settled = self._settled("refs", f"{git.git_dir}\0{ref.name}")
                known = {settled} if settled is not None else {ref.leaves, ""}
                yield RefMove(git, ref, value, value not in known and value != met.get((git.git_dir, ref.name)))

    def _refill(self, one: SavedDatabase) -> DatabaseRefill | None:
        content = self.reader.database_digest(one.path)
        if content == one.sha256:
            return None
        met = {database.sha256 for database in self._met.databases if database.path == one.path}
        return DatabaseRefill(one, content not in {"", self._settled("databases", one.path), *met})

    def repository(self, git: SavedRepository) -> Repository:
        """Wherever its work tree is now."""
        return Repository(git.work_tree, git.git_dir, git.shared, self.places.budget)


def _metadata_change(entry: SavedPath, state: PathState) -> str:
    """`mode` for another mode or file time, `attributes` for other attributes; empty for neither.

    `replace` where another file is here now that has other names too, whose mode and times must stay.
    """
    found = state.found
    if found is None or entry.kind == "link":
        return ""
    if entry.mode != state.mode or (entry.kind == "file" and entry.mtime_ns != found.st_mtime_ns):
        mark = "mode"
    else:
        mark = "attributes" if entry.attributes not in (None, state.attributes) else ""
    shared = mark and entry.kind == "file" and found.st_nlink > 1 and entry.twin != inode_key(found)
    return "replace" if shared else mark
