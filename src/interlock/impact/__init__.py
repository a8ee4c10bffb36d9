"""Read-only inspection of an action's real targets; here its bounds in time, entries and bytes, and bounded reads of regular files."""

from __future__ import annotations

import hashlib
import os
import stat
import time

from msgspec import Struct

from interlock.impact.files import Unclear as Unclear
from interlock.impact.files import open_regular

MILLISECONDS = 300
GRACE = 0.2  # seconds after its budget in which an inspection can report by itself that it took too long
ENTRIES = 100_000
BYTES = 256 << 20  # that are read to compare them
_PART = 1 << 18


class BudgetExceeded(Exception):
    """The message says whether by time, entries or bytes."""


PROBLEMS = (BudgetExceeded, Unclear, OSError, RecursionError, ValueError, KeyError, TypeError, MemoryError)


def problem_words(error: BaseException, done: str) -> str:
    if isinstance(error, OSError):
        return f"it cannot be {done} ({error.strerror or type(error).__name__})"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return "it cannot be read" if isinstance(error, (ValueError, KeyError, TypeError, MemoryError)) else str(error)


class Budget(Struct):
    until: float
    entries: int = ENTRIES
    bytes: int = BYTES

    @classmethod
    def of(cls, milliseconds: int = MILLISECONDS, entries: int = ENTRIES) -> Budget:
        return cls(time.monotonic() + milliseconds / 1000, entries)

    def entry(self, count: int = 1) -> None:
        self.entries -= count
        if self.entries < 0:
            raise BudgetExceeded("there is too much of it")
        self.tick()

    def read(self, count: int) -> None:
        self.bytes -= count
        if self.bytes < 0:
            raise BudgetExceeded("it is too large")
        self.tick()

    def tick(self) -> None:
        if time.monotonic() > self.until:
            raise BudgetExceeded("it takes too long")


def read_contents(path: str, budget: Budget, most: int) -> bytes:
    """At most `most` bytes; raises OSError, and Unclear for anything but a regular file."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise Unclear(f"{os.path.basename(path)} is too large")
        budget.read(size)
        data = file.read(size + 1)
    if len(data) != size:
        raise Unclear(f"{os.path.basename(path)} changes while it is read")
    return data


def object_id(kind: bytes, data: bytes) -> bytes:
    """As Git names an object."""
    return hashlib.sha1(b"%s %d\0" % (kind, len(data)) + data, usedforsecurity=False).digest()


def blob_id(path: str, found: os.stat_result, budget: Budget) -> bytes | None:
    """None where the content changes meanwhile or cannot be read."""
    if stat.S_ISLNK(found.st_mode):
        return object_id(b"blob", os.readlink(os.fsencode(path)))
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
