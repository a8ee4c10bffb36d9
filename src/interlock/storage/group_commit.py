"""Commits the writes of many callers together: a lone caller runs its own work, concurrent ones queue for one thread."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from interlock.ports import StoreError, Tx
from interlock.storage import DatabaseUnusable, SqlConnection, Transaction, TransactionConflict
from interlock.storage.sql import SqlTx

T = TypeVar("T")

_AT_ONCE = 128  # works of one commit
_TRIES = 20  # of a work that others' transactions get in the way of
_PAUSE = 0.002  # seconds; more after each try


@dataclass
class _Job:
    """Somebody's work, and where the answer goes."""

    work: Callable[[Tx], Any]
    soon: bool = False  # whoever waits does not wait for the disk
    future: Future[Any] | None = None  # of one that is queued
    value: Any = None
    error: BaseException | None = None
    changed: Sequence[str] = ()


class GroupWriter:
    """Runs works one after the other on one connection; a failing one undoes only itself.

    Whose turn it is has the connection. Nobody overtakes what is queued.
    """

    def __init__(
        self,
        connect: Callable[[], SqlConnection],
        begin: str,
        announce: Callable[[Transaction], None],
        committed: Callable[[Sequence[str]], None],
        paces: tuple[str, str],
    ) -> None:
        """`announce` may add to a transaction that changed something to hear of; `committed` hears of it when it is on disk.

        `paces` makes commits wait for the disk, and makes them not wait.
        """
        self._connect, self._begin, self._announce, self._committed = connect, begin, announce, committed
        self._paces = paces
        self._soon = False
        self._database: SqlConnection | None = None
        self._queue: SimpleQueue[_Job] = SimpleQueue()
        self._bell: SimpleQueue[bool] = SimpleQueue()  # rung for each work that is queued, and once at the end
        self._gate, self._turn = threading.Lock(), threading.Lock()
        self._queued = 0  # works that the thread was given and has not answered
        self._owner = 0  # the thread that has the turn
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="interlock-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[Tx], T], soon: bool = False) -> T:
        """Returns what the work returned when that is on disk, or is on its way; the work may be run more than once."""
        self.outside("a transaction cannot wait for another one")
        job, alone = _Job(work, soon), False
        try:
            with self._gate:
                if self._closed:
                    raise StoreError("the store is closed")
                alone = not self._queued and self._turn.acquire(blocking=False)
                if not alone:
                    job.future = Future()
                    self._queued += 1
                    self._queue.put(job)
                    self._bell.put(True)
            answer: T = self._own(job) if alone else job.future.result()  # type: ignore[union-attr]
            return answer
        finally:  # also where somebody pressed Ctrl-C
            if alone:
                self._owner = 0
                self._turn.release()

    def outside(self, words: str = "a transaction cannot close the store that it runs on") -> None:
        """Refuses whoever asks from inside a work: it would wait for itself."""
        if threading.get_ident() == self._owner:
            raise StoreError(words)

    def close(self) -> None:
        """Finishes what is queued and refuses the rest; a work that wants to close what it runs on is refused."""
        self.outside()
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._bell.put(False)
        self._thread.join()

    def _own(self, job: _Job) -> Any:
        """A work that nobody else waits with, run by whoever wants it: that spares two changes of thread."""
        self._owner = threading.get_ident()
        self._settle([job])
        if job.error is not None:
            raise job.error
        return job.value

    def _serve(self) -> None:
        while self._bell.get():
            with self._turn:
                self._owner = threading.get_ident()
                try:
                    jobs = self._waiting()
                    self._settle(jobs)
                finally:
                    self._owner = 0
            self._answer(jobs)
        with self._turn:
            self._drop()

    def _answer(self, jobs: list[_Job]) -> None:
        with self._gate:
            self._queued -= len(jobs)
        for job in jobs:
            assert job.future is not None
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.value)

    def _waiting(self) -> list[_Job]:
        """Everything that is queued by now; nothing where the bell was rung for what went with others."""
        jobs: list[_Job] = []
        with suppress(Empty):
            while len(jobs) < _AT_ONCE:
                jobs.append(self._queue.get_nowait())
        return jobs

    def _settle(self, jobs: list[_Job]) -> None:
        """Runs jobs until they are kept or have failed for good; which of it, each job says."""
        try:
            if jobs:
                self._keep(jobs)
        except TransactionConflict:
            if len(jobs) > 1:
                for job in jobs:
                    self._settle([job])
                return
            jobs[0].error = StoreError("too many others changed the same at the same time")
        except BaseException as error:
            self._drop()
            for job in jobs:
                job.error = error

    def _keep(self, jobs: list[_Job]) -> None:
        """Tries again where that is safe: after a conflict, and once with a new connection."""
        fresh = self._database is None
        for attempt in range(_TRIES):
            if attempt:  # even a sleep of no time gives the processor away
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
        """All jobs in one transaction; those that fail leave nothing behind."""
        self._database = database = self._database or self._connect()
        alone = len(jobs) == 1
        database.check()
        self._pace(database, all(job.soon for job in jobs))
        database.execute(self._begin)
        try:
            for job in jobs:
                if not alone:
                    database.execute("SAVEPOINT work")
                self._attempt(database, job)
                if not alone:
                    database.execute("ROLLBACK TO SAVEPOINT work" if job.error else "RELEASE SAVEPOINT work")
        except TransactionConflict:
            database.execute("ROLLBACK")
            raise
        if alone and jobs[0].error:
            database.execute("ROLLBACK")
            return
        try:
            database.execute("COMMIT")
            database.check()
        except DatabaseUnusable as error:  # nobody knows whether it did, so nothing may be run again
            raise StoreError(str(error)) from error
        self._committed([id for job in jobs if job.error is None for id in job.changed])

    def _pace(self, database: SqlConnection, soon: bool) -> None:
        """One of several that has to be on disk takes the others with it."""
        if soon != self._soon:
            database.execute(self._paces[soon])
            self._soon = soon

    def _attempt(self, database: SqlConnection, job: _Job) -> None:
        """Runs one job; raises only what concerns them all."""
        session = Transaction(database.execute)
        job.value, job.error = None, None
        try:
            job.value = job.work(SqlTx(session))
            if session.changed and session.failed is None:
                self._announce(session)
        except BaseException as error:
            job.error = error
        job.error = session.failed or job.error  # also where the work went on after an error
        job.changed = session.changed
        session.end()
        if isinstance(job.error, (TransactionConflict, DatabaseUnusable)):
            raise job.error

    def _drop(self) -> None:
        database, self._database = (
            self._database,
            None,
        )  # first: whoever is interrupted here leaves nothing closed behind
        self._soon = False
        if database is not None:
            database.close()
