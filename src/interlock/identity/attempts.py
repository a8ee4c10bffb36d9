"""Limits failed attempts per key within a time window; kept in the store, so that a restart forgets nothing (OOB-13)."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.ports import Tx

MOST_KEYS = 256  # remembered at most; the one that failed longest ago is dropped first
LONGEST = 3_600.0  # seconds of a lockout, and from its end until the next one is a first one again


class KeyFailures(Struct, frozen=True, array_like=True):
    times: tuple[float, ...] = ()
    strikes: int = 0  # lockouts in a row
    until: float = 0.0

    @property
    def last(self) -> float:
        return max(self.until, *self.times, 0.0)


class Attempts(Struct, frozen=True):
    """Keys are stored as hashes, as people type secrets into the wrong field."""

    setting: str  # the setting that stores them
    most: int = 10
    seconds: float = 60.0
    doubles: bool = False  # each lockout starts the count again, and lasts twice as long as the one before

    def wait(self, tx: Tx, key: str, now: float) -> int:
        """0 when this key may try again now."""
        left = self._load(tx).get(_mark(key), KeyFailures()).until - now
        return int(left) + 1 if 0 < left <= (LONGEST if self.doubles else self.seconds) else 0

    def failed(self, tx: Tx, key: str, now: float) -> int:
        """How many seconds of waiting begin with it."""
        kept, mark = self._load(tx), _mark(key)
        after = self._after(kept.pop(mark, KeyFailures()), now)
        for oldest in sorted(kept, key=lambda one: kept[one].last)[: max(0, len(kept) + 1 - MOST_KEYS)]:
            del kept[oldest]
        self._save(tx, {**kept, mark: after})
        return max(0, int(after.until - now))

    def forget(self, tx: Tx, key: str) -> None:
        kept = self._load(tx)
        if kept.pop(_mark(key), None) is not None:
            self._save(tx, kept)

    def _after(self, before: KeyFailures, now: float) -> KeyFailures:
        times = (*(at for at in before.times if 0 <= now - at < self.seconds), now)[-self.most :]
        if len(times) < self.most:
            return replace(before, times=times)
        if not self.doubles:
            return KeyFailures(times, until=times[0] + self.seconds)
        strikes = 1 + (before.strikes if now - before.until < LONGEST else 0)
        return KeyFailures((), strikes, now + min(self.seconds * 2 ** (strikes - 1), LONGEST))

    def _save(self, tx: Tx, kept: dict[str, KeyFailures]) -> None:
        tx.save_setting(self.setting, msgspec.json.encode(kept).decode())

    def _load(self, tx: Tx) -> dict[str, KeyFailures]:
        try:
            return msgspec.json.decode(tx.setting(self.setting) or "{}", type=dict[str, KeyFailures])
        except ValueError:
            return {}


def _mark(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]
