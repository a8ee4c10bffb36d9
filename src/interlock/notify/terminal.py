"""Prints one line in the daemon's own terminal when somebody has to answer or should look; never a code."""

from __future__ import annotations

import io
import select
from typing import TextIO

from interlock.approvals.display import display_action
from interlock.config.channels import ALERT, BLOCK, CHALLENGE, HELD
from interlock.notify import HEADINGS, clean_line, who
from interlock.records import Challenge, Ticket

TITLE = 200  # characters of an action


class TerminalLine:
    """Prints in the terminal that the daemon was started in; never waits for a stopped terminal."""

    name = "terminal"

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        said = _line(event, about, words)
        if said and _takes(self._out):
            self._out.write(f"interlock: {said}\n")
            self._out.flush()


def _line(event: str, about: Ticket | Challenge | None, words: str) -> str:
    """The line for an event; empty for one that needs no attention."""
    if event == HELD and isinstance(about, Ticket):
        title = clean_line(display_action(about.action, about.findings, about.title).lead)
        title = title if len(title) <= TITLE else f"{title[: TITLE - 1]}…"
        return f"{who(about.agent)} {HEADINGS[HELD]}: {title}: interlock show {about.id}"
    return clean_line(words) if event in (ALERT, BLOCK, CHALLENGE) else ""


def _takes(out: TextIO) -> bool:
    """Whether a line can be written now: a stopped terminal (Ctrl-S) must not delay a decision."""
    try:
        return bool(select.select([], [out.fileno()], [], 0)[1])
    except io.UnsupportedOperation:  # not a file
        return True
