"""Takes a snapshot of what an action may change: whole or not at all; whatever changes meanwhile is refused."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from interlock.impact import ENTRIES, Budget, BudgetExceeded, Unclear
from interlock.impact.git.replaced import replaced_files
from interlock.impact.inspector import named_files, target_paths
from interlock.impact.survey import REGENERABLE, FileSurvey, ImpactTally
from interlock.impact.targets import effective_home, join_target, real_path, replaced_in
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot
from interlock.snapshots.contents import SMALL, ContentWriter, save_database
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
from interlock.snapshots.path_state import ref_value
from interlock.snapshots.scope import SnapshotScope, add_git_command

_GLOB = frozenset("*?[")


def collect_scope(question: Mapping[str, Any], scope: SnapshotScope) -> list[str]:
    """Raises Unclear for an effect that is not fully understood."""
    bases = [str(base) for base in question["bases"]]
    if not bases or not all(base.startswith("/") for base in bases):
        raise Unclear("the folder is not known")
    for effect in question["deeds"]:
        verb = str(effect["verb"])
        if verb == "git":
            words, after = ([str(word) for word in effect.get(name, ())] for name in ("words", "after"))
            if not sum(add_git_command(base, words, scope, after) for base in bases):
                raise Unclear("there is no repository")
        elif verb == "replaced":
            for base in bases:
                _add_written(replaced_files(base, [str(word) for word in effect["words"]], scope.survey), scope, "")
        elif verb in _FILES and not (effect.get("maybe") and not named_files(effect, bases, scope.home, scope.budget)):
            found = sorted(dict.fromkeys(target_paths(effect, bases, scope.home, scope.budget)))
            if not found and "found" not in effect and not _GLOB & set(str(effect["target"])):  # what it creates
                found = [os.path.realpath(join_target(base, str(effect["target"]), scope.home)) for base in bases]
            _FILES[verb]({**effect, "bases": bases}, found, scope)
        elif verb not in _FILES:
            raise Unclear(f"what {verb} changes is not known here")
    return [os.path.realpath(base) for base in bases]


def _add_deleted(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
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
    for base in effect["bases"] if whole and not _GLOB & set(whole) else ():  # `find link -delete` deletes the link
        if os.path.islink(path := real_path(join_target(base, whole, scope.home))):
            scope.path(path)


def _add_overwritten(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    """Of a folder into which any name may come, the files that exist nowhere else."""
    for path in paths:
        behind = os.path.realpath(path)
        if not os.path.isdir(behind):
            _add_written([path], scope, "")
            continue
        for one in replaced_in(behind, effect, effect["bases"], scope.home, scope.budget):
            if os.path.isdir(one) and not os.path.islink(one):
                survey = FileSurvey(ImpactTally(), scope.budget, (), home=scope.home)
                survey.below(one)
                _add_written(survey.lost, scope, "")
            else:
                _add_written([one], scope, "")


def _add_written(paths: Sequence[str], scope: SnapshotScope, leaves: str) -> None:
    """Writing goes through a link, and a program that renames replaces the link itself."""
    for path in paths:
        behind = os.path.realpath(path)
        if os.path.isdir(behind):
            raise Unclear(f"{os.path.basename(path)} is no ordinary file")
        scope.path(behind, leaves=leaves)
        if behind != path:
            scope.path(path)


def _add_database(effect: Mapping[str, Any], paths: Sequence[str], scope: SnapshotScope) -> None:
    for path in paths:
        behind = os.path.realpath(path)
        if not os.path.isfile(behind):
            raise Unclear("there is no such database")
        scope.databases[behind] = None


_FILES: dict[str, Callable[[Mapping[str, Any], Sequence[str], SnapshotScope], None]] = {
    "delete": _add_deleted,
    "truncate": lambda effect, paths, scope: _add_written(paths, scope, "empty"),
    "overwrite": _add_overwritten,
    "database": _add_database,
}


def take(
    question: Mapping[str, Any], folder: SnapshotFolder, id: str, at: float, limits: SnapshotLimits, home: str
) -> TakenSnapshot:
    """Saves what the effects in the question may change; with a problem, nothing is saved."""
    budget = Budget(time.monotonic() + limits.ms / 1000, ENTRIES, 2 * limits.bytes + (64 << 20))
    try:
        with folder.locked("lock", wait=False), FolderHandles() as places:
            scope = SnapshotScope(budget, places, folder, effective_home(question, home))
            bases = collect_scope(question, scope)
            return save_scope(scope, folder, id, at, bases, limits)[0]
    except (BudgetExceeded, Unclear, RestoreRefused) as error:
        return no_snapshot(id, str(error))
    except OSError as error:
        return no_snapshot(id, f"it cannot be copied ({error.strerror or type(error).__name__})")
    except RecursionError:
        return no_snapshot(id, "it is nested too deep")
    except (ValueError, KeyError, TypeError, MemoryError):
        return no_snapshot(id, "it cannot be read")


def save_scope(
    scope: SnapshotScope, folder: SnapshotFolder, id: str, at: float, bases: Sequence[str], limits: SnapshotLimits
) -> tuple[TakenSnapshot, Manifest]:
    """A whole snapshot of a scope. Where order is safety: (1) its begin noted, (2) contents, (3) commits protected, (4) the manifest."""
    place = folder.place(id)
    if os.path.lexists(place):
        raise RestoreRefused("there is such a snapshot already")
    writer = ContentWriter(folder, id, scope.budget)
    shared = [one.repository.shared for one in scope.repositories.values() if one.tips or one.blobs]
    try:
        if shared:  # (1) the repositories that get a ref, so that one left over can be found
            with open(folder.place(id, "begun"), "x", encoding="utf-8", errors="surrogateescape") as out:
                out.write("\0".join(shared))
        recorder = PathRecorder(folder, scope.places, writer, limits, scope.budget)
        notes = _record(scope, recorder)  # (2)
        manifest = Manifest(id, at, tuple(bases), notes=notes, remotes=list(scope.remotes))
        for path in scope.databases:
            recorder.refuse_own(path)
        manifest.databases = [
            save_database(folder, path, id, number, writer, scope.budget) for number, path in enumerate(scope.databases)
        ]
        manifest.entries = sorted(recorder.entries.values(), key=lambda entry: entry.path)
        writer.finish()
        manifest.pack = writer.pack
        manifest.git = _hold_objects(scope, id, at)  # (3)
        scope.budget.tick()
        digest = folder.write(place, to_builtins(manifest))  # (4)
    except BaseException:
        writer.abandon()
        with contextlib.suppress(OSError, BudgetExceeded, Unclear, RestoreRefused):
            for one in scope.repositories.values():
                drop_hold(scope.places, one.repository.shared, id, Budget.of(1_000))
            remove_file(folder.place(id, "begun"))
        raise
    remove_file(folder.place(id, "begun"))
    return TakenSnapshot(id, digest, manifest.files, manifest.bytes, notes), manifest


def _record(scope: SnapshotScope, recorder: PathRecorder) -> tuple[str, ...]:
    aside: list[str] = []

    def again(path: str) -> bool:
        try:
            found = scope.survey.is_regenerable(path)
        except Unclear:
            return False
        aside.extend([path] if found else [])
        return found

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
    """Collects manifest entries, each path once, within the limits."""

    def __init__(
        self,
        folder: SnapshotFolder,
        places: FolderHandles,
        writer: ContentWriter,
        limits: SnapshotLimits,
        budget: Budget,
    ) -> None:
        self._folder, self._places, self._writer = folder, places, writer
        self._limits, self._budget = limits, budget
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
            handle, name = self._places.split(path)
            self._record(handle, name, path, found, role, leaves)

    def tree(self, path: str, skips: Callable[[str], bool] = lambda _: False) -> None:
        """Except folders for which `skips` is true."""
        if os.path.basename(path) in REGENERABLE and skips(path):
            return
        self.path(path)
        todo = [path] if self.entries[path].kind == "folder" else []
        while todo:
            at = todo.pop()
            handle, name = self._places.split(at)
            with closing_handle(os.open(name, READ | os.O_DIRECTORY, dir_fd=handle)) as opened:
                todo += self._record_folder(opened, at, skips)

    def _record_folder(self, opened: int, at: str, skips: Callable[[str], bool]) -> list[str]:
        found = []
        with os.scandir(opened) as entries:
            for entry in entries:
                self._budget.entry()
                name = entry.name
                full = f"{at}/{name}"
                if name in REGENERABLE and skips(full):
                    continue
                if full not in self.entries:
                    plain = entry.is_file(follow_symlinks=False)
                    self._record(opened, name, full, None if plain else entry.stat(follow_symlinks=False), "", "")
                if self.entries[full].kind == "folder":
                    found.append(full)
        return found

    def fits(self, path: str) -> bool:
        """False where there is not room and time for all of an optional tree."""
        before = (dict(self.entries), self.files, self.bytes, self._budget.until)
        now = time.monotonic()
        self._budget.until = now + (self._budget.until - now) / 2
        try:
            if self._within_limits(path):
                self.tree(path)
                return True
        except (BudgetExceeded, Unclear, OSError):
            pass
        finally:
            self._budget.until = before[3]
        self.entries, self.files, self.bytes = before[:3]
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

    def _record(self, handle: int, name: str, path: str, found: os.stat_result | None, role: str, leaves: str) -> None:
        """Without a status it is known to be a file."""
        if found is None or stat.S_ISREG(found.st_mode):
            self._record_file(handle, name, path, role, leaves)
        elif stat.S_ISDIR(found.st_mode):
            self._check_owner(name, found)
            marks = self._count_attributes(attributes(f"/proc/self/fd/{handle}/{name}"))
            self.entries[path] = _entry(path, "folder", found, role=role, leaves=leaves, attributes=marks)
        elif stat.S_ISLNK(found.st_mode):
            self._check_owner(name, found)
            self._count(0)
            link = os.readlink(name, dir_fd=handle)
            self.entries[path] = _entry(path, "link", found, link=link, role=role, leaves=leaves)
        else:
            raise Unclear(f"{name} is no ordinary file")

    def _record_file(self, handle: int, name: str, path: str, role: str, leaves: str) -> None:
        opened = os.open(name, READ, dir_fd=handle)
        try:
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
        finally:
            os.close(opened)
        twin = f"{found.st_dev}:{found.st_ino}" if found.st_nlink > 1 else ""
        self.entries[path] = _entry(
            path, "file", found, size=size, sha256=sha, twin=twin, role=role, leaves=leaves, attributes=marks
        )

    def _check_owner(self, name: str, found: os.stat_result) -> None:
        """Refuses an owner or group that this user could not restore."""
        if self._user and found.st_uid != self._user:
            raise Unclear(f"{name} belongs to another user")
        if self._user and found.st_gid not in self._groups:
            raise Unclear(f"{name} belongs to another group")

    def _count_attributes(self, found: Attributes) -> Attributes:
        """Counts attributes against their limit: they are in the manifest itself, whose size is bounded."""
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
