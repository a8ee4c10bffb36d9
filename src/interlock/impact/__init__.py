"""Read-only inspection of an action's real targets; here its bounds in time, entries and bytes, and bounded reads of regular files."""

from __future__ import annotations

import hashlib
import os
import stat
import time

from msgspec import Struct

MILLISECONDS = 300
GRACE = 0.2  # seconds after its budget in which an inspection can report by itself that it took too long
ENTRIES = 100_000
BYTES = 256 << 20  # that are read to compare them
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
_PART = 1 << 18


class BudgetExceeded(Exception):
    """An inspection used up its time, entries or bytes; the message says which."""


class Unclear(Exception):
    """The state found is ambiguous, so that its loss stays unknown; the message says why."""


class Budget(Struct):
    """The time, entries and bytes left for one inspection."""

    until: float
    entries: int = ENTRIES
    bytes: int = BYTES

    @classmethod
    def of(cls, milliseconds: int = MILLISECONDS, entries: int = ENTRIES) -> Budget:
        return cls(time.monotonic() + milliseconds / 1000, entries)

    def entry(self, count: int = 1) -> None:
        """Counts inspected entries; raises BudgetExceeded."""
        self.entries -= count
        if self.entries < 0:
            raise BudgetExceeded("there is too much of it")
        self.tick()

    def read(self, count: int) -> None:
        """Counts bytes read; raises BudgetExceeded."""
        self.bytes -= count
        if self.bytes < 0:
            raise BudgetExceeded("it is too large")
        self.tick()

    def tick(self) -> None:
        if time.monotonic() > self.until:
            raise BudgetExceeded("it takes too long")


def read_contents(path: str, budget: Budget, most: int) -> bytes:
    """The whole content of a regular file of at most `most` bytes; raises OSError, and Unclear for anything else."""
    handle = os.open(path, _FLAGS)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise Unclear(f"{os.path.basename(path)} is no ordinary file of its kind")
        parts, left = [], most + 1
        while left > 0 and (part := os.read(handle, min(left, _PART))):
            budget.read(len(part))
            parts.append(part)
            left -= len(part)
    finally:
        os.close(handle)
    if left <= 0:
        raise Unclear(f"{os.path.basename(path)} grows while it is read")
    return b"".join(parts)


def blob_id(path: str, found: os.stat_result, budget: Budget) -> bytes | None:
    """The Git object id of the content as it stands on the disk; None where it changes meanwhile or cannot be read."""
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(os.fsencode(path))
        return hashlib.sha1(b"blob %d\0" % len(target) + target, usedforsecurity=False).digest()
    if not stat.S_ISREG(found.st_mode):
        return None
    try:
        handle = os.open(path, _FLAGS)
    except OSError:
        return None
    try:
        opened = os.fstat(handle)
        if not stat.S_ISREG(opened.st_mode) or opened.st_size != found.st_size:
            return None
        return _hash(handle, opened.st_size, budget)
    finally:
        os.close(handle)


def _hash(handle: int, size: int, budget: Budget) -> bytes | None:
    whole = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    left = size
    while left >= 0:
        most = min(left + 1, _PART)
        part = os.read(handle, most)
        budget.read(len(part))
        whole.update(part)
        left -= len(part)
        if len(part) < most:  # that was all
            break
    return whole.digest() if left == 0 else None
