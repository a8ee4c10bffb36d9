"""Read-only inspection of an action's real targets; here its bounds in time, entries and bytes, and bounded reads of regular files."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from typing import BinaryIO

from msgspec import Struct

MILLISECONDS = 300
GRACE = 0.2  # seconds after its budget in which an inspection can report by itself that it took too long
ENTRIES = 100_000
BYTES = 256 << 20  # that are read to compare them
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
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


def open_regular(path: str, links: bool = False) -> BinaryIO:
    """Opens a regular file, through links only if told to; opens no device, FIFO or socket, and never waits for one. Raises OSError and Unclear."""
    if stat.S_ISREG(os.stat(path, follow_symlinks=links).st_mode):
        # It may have been replaced since: O_NONBLOCK opens a FIFO without waiting, and the open file is checked again.
        handle = os.open(path, _FLAGS if links else _FLAGS | os.O_NOFOLLOW)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return os.fdopen(handle, "rb")
        os.close(handle)
    raise Unclear(f"{os.path.basename(path)} is no ordinary file")


def read_contents(path: str, budget: Budget, most: int) -> bytes:
    """The whole content of a regular file of at most `most` bytes; raises OSError, and Unclear for anything else."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise Unclear(f"{os.path.basename(path)} is too large")
        budget.read(size)
        data = file.read(size + 1)
    if len(data) != size:
        raise Unclear(f"{os.path.basename(path)} changes while it is read")
    return data


def blob_id(path: str, found: os.stat_result, budget: Budget) -> bytes | None:
    """The Git object id of the content as it stands on the disk; None where it changes meanwhile or cannot be read."""
    if stat.S_ISLNK(found.st_mode):
        target = os.readlink(os.fsencode(path))
        return hashlib.sha1(b"blob %d\0" % len(target) + target, usedforsecurity=False).digest()
    whole, left = hashlib.sha1(b"blob %d\0" % found.st_size, usedforsecurity=False), found.st_size
    try:
        with open_regular(path) as file:
            while left >= 0 and (part := file.read(min(left + 1, _PART))):
                budget.read(len(part))
                whole.update(part)
                left -= len(part)
    except (OSError, Unclear):
        return None
    return whole.digest() if left == 0 else None
