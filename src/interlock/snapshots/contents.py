"""Stores file contents by SHA-256, small ones in the snapshot's pack, each read back before it counts; databases through SQLite itself."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import urllib.parse
from collections.abc import Iterator
from io import BufferedRandom, BufferedWriter, FileIO

from interlock.impact import Budget, Unclear
from interlock.snapshots.folder import READ, RestoreRefused, SnapshotFolder, closing_handle, create_file, remove_file
from interlock.snapshots.manifest import Manifest, SavedDatabase, SavedPath

SMALL = 1 << 18  # bytes of what goes into the pack
_PART = 1 << 20
_BUFFER = 8 << 20
_FICLONE = 0x40049409


class ContentWriter:
    """Nothing counts before `finish`, and `abandon` removes it all."""

    def __init__(self, folder: SnapshotFolder, id: str, budget: Budget) -> None:
        self._folder, self._id, self._budget = folder, id, budget
        self._place = folder.temporary(f"{id}.pack")
        self._pack = BufferedWriter(FileIO(create_file(self._place, 0o400), "w"), _BUFFER)
        self._size = self._number = 0
        self.pack: dict[str, tuple[int, int]] = {}

    def small(self, data: bytes) -> str:
        sha = hashlib.sha256(data).hexdigest()
        if sha not in self.pack:
            self.pack[sha] = (self._size, len(data))
            self._pack.write(data)
            self._size += len(data)
        return sha

    def large(self, source: int, size: int) -> str:
        """Shares its blocks where the file system can; returns the SHA-256."""
        self._number += 1
        temporary = self._folder.temporary(f"{self._id}.{self._number}")
        with closing_handle(create_file(temporary, 0o400)) as handle:
            sha = self._clone(source, handle) or self._copy(source, handle, size)
            if hash_file(handle, self._budget) != (sha, size):
                raise Unclear("a copy is not what was copied")
            os.fsync(handle)
        place = self._folder.object(sha)
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        os.rename(temporary, place)
        return sha

    def database(self, path: str) -> SavedDatabase:
        """Raises Unclear for a file that is none."""
        found = os.lstat(path)
        with _database_copy(path, self._folder.temporary(f"{self._id}.{self._number}.db"), self._budget) as made:
            size = os.fstat(made.fileno()).st_size
            sha = self.large(made.fileno(), size)
        return SavedDatabase(path, size, sha, found.st_mode & 0o7777, (found.st_uid, found.st_gid))

    def finish(self) -> None:
        self._pack.flush()
        os.fsync(self._pack.fileno())
        for sha, (start, size) in self.pack.items():
            self._budget.tick()
            if hashlib.sha256(os.pread(self._pack.fileno(), size, start)).hexdigest() != sha:
                raise Unclear("a copy is not what was copied")
        self._pack.close()
        os.rename(self._place, self._folder.pack(self._id))

    def abandon(self) -> None:
        with contextlib.suppress(OSError):
            self._pack.close()
        numbered = (self._folder.temporary(f"{self._id}.{number + 1}") for number in range(self._number))
        for path in (self._place, self._folder.pack(self._id), *numbered):
            with contextlib.suppress(OSError):
                os.unlink(path)

    def _clone(self, source: int, handle: int) -> str:
        try:
            fcntl.ioctl(handle, _FICLONE, source)
        except OSError:
            return ""
        return hash_file(handle, self._budget)[0]

    def _copy(self, source: int, handle: int, size: int) -> str:
        found, place = hashlib.sha256(), 0
        while part := os.pread(source, min(_PART, max(size + 1 - place, 0)), place):
            self._budget.read(len(part))
            found.update(part)
            write_all(handle, part)
            place += len(part)
        if place != size:
            raise Unclear("a file changes while it is copied")
        return found.hexdigest()


class ContentReader:
    """Refuses a content that does not match its SHA-256."""

    def __init__(self, folder: SnapshotFolder, manifest: Manifest, budget: Budget) -> None:
        self.folder, self._manifest, self._budget = folder, manifest, budget
        self._pack: int | None = None

    def verify(self) -> None:
        """Refuses a snapshot of which anything is missing or altered."""
        for sha, size in self._manifest.contents.items():
            for _ in self._parts(sha, size):
                pass

    def entry(self, one: SavedPath) -> bytes:
        """Empty for anything but a file."""
        return b"".join(self._parts(one.sha256, one.size)) if one.kind == "file" else b""

    def into(self, handle: int, sha: str, size: int) -> None:
        """Refuses at its end a content that was altered."""
        for part in self._parts(sha, size):
            write_all(handle, part)

    def database_digest(self, path: str) -> str:
        """Empty where there is none."""
        try:
            with _database_copy(path, self._temporary("now"), self._budget) as made:
                return hashlib.file_digest(made, "sha256").hexdigest()
        except (Unclear, OSError):
            return ""

    def restore_database(self, one: SavedDatabase) -> None:
        """Through SQLite, so that programs that have the database open see it."""
        temporary = self._temporary("back")
        try:
            remove_database(temporary)
            with closing_handle(create_file(temporary, 0o600)) as handle:
                self.into(handle, one.sha256, one.size)
            made = not os.path.lexists(one.path)
            _check_no_link(one.path)
            copy_database(temporary, one.path, self._budget)
            if made:
                os.chmod(one.path, one.mode)
        finally:
            remove_database(temporary)

    def _temporary(self, name: str) -> str:
        return self.folder.temporary(f"{self._manifest.id}.{name}.db")

    def _parts(self, sha: str, size: int) -> Iterator[bytes]:
        packed = sha in self._manifest.pack
        start, length = self._manifest.pack.get(sha, (0, size))
        if length != size:
            raise RestoreRefused("the manifest of the snapshot is damaged")
        handle, end, found = self._open(sha, packed), start + size, hashlib.sha256()
        try:
            while start < end:
                part = os.pread(handle, min(_PART, end - start), start)
                if not part:
                    raise RestoreRefused("a content of the snapshot was cut off")
                self._budget.tick()
                found.update(part)
                yield part
                start += len(part)
        finally:
            if not packed:
                os.close(handle)
        if found.hexdigest() != sha:
            raise RestoreRefused("a content of the snapshot was altered")

    def close(self) -> None:
        if self._pack is not None:
            os.close(self._pack)
            self._pack = None

    def _open(self, sha: str, packed: bool) -> int:
        try:
            if not packed:
                return os.open(self.folder.object(sha), READ)
            if self._pack is None:
                self._pack = os.open(self.folder.pack(self._manifest.id), READ)
            return self._pack
        except FileNotFoundError:
            raise RestoreRefused("a content of the snapshot is missing") from None


def write_all(handle: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def hash_file(handle: int, budget: Budget) -> tuple[str, int]:
    found, place = hashlib.sha256(), 0
    while part := os.pread(handle, _PART, place):
        budget.tick()
        found.update(part)
        place += len(part)
    return found.hexdigest(), place


_CHANGE_COUNTERS = ((24, 28), (40, 44), (92, 100))  # write counters and versions: no content


@contextlib.contextmanager
def _database_copy(path: str, temporary: str, budget: Budget) -> Iterator[BufferedRandom]:
    """Without the fields that only count writes, so that equal contents have one SHA-256."""
    try:
        _check_no_link(path)
        copy_database(path, temporary, budget)
        with open(temporary, "r+b") as made:
            if os.fstat(made.fileno()).st_size:
                for start, end in _CHANGE_COUNTERS:
                    os.pwrite(made.fileno(), bytes(end - start), start)
            yield made
    finally:
        remove_database(temporary)


def copy_database(source: str, target: str, budget: Budget) -> None:
    """Page by page; raises Unclear for a file that is none, or stays locked too long."""
    import sqlite3

    with open(os.open(source, READ), "rb") as given:
        if given.read(16) not in (b"SQLite format 3\0", b""):
            raise Unclear("it is no SQLite database")
    read, write = (f"file:{urllib.parse.quote(path, errors='surrogateescape')}?mode=" for path in (source, target))
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{read}ro", uri=True, timeout=0.1)) as old,
            contextlib.closing(sqlite3.connect(f"{write}rwc", uri=True, timeout=5.0)) as new,
        ):
            old.backup(new, pages=256, progress=lambda *_: budget.tick(), sleep=0.01)
    except sqlite3.Error as error:
        raise Unclear(f"the database cannot be copied ({error})") from None


def _check_no_link(path: str) -> None:
    """Refuses a path with a link in it: SQLite would follow it."""
    if os.path.realpath(path) != path:
        raise Unclear("the database is behind a link")


def remove_database(path: str) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        remove_file(f"{path}{ending}")
