"""How much do snapshots take up? As counted last, and what was taken since."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Room:
    """One for a process, whatever policy or wall a single call is under."""

    bytes: int = 0
