"""The private folder of snapshots: written by renaming, locked against pruning; Interlock's own files are refused as targets."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from interlock.snapshots import parse_snapshot_id

PARTS = ("objects", "packs", "snapshots", "tmp")
MOST = 64 << 20  # bytes of a manifest
_NOFOLLOW = os.O_CLOEXEC | os.O_NOFOLLOW


class RestoreRefused(Exception):
    """The request was refused and nothing was changed; the message says why."""


class SnapshotFolder(Struct, frozen=True):
    """The folder of snapshots, and the paths that are Interlock's own."""

    path: str
    guarded: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: str, guarded: str = "") -> SnapshotFolder:
        """Opens the folder for its user alone, and creates it where it is missing; refuses one of another user."""
        os.makedirs(path, mode=0o700, exist_ok=True)
        real = os.path.realpath(path)
        for part in ("", *PARTS):
            place = os.path.join(real, part) if part else real
            with contextlib.suppress(FileExistsError):
                os.mkdir(place, 0o700)
            found = os.lstat(place)
            if found.st_uid != os.geteuid() or os.path.islink(place):
                raise RestoreRefused("the folder of the snapshots is somebody else's")
            if found.st_mode & 0o077:
                os.chmod(place, 0o700)
        return cls(real, tuple({real, *([os.path.realpath(guarded)] if guarded else [])}))

    def is_own(self, path: str) -> bool:
        """Whether a path is Interlock's own, or holds it."""
        return any(f"{path}/".startswith(f"{one}/") or f"{one}/".startswith(f"{path.rstrip('/')}/") for one in self.guarded)  # fmt: skip

    def place(self, id: str, ending: str = "json") -> str:
        return os.path.join(self.path, "snapshots", f"{parse_snapshot_id(id)}.{ending}")

    def pack(self, id: str) -> str:
        return os.path.join(self.path, "packs", f"{parse_snapshot_id(id)}.pack")

    def object(self, sha: str) -> str:
        return os.path.join(self.path, "objects", sha[:2], sha[2:])

    def temporary(self, name: str) -> str:
        return os.path.join(self.path, "tmp", f"{os.getpid()}.{name}")

    @contextmanager
    def locked(self, name: str, exclusive: bool = False, wait: bool = True) -> Iterator[None]:
        """Holds a shared lock, or an exclusive one for pruning; raises RestoreRefused where it would have to wait and must not."""
        handle = os.open(os.path.join(self.path, name), os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
        try:
            how = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
            try:
                fcntl.flock(handle, how | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise RestoreRefused("another one is at work on the snapshots") from None
            yield
        finally:
            os.close(handle)

    def write(self, place: str, body: Mapping[str, Any]) -> str:
        """Writes a JSON file, all of it or nothing; returns its digest."""
        data = json.dumps(body, separators=(",", ":")).encode()
        temporary = self.temporary(os.path.basename(place))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o400), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.rename(temporary, place)
        sync_folder(os.path.dirname(place))
        return hashlib.sha256(data).hexdigest()

    def read(self, place: str) -> tuple[Any, str]:
        """Reads a JSON file and its digest; raises RestoreRefused for a damaged one, and FileNotFoundError where there is none."""
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW)
        with open(handle, "rb") as given:
            data = given.read(MOST + 1)
        if len(data) > MOST:
            raise RestoreRefused("the manifest of the snapshot is too long")
        try:
            return json.loads(data), hashlib.sha256(data).hexdigest()
        except ValueError:
            raise RestoreRefused("the manifest of the snapshot is damaged") from None


def sync_folder(folder: str) -> None:
    """Syncs the names in a folder to the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_filesystem(folder: str) -> None:
    """Syncs the file system of a folder to the disk."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            ctypes.CDLL(None).syncfs(handle)
        finally:
            os.close(handle)
