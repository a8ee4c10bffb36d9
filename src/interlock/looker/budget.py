"""How much may one look take? So many milliseconds, entries and bytes; then it ends, and nothing is known."""

from __future__ import annotations

import time
from dataclasses import dataclass

MILLISECONDS = 300
GRACE = 0.2  # seconds behind its budget in which a look can say itself that it took too long
ENTRIES = 100_000
BYTES = 256 << 20  # that are read to compare them


class Spent(Exception):
    """The look took more than it may; the words say of what."""


class Unclear(Exception):
    """What was found has no one meaning, so that nothing is said about it; the words say why."""


@dataclass(slots=True)
class Budget:
    """What is left for one look."""

    until: float
    entries: int = ENTRIES
    bytes: int = BYTES

    @classmethod
    def of(cls, milliseconds: int = MILLISECONDS, entries: int = ENTRIES) -> Budget:
        return cls(time.monotonic() + milliseconds / 1000, entries)

    def entry(self, count: int = 1) -> None:
        """One more thing was looked at; raises Spent."""
        self.entries -= count
        if self.entries < 0:
            raise Spent("there is too much of it")
        self.tick()

    def read(self, count: int) -> None:
        """So many bytes were read; raises Spent."""
        self.bytes -= count
        if self.bytes < 0:
            raise Spent("it is too large")
        self.tick()

    def tick(self) -> None:
        if time.monotonic() > self.until:
            raise Spent("looking takes too long")
