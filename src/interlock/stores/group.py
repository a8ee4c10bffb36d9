"""How do many callers share one commit? One thread runs what they queued, commits once, then answers all of them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from interlock.ports import StoreError, Tx
from interlock.stores.seam import Again, Database, Session, Unusable
from interlock.stores.sql import SqlTx

T = TypeVar("T")

_AT_ONCE = 128  # works of one commit
_TRIES = 20  # of a work that others' transactions get in the way of
_PAUSE = 0.002  # seconds; more after each try


@dataclass
class _Job:
    """Somebody's work, and where the answer goes."""

    work: Callable[[Tx], Any]
    soon: bool = False  # whoever waits does not wait for the disk
    future: Future[Any] = field(default_factory=Future)
    value: Any = None
    error: BaseException | None = None
    changed: Sequence[str] = ()


class Writer:
    """Runs works one after the other on one connection; a failing one undoes only itself."""

    def __init__(
        self,
        connect: Callable[[], Database],
        begin: str,
        announce: Callable[[Session], None],
        committed: Callable[[Sequence[str]], None],
        paces: tuple[str, str],
    ) -> None:
        """`announce` may add to a transaction that changed something to hear of; `committed` hears of it when it is on disk.

        `paces` makes commits wait for the disk, and makes them not wait.
        """
        self._connect, self._begin, self._announce, self._committed = connect, begin, announce, committed
        self._paces = paces
        self._soon = False
        self._database: Database | None = None
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="interlock-writer", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[Tx], T], soon: bool = False) -> T:
        """Returns what the work returned when that is on disk, or is on its way; the work may be run more than once."""
        if threading.current_thread() is self._thread:
            raise StoreError("a transaction cannot wait for another one")
        job = _Job(work, soon)
        with self._gate:
            if self._closed:
                raise StoreError("the store is closed")
            self._queue.put(job)
        answer: T = job.future.result()
        return answer

    def close(self) -> None:
        """Finishes what is queued and refuses the rest."""
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            jobs, last = self._more(job)
            self._finish(jobs)
            if last:
                break
        self._drop()

    def _more(self, first: _Job) -> tuple[list[_Job], bool]:
        """Everything that is queued by now, and whether that is all there will ever be."""
        jobs = [first]
        while len(jobs) < _AT_ONCE:
            try:
                job = self._queue.get_nowait()
            except Empty:
                break
            if job is None:
                return jobs, True
            jobs.append(job)
        return jobs, False

    def _finish(self, jobs: list[_Job]) -> None:
        """Runs jobs until they are kept or have failed for good, and answers them."""
        try:
            self._keep(jobs)
        except Again:
            if len(jobs) > 1:
                for job in jobs:
                    self._finish([job])
                return
            jobs[0].error = StoreError("too many others changed the same at the same time")
        except BaseException as error:
            self._drop()
            for job in jobs:
                job.error = error
        for job in jobs:
            if job.error is not None:
                job.future.set_exception(job.error)
            else:
                job.future.set_result(job.value)

    def _keep(self, jobs: list[_Job]) -> None:
        """Tries again where that is safe: after a conflict, and once with a new connection."""
        fresh = self._database is None
        for attempt in range(_TRIES):
            time.sleep(random.uniform(0, _PAUSE * attempt))
            try:
                return self._commit(jobs)
            except Again:
                if len(jobs) > 1:
                    raise
            except Unusable:
                self._drop()
                if fresh:
                    raise
                fresh = True
        raise Again

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
        except Again:
            database.execute("ROLLBACK")
            raise
        if alone and jobs[0].error:
            database.execute("ROLLBACK")
            return
        try:
            database.execute("COMMIT")
            database.check()
        except Unusable as error:  # nobody knows whether it did, so nothing may be run again
            raise StoreError(str(error)) from error
        self._committed([id for job in jobs if job.error is None for id in job.changed])

    def _pace(self, database: Database, soon: bool) -> None:
        """One of several that has to be on disk takes the others with it."""
        if soon != self._soon:
            database.execute(self._paces[soon])
            self._soon = soon

    def _attempt(self, database: Database, job: _Job) -> None:
        """Runs one job; raises only what concerns them all."""
        session = Session(database.execute)
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
        if isinstance(job.error, (Again, Unusable)):
            raise job.error

    def _drop(self) -> None:
        self._soon = False
        if self._database is not None:
            self._database.close()
            self._database = None
