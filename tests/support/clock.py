"""A clock whose time tests move."""

from __future__ import annotations


class TestClock:
    """Stands still until `forward` moves it."""

    __test__ = False

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def forward(self, seconds: float) -> None:
        """So many seconds later."""
        self.time += seconds
