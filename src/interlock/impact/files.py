"""Opens regular files and nothing else: scripts and project files, bounded, the latter cached; resolves paths link by link as the kernel would."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import BinaryIO

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.shell import MAX_SCRIPT
from interlock.policy.load import MOST, NAME, ProjectFile
from interlock.ports import Access

MAX_BYTES = MAX_SCRIPT
MAX_HASHED = 1 << 26
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_VIRTUAL = ("/proc/", "/sys/", "/dev/")  # made by the kernel as they are read
_FIRST_LINE = 80  # a shell takes a file for a program when there is a NUL in the first line, of which it reads so much


class Unclear(Exception):
    """The state found is ambiguous, so that its loss stays unknown."""


def open_regular(path: str, links: bool = False) -> BinaryIO:
    """Opens a regular file, no device, FIFO or socket, and never waits for one; raises OSError and Unclear."""
    if stat.S_ISREG(os.stat(path, follow_symlinks=links).st_mode):
        # It may have been replaced since: O_NONBLOCK opens a FIFO without waiting, and the open file is checked again.
        handle = os.open(path, _FLAGS if links else _FLAGS | os.O_NOFOLLOW)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
    raise Unclear(f"{os.path.basename(path)} is no ordinary file")


def read_text(path: str) -> str | None:
    """None for anything that is no ordinary file or no text; longer than MAX_BYTES when it was cut."""
    data = read_bytes(path, MAX_BYTES)
    if data is None or b"\0" in data[:_FIRST_LINE].split(b"\n", 1)[0]:
        return None
    if len(data) <= MAX_BYTES:
        return decode(data)
    mark = f"\n#{_mark(path)}"  # at its end a hash of the whole file, in a comment: an approval is for the whole script
    return data.decode("latin-1")[: len(data) - len(mark)] + mark


def _mark(path: str) -> str:
    """Beyond MAX_HASHED bytes, size and modification time stand for the rest."""
    whole, left = hashlib.sha256(), MAX_HASHED
    try:
        with open_regular(path, links=True) as file:
            while left > 0 and (part := file.read(1 << 20)):
                whole.update(part)
                left -= len(part)
            found = os.fstat(file.fileno())
        whole.update(f"{found.st_size} {found.st_mtime_ns if left <= 0 else ''}".encode())
    except (OSError, Unclear) as error:
        whole.update(str(error).encode())
    return whole.hexdigest()


def read_bytes(path: str, limit: int) -> bytes | None:
    """`limit` + 1 at most, of a regular file that the kernel does not make; None for anything else."""
    try:
        with open_regular(path, links=True) as file:
            return file.read(limit + 1) if not os.path.realpath(path).startswith(_VIRTUAL) else None
    except (OSError, ValueError, Unclear):
        return None


def decode(data: bytes) -> str:
    """A stray byte must not keep a script from being read."""
    text = data.replace(b"\0", b"")  # as shells do
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def real_paths(paths: Sequence[tuple[str, bool]], strict: bool = False) -> list[str]:
    """Each flag says whether a link at the path's end is followed; `strict` raises PermissionError for a hidden folder."""
    found = []
    for path, follow in paths:
        head, name = os.path.split(path)
        try:
            whole = follow or name in ("", ".", "..")
            found.append(_realpath(path, strict) if whole else os.path.join(_realpath(head, strict), name))
        except ValueError:  # a NUL: no such path
            found.append(path)
    return found


def _realpath(path: str, strict: bool) -> str:
    if strict:
        try:
            return os.path.realpath(path, strict=True)
        except PermissionError:
            raise
        except OSError:
            pass
    return os.path.realpath(path) if path else path


DEEPEST = 64  # folders above one another


def find_project_files(cwd: str) -> tuple[ProjectFile, ...]:
    """The nearest first; outside a repository only the folder's own counts."""
    if not cwd.startswith("/") or "\0" in cwd:
        return ()
    found: list[ProjectFile] = []
    start = folder = os.path.normpath(cwd)
    for _ in range(DEEPEST):
        if (file := _read_file(os.path.join(folder, NAME))) is not None:
            found.append(file)
        if os.path.lexists(os.path.join(folder, ".git")):
            return tuple(found)
        if folder == "/":
            break
        folder = os.path.dirname(folder)
    return tuple(file for file in found if os.path.dirname(file.path) == start)


def _read_file(path: str) -> ProjectFile | None:
    """A file that exists and cannot be read is a problem, not nothing."""
    problem = f"it is longer than {MOST} bytes"
    try:
        with open_regular(path) as file:
            data = file.read(MOST + 1)
        if len(data) <= MOST:
            return ProjectFile(path, data.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Unclear:
        problem = "it is no ordinary file"
    except OSError as error:
        problem = f"it cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    return ProjectFile(path, problem=problem)


CACHE_SECONDS = 5.0  # of validity, so that the event loop never waits for a disk
MOST_CACHED = 1_000  # folders
ProjectFiles = tuple[ProjectFile, ...]


class NeedsDisk(Exception):
    """A script or a project has to be read, which is not done on the event loop."""


def _refuse_to_read(path: str) -> str | None:
    raise NeedsDisk(path)


class ProjectFileCache(Struct):
    """By principal and folder; one cache for a daemon."""

    found: OrderedDict[tuple[str, str], tuple[float, ProjectFiles]] = field(default_factory=OrderedDict)
    clock: Callable[[], float] = time.monotonic

    def at_once(self, principal: str, access: Access) -> Access:
        """Raises where the disk would be searched."""
        project = partial(self._cached, principal) if access.project is not None else None
        return replace(access, read=_refuse_to_read, project=project)

    def _cached(self, principal: str, cwd: str) -> ProjectFiles:
        at, files = self.found.get((principal, cwd), (-CACHE_SECONDS, ()))
        if self.clock() - at >= CACHE_SECONDS:
            raise NeedsDisk(cwd)
        return files

    def find(self, principal: str, find: Callable[[str], ProjectFiles], cwd: str) -> ProjectFiles:
        files = find(cwd)
        self.found[principal, cwd] = self.clock(), files
        while len(self.found) > MOST_CACHED:
            self.found.popitem(last=False)
        return files
