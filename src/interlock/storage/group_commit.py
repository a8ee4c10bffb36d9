"""Commits the writes of many callers together: a lone caller runs its own work, concurrent ones queue for one thread."""

from __future__ import annotations

import logging
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from msgspec import Struct

from interlock.ports import StoreError, Tx
from interlock.storage import DatabaseUnusable, SqlConnection, Transaction, TransactionConflict, migrate
from interlock.storage.sql import PROBE, SqlTx

T = TypeVar("T")
C = TypeVar("C", bound=SqlConnection)

_LOG = logging.getLogger(__name__)

_AT_ONCE = 128  # jobs of one commit
_TRIES = 20  # of a job that conflicts with other transactions
_PAUSE = 0.002  # seconds; more after each try


class _Job(Struct):
    work: Callable[[Tx], Any]
    soon: bool = False  # the caller does not wait for the disk
    done: threading.Event | None = None
    value: Any = None
    error: BaseException | None = None
    changed: Sequence[str] = ()


class GroupWriter:
    """Runs jobs one after the other on one connection; a failing one rolls back only itself.

    Only the owner of the turn uses the connection, and no job overtakes queued ones.
    """

    def __init__(
        self,
        connect: Callable[[], SqlConnection],
        begin: str,
        announce: Callable[[Transaction], None],
        committed: Callable[[Sequence[str]], None],
        paces: tuple[str, str],
    ) -> None:
        """`announce` may add SQL to a transaction with changes for listeners; `committed` is called with them when they are on disk.

        `paces` are the statements that make commits wait for the disk, and not wait.
        """
        self._connect, self._begin, self._announce, self._committed = connect, begin, announce, committed
        self._paces = paces
        self._soon = False
        self._database: SqlConnection | None = None
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # one entry per queued job, and one at the end
        self._gate, self._turn = threading.Lock(), threading.Lock()
        self._queued = 0  # jobs that the thread has not finished
        self._owner = 0  # the thread that has the turn
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="interlock-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[Tx], T], soon: bool = False) -> T:
        """On disk when it returns, or with `soon` before that; may run the work more than once."""
        self.refuse_inside("a transaction cannot wait for another one")
        job, lone = _Job(work, soon), False
        try:
            with self._gate:
                if self._closed:
                    raise StoreError("the store is closed")
                lone = not self._queued and self._turn.acquire(blocking=False)
                if not lone:
                    job.done = threading.Event()
                    self._queued += 1
                    self._queue.put(job)
                    self._bell.put(True)
            if job.done is not None:
                job.done.wait()
            else:  # on its caller's thread, which saves two thread switches
                self._owner = threading.get_ident()
                self._settle([job])
        finally:  # also on Ctrl-C
            if lone:
                self._owner = 0
                self._turn.release()
        if job.error is not None:
            raise job.error
        answer: T = job.value
        return answer

    def refuse_inside(self, words: str) -> None:
        """It would wait for itself."""
        if threading.get_ident() == self._owner:
            raise StoreError(words)

    def close(self) -> None:
        """Called once, and not from inside a work."""
        with self._gate:
            self._closed = True
            self._bell.put(False)
        self._thread.join()

    def _serve(self) -> None:
        while self._bell.get():
            jobs: list[_Job] = []  # none where an earlier batch took them
            with self._turn:
                self._owner = threading.get_ident()
                try:
                    with suppress(Empty):
                        while len(jobs) < _AT_ONCE:
                            jobs.append(self._queue.get_nowait())
                    self._settle(jobs)
                finally:
                    self._owner = 0
            with self._gate:
                self._queued -= len(jobs)
            for job in jobs:
                if job.done is not None:
                    job.done.set()
        with self._turn:
            self._drop()

    def _settle(self, jobs: list[_Job]) -> None:
        try:
            if jobs:
                self._commit_with_retries(jobs)
        except TransactionConflict:
            if len(jobs) > 1:
                for job in jobs:
                    self._settle([job])
                return
            jobs[0].error = StoreError("too many conflicting transactions at the same time")
        except BaseException as error:
            self._drop()
            for job in jobs:
                job.error = error

    def _commit_with_retries(self, jobs: list[_Job]) -> None:
        """After a conflict, and once with a new connection: where that is safe."""
        fresh = self._database is None
        for attempt in range(_TRIES):
            if attempt:  # even a sleep of zero yields the processor
                time.sleep(random.uniform(0, _PAUSE * attempt))
            try:
                return self._commit(jobs)
            except TransactionConflict:
                if len(jobs) > 1:
                    raise
            except DatabaseUnusable:
                self._drop()
                if fresh:
                    raise
                fresh = True
        raise TransactionConflict

    def _commit(self, jobs: list[_Job]) -> None:
        self._database = database = self._database or self._connect()
        lone = len(jobs) == 1
        database.check()
        if (soon := all(job.soon for job in jobs)) != self._soon:  # one job that needs the disk decides for all
            database.execute(self._paces[soon])
            self._soon = soon
        database.execute(self._begin)
        try:
            for job in jobs:
                if not lone:
                    database.execute("SAVEPOINT work")
                self._attempt(database, job)
                if not lone:
                    database.execute("ROLLBACK TO SAVEPOINT work" if job.error else "RELEASE SAVEPOINT work")
        except TransactionConflict:
            database.execute("ROLLBACK")
            raise
        if lone and jobs[0].error:
            database.execute("ROLLBACK")
            return
        try:
            database.execute("COMMIT")
            database.check()
        except DatabaseUnusable as error:  # the outcome is unknown, so nothing may be run again
            raise StoreError(str(error)) from error
        self._committed([id for job in jobs if job.error is None for id in job.changed])

    def _attempt(self, database: SqlConnection, job: _Job) -> None:
        """Raises only errors that concern all jobs."""
        session = SqlTx(database.execute)
        job.value, job.error = None, None
        try:
            job.value = job.work(session)
            if session.changed and session.failed is None:
                self._announce(session)
        except BaseException as error:
            job.error = error
        job.error = session.failed or job.error  # also where the work continued after an error
        job.changed = session.changed
        session.end()
        if isinstance(job.error, (TransactionConflict, DatabaseUnusable)):
            raise job.error

    def _drop(self) -> None:
        # first, so that an interruption leaves no closed connection behind
        database, self._database, self._soon = self._database, None, False
        if database is not None:
            database.close()


def migrated(connection: C, begin: str, lock: str = "") -> C:
    try:
        migrate(connection, begin, lock)
    except BaseException:
        connection.close()
        raise
    return connection


def tell(listeners: Iterable[Callable[[str], None]], id: str) -> None:
    """A listener that fails does not keep it from the others."""
    for listener in listeners:
        try:
            listener(id)
        except Exception:
            _LOG.exception("a listener failed for %r", id)


class WritingStore:
    """What both stores share: who may use them, and the one writer. Every call raises StoreError where it fails."""

    _writer: GroupWriter

    def __init__(self, name: str) -> None:
        """The name is for messages, and must not hold a password."""
        self._name, self._process, self._closed = name, os.getpid(), False

    def _open(self, writer: GroupWriter) -> None:
        self._writer = writer
        try:
            writer.run(lambda tx: None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Finishes pending writes and releases the database; does nothing in a forked child."""
        if self._closed or os.getpid() != self._process:
            return
        self._writer.refuse_inside("a transaction cannot close the store that it runs on")
        self._closed = True
        self._writer.close()
        self._release()

    def _release(self) -> None:
        raise NotImplementedError

    def read(self, work: Callable[[Tx], T]) -> T:
        """The work changes nothing."""
        raise NotImplementedError

    def listen(self, changed: Callable[[str], None]) -> None:
        """Calls back with a changed ticket's id or a StoreEvent, whoever changed it; after an interruption with all that may have been missed."""
        raise NotImplementedError

    def hears(self) -> bool:
        """Whether the listeners got every change that was made elsewhere until a second ago."""
        raise NotImplementedError

    def write(self, work: Callable[[Tx], T]) -> T:
        """On disk when it returns; runs again after a conflict. With an error, nothing is stored."""
        self._check_open()
        return self._writer.run(work)

    def write_soon(self, work: Callable[[Tx], T]) -> T:
        """Like `write`, but a power cut can undo it: only for data that protects nobody, such as counts of steps."""
        self._check_open()
        return self._writer.run(work, soon=True)

    def check(self) -> None:
        self.read(lambda tx: tx.setting(PROBE))
        self.write(lambda tx: tx.save_setting(PROBE, ""))

    def _check_open(self) -> None:
        if os.getpid() != self._process:
            raise StoreError(f"{self._name}: opened by process {self._process}; open it again after a fork")
        if self._closed:
            raise StoreError(f"{self._name}: the store is closed")
