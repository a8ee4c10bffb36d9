"""A repository's index -> what Git tracks: the bytes are read here, and nothing that the repository says is run."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from interlock.looker.budget import Budget, Unclear
from interlock.looker.opened import blob_id, contents

MOST = 64 << 20  # bytes
_FIXED = struct.Struct(">10I20sH")
_EXTENDED, _STAGE, _ASSUMED = 0x4000, 0x3000, 0x8000
_ELSEWHERE = (b"link", b"sdir")  # extensions that say that the rest of the list is elsewhere


@dataclass(frozen=True, slots=True)
class Entry:
    """One tracked path: its content's name, and what the file was like when Git last looked."""

    oid: bytes
    mode: int
    size: int
    mtime: tuple[int, int]
    ctime: tuple[int, int]
    inode: int
    trusted: bool  # nobody told Git to take it for unchanged

    @property
    def submodule(self) -> bool:
        return self.mode & 0o170000 == 0o160000


@dataclass(frozen=True, slots=True)
class Index:
    """What is tracked, by path from the top of the work tree."""

    entries: dict[str, Entry]
    written: tuple[int, int]  # when
    merging: bool = False  # some paths have more than one content

    def clean(self, entry: Entry, path: str, found: os.stat_result, budget: Budget) -> bool:
        """Whether Git takes a file for unchanged, and so leaves it alone: by its times, and else by its content."""
        seen = (found.st_size & 0xFFFFFFFF, _parts(found.st_mtime_ns), _parts(found.st_ctime_ns))
        same = seen == (entry.size, entry.mtime, entry.ctime) and found.st_ino & 0xFFFFFFFF == entry.inode
        if same and entry.trusted and entry.mtime < self.written:
            return True
        return blob_id(path, found, budget) == entry.oid


def read_index(path: str, budget: Budget) -> Index:
    """The index; an empty one where there is none; raises Unclear for a form that is not known here."""
    try:
        written = _parts(os.stat(path).st_mtime_ns)
        data = contents(path, budget, MOST)
    except FileNotFoundError:
        return Index({}, (0, 0))
    try:
        return parsed(data, written, budget)
    except (struct.error, IndexError, ValueError, UnicodeError):
        raise Unclear("the index of the repository cannot be read") from None


def parsed(data: bytes, written: tuple[int, int], budget: Budget) -> Index:
    """The bytes of an index; raises Unclear, and what unpacking raises for bytes that are none."""
    signature, version, count = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise Unclear("the index of the repository has a form that is not known here")
    budget.entry(count)
    entries: dict[str, Entry] = {}
    place, name, merging = 12, b"", False
    for _ in range(count):
        entry, flags, start = _entry(data, place)
        if version == 4:
            cut, start = _number(data, start)
            end = data.index(b"\0", start)
            name = name[: len(name) - cut] + data[start:end]
            place = end + 1
        else:
            end = data.index(b"\0", start)
            name = data[start:end]
            place += (end - place + 8) & ~7
        merging = merging or bool(flags & _STAGE)
        entries[os.fsdecode(name)] = entry
    if any(mark in _ELSEWHERE for mark in _extensions(data, place)):
        raise Unclear("the index of the repository is split or sparse")
    return Index(entries, written, merging)


def _extensions(data: bytes, place: int) -> Iterator[bytes]:
    while place + 8 <= len(data) - 20:  # the last bytes are a checksum
        mark, size = struct.unpack_from(">4sI", data, place)
        yield mark
        place += 8 + size


def _entry(data: bytes, place: int) -> tuple[Entry, int, int]:
    cs, cn, ms, mn, _, inode, mode, _, _, size, oid, flags = _FIXED.unpack_from(data, place)
    start, more = place + _FIXED.size, 0
    if flags & _EXTENDED:
        (more,) = struct.unpack_from(">H", data, start)
        start += 2
    return Entry(oid, mode, size, (ms, mn), (cs, cn), inode, not flags & _ASSUMED and not more & 0x4000), flags, start


def _number(data: bytes, place: int) -> tuple[int, int]:
    """How many bytes of the name before are dropped (version 4)."""
    byte = data[place]
    value, place = byte & 127, place + 1
    while byte & 128:
        byte = data[place]
        value, place = ((value + 1) << 7) | (byte & 127), place + 1
    return value, place


def _parts(nanoseconds: int) -> tuple[int, int]:
    return (nanoseconds // 1_000_000_000) & 0xFFFFFFFF, nanoseconds % 1_000_000_000
