"""Takes a snapshot of what an action may change: whole or not at all; whatever changes meanwhile is refused."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from interlock.impact import ENTRIES, PROBLEMS, Budget, BudgetExceeded, Unclear, problem_words
from interlock.impact.git.replaced import replaced_files
from interlock.impact.survey import REGENERABLE, FileSurvey
from interlock.impact.targets import EffectTargets, real_path
from interlock.model import Json
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot
from interlock.snapshots.contents import SMALL, ContentWriter
from interlock.snapshots.folder import (
    READ,
    Attributes,
    FolderHandles,
    RestoreRefused,
    SnapshotFolder,
    attributes,
    closing_handle,
    remove_file,
)
from interlock.snapshots.git_writer import drop_hold, hold_objects
from interlock.snapshots.manifest import Manifest, SavedPath, SavedRef, SavedRepository
from interlock.snapshots.restore_plan import inode_key, ref_value
from interlock.snapshots.scope import SnapshotScope, add_git_command

_GLOB = frozenset("*?[")


def collect_scope(question: Json, scope: SnapshotScope, targets: EffectTargets) -> None:
    """Raises Unclear for an effect that is not fully understood."""
    for effect in question["deeds"]:
        verb = str(effect["verb"])
        if verb == "git":
            add_git_command(effect, targets.bases, scope)
        elif verb == "replaced":
            for base in targets.bases:
                _add_written(replaced_files(base, [str(word) for word in effect["words"]], scope.survey), scope)
        elif verb not in _FILES:
            raise Unclear(f"what {verb} changes is not known here")
        elif not effect.get("maybe") or targets.named(effect):
            found = sorted(dict.fromkeys(targets.paths(effect)))
            if not found and "found" not in effect and not _GLOB & set(str(effect["target"])):  # what it creates
                found = [os.path.realpath(path) for path in targets.joined(effect["target"])]
            _FILES[verb](effect, found, scope, targets)


def _add_deleted(effect: Json, paths: Sequence[str], scope: SnapshotScope, targets: EffectTargets) -> None:
    """With a folder whose whole content that is or a link to it, which may go too."""
    target = str(effect["target"])
    for path in paths:
        holder = os.path.dirname(path)
        if "found" in effect and not effect["found"].get("trees"):  # a folder goes only when nothing is left in it
            scope.path(path)
        elif os.path.lexists(path):
            scope.tree(path)
            if target.endswith("*") and os.stat(holder).st_uid == os.geteuid() and not scope.folder.is_own(holder):
                scope.path(holder)
    whole = target.rstrip("*").rstrip("/") if target.endswith("*") else ""
    for joined in targets.joined(whole) if whole and not _GLOB & set(whole) else ():
        if os.path.islink(path := real_path(joined)):  # `find link -delete` deletes the link
            scope.path(path)


def _add_overwritten(effect: Json, paths: Sequence[str], scope: SnapshotScope, targets: EffectTargets) -> None:
    """Of a folder into which any name may come, the files that exist nowhere else."""
    for path in paths:
        behind = os.path.realpath(path)
        if not os.path.isdir(behind):
            _add_written([path], scope)
            continue
        for one in targets.replaced(behind, effect):
            if os.path.isdir(one) and not os.path.islink(one):
                survey = FileSurvey(scope.places.budget, home=scope.home)
                survey.below(one)
                _add_written(survey.lost, scope)
            else:
                _add_written([one], scope)


def _add_written(paths: Sequence[str], scope: SnapshotScope, leaves: str = "") -> None:
    """Writing goes through a link, and a program that renames replaces the link itself."""
    for path in paths:
        behind = os.path.realpath(path)
        if os.path.isdir(behind):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        scope.path(behind, leaves=leaves)
        if behind != path:
            scope.path(path)


def _add_databases(_: Json, paths: Sequence[str], scope: SnapshotScope, __: EffectTargets) -> None:
    for behind in map(os.path.realpath, paths):
        if not os.path.isfile(behind):
            raise Unclear("there is no such database")
        scope.databases[behind] = None


_FILES: dict[str, Callable[[Json, Sequence[str], SnapshotScope, EffectTargets], None]] = {
    "delete": _add_deleted,
    "truncate": lambda effect, paths, scope, _: _add_written(paths, scope, "empty"),
    "overwrite": _add_overwritten,
    "database": _add_databases,
}


def take(
    question: Json, folder: SnapshotFolder, id: str, at: float, limits: SnapshotLimits, home: str
) -> TakenSnapshot:
    """Saves what the effects in the question may change; with a problem, nothing is saved."""
    budget = Budget(time.monotonic() + limits.ms / 1000, ENTRIES, 2 * limits.bytes + (64 << 20))
    try:
        with folder.locked("lock", wait=False), FolderHandles(budget) as places:
            targets = EffectTargets.of(question, home, budget)
            scope = SnapshotScope(places, folder, targets.home)
            collect_scope(question, scope, targets)
            return save_scope(scope, id, at, list(map(os.path.realpath, targets.bases)), limits)[0]
    except (*PROBLEMS, RestoreRefused) as error:
        return no_snapshot(id, problem_words(error, "copied"))


def save_scope(
    scope: SnapshotScope, id: str, at: float, bases: Sequence[str], limits: SnapshotLimits
) -> tuple[TakenSnapshot, Manifest]:
    """A whole snapshot of a scope. Where order is safety: (1) its begin noted, (2) contents, (3) commits protected, (4) the manifest."""
    folder, places = scope.folder, scope.places
    place, begun = folder.place(id), folder.place(id, "begun")
    if os.path.lexists(place):
        raise RestoreRefused("there is such a snapshot already")
    writer = ContentWriter(folder, id, places.budget)
    shared = [one.repository.shared for one in scope.repositories.values() if one.tips or one.blobs]
    try:
        if shared:  # (1) the repositories that get a ref, so that one left over can be found
            with open(begun, "x", encoding="utf-8", errors="surrogateescape") as out:
                out.write("\0".join(shared))
        recorder = PathRecorder(scope, writer, limits)
        notes = _record(scope, recorder)  # (2)
        manifest = Manifest(id, at, tuple(bases), notes=notes, remotes=list(scope.remotes))
        for path in scope.databases:
            recorder.refuse_own(path)
        manifest.databases = list(map(writer.database, scope.databases))
        manifest.entries = sorted(recorder.entries.values(), key=lambda entry: entry.path)
        writer.finish()
        manifest.pack = writer.pack
        manifest.git = _hold_objects(scope, id, at)  # (3)
        places.budget.tick()
        digest = folder.write(place, to_builtins(manifest))  # (4)
    except BaseException:
        writer.abandon()
        with contextlib.suppress(OSError, BudgetExceeded, Unclear, RestoreRefused):
            for one in scope.repositories.values():
                places.budget = Budget.of(1_000)  # the other one may be used up
                drop_hold(places, one.repository.shared, id)
            remove_file(begun)
        raise
    remove_file(begun)
    return TakenSnapshot(id, digest, manifest.files, manifest.bytes, notes), manifest


def _record(scope: SnapshotScope, recorder: PathRecorder) -> tuple[str, ...]:
    aside: list[str] = []

    def again(path: str) -> bool:
        with contextlib.suppress(Unclear):
            if scope.survey.is_regenerable(path):
                aside.append(path)
                return True
        return False

    for path in scope.trees:
        recorder.tree(path, again)
    for path, (role, leaves) in scope.paths.items():
        recorder.path(path, role, leaves)
    left = [path for path in aside if not recorder.fits(path)]
    return tuple(f"{os.path.basename(path)} can be regenerated and was not saved" for path in left)


def _hold_objects(scope: SnapshotScope, id: str, at: float) -> list[SavedRepository]:
    found = []
    for own, one in scope.repositories.items():
        repository = one.repository
        refs = tuple(SavedRef(name, ref_value(repository, name), leaves) for name, leaves in one.refs.items())
        held = hold_objects(scope.places, repository, id, at, one.tips, one.blobs) if one.tips or one.blobs else ""
        found.append(SavedRepository(own, repository.shared, repository.top, refs, held))
    return found


MOST_ATTRIBUTES = 8 << 20  # characters of all attributes together


class PathRecorder:
    """Each path once, within the limits."""

    def __init__(self, scope: SnapshotScope, writer: ContentWriter, limits: SnapshotLimits) -> None:
        self._folder, self._places, self._budget = scope.folder, scope.places, scope.places.budget
        self._writer, self._limits = writer, limits
        self._user, self._groups = os.geteuid(), {os.getegid(), *os.getgroups()}
        self.entries: dict[str, SavedPath] = {}
        self.files = self.bytes = self._attributes = 0

    def refuse_own(self, path: str) -> None:
        if self._folder.is_own(path):
            raise Unclear("it is Interlock's own")

    def path(self, path: str, role: str = "", leaves: str = "") -> None:
        """Without what is in a folder; refuses Interlock's own files."""
        if path in self.entries:
            return
        self.refuse_own(path)
        self._budget.entry()
        found = self._places.stat(path)
        if found is None:
            self.entries[path] = SavedPath(path, "absent", role=role, leaves=leaves)
        else:
            self._record(*self._places.split(path), path, found, role, leaves)

    def tree(self, path: str, skips: Callable[[str], bool] = lambda _: False) -> None:
        if os.path.basename(path) in REGENERABLE and skips(path):
            return
        self.path(path)
        todo = [path] if self.entries[path].kind == "folder" else []
        while todo:
            at = todo.pop()
            with closing_handle(self._places.open_folder(at)) as opened:
                todo += self._record_folder(opened, at, skips)

    def _record_folder(self, opened: int, at: str, skips: Callable[[str], bool]) -> list[str]:
        found = []
        with os.scandir(opened) as entries:
            for entry in entries:
                self._budget.entry()
                name, full = entry.name, f"{at}/{entry.name}"
                if name in REGENERABLE and skips(full):
                    continue
                if full not in self.entries:
                    plain = entry.is_file(follow_symlinks=False)
                    self._record(opened, name, full, None if plain else entry.stat(follow_symlinks=False))
                if self.entries[full].kind == "folder":
                    found.append(full)
        return found

    def fits(self, path: str) -> bool:
        """False where there is not room and time for all of an optional tree."""
        entries, files, size, until = dict(self.entries), self.files, self.bytes, self._budget.until
        now = time.monotonic()
        self._budget.until = now + (until - now) / 2
        try:
            if self._within_limits(path):
                self.tree(path)
                return True
        except (BudgetExceeded, Unclear, OSError):
            pass
        finally:
            self._budget.until = until
        self.entries, self.files, self.bytes = entries, files, size
        return False

    def _within_limits(self, path: str) -> bool:
        files, size, todo = self.files, self.bytes, [path]
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    self._budget.tick()
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
            if files > self._limits.files or size > self._limits.bytes:
                return False
        return True

    def _record(
        self, handle: int, name: str, path: str, found: os.stat_result | None, role: str = "", leaves: str = ""
    ) -> None:
        """Without a status it is known to be a file."""
        if found is None or stat.S_ISREG(found.st_mode):
            entry = self._file(handle, name, path, role)
        elif stat.S_ISDIR(found.st_mode):
            self._check_owner(name, found)
            marks = self._count_attributes(attributes(f"/proc/self/fd/{handle}/{name}"))
            entry = _entry(path, "folder", found, attributes=marks)
        elif stat.S_ISLNK(found.st_mode):
            self._check_owner(name, found)
            self._count(0)
            entry = _entry(path, "link", found, link=os.readlink(name, dir_fd=handle))
        else:
            raise Unclear(f"{name} is no ordinary file")
        self.entries[path] = replace(entry, role=role, leaves=leaves) if role or leaves else entry

    def _file(self, handle: int, name: str, path: str, role: str) -> SavedPath:
        with closing_handle(os.open(name, READ, dir_fd=handle)) as opened:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode):
                raise Unclear(f"{name} is no ordinary file")
            self._check_owner(name, found)
            marks = self._count_attributes(attributes(opened)) if not role else None
            size = found.st_size
            self._count(size, not role)
            if size <= SMALL:
                data = os.read(opened, size + 1)
                self._budget.read(len(data))
                sha, same = self._writer.small(data), len(data) == size
            else:
                sha, same = self._writer.large(opened, size), True
            if not same or _marks(os.fstat(opened)) != _marks(found):
                raise Unclear(f"{name} changes while it is copied")
        twin = inode_key(found) if found.st_nlink > 1 else ""
        return _entry(path, "file", found, size=size, sha256=sha, twin=twin, attributes=marks)

    def _check_owner(self, name: str, found: os.stat_result) -> None:
        """Refuses those that this user could not restore."""
        if self._user and found.st_uid != self._user:
            raise Unclear(f"{name} belongs to another user")
        if self._user and found.st_gid not in self._groups:
            raise Unclear(f"{name} belongs to another group")

    def _count_attributes(self, found: Attributes) -> Attributes:
        """They are in the manifest itself, whose size is bounded."""
        self._attributes += sum(len(value) for _, value in found)
        if self._attributes > MOST_ATTRIBUTES:
            raise BudgetExceeded("it has too many attributes")
        return found

    def _count(self, size: int, counts: bool = True) -> None:
        """Git's own files count by their bytes only."""
        self.files += counts
        self.bytes += size
        if self.files > self._limits.files:
            raise BudgetExceeded(f"it is more than {self._limits.files:,} files")
        if self.bytes > self._limits.bytes:
            raise BudgetExceeded("it is too large")


def _entry(path: str, kind: str, found: os.stat_result, **more: Any) -> SavedPath:
    owner = (found.st_uid, found.st_gid)
    return SavedPath(path, kind, stat.S_IMODE(found.st_mode), found.st_mtime_ns, owner=owner, **more)


def _marks(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode
