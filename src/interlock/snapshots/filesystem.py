"""Opens folders step by step without following links, and reads and writes extended attributes."""

from __future__ import annotations

import base64
import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from interlock.impact import Unclear

_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
MOST = 256  # folders that are open at a time
Attributes = tuple[tuple[str, str], ...]  # names with their values in base64, sorted
LARGEST_ATTRIBUTES = 65_536  # bytes of one file's
_PREFIX = "user."
_NAMES = frozenset({"system.posix_acl_access", "system.posix_acl_default"})
_NONE = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOSYS})


class FolderHandles:
    """Handles of folders by their paths; a path is absolute and has no `..`."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._missing: set[str] = set()

    def __enter__(self) -> FolderHandles:
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
        """The status of a path, links not followed; None where nothing exists."""
        try:
            handle, name = self.split(path)
            return os.stat(name, dir_fd=handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open_file(self, path: str) -> int:
        """A handle on an ordinary file; raises OSError for anything else."""
        handle, name = self.split(path)
        opened = os.open(name, _READ, dir_fd=handle)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise OSError(22, "no ordinary file", path)
        return opened

    def names(self, path: str) -> list[str]:
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
        """Closes the handles of a folder and below it, since it is about to be replaced; without a name, all handles."""
        for path in [one for one in self._open if not below or one == below or one.startswith(f"{below}/")]:
            with contextlib.suppress(OSError):
                os.close(self._open.pop(path))
        self._missing.clear()


def attributes(target: int | str) -> Attributes:
    """The attributes of an open file, or of a path whose last part is not followed; none where the file system has none."""
    found = {name: _value(target, name) for name in _attribute_names(target)}
    if sum(map(len, found.values())) > LARGEST_ATTRIBUTES:
        raise Unclear("it has too large attributes")
    return tuple(sorted((name, base64.b64encode(value).decode()) for name, value in found.items()))


def write_attributes(target: int | str, wanted: Attributes) -> bool:
    """Sets these attributes and removes others of their kinds; False where that could not be done."""
    try:
        there = dict(attributes(target))
        for name in there.keys() - dict(wanted).keys():
            os.removexattr(target, name, follow_symlinks=isinstance(target, int))
        for name, value in wanted:
            if there.get(name) != value:
                os.setxattr(target, name, base64.b64decode(value), follow_symlinks=isinstance(target, int))
    except (OSError, Unclear):
        return False
    return True


def parse_attributes(given: Iterable[Any]) -> Attributes:
    """Parses attributes of the kinds that are saved; raises ValueError and TypeError for others."""
    found = tuple((str(name), str(value)) for name, value in given)
    for name, value in found:
        if not _is_saved(name) or len(base64.b64decode(value, validate=True)) > LARGEST_ATTRIBUTES:
            raise ValueError("no attribute that is saved")
    return found


def _is_saved(name: str) -> bool:
    return name.startswith(_PREFIX) or name in _NAMES


def _attribute_names(target: int | str) -> list[str]:
    try:
        return [name for name in os.listxattr(target, follow_symlinks=isinstance(target, int)) if _is_saved(name)]
    except OSError as error:
        if error.errno in _NONE:
            return []
        raise


def _value(target: int | str, name: str) -> bytes:
    return os.getxattr(target, name, follow_symlinks=isinstance(target, int))
