"""A keeper for another user: every question goes to whoever may become that user, one at a time; no answer means that nothing was kept."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

from interlock.keeper.asked import KIND, MOST, AskedKeeper
from interlock.looker.asking import CannotLook, ask_as
from interlock.looker.warm_child import Busy, Overrun

PATIENCE = 2.0  # seconds in which the helper has to have ended a child that takes too long


class HelpersChild:
    """A child of root's helper, a new one for each question, that has become one user."""

    pid: int | None = None  # it is not this process's

    def __init__(self, place: str, uid: int) -> None:
        self._place, self._uid, self._lock = place, uid, threading.Lock()

    def ask(self, question: Mapping[str, Any], seconds: float, waiting: float) -> Any:
        """The answer; raises Busy, Overrun, OSError and ValueError."""
        if not self._lock.acquire(timeout=waiting):
            raise Busy("too much is asked already")
        began = time.monotonic()
        try:
            return json.loads(ask_as(self._place, self._uid, KIND, question, seconds + PATIENCE, MOST))
        except CannotLook as error:
            if time.monotonic() - began >= seconds:  # it was ended, or could not be
                raise Overrun("no answer in time") from error
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """Nothing of it stays."""


def keepers_of(place: str, users: Mapping[str, int]) -> dict[str, AskedKeeper]:
    """A keeper for each user, by principal; none without a helper."""
    return {principal: AskedKeeper(HelpersChild(place, uid)) for principal, uid in users.items()} if place else {}
