"""Who can change a file? What guards an agent must be root's alone, and so must every folder on the way to it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path


def loose(path: Path) -> str:
    """Why somebody else than root could change what stands here, in words; nothing where nobody can. Links are followed, each on its way."""
    for place in _way(path):
        try:
            found = place.lstat()
        except OSError as error:
            return f"{place}: {error.strerror}"
        if why := _owned(place, found):
            return why
    return ""


def reachable(path: Path) -> str:
    """Why another user could not run what stands here; nothing where anybody can."""
    for place in _way(path):
        try:
            if not stat.S_ISLNK(place.lstat().st_mode) and not place.stat().st_mode & stat.S_IXOTH:
                return f"{place} is closed to other users"
        except OSError as error:
            return f"{place}: {error.strerror}"
    return ""


def loose_inside(folder: Path) -> str:
    """The same for everything below a folder."""
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            place = Path(root, name)
            if why := _owned(place, place.lstat()):
                return why
    return ""


def _owned(place: Path, found: os.stat_result) -> str:
    if found.st_uid != 0:
        return f"{place} belongs to user {found.st_uid}, not to root"
    if stat.S_ISLNK(found.st_mode):
        return ""
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX  # nobody can move what is root's in it
    writers = found.st_mode & (0o002 if found.st_gid == 0 else 0o022)
    return f"{place} can be written by others than root" if writers and not sticky else ""


def _way(path: Path) -> Iterator[Path]:
    """The path, what is above it, and wherever links on it lead."""
    seen: set[Path] = set()
    waiting = [Path(os.path.abspath(path))]
    while waiting and len(seen) < 256:
        place = waiting.pop()
        for step in (*reversed(place.parents), place):
            if step in seen:
                continue
            seen.add(step)
            yield step
            if step.is_symlink():
                waiting.append(Path(os.path.abspath(step.parent / os.readlink(step))))
