"""The private folder of snapshots: opened without following links, written by renaming, locked against pruning."""

from __future__ import annotations

import base64
import contextlib
import ctypes
import errno
import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from interlock.impact import Budget, Unclear
from interlock.snapshots import parse_snapshot_id

_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
MOST = 256  # folders that are open at a time
Attributes = tuple[tuple[str, str], ...]  # names with their values in base64, sorted
LARGEST_ATTRIBUTES = 65_536  # bytes of one file's
_PREFIX = "user."
_NAMES = frozenset({"system.posix_acl_access", "system.posix_acl_default"})
_NONE = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOSYS})


@contextmanager
def closing_handle(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


class FolderHandles:
    """Handles of folders by their paths, and the budget of their use; a path is absolute and has no `..`."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._open: dict[str, int] = {}
        self._missing: set[str] = set()

    def __enter__(self) -> FolderHandles:
        return self

    def __exit__(self, *error: object) -> None:
        self.forget()

    def folder(self, path: str) -> int:
        """Raises NotADirectoryError for a link or a file on the way."""
        found = self._open.get(path)
        if found is not None:
            return found
        if path in self._missing:
            raise FileNotFoundError(2, "No such file or directory", path)
        if path == "/":
            handle = os.open("/", _FLAGS)
        else:
            try:
                holder, name = self.split(path)
                handle = os.open(name, _FLAGS, dir_fd=holder)
            except FileNotFoundError:
                self._missing.add(path)
                raise
        if len(self._open) >= MOST:
            os.close(self._open.pop(next(iter(self._open))))
        self._open[path] = handle
        return handle

    def split(self, path: str) -> tuple[int, str]:
        holder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise NotADirectoryError(20, "Not a plain path", path)
        return self.folder(holder or "/"), name

    def stat(self, path: str) -> os.stat_result | None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            handle, name = self.split(path)
            return os.stat(name, dir_fd=handle, follow_symlinks=False)
        return None

    def open_file(self, path: str) -> int:
        """Raises OSError for anything but an ordinary file."""
        handle, name = self.split(path)
        opened = os.open(name, READ, dir_fd=handle)
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            os.close(opened)
            raise OSError(22, "no ordinary file", path)
        return opened

    def open_folder(self, path: str) -> int:
        handle, name = self.split(path)
        return os.open(name, READ | os.O_DIRECTORY, dir_fd=handle)

    def names(self, path: str) -> list[str]:
        with closing_handle(self.open_folder(path)) as opened:
            return os.listdir(opened)

    def forget(self, below: str = "") -> None:
        """Before a folder is replaced; without a name, all handles."""
        for path in [one for one in self._open if not below or one == below or one.startswith(f"{below}/")]:
            with contextlib.suppress(OSError):
                os.close(self._open.pop(path))
        self._missing.clear()


def attributes(target: int | str) -> Attributes:
    """A path's last part is not followed; empty where the file system has none."""
    follow = isinstance(target, int)
    try:
        names = [name for name in os.listxattr(target, follow_symlinks=follow) if _is_saved(name)]
    except OSError as error:
        if error.errno not in _NONE:
            raise
        return ()
    found = {name: os.getxattr(target, name, follow_symlinks=follow) for name in names}
    if sum(map(len, found.values())) > LARGEST_ATTRIBUTES:
        raise Unclear("it has too large attributes")
    return tuple(sorted((name, base64.b64encode(value).decode()) for name, value in found.items()))


def write_attributes(target: int | str, wanted: Attributes) -> bool:
    """Sets these and removes others of their kinds; False where that could not be done."""
    try:
        there, given = ({name: base64.b64decode(value) for name, value in one} for one in (attributes(target), wanted))
        set_attributes(target, there, given)
    except (OSError, Unclear):
        return False
    return True


def set_attributes(target: int | str, there: Mapping[str, bytes], wanted: Mapping[str, bytes]) -> None:
    follow = isinstance(target, int)
    for name in there.keys() - wanted.keys():
        os.removexattr(target, name, follow_symlinks=follow)
    for name, value in wanted.items():
        if there.get(name) != value:
            os.setxattr(target, name, value, follow_symlinks=follow)


def check_attributes(given: Attributes) -> None:
    for name, value in given:
        if not _is_saved(name) or len(base64.b64decode(value, validate=True)) > LARGEST_ATTRIBUTES:
            raise ValueError("no attribute that is saved")


def _is_saved(name: str) -> bool:
    return name.startswith(_PREFIX) or name in _NAMES


PARTS = ("objects", "packs", "snapshots", "tmp")
LARGEST_MANIFEST = 64 << 20
_NOFOLLOW = os.O_CLOEXEC | os.O_NOFOLLOW


class RestoreRefused(Exception):
    """Nothing was changed; the message says why."""


class SnapshotFolder(Struct, frozen=True):
    path: str
    guarded: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: str, guarded: str = "") -> SnapshotFolder:
        """For its user alone; refuses one of another user."""
        os.makedirs(path, mode=0o700, exist_ok=True)
        real = os.path.realpath(path)
        for place in (real, *(f"{real}/{part}" for part in PARTS)):
            with contextlib.suppress(FileExistsError):
                os.mkdir(place, 0o700)
            found = os.lstat(place)
            if found.st_uid != os.geteuid() or stat.S_ISLNK(found.st_mode):
                raise RestoreRefused("the folder of the snapshots is somebody else's")
            if found.st_mode & 0o077:
                os.chmod(place, 0o700)
        return cls(real, (real, os.path.realpath(guarded)) if guarded else (real,))

    def is_own(self, path: str) -> bool:
        """Whether a path is Interlock's own, or holds it."""
        given = f"{path.rstrip('/')}/"
        return any(given.startswith(f"{one}/") or f"{one}/".startswith(given) for one in self.guarded)

    def place(self, id: str, ending: str = "json") -> str:
        return f"{self.path}/snapshots/{parse_snapshot_id(id)}.{ending}"

    def pack(self, id: str) -> str:
        return f"{self.path}/packs/{parse_snapshot_id(id)}.pack"

    def object(self, sha: str) -> str:
        return f"{self.path}/objects/{sha[:2]}/{sha[2:]}"

    def temporary(self, name: str) -> str:
        return f"{self.path}/tmp/{os.getpid()}.{name}"

    @contextmanager
    def locked(self, name: str, exclusive: bool = False, wait: bool = True) -> Iterator[None]:
        """Raises RestoreRefused where it would have to wait and must not."""
        flags, how = os.O_RDWR | os.O_CREAT | _NOFOLLOW, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        with closing_handle(os.open(f"{self.path}/{name}", flags, 0o600)) as handle:
            try:
                fcntl.flock(handle, how | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                raise RestoreRefused("another one is at work on the snapshots") from None
            yield

    def write(self, place: str, body: Mapping[str, Any]) -> str:
        """All of it or nothing; returns the digest."""
        data = json.dumps(body, separators=(",", ":")).encode()
        temporary = self.temporary(os.path.basename(place))
        with open(create_file(temporary, 0o400), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.rename(temporary, place)
        with closing_handle(os.open(os.path.dirname(place), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as handle:
            os.fsync(handle)
        return hashlib.sha256(data).hexdigest()

    def read(self, place: str) -> tuple[Any, str]:
        """Raises RestoreRefused for a damaged file, FileNotFoundError for none."""
        with open(os.open(place, READ), "rb") as given:
            data = given.read(LARGEST_MANIFEST + 1)
        if len(data) > LARGEST_MANIFEST:
            raise RestoreRefused("the manifest of the snapshot is too long")
        try:
            return json.loads(data), hashlib.sha256(data).hexdigest()
        except ValueError:
            raise RestoreRefused("the manifest of the snapshot is damaged") from None


def create_file(path: str, mode: int, dir_fd: int | None = None) -> int:
    """A handle on a new file, in place of one that a killed process left behind."""
    remove_file(path, dir_fd)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW, mode, dir_fd=dir_fd)


def remove_file(path: str, dir_fd: int | None = None) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path, dir_fd=dir_fd)


def sync_filesystem(folder: str) -> None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with contextlib.suppress(OSError), closing_handle(os.open(folder, flags)) as handle:
        ctypes.CDLL(None).syncfs(handle)
