"""Times on the wire <-> words that a person reads and types."""

from __future__ import annotations

import re
import time
from datetime import datetime

from interlock.doors.cli.operating import USAGE, Stop

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,6})\s*([smhd]?)", re.ASCII)


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
