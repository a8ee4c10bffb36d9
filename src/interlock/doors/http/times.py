"""A time in a query -> seconds since 1970: ISO 8601, or the seconds themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import StringConstraints

from interlock.doors.http.errors import Problem

Moment = Annotated[str, StringConstraints(max_length=40)]


def seconds_of(name: str, text: str) -> float:
    """0 for nothing; refuses what is no time."""
    if not text:
        return 0.0
    try:
        found = (
            float(text) if text.replace(".", "", 1).isascii() and text.replace(".", "", 1).isdigit() else _parsed(text)
        )
    except (ValueError, OverflowError):
        raise Problem(
            "VALIDATION_INVALID_VALUE", f"{name}: expected a time such as 2026-01-28T12:05:00Z, got {text!r:.50}"
        ) from None
    if not 0 <= found < 1e11:
        raise Problem("VALIDATION_INVALID_VALUE", f"{name}: {text!r:.50} is too far away")
    return found


def _parsed(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
