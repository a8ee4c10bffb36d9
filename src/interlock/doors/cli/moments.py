"""Times on the wire <-> words that a person reads and types."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from interlock.doors.cli.operating import USAGE, Stop

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,6})\s*([smhd]?)", re.ASCII)


def seconds_of(moment: object) -> float | None:
    """Seconds since 1970 of an ISO time, or of a number."""
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        return float(moment)
    try:
        return datetime.fromisoformat(str(moment).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


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


def span(text: str) -> int:
    """`90`, `90s`, `30m`, `2h` or `1d` in seconds; refuses anything else."""
    found = _SPAN.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise Stop(f"{text!r} is no time; expected such as 90s, 30m, 2h or 1d", USAGE)
    return int(found[1]) * _UNITS[found[2] or "s"]


def point(text: str) -> float:
    """A time given as `2h` (that long ago) or as ISO 8601, in seconds since 1970."""
    if _SPAN.fullmatch(text.strip()):
        return time.time() - span(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise Stop(f"{text!r} is no time; expected such as 2h (ago) or 2026-01-28T12:00", USAGE) from None
    return given.timestamp()


def utc(seconds: float) -> str:
    """ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
