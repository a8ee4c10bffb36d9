"""How much do snapshots take up? As counted last, and what was taken since."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Room:
    """One for a process, whatever policy or wall a single call is under."""

    bytes: dict[str, int] = field(default_factory=dict)  # by whose folder it is, as `State.whose` says it
