"""Times on the wire as a person reads them: the clock here, how long ago, how long until."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def clock(moment: object) -> str:
    """The time of day here; with the date where it is not today."""
    seconds = seconds_of(moment)
    if not seconds:
        return ""
    then = datetime.fromtimestamp(seconds)
    return then.strftime("%H:%M:%S" if then.date() == datetime.now().date() else "%Y-%m-%d %H:%M:%S")


def ago(moment: object) -> str:
    """How long ago, or in how long."""
    seconds = seconds_of(moment)
    if not seconds:
        return ""
    apart = seconds - time.time()
    return f"in {lasting(apart)}" if apart > 0 else f"{lasting(-apart)} ago"


def lasting(seconds: float) -> str:
    """A span in its largest unit."""
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def seconds_of(moment: object) -> float | None:
    """Seconds since 1970 of an ISO time, or of a number."""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return float(moment)
    try:
        return datetime.fromisoformat(str(moment).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def utc(seconds: float) -> str:
    """ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
