"""What operators can set about keeping what an action would change: whether, how much at once, how long, how much in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.problems import Problems

KEYS = frozenset({"keep", "files", "bytes", "ms", "days", "total_bytes"})
_LEAST_AND_MOST = {
    "files": (1, 100_000),
    "bytes": (1, 100_000_000_000),
    "ms": (10, 10_000),
    "days": (1, 3_650),
    "total_bytes": (1, 10_000_000_000_000),
}


@dataclass(frozen=True, slots=True)
class UndoSettings:
    """The table `[undo]`."""

    keep: bool = True  # whether anything is kept
    files: int = 5_000  # of one snapshot
    bytes: int = 200_000_000
    ms: int = 300  # that taking it may last
    days: int = 7  # that it is kept
    total_bytes: int = 2_000_000_000  # of all snapshots together; the oldest go first


def undo_of(table: Mapping[str, Any], problems: Problems) -> UndoSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    plain = UndoSettings()
    said = {}
    for key, (least, most) in _LEAST_AND_MOST.items():
        value = problems.number(table, key, ("undo",), least, most, whole=True)
        said[key] = getattr(plain, key) if value is None else int(value)
    return replace(plain, keep=problems.flag(table, "keep", ("undo",), plain.keep), **said)
