"""Does a service want to be left alone? What its answers said about that, until the time is over (RL-01)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.core.quota import ApiLimit
from interlock.core.times import iso
from interlock.doors.adapter.answering import Received, retry_after
from interlock.doors.adapter.failing import Failure

MOST = 86_400.0  # seconds that a service is believed
_EPOCH = 1_000_000_000  # a larger number is a date, a smaller one seconds from now


class Quiet:
    """By service: until when nothing is sent, and what its limit is."""

    def __init__(self) -> None:
        self._until: dict[str, tuple[float, dict[str, Any]]] = {}

    def check(self, service: str) -> None:
        """Raises Failure while the service wants no requests."""
        until, details = self._until.get(service, (0.0, {}))
        wait = until - time.time()
        if wait <= 0:
            return
        told = {**details, "remaining": 0, "resets_at": iso(until), "retry_after_seconds": math.ceil(wait)}
        raise Failure("RATE_LIMIT_EXCEEDED", "The service takes no more requests for now", told)

    def heard(self, service: str, limits: Iterable[ApiLimit], received: Received) -> None:
        """Remembers what an answer said: that there were too many, or that this was the last one."""
        now = time.time()
        if received.status == 429:
            self._quiet(service, now + retry_after(received), {})
        for limit in limits:
            left = received.headers.get(limit.remaining_header.lower(), "") if limit.remaining_header else ""
            if limit.scope == "global" and left.strip() == "0":
                until = _reset(received.headers, limit, now)
                self._quiet(service, until, {"limit": limit.limit, "window": limit.window})

    def _quiet(self, service: str, until: float, details: dict[str, Any]) -> None:
        self._until[service] = (min(until, time.time() + MOST), details)


def _reset(headers: Mapping[str, str], limit: ApiLimit, now: float) -> float:
    said = headers.get(limit.reset_header.lower(), "").strip() if limit.reset_header else ""
    if not said.isdigit() or len(said) > 12:
        return now + 60
    return float(said) if int(said) > _EPOCH else now + int(said)
