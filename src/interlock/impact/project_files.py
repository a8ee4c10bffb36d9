"""Finds the project files of a folder, up to the root of its repository, and caches them; regular files only, no links."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.impact import Unclear, open_regular
from interlock.policy.load import MOST, NAME, ProjectFile
from interlock.ports import Access

DEEPEST = 64  # folders above one another


def find_project_files(cwd: str) -> tuple[ProjectFile, ...]:
    """The files that count in a folder, the nearest first; outside a repository only the folder's own counts."""
    if not cwd.startswith("/") or "\0" in cwd:
        return ()
    found: list[ProjectFile] = []
    folder = os.path.normpath(cwd)
    for _ in range(DEEPEST):
        file = _read_file(os.path.join(folder, NAME))
        if file is not None:
            found.append(file)
        if os.path.lexists(os.path.join(folder, ".git")):
            return tuple(found)
        if folder == "/":
            break
        folder = os.path.dirname(folder)
    return tuple(file for file in found if os.path.dirname(file.path) == os.path.normpath(cwd))


def _read_file(path: str) -> ProjectFile | None:
    """The file; None where there is none. A file that exists and cannot be read is a problem, not nothing."""
    try:
        with open_regular(path) as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            return ProjectFile(path, problem=f"it is longer than {MOST} bytes")
        return ProjectFile(path, data.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Unclear:
        return ProjectFile(path, problem="it is no ordinary file")
    except OSError as error:
        return ProjectFile(path, problem=f"it cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return ProjectFile(path, problem="it is not UTF-8")


CACHE_SECONDS = 5.0  # of validity, so that the event loop never waits for a disk
MOST_CACHED = 1_000  # folders
ProjectFiles = tuple[ProjectFile, ...]
FindProjectFiles = Callable[[str], ProjectFiles]


class NeedsDisk(Exception):
    """A script or a project has to be read, which is not done on the event loop."""


def _refuse_to_read(path: str) -> str | None:
    raise NeedsDisk(path)


class ProjectFileCache(Struct):
    """The project files found by principal and folder; one cache for a daemon."""

    found: OrderedDict[tuple[str, str], tuple[float, ProjectFiles]] = field(default_factory=OrderedDict)
    clock: Callable[[], float] = time.monotonic

    def at_once(self, principal: str, access: Access) -> Access:
        """An access for the event loop, which waits for no disk: it raises where a script or a project would be searched."""
        project = partial(self._cached, principal) if access.project is not None else None
        return replace(access, read=_refuse_to_read, project=project)

    def _cached(self, principal: str, cwd: str) -> ProjectFiles:
        at, files = self.found.get((principal, cwd), (-CACHE_SECONDS, ()))
        if self.clock() - at >= CACHE_SECONDS:
            raise NeedsDisk(cwd)
        return files

    def find(self, principal: str, find: FindProjectFiles, cwd: str) -> ProjectFiles:
        files = find(cwd)
        self.found[principal, cwd] = self.clock(), files
        while len(self.found) > MOST_CACHED:
            self.found.popitem(last=False)
        return files
