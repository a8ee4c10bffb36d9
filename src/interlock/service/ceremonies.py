"""What was a passkey asked? Each question is for one purpose and one visitor, answered once, within minutes."""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass, field
from typing import Any

from interlock.keys.passkeys import PasskeyRefused

SECONDS = 180.0
MOST = 500  # that wait for an answer at once; the oldest goes first


@dataclass(frozen=True, slots=True)
class Ceremony:
    """One question."""

    kind: str
    challenge: bytes = field(repr=False)
    visitor: str  # its id, or that of a browser that was signed in before; empty for a stranger
    expires_at: float
    about: Any = field(default=None, repr=False)


class Ceremonies:
    """In this process's memory. Those of visitors are kept apart: whoever floods the sign-in page hinders no approval."""

    def __init__(self) -> None:
        self._open: dict[bool, dict[str, Ceremony]] = {False: {}, True: {}}
        self._lock = threading.Lock()

    def begin(self, kind: str, challenge: bytes, visitor: str, now: float, about: Any = None) -> str:
        """Keeps a question; its id leads back to it."""
        id = secrets.token_urlsafe(18)
        with self._lock:
            kept = self._open[bool(visitor)]
            for old in [old for old, one in kept.items() if one.expires_at <= now]:
                del kept[old]
            while len(kept) >= MOST:
                del kept[next(iter(kept))]
            kept[id] = Ceremony(kind, challenge, visitor, now + SECONDS, about)
        return id

    def take(self, id: str, kind: str, visitor: str, now: float) -> Ceremony:
        """The question, which nobody can answer again; refuses one of another kind or visitor, and one that is over."""
        with self._lock:
            found = self._open[bool(visitor)].get(id)
            if found is None or (found.kind, found.visitor) != (kind, visitor):
                raise PasskeyRefused("nobody asked for this, or it was answered already; begin again")
            del self._open[bool(visitor)][id]
        if found.expires_at <= now:
            raise PasskeyRefused("this took too long; begin again")
        return found
