"""Formats times for the wire: ISO 8601 in UTC (EP-12), and spans in seconds; reads no clock."""

from __future__ import annotations

import math
from functools import lru_cache


def iso(seconds: float) -> str:
    """`2026-01-28T12:05:00.250Z`, with milliseconds always, so that times sort as text."""
    whole, milli = divmod(round(seconds * 1000), 1000)
    days, rest = divmod(whole, 86_400)
    year, month, day = _civil(days)
    hour, minute, second = rest // 3600, rest // 60 % 60, rest % 60
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}Z"


def milliseconds_to_seconds(milliseconds: float) -> float:
    """Milliseconds in seconds, to the millisecond; an int where they are whole."""
    whole, rest = divmod(math.ceil(milliseconds - 1e-3), 1000)  # a clock's last digit is no millisecond
    return whole if not rest else whole + rest / 1000


def seconds_left(until: float, now: float) -> float:
    """How long until then, to the millisecond; 0 when it has come."""
    return milliseconds_to_seconds(max(0.0, until - now) * 1000)


@lru_cache(maxsize=64)
def _civil(days: int) -> tuple[int, int, int]:
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year_of_era + era * 400 + (month <= 2), month, day
