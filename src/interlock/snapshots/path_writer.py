"""Writes paths back to their saved state: obstacles removed, folders made, files written beside their place and renamed into it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable

from interlock.snapshots.contents import ContentReader
from interlock.snapshots.folder import (
    FolderHandles,
    RestoreRefused,
    closing_handle,
    create_file,
    remove_file,
    sync_filesystem,
    write_attributes,
)
from interlock.snapshots.git_writer import make_holder
from interlock.snapshots.manifest import Manifest, SavedPath
from interlock.snapshots.restore_plan import RestoreStep, inode_key

MARKS = frozenset({"mode", "attributes"})  # changes that leave the content
_TOGETHER = 500  # files that are written before any of them is in its place
_FEW = 8


class PathWriter:
    """Every part of an undo can be repeated."""

    def __init__(self, places: FolderHandles, reader: ContentReader, manifest: Manifest, saved: Manifest) -> None:
        self._places, self._reader, self._id, self._saved = places, reader, manifest.id, saved.entries
        self._numbers = {entry.path: number for number, entry in enumerate(manifest.entries)}
        self._twins: dict[str, list[str]] = {}
        for entry in manifest.entries:
            if entry.twin:
                self._twins.setdefault(entry.twin, []).append(entry.path)
        self._opened: dict[str, int] = {}  # folders that could not be written to, with their mode
        self._created: set[str] = set()
        self._rewritten: set[str] = set()  # files with more than one name
        self._done: set[str] = set(self._numbers)
        self.say: list[str] = []

    def __call__(self, steps: list[RestoreStep]) -> None:
        """A kill at any moment leaves nothing worse: (1) obstacles, (2) folders, (3) files, (4) modes."""
        self._done -= {step.entry.path for step in steps}
        try:
            for step in reversed(steps):  # (1) deepest first
                if step.now.kind not in ("absent", step.entry.kind):
                    self._check_unchanged(step)
                    self._remove(step)
            for step in steps:  # (2)
                if step.entry.kind == "folder" and step.now.kind != "folder":
                    self._make_folder(step.entry)
            files = [step for step in steps if step.entry.kind == "file" and step.what not in MARKS]
            single = [step for step in files if not step.entry.twin]
            for start in range(0, len(single), _TOGETHER):  # (3)
                self._write_files(single[start : start + _TOGETHER])
            for step in files:
                if step.entry.twin:
                    self._write_twin(step)
            for step in steps:
                if step.entry.kind == "link":
                    self._write_link(step)
        finally:
            self._modes(steps)  # (4)

    def _check_unchanged(self, step: RestoreStep) -> None:
        found = self._places.stat(step.entry.path)
        marks = {one and (one.st_ino, one.st_size, one.st_mtime_ns) for one in (found, step.now.found)}
        if len(marks) > 1 and step.now.kind != "folder":
            raise RestoreRefused(f"{step.entry.path} was changed meanwhile")

    def _remove(self, step: RestoreStep) -> None:
        path = step.entry.path
        handle, name = self._writable(path)
        if step.now.kind != "folder":
            remove_file(name, handle)
            return
        if step.entry.kind != "absent":
            self._empty(path)
        try:
            self._remove_folder(path)
        except FileNotFoundError:
            pass
        except OSError:
            if step.entry.kind != "absent":
                raise RestoreRefused(f"{path} is in the way") from None
            self.say.append(f"{path} stays, since something is in it")

    def _remove_folder(self, path: str) -> None:
        self._places.forget(path)
        handle, name = self._writable(path)
        os.rmdir(name, dir_fd=handle)

    def _empty(self, path: str) -> None:
        for entry in sorted(self._saved, key=lambda one: one.path, reverse=True):
            if entry.path.startswith(f"{path}/") and entry.kind != "absent":
                with contextlib.suppress(FileNotFoundError):
                    if entry.kind == "folder":
                        self._remove_folder(entry.path)
                    else:
                        handle, name = self._writable(entry.path)
                        os.unlink(name, dir_fd=handle)

    def _make_folder(self, entry: SavedPath) -> None:
        make_holder(self._places, entry.path)
        handle, name = self._writable(entry.path)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=handle)
        self._places.forget(entry.path)
        self._created.add(entry.path)

    def _write_files(self, steps: list[RestoreStep]) -> None:
        """Synced once, then renamed into place: a file system may otherwise wait at each rename."""
        try:
            for step in steps:
                self._create(self._ready(step)[0], self._temporary(step.entry), step.entry)
            if sum(step.now.found is not None for step in steps) > _FEW:
                sync_filesystem(os.path.dirname(steps[0].entry.path))
            for step in steps:
                self._put(*self._ready(step), step.entry)
        except BaseException:
            for step in steps:
                with contextlib.suppress(OSError):
                    remove_file(self._temporary(step.entry), self._places.split(step.entry.path)[0])
            raise

    def _put(self, handle: int, name: str, entry: SavedPath) -> None:
        os.rename(self._temporary(entry), name, src_dir_fd=handle, dst_dir_fd=handle)
        self._done.add(entry.path)

    def _ready(self, step: RestoreStep) -> tuple[int, str]:
        make_holder(self._places, step.entry.path)
        if step.now.kind in ("absent", step.entry.kind):
            self._check_unchanged(step)
        return self._writable(step.entry.path)

    def _temporary(self, entry: SavedPath) -> str:
        return f".interlock-{self._id}-{self._numbers[entry.path]}"

    def _write_twin(self, step: RestoreStep) -> None:
        entry = step.entry
        if entry.twin in self._rewritten and entry.twin == inode_key(self._places.stat(entry.path)):
            self._done.add(entry.path)  # by its other name
            return
        handle, name = self._ready(step)
        if entry.twin == inode_key(step.now.found):
            self._in_place(handle, name, entry)
            self._rewritten.add(entry.twin)
            self._done.add(entry.path)
            return
        temporary = self._temporary(entry)
        if not self._link_twin(handle, temporary, entry):
            self._create(handle, temporary, entry)
        self._put(handle, name, entry)
        remove_file(temporary, handle)  # two names of one file are not renamed into each other

    def _create(self, handle: int, name: str, entry: SavedPath) -> None:
        with closing_handle(create_file(name, 0o600, handle)) as opened:
            try:
                self._reader.into(opened, entry.sha256, entry.size)
                self._set_metadata(opened, entry)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=handle)
                raise

    def _set_metadata(self, handle: int, entry: SavedPath) -> None:
        found = os.fstat(handle)
        if (found.st_uid, found.st_gid) != entry.owner:
            os.fchown(handle, *entry.owner)
        if stat.S_IMODE(found.st_mode) != entry.mode:
            os.fchmod(handle, entry.mode)
        self._attributes(handle, entry)  # an access list says more than the mode, and comes after it
        os.utime(handle, ns=(entry.mtime_ns, entry.mtime_ns))

    def _attributes(self, target: int | str, entry: SavedPath) -> None:
        """Those that cannot be restored are reported, and keep no content back."""
        if entry.attributes is not None and not write_attributes(target, entry.attributes):
            self.say.append(f"{entry.path} is back without its attributes or access list")

    def _link_twin(self, handle: int, name: str, entry: SavedPath) -> bool:
        """False where no other name is restored already."""
        remove_file(name, handle)
        for other in self._twins.get(entry.twin, ()):
            if other != entry.path and other in self._done:
                there, last = self._places.split(other)
                with contextlib.suppress(OSError):
                    os.link(last, name, src_dir_fd=there, dst_dir_fd=handle, follow_symlinks=False)
                    return True
        return False

    def _in_place(self, handle: int, name: str, entry: SavedPath) -> None:
        """Its other names have to see the content too."""
        flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with closing_handle(os.open(name, flags, dir_fd=handle)) as opened:
            os.ftruncate(opened, 0)
            self._reader.into(opened, entry.sha256, entry.size)
            self._set_metadata(opened, entry)

    def _write_link(self, step: RestoreStep) -> None:
        entry, temporary = step.entry, self._temporary(step.entry)
        make_holder(self._places, entry.path)
        handle, name = self._writable(entry.path)
        remove_file(temporary, handle)
        os.symlink(entry.link, temporary, dir_fd=handle)
        found = os.stat(temporary, dir_fd=handle, follow_symlinks=False)
        if (found.st_uid, found.st_gid) != entry.owner:
            os.chown(temporary, *entry.owner, dir_fd=handle, follow_symlinks=False)
        os.utime(temporary, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=handle, follow_symlinks=False)
        self._put(handle, name, entry)

    def _modes(self, steps: Iterable[RestoreStep]) -> None:
        """Last, and of the deepest folders first: writing into them needs and changes mode and times."""
        for step in sorted(steps, key=lambda one: one.entry.path, reverse=True):
            if step.what in MARKS or step.entry.path in self._created:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    self._mode(step.entry)
        for path, mode in sorted(self._opened.items(), reverse=True):
            with contextlib.suppress(OSError):
                os.chmod(f"/proc/self/fd/{self._places.folder(path)}", mode)

    def _mode(self, entry: SavedPath) -> None:
        handle, name = self._places.split(entry.path)
        with closing_handle(os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=handle)) as opened:
            found = os.fstat(opened)
            if stat.S_ISDIR(found.st_mode) != (entry.kind == "folder") or stat.S_ISLNK(found.st_mode):
                return
            self._opened.pop(entry.path, None)
            if (found.st_uid, found.st_gid) != entry.owner:
                os.chown(f"/proc/self/fd/{opened}", *entry.owner)
            os.chmod(f"/proc/self/fd/{opened}", entry.mode)
            self._attributes(f"/proc/self/fd/{handle}/{name}", entry)
            if entry.path in self._created or entry.kind == "file":
                os.utime(f"/proc/self/fd/{opened}", ns=(entry.mtime_ns, entry.mtime_ns))

    def _writable(self, path: str) -> tuple[int, str]:
        """A folder without write permission gets it for as long as this takes."""
        handle, name = self._places.split(path)
        holder = os.path.dirname(path)
        if os.geteuid() and holder not in self._opened and holder not in self._created:
            found = os.fstat(handle)
            if found.st_uid == os.geteuid() and found.st_mode & 0o300 != 0o300:
                self._opened[holder] = stat.S_IMODE(found.st_mode)
                os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(found.st_mode) | 0o700)
        return handle, name
