"""Reads the state of a path, and of Git's own files, in a form that can be compared with the saved one."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from interlock.impact import Budget, Unclear
from interlock.impact.git import Repository, parse_index
from interlock.snapshots.contents import hash_file
from interlock.snapshots.folder import Attributes, FolderHandles, attributes, closing_handle
from interlock.snapshots.manifest import SavedPath

_LARGEST = 64 << 20  # bytes of a file of Git
_KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


class PathState(Struct, frozen=True):
    kind: str  # as an entry has it, or "other"
    mode: int = 0
    size: int = 0
    sha256: str = ""
    link: str = ""
    found: os.stat_result | None = None
    attributes: Attributes = ()


def state_key(one: PathState | SavedPath) -> list[Any]:
    """As the note of a settled action has it; without attributes where there are none."""
    mode = one.mode if one.kind != "link" else 0
    more = [[list(pair) for pair in one.attributes]] if one.attributes else []
    return [one.kind, mode, one.size, one.sha256, one.link, *more]


def now(places: FolderHandles, path: str) -> PathState:
    """Raises Unclear for a path that changes while it is read."""
    places.budget.entry()
    found = places.stat(path)
    if found is None:
        return PathState("absent")
    kind, mode = _KINDS.get(stat.S_IFMT(found.st_mode), "other"), stat.S_IMODE(found.st_mode)
    if kind == "link":
        return PathState(kind, mode, link=places.link(path), found=found)
    if kind == "other":
        return PathState(kind, mode, found=found)
    size, sha = 0, ""
    if kind == "file":
        with closing_handle(places.open_file(path)) as opened:
            sha, size = hash_file(opened, places.budget)
        if size != found.st_size:
            raise Unclear(f"{os.path.basename(path)} changes while it is read")
    handle, name = places.split(path)
    return PathState(kind, mode, size, sha, found=found, attributes=attributes(f"/proc/self/fd/{handle}/{name}"))


def walk_below(places: FolderHandles, path: str) -> Iterator[str]:
    todo = [path]
    while todo:
        at = todo.pop()
        for name in places.names(at):
            places.budget.entry()
            full = f"{at}/{name}"
            found = places.stat(full)
            if found is not None and stat.S_ISDIR(found.st_mode):
                todo.append(full)
            yield full


def inode_key(found: os.stat_result | None) -> str:
    """As a manifest entry has them; empty for anything but a regular file."""
    return f"{found.st_dev}:{found.st_ino}" if found is not None and stat.S_ISREG(found.st_mode) else ""


def is_unchanged(entry: SavedPath, state: PathState) -> bool:
    """Apart from mode, attributes and times."""
    return (entry.kind, entry.size, entry.sha256, entry.link) == (state.kind, state.size, state.sha256, state.link)


def read_git_file(places: FolderHandles, path: str) -> bytes:
    """Empty where it is missing."""
    if places.stat(path) is None:
        return b""
    with open(places.open_file(path), "rb") as given:
        data = given.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise Unclear("a file of the repository is too large")
    return data


def ref_value(repository: Repository, name: str) -> str:
    return (repository.history.ref(name) or b"").hex()


def index_listing(data: bytes, budget: Budget) -> dict[str, tuple[int, bytes, bool]]:
    """Empty for no bytes."""
    try:
        entries = parse_index(data, (0, 0), budget).entries if data else {}
    except (ValueError, IndexError, struct.error):
        raise Unclear("the index of the repository cannot be read") from None
    return {path: (entry.mode, entry.oid, entry.trusted) for path, entry in entries.items()}
