"""Limits failed attempts per key within a time window; kept in the store, so that a restart forgets nothing (OOB-13)."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from interlock.ports import Tx

MOST_KEYS = 256  # remembered at most; the one that failed longest ago is dropped first

Failures = dict[str, list[float]]


class Attempts(Struct, frozen=True):
    """A limit of failures per key and time window; keys are stored as hashes, as people type secrets into the wrong field."""

    setting: str  # the setting that stores them
    most: int = 10
    seconds: float = 60.0

    def wait(self, tx: Tx, key: str, now: float) -> int:
        """Seconds until this key may try again; 0 when it may now."""
        recent = self._recent(tx, now).get(mark_of(key), [])
        return int(self.seconds - (now - recent[-self.most])) + 1 if len(recent) >= self.most else 0

    def failed(self, tx: Tx, key: str, now: float) -> None:
        recent, mark = self._recent(tx, now), mark_of(key)
        times = [*recent.pop(mark, []), now][-self.most :]
        for oldest in sorted(recent, key=lambda one: recent[one][-1])[: max(0, len(recent) + 1 - MOST_KEYS)]:
            del recent[oldest]
        tx.save_setting(self.setting, msgspec.json.encode({**recent, mark: times}).decode())

    def _recent(self, tx: Tx, now: float) -> Failures:
        """The failures within the window; a garbled row counts as none."""
        try:
            found = msgspec.json.decode(tx.setting(self.setting) or "{}", type=Failures)
        except ValueError:
            return {}
        within = {key: [at for at in times if 0 <= now - at < self.seconds] for key, times in found.items()}
        return {key: times for key, times in within.items() if times}


def mark_of(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]
