"""The mounts of a sandbox: every path that differs from outside, as pinned, read-only, hidden or let in; of two modes the stricter wins."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

from msgspec import Struct, field


class MountMode(IntEnum):
    """Modes in the order of strictness: of two at one path the higher counts."""

    KEEP = 0  # as outside, but cannot be renamed or removed
    FIX = 1  # read-only
    HIDE = 2  # empty
    LINK = 3  # a link created in a hidden folder


class SandboxMount(Struct, frozen=True):
    path: Path
    how: MountMode
    folder: bool = True
    target: str = ""  # of a link


class SandboxMounts(Struct):
    """The mounts by path; all paths are real ones."""

    mounts: dict[Path, SandboxMount] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # for the person

    def put(self, path: Path, how: MountMode, target: str = "") -> None:
        """Mounts a path, unless a stricter mode is there already; ignores a missing path, except for a link."""
        if how is not MountMode.LINK:
            path = path.resolve()
            if not os.path.exists(path) or str(path) == "/":  # also where it may not be read
                return
        known = self.mounts.get(path)
        if known is None or known.how < how:
            self.mounts[path] = SandboxMount(path, how, path.is_dir(), target)

    def pin(self, path: Path) -> None:
        """Keeps everything that leads to a path from being renamed: each folder on the way becomes a mount, each link is in a fixed folder."""
        for folder, name in _path_steps(path):
            entry = folder / name
            if not os.access(folder, os.W_OK):
                continue
            if entry.is_symlink():
                self._fix_links(folder)
                self.notes.append(f"{entry} is a symbolic link, so nothing new can be created in {folder}")
            elif entry.is_dir():
                self.put(entry, MountMode.HIDE if self._is_hidden(entry) else MountMode.KEEP)

    def _is_hidden(self, path: Path) -> bool:
        """Whether the nearest mount above a path hides it."""
        above = (self.mounts[one] for one in (path, *path.parents) if one in self.mounts)
        nearest = next(above, None)
        return nearest is not None and nearest.how is MountMode.HIDE

    def fix(self, path: Path) -> None:
        """Makes a file or folder read-only, and pins its path."""
        self.pin(path)
        self.put(path, MountMode.FIX)

    def in_order(self) -> list[SandboxMount]:
        """The mounts, outer ones first, so that an inner one is not covered."""
        return sorted(
            self.mounts.values(), key=lambda mount: (mount.how is MountMode.LINK, len(mount.path.parts), mount.path)
        )

    def at(self, path: Path) -> SandboxMount | None:
        return self.mounts.get(path.resolve())

    def _fix_links(self, folder: Path) -> None:
        """Fixes a folder with links: nothing is created or renamed in it, and its files and folders stay writable."""
        self.put(folder, MountMode.FIX)
        for entry in folder.iterdir():
            if not entry.is_symlink() and stat.S_IFMT(entry.lstat().st_mode) in (stat.S_IFDIR, stat.S_IFREG):
                self.put(entry, MountMode.KEEP)


def _path_steps(path: Path) -> Iterator[tuple[Path, str]]:
    """Each step to a path, through every link: the folder, and the name in it."""
    folder, names = Path("/"), list(Path(os.path.abspath(path)).parts[1:])
    for _ in range(255):
        if not names:
            return
        name = names.pop(0)
        if name == "..":
            folder = folder.parent
            continue
        yield folder, name
        entry = folder / name
        if entry.is_symlink():
            target = Path(os.readlink(entry))
            names = [*(target.parts[1:] if target.is_absolute() else target.parts), *names]
            folder = Path("/") if target.is_absolute() else folder
        else:
            folder = entry
