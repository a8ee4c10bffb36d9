"""Who hears that a ticket changed? A thread that listens to PostgreSQL and connects again when it is cut off."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from interlock.ports import StoreError
from interlock.stores.seam import original

if TYPE_CHECKING:
    import psycopg

CHANNEL = "interlock_ticket"

_LOG = logging.getLogger(__name__)
_WAIT = 0.25  # seconds that the thread listens before it looks whether it should end
_PAUSE = 0.5  # between two tries to connect
_MISSED = "SELECT id FROM tickets ORDER BY opened_at DESC LIMIT 1000"


class Feed:
    """Tells listeners the ids of changed tickets, whichever process changed them."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._listeners: list[Callable[[str], None]] = []
        self._ready = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, changed: Callable[[str], None]) -> None:
        """Returns when changes are heard; the first listener starts the thread. Raises StoreError where that fails."""
        self._listeners.append(changed)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="interlock-feed", daemon=True)
            self._thread.start()
        if not self._ready.wait(10):
            raise StoreError("PostgreSQL: nobody can listen for changes")

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
                    raw.execute(f"LISTEN {CHANNEL}")
                    self._ready.set()
                    if missed:
                        for (id,) in raw.execute(_MISSED).fetchall():
                            self._tell(id)
                    missed = True
                    self._follow(raw)
            except (StoreError, Error) as error:
                _LOG.warning("the feed of changes was cut off: %s", error)
                self._end.wait(_PAUSE)

    def _follow(self, raw: psycopg.Connection[Any]) -> None:
        while not self._end.is_set():
            for note in raw.notifies(timeout=_WAIT):
                self._tell(note.payload)
                if self._end.is_set():
                    break

    def _tell(self, id: str) -> None:
        for listener in self._listeners:
            try:
                listener(original(id))
            except Exception:
                _LOG.exception("a listener failed for ticket %s", id)
