"""Who hears that something changed? A thread that listens to PostgreSQL, proves that it still does, and connects again when it is cut off."""

from __future__ import annotations

import contextlib
import logging
import math
import select
import socket
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
_WAIT = 0.25  # seconds that the thread listens before it proves the connection again
_FRESH = 1.0  # seconds that a proof lasts
_AWAKE = 5.0  # seconds since anybody asked for a proof, after which it only listens
_ASLEEP = 60.0  # seconds that it does so at most
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
        self._asked = -math.inf  # when somebody wanted a proof
        self._asleep = False
        self._bell, self._ring = socket.socketpair()
        self._ring.setblocking(False)

    def add(self, changed: Callable[[str], None]) -> None:
        """Returns when changes are heard; the first listener starts the thread. Raises StoreError where that fails."""
        self._listeners.append(changed)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
            self._thread.start()
        if not self._ready.wait(10):
            raise StoreError("PostgreSQL: nobody can listen for changes")

    def fresh(self) -> bool:
        """Whether what was announced a second ago has been told, as far as anybody can know; asking keeps the proofs coming."""
        self._asked = now = time.monotonic()
        if self._asleep:
            self._wake()
        return now - self._proved <= _FRESH

    def close(self) -> None:
        self._end.set()
        self._wake()
        if self._thread is threading.current_thread():
            return
        if self._thread is not None:
            self._thread.join()
        self._bell.close()
        self._ring.close()

    def _wake(self) -> None:
        with contextlib.suppress(OSError):  # it has been rung already, or nobody is there any more
            self._ring.send(b"!")

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
            for note in raw.notifies(timeout=0):
                self._tell(note.payload)
            self._proved = begun
            self._rest(raw)

    def _rest(self, raw: psycopg.Connection[Any]) -> None:
        """Until PostgreSQL says something, somebody rings, or it is time for another proof."""
        self._asleep = True  # before the look at who asked: whoever asks later sees it, and rings
        awake = time.monotonic() - self._asked < _AWAKE
        heard = select.poll()
        heard.register(raw.fileno(), select.POLLIN)
        heard.register(self._bell, select.POLLIN)
        self._asleep = not awake
        ready = heard.poll(1000 * (_WAIT if awake else _ASLEEP))
        self._asleep = False
        if any(file == self._bell.fileno() for file, _ in ready):
            self._bell.recv(1024)

    def _tell(self, payload: str) -> None:
        id = original(payload)
        for listener in self._listeners:
            try:
                listener(id)
            except Exception:
                _LOG.exception("a listener failed for %r", id)
