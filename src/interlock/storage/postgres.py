"""A PostgreSQL database shared by replicas: one writing connection, a pool for reads, and a thread that listens for changes."""

from __future__ import annotations

import contextlib
import logging
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from interlock.ports import StoreError, StoreEvent, Tx
from interlock.storage import (
    DatabaseUnusable,
    Row,
    Transaction,
    TransactionConflict,
    storable_text,
    stored_text,
    transaction,
)
from interlock.storage.group_commit import GroupWriter, T, WritingStore, migrated, tell
from interlock.storage.sql import SqlTx

CHANNEL = "interlock_ticket"
NAME = "interlock-feed"  # the connection's application name

_LOG = logging.getLogger(__name__)
_WAIT = 0.25  # seconds between two proofs of the connection
_FRESH = 1.0  # seconds that a proof lasts
_AWAKE = 5.0  # seconds without a request for a proof, after which it only listens
_ASLEEP = 60.0  # seconds that it only listens at most
_PAUSE = 0.5  # between two tries to connect
_MISSED = "SELECT id FROM tickets ORDER BY opened_at DESC LIMIT 1000"


class Feed:
    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._listeners: list[Callable[[str], None]] = []
        self._ready = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._proved = -math.inf  # every announcement before this time was delivered
        self._requested = -math.inf  # time of the last request for a proof
        self._asleep = False
        self._bell, self._ring = socket.socketpair()
        self._ring.setblocking(False)

    def add(self, changed: Callable[[str], None]) -> None:
        self._listeners.append(changed)
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
            self._thread.start()
        if not self._ready.wait(10):
            raise StoreError("PostgreSQL: cannot listen for changes")

    def fresh(self) -> bool:
        """Calling it keeps the proofs running."""
        self._requested = now = time.monotonic()
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
        with contextlib.suppress(OSError):  # rung already, or the thread has ended
            self._ring.send(b"!")

    def _serve(self) -> None:
        missed = False
        while not self._end.is_set():
            try:
                with self._connect() as raw:
                    raw.execute(f"SET application_name = '{NAME}'")
                    raw.execute(f"LISTEN {CHANNEL}")
                    self._ready.set()
                    for id in (
                        [id for (id,) in raw.execute(_MISSED)] + list(map(storable_text, StoreEvent)) if missed else ()
                    ):
                        self._tell(id)
                    missed = True
                    self._follow(raw)
            except (StoreError, psycopg.Error) as error:
                self._proved = -math.inf
                _LOG.warning("the feed of changes was cut off: %s", error)
                self._end.wait(_PAUSE)

    def _follow(self, raw: psycopg.Connection[Any]) -> None:
        while not self._end.is_set():
            begun = time.monotonic()
            raw.execute("SELECT 1")  # PostgreSQL sends pending announcements before the reply
            for note in raw.notifies(timeout=0):
                self._tell(note.payload)
            self._proved = begun
            self._rest(raw)

    def _rest(self, raw: psycopg.Connection[Any]) -> None:
        self._asleep = True  # set before checking for requests: a later one sees it and wakes the thread
        awake = time.monotonic() - self._requested < _AWAKE
        heard = select.poll()
        heard.register(raw.fileno(), select.POLLIN)
        heard.register(self._bell, select.POLLIN)
        self._asleep = not awake
        ready = heard.poll(1000 * (_WAIT if awake else _ASLEEP))
        self._asleep = False
        if any(file == self._bell.fileno() for file, _ in ready):
            self._bell.recv(1024)

    def _tell(self, payload: str) -> None:
        tell(self._listeners, stored_text(payload))


_POOL_SECONDS = 3.0
_READERS = 8
# A transaction sees one snapshot; one that conflicts with a later change is run again.
_WRITE = "BEGIN ISOLATION LEVEL REPEATABLE READ"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_MIGRATE = "BEGIN"  # sees the previous migration as soon as it has the lock
_LOCK = "SELECT pg_advisory_xact_lock(7305792460)"
_SETTINGS = (
    "SET statement_timeout = '5s'",
    "SET lock_timeout = '3s'",
    "SET idle_in_transaction_session_timeout = '30s'",
    "SET client_encoding = 'UTF8'",
    "SET synchronous_commit = 'on'",
)
_PACES = ("SET synchronous_commit = 'on'", "SET synchronous_commit = 'off'")
_ALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 8000}
_ONE: dict[str, Any] = {"autocommit": True, "connect_timeout": 3, **_ALIVE}

# By prefix of PostgreSQL's error code; any other concerns one statement only.
_CONFLICTS = ("40001", "40P01")  # serialization failure, deadlock
# connection, read-only, login, resources, shutdown, system
_TROUBLE = ("08", "25006", "28", "3D", "53", "57P", "58", "F0", "XX")


class _PostgresConnection:
    def __init__(self, raw: psycopg.Connection[Row]) -> None:
        self._raw = raw

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        try:
            cursor = self._raw.execute(_percent(sql), params or None)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            gone = error.sqlstate is None and isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
            raise store_error(error, self._raw.closed or gone) from error

    def check(self) -> None:
        """Does nothing: a lost connection fails when it is used."""

    def close(self) -> None:
        self._raw.close()


@cache
def _percent(sql: str) -> Any:
    """None of our statements has a percent sign."""
    return sql.replace("?", "%s")


def store_error(error: psycopg.Error, lost: bool) -> StoreError:
    code, message = error.sqlstate or "", str(error).strip().replace("\n", "; ")
    if code.startswith(_CONFLICTS):
        return TransactionConflict(f"PostgreSQL: {message}")
    if lost or code.startswith(_TROUBLE):
        return DatabaseUnusable(f"PostgreSQL cannot be used: {message}")
    return StoreError(f"PostgreSQL cannot store this: {message}")


class PostgresStore(WritingStore):
    shared = True  # this process's caches may be outdated

    def __init__(self, url: str) -> None:
        super().__init__("this store")
        self._url = url
        self._feed = Feed(self._connect)
        self._pool = ConnectionPool(
            url, kwargs=_ONE, min_size=0, max_size=_READERS, timeout=_POOL_SECONDS, reconnect_timeout=1.0, configure=_configure,
            name="interlock-readers", open=True,
        )  # fmt: skip
        self._open(GroupWriter(self._writing, _WRITE, _announce, lambda changed: None, _PACES))

    def read(self, work: Callable[[Tx], T]) -> T:
        """Tries once more after a lost connection, when the pool was checked."""
        self._check_open()
        try:
            return self._read(work)
        except DatabaseUnusable:
            self._pool.check()
            return self._read(work)

    def listen(self, changed: Callable[[str], None]) -> None:
        self._check_open()
        self._feed.add(changed)

    def hears(self) -> bool:
        return self._feed.fresh()

    def _release(self) -> None:
        self._feed.close()
        self._pool.close()

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            raw = psycopg.connect(self._url, **_ONE)
        except psycopg.Error as error:
            raise store_error(error, lost=True) from error
        _configure(raw)
        return raw

    def _writing(self) -> _PostgresConnection:
        return migrated(_PostgresConnection(self._connect()), _MIGRATE, _LOCK)

    def _read(self, work: Callable[[Tx], T]) -> T:
        with self._borrow() as connection, transaction(SqlTx(connection.execute), _READ) as tx:
            return work(tx)

    @contextlib.contextmanager
    def _borrow(self) -> Iterator[_PostgresConnection]:
        try:
            raw = self._pool.getconn()
        except (PoolTimeout, PoolClosed) as error:
            raise StoreError(f"PostgreSQL cannot be reached: {error}") from error
        try:
            yield _PostgresConnection(raw)
        except DatabaseUnusable:
            raw.close()
            raise
        finally:
            self._pool.putconn(raw)


def _configure(raw: psycopg.Connection[Any]) -> None:
    connection = _PostgresConnection(raw)
    for setting in _SETTINGS:
        connection.execute(setting)


def _announce(session: Transaction) -> None:
    for id in dict.fromkeys(session.changed):
        session.execute("SELECT pg_notify(?, ?)", (CHANNEL, id))
