"""What time is it? Nothing moves it; only tests have another clock."""

from __future__ import annotations

import time


class SystemClock:
    """The time."""

    def now(self) -> float:
        return time.time()
