"""Formats times for a person at this machine: the clock here, how long ago, how long until."""

from __future__ import annotations

import time
from datetime import datetime


def clock(moment: object) -> str:
    """The time of day here; with the date where it is not today."""
    if not (seconds := moment_seconds(moment)):
        return ""
    then = datetime.fromtimestamp(seconds)
    return then.strftime("%H:%M:%S" if then.date() == datetime.now().date() else "%Y-%m-%d %H:%M:%S")


def ago(moment: object) -> str:
    if not (seconds := moment_seconds(moment)):
        return ""
    apart = seconds - time.time()
    return f"in {format_span(apart)}" if apart > 0 else f"{format_span(-apart)} ago"


def format_span(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def moment_seconds(moment: object) -> float | None:
    """Seconds since 1970 of an ISO time, or of a number."""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return float(moment)
    try:
        return datetime.fromisoformat(str(moment)).timestamp()
    except ValueError:
        return None
