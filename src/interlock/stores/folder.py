"""Whose state folder is it? One process at a time: the one that holds the folder's lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

from interlock.ports import StoreError


class Lock:
    """Holds `<folder>/lock` until it is closed or the process is gone; a forked child does not hold it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: int | None = None
        lock = weakref.WeakMethod(self._forget)
        os.register_at_fork(after_in_child=lambda: (forget := lock()) and forget())

    def take(self) -> bool:
        """Takes the lock, again where somebody replaced the file; raises StoreError with the holder's pid. Tells whether it was ever signed."""
        if self._file is not None:
            if _same(self._path, self._file):
                return True
            self.close()
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(file)
            raise StoreError(f"{self._path.parent} is in use by process {holder}") from error
        self._file = file
        return os.fstat(file).st_size > 0

    def sign(self) -> None:
        """Writes down whose lock it is."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._forget()

    def _forget(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


def _same(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False


def prepare(folder: Path) -> None:
    """Makes a folder that only its owner can look into."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def sync(folder: Path) -> None:
    """Returns when the folder's list of files is on disk."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
