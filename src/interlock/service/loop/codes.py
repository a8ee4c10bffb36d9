"""Which codes has this process shown? A row that is edited behind its back makes no other code right."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from interlock.core.records import Approval

MOST = 1_000  # codes; the oldest go first


@dataclass(frozen=True, slots=True)
class Release:
    """What a code frees when it comes back: a block, or one held step; signed by the operator who had it shown."""

    channel: str
    by: str = ""  # empty where a channel showed it that takes no sign-in
    lift: str = ""  # a signed order
    approval: Approval | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One code that a person was shown, as its hash."""

    hash: str
    expires_at: float
    release: Release = field(repr=False)


class Codes:
    """What one process remembers of codes; the codes themselves are not in it."""

    def __init__(self) -> None:
        self._shown: dict[str, Shown] = {}  # by the challenge's id
        self._agreed: dict[str, float] = {}  # ticket -> until when a code that nobody signed for frees it
        self._issued: dict[str, float] = {}  # challenges that channels have not been told of, and since when
        self._lock = threading.Lock()

    def show(self, challenge: str, shown: Shown) -> None:
        """Replaces the code that was shown before."""
        with self._lock:
            self._shown.pop(challenge, None)
            self._shown[challenge] = shown
            while len(self._shown) > MOST:
                self._shown.pop(next(iter(self._shown)))

    def shown(self, challenge: str, now: float) -> Shown | None:
        found = self._shown.get(challenge)
        return found if found is not None and now < found.expires_at else None

    def forget(self, challenge: str) -> None:
        """The code was wrong, was used, or counts no more."""
        with self._lock:
            self._shown.pop(challenge, None)

    def agree(self, ticket: str, until: float) -> None:
        """A code from a channel without sign-in came back for this ticket."""
        with self._lock:
            self._agreed[ticket] = until
            while len(self._agreed) > MOST:
                self._agreed.pop(next(iter(self._agreed)))

    def agreed(self, ticket: str, now: float) -> bool:
        return now < self._agreed.get(ticket, 0.0)

    def issue(self, challenge: str, now: float) -> None:
        """To be told to people as soon as it is on disk."""
        with self._lock:
            self._issued.setdefault(challenge, now)

    def issued(self) -> dict[str, float]:
        """What people have not been told."""
        with self._lock:
            return dict(self._issued)

    def told(self, challenge: str) -> None:
        with self._lock:
            self._issued.pop(challenge, None)
