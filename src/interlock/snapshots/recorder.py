"""Records every file, folder and link as it is now, storing its content; refuses whatever changes meanwhile."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from typing import Any

from interlock.impact import Budget, BudgetExceeded, Unclear
from interlock.impact.survey import REGENERABLE
from interlock.snapshots import SnapshotLimits
from interlock.snapshots.contents import SMALL, ContentWriter
from interlock.snapshots.folder import READ, Attributes, FolderHandles, SnapshotFolder, attributes
from interlock.snapshots.manifest import SavedPath

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

    def path(self, path: str, role: str = "", leaves: str = "") -> None:
        """Records one path, without what is in a folder; refuses Interlock's own files."""
        if path in self.entries:
            return
        if self._folder.is_own(path):
            raise Unclear("it is Interlock's own")
        self._budget.entry()
        found = self._places.stat(path)
        if found is None:
            self.entries[path] = SavedPath(path, "absent", role=role, leaves=leaves)
        else:
            handle, name = self._places.split(path)
            self._record(handle, name, path, found, role, leaves)

    def tree(self, path: str, skips: Callable[[str], bool] = lambda _: False) -> None:
        """Records a path and everything below it, except folders for which `skips` is true."""
        if os.path.basename(path) in REGENERABLE and skips(path):
            return
        self.path(path)
        todo = [path] if self.entries[path].kind == "folder" else []
        while todo:
            at = todo.pop()
            handle, name = self._places.split(at)
            opened = os.open(name, READ | os.O_DIRECTORY, dir_fd=handle)
            try:
                todo += self._record_folder(opened, at, skips)
            finally:
                os.close(opened)

    def _record_folder(self, opened: int, at: str, skips: Callable[[str], bool]) -> list[str]:
        """Records everything in an open folder; returns the folders in it."""
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
        """Records an optional tree if there is room and time for all of it; False where there is not."""
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
        """Whether a tree is within the limits, before any of it is read."""
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
        """Records one entry of an open folder; without a status it is known to be a file."""
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
        """Refuses a file whose owner or group this user could not restore."""
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
        """Counts a file against the limits; Git's own files count by their bytes only."""
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
