"""How often did an agent enter a wrong code, and how long must it wait? Kept in the store, so that a restart forgets nothing (OOB-13)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from interlock.ports import Tx
from interlock.service.attempts import MOST_KEYS, mark_of

SETTING = "challenge.failures"
MOST = 10  # failures …
WINDOW = 60.0  # … in so many seconds; then nothing is looked at for as long, and twice as long each time after
LONGEST = 3_600.0
FORGET = 3_600.0  # seconds after the last lockout, until the next one is a first one again


@dataclass(frozen=True, slots=True)
class Failing:
    """The failures of one principal."""

    times: tuple[float, ...] = ()
    strikes: int = 0
    until: float = 0.0

    def after(self, now: float) -> Failing:
        """With one more failure."""
        times = (*(at for at in self.times if 0 <= now - at < WINDOW), now)
        if len(times) < MOST:
            return replace(self, times=times)
        strikes = 1 + (self.strikes if now - self.until < FORGET else 0)
        return Failing((), strikes, now + min(WINDOW * 2 ** (strikes - 1), LONGEST))

    @property
    def last(self) -> float:
        return max(self.until, *self.times, 0.0)


def wait(tx: Tx, principal: str, now: float) -> int:
    """How many seconds until a code of this principal is looked at again; 0 when it is now."""
    left = _kept(tx).get(mark_of(principal), Failing()).until - now
    return int(left) + 1 if 0 < left <= LONGEST else 0


def failed(tx: Tx, principal: str, now: float) -> int:
    """Counts one more failure; how many seconds of waiting begin with it."""
    kept, mark = _kept(tx), mark_of(principal)
    after = kept.pop(mark, Failing()).after(now)
    for oldest in sorted(kept, key=lambda one: kept[one].last)[: max(0, len(kept) + 1 - MOST_KEYS)]:
        del kept[oldest]
    _keep(tx, {**kept, mark: after})
    return int(after.until - now) if not after.times else 0


def cleared(tx: Tx, principal: str) -> None:
    """The right code was entered."""
    kept = _kept(tx)
    if kept.pop(mark_of(principal), None) is not None:
        _keep(tx, kept)


def _keep(tx: Tx, kept: dict[str, Failing]) -> None:
    rows = {mark: [list(one.times), one.strikes, one.until] for mark, one in kept.items()}
    tx.save_setting(SETTING, json.dumps(rows, separators=(",", ":")))


def _kept(tx: Tx) -> dict[str, Failing]:
    """A row that was garbled counts for nothing."""
    try:
        rows: dict[str, Any] = json.loads(tx.setting(SETTING) or "{}")
        return {
            str(mark): Failing(tuple(float(at) for at in times), int(strikes), float(until))
            for mark, (times, strikes, until) in rows.items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}
