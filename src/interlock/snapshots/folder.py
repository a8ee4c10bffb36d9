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
from dataclasses import dataclass
from typing import Any

from interlock.snapshots import parse_snapshot_id

PARTS = ("objects", "packs", "snapshots", "tmp")
MOST = 64 << 20  # bytes of a manifest
_NOFOLLOW = os.O_CLOEXEC | os.O_NOFOLLOW


class RestoreRefused(Exception):
    """It is not done, and nothing was changed; the words say why."""


@dataclass(frozen=True, slots=True)
class SnapshotFolder:
    """Where snapshots are, and what of the machine is Interlock's own."""

    path: str
    guarded: tuple[str, ...] = ()

    @classmethod
    def opened(cls, path: str, guarded: str = "") -> SnapshotFolder:
        """The folder, made where it is missing, and open to its user alone."""
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

    def own(self, path: str) -> bool:
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
    def locked(self, name: str, alone: bool = False, wait: bool = True) -> Iterator[None]:
        """As long as nobody throws away; alone: as long as nobody keeps. Raises Refused where it would have to wait and must not."""
        handle = os.open(os.path.join(self.path, name), os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
        try:
            how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
            try:
                fcntl.flock(handle, how | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise RestoreRefused("another one is at work on the snapshots") from None
            yield
        finally:
            os.close(handle)

    def write(self, place: str, body: Mapping[str, Any]) -> str:
        """A list, all of it or nothing; its digest."""
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
        """A list and its digest; raises Refused where it is none, and FileNotFoundError where there is none."""
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | _NOFOLLOW)
        with open(handle, "rb") as given:
            data = given.read(MOST + 1)
        if len(data) > MOST:
            raise RestoreRefused("the list of the snapshot is too long")
        try:
            return json.loads(data), hashlib.sha256(data).hexdigest()
        except ValueError:
            raise RestoreRefused("the list of the snapshot is damaged") from None


def sync_folder(folder: str) -> None:
    """The names of a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_filesystem(folder: str) -> None:
    """Everything that was written to the file system of a folder is on the disk."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            ctypes.CDLL(None).syncfs(handle)
        finally:
            os.close(handle)
