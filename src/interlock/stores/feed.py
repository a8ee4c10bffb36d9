"""Who hears that something changed? A thread that listens to PostgreSQL, proves that it still does, and connects again when it is cut off."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from interlock.ports import Change, StoreError
from interlock.stores.seam import original, plain

if TYPE_CHECKING:
    import psycopg

CHANNEL = "interlock_ticket"
NAME = "interlock-feed"  # what PostgreSQL calls the connection

_LOG = logging.getLogger(__name__)
_WAIT = 0.25  # seconds that the thread listens before it proves the connection and looks whether it should end
_FRESH = 1.0  # seconds that a proof lasts
_PAUSE = 0.5  # between two tries to connect
_MISSED = "SELECT id FROM tickets ORDER BY opened_at DESC LIMIT 1000"


class Feed:
    """Tells listeners what changed, whichever process changed it."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._listeners: list[Callable[[str], None]] = []
        self._ready = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._proved = -math.inf  # all that was announced before this moment has been told

    def add(self, changed: Callable[[str], None]) -> None:
        """Returns when changes are heard; the first listener starts the thread. Raises StoreError where that fails."""
        self._listeners.append(changed)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
            self._thread.start()
        if not self._ready.wait(10):
            raise StoreError("PostgreSQL: nobody can listen for changes")

    def fresh(self) -> bool:
        """Whether what was announced a second ago has been told, as far as anybody can know."""
        return time.monotonic() - self._proved <= _FRESH

    def close(self) -> None:
        self._end.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _serve(self) -> None:
        """Listens until the end; what was missed while it was cut off is told as if it had changed."""
        from psycopg import Error

        missed = False
        while not self._end.is_set():
            try:
                with self._connect() as raw:
                    raw.execute(f"SET application_name = '{NAME}'")
                    raw.execute(f"LISTEN {CHANNEL}")
                    self._ready.set()
                    if missed:
                        self._tell_all(raw)
                    missed = True
                    self._follow(raw)
            except (StoreError, Error) as error:
                self._proved = -math.inf
                _LOG.warning("the feed of changes was cut off: %s", error)
                self._end.wait(_PAUSE)

    def _tell_all(self, raw: psycopg.Connection[Any]) -> None:
        for (id,) in raw.execute(_MISSED).fetchall():
            self._tell(id)
        for change in Change:
            self._tell(plain(change))

    def _follow(self, raw: psycopg.Connection[Any]) -> None:
        while not self._end.is_set():
            begun = time.monotonic()
            raw.execute("SELECT 1")  # PostgreSQL sends what was announced before the answer to this
            self._hear(raw, 0)
            self._proved = begun
            self._hear(raw, _WAIT)

    def _hear(self, raw: psycopg.Connection[Any], seconds: float) -> None:
        for note in raw.notifies(timeout=seconds):
            self._tell(note.payload)
            if self._end.is_set():
                break

    def _tell(self, payload: str) -> None:
        id = original(payload)
        for listener in self._listeners:
            try:
                listener(id)
            except Exception:
                _LOG.exception("a listener failed for %r", id)
