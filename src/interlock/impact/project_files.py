"""Finds the project files of a folder, up to the root of its repository; regular files only, links are not followed."""

from __future__ import annotations

import os
import stat

from interlock.policy.load import MOST, NAME, ProjectFile

DEEPEST = 64  # folders above one another
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_REPOSITORY = ".git"


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
        if _exists(os.path.join(folder, _REPOSITORY)):
            return tuple(found)
        if folder == "/":
            break
        folder = os.path.dirname(folder)
    own = os.path.join(os.path.normpath(cwd), NAME)
    return tuple(file for file in found if file.path == own)


def _read_file(path: str) -> ProjectFile | None:
    """The file; None where there is none. A file that exists and cannot be read is a problem, not nothing."""
    try:
        before = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return ProjectFile(path, problem=f"it cannot be inspected: {error.strerror}")
    if not stat.S_ISREG(before.st_mode):
        return ProjectFile(path, problem="it is no ordinary file")
    try:
        handle = os.open(path, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):  # it may have been replaced since
                return ProjectFile(path, problem="it is no ordinary file")
            data = os.read(handle, MOST + 1)
        finally:
            os.close(handle)
        if len(data) > MOST:
            return ProjectFile(path, problem=f"it is longer than {MOST} bytes")
        return ProjectFile(path, data.decode("utf-8"))
    except OSError as error:
        return ProjectFile(path, problem=f"it cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return ProjectFile(path, problem="it is not UTF-8")


def _exists(path: str) -> bool:
    try:
        os.lstat(path)
    except OSError:
        return False
    return True
