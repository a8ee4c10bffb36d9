"""Folders, opened step by step from the root: no link is followed on the way, so that nothing is read or written anywhere else than a path says."""

from __future__ import annotations

import contextlib
import os
import stat
from types import TracebackType

_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
MOST = 256  # folders that are open at a time


class Places:
    """Handles of folders by their paths; a path is absolute and has no `..`."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._missing: set[str] = set()

    def __enter__(self) -> Places:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:  # fmt: skip
        self.forget()

    def folder(self, path: str) -> int:
        """The handle of a folder; raises NotADirectoryError where a part is a link or a file, and FileNotFoundError where one is missing."""
        found = self._open.get(path)
        if found is not None:
            return found
        if path in self._missing:
            raise FileNotFoundError(2, "No such file or directory", path)
        if path == "/":
            handle = os.open("/", _FLAGS)
        else:
            holder, _, name = path.rpartition("/")
            if name in ("", ".", ".."):
                raise NotADirectoryError(20, "Not a plain path", path)
            try:
                handle = os.open(name, _FLAGS, dir_fd=self.folder(holder or "/"))
            except FileNotFoundError:
                self._missing.add(path)
                raise
        if len(self._open) >= MOST:
            os.close(self._open.pop(next(iter(self._open))))
        self._open[path] = handle
        return handle

    def split(self, path: str) -> tuple[int, str]:
        """The handle of the folder that something is in, and its name there."""
        holder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise NotADirectoryError(20, "Not a plain path", path)
        return self.folder(holder or "/"), name

    def stat(self, path: str) -> os.stat_result | None:
        """What is there, links not followed; None where nothing is."""
        try:
            handle, name = self.split(path)
            return os.stat(name, dir_fd=handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def reading(self, path: str) -> int:
        """A handle on an ordinary file; raises OSError for anything else."""
        handle, name = self.split(path)
        opened = os.open(name, _READ, dir_fd=handle)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise OSError(22, "no ordinary file", path)
        return opened

    def listed(self, path: str) -> list[str]:
        """The names in a folder."""
        handle, name = self.split(path)
        opened = os.open(name, _READ | os.O_DIRECTORY, dir_fd=handle)
        try:
            return os.listdir(opened)
        finally:
            os.close(opened)

    def link(self, path: str) -> str:
        handle, name = self.split(path)
        return os.readlink(name, dir_fd=handle)

    def forget(self, below: str = "") -> None:
        """Closes what is open of a folder and below it, since it is about to be another one; without a name, everything."""
        for path in [one for one in self._open if not below or one == below or one.startswith(f"{below}/")]:
            with contextlib.suppress(OSError):
                os.close(self._open.pop(path))
        self._missing.clear()
