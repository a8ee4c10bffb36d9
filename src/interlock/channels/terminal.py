"""A line in the daemon's own terminal when an agent waits for a code; the code is never in it."""

from __future__ import annotations

from typing import TextIO

from interlock.core.excerpt import visible
from interlock.core.records import Challenge, Ticket


class TerminalLine:
    """Whoever started the daemon in a terminal sees there whom it stopped."""

    name = "terminal"

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        if event == "challenge":
            self._out.write(f"interlock: {visible(words)}\n")
            self._out.flush()
