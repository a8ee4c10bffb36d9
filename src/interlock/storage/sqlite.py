"""An SQLite file in a state folder: written by the one process that holds the folder's lock, read by all its threads."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock.ports import StoreError, Tx
from interlock.storage import DatabaseUnusable, Row, transaction
from interlock.storage.group_commit import GroupWriter, T, WritingStore, migrated, tell
from interlock.storage.sql import SqlTx

if TYPE_CHECKING:
    import sqlite3


class FolderLock:
    """Holds `<folder>/lock` until it is closed or the process is gone; a forked child does not hold it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._file: int | None = None
        lock = weakref.WeakMethod(self._forget)
        os.register_at_fork(after_in_child=lambda: (forget := lock()) and forget())

    def take(self) -> bool:
        """Again where the file was replaced; raises StoreError with the holder's pid. Returns whether it was ever signed."""
        if self._file is not None:
            if _same(self._path, self._file):
                return True
            self.close()
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(file)
            raise StoreError(f"{self._path.parent} is in use by process {holder}") from error
        self._file = file
        return os.fstat(file).st_size > 0

    def sign(self) -> None:
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._forget()

    def _forget(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


def _same(path: Path, file: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file))
    return False


_LOG = logging.getLogger(__name__)
_FILE = "state.db"
_BUSY_SECONDS = 4.0  # to wait for another program's lock
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = 1",
    "foreign_keys = 1",
    "trusted_schema = 0",
    "cell_size_check = 1",
    "journal_size_limit = 67108864",
)
_PACES = ("PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL")
_BUSY = 5
# Messages by SQLite's error code; any other code concerns one statement only.
_TROUBLE = {
    6: "another connection has locked it",
    7: "out of memory",
    8: "it is read-only",
    9: "interrupted",
    10: "the disk does not work",
    11: "it is damaged",
    13: "the disk is full",
    14: "it cannot be opened",
    15: "its locks do not work",
    17: "its schema was changed",
    26: "it is not a database",
}


class _SqliteConnection:
    def __init__(self, path: Path, pragmas: Sequence[str], empty: bool = False) -> None:
        import sqlite3

        self._path = path
        self._errors = (sqlite3.Error, OverflowError, UnicodeEncodeError)
        self._place = file_identity(path, empty)
        self._raw: sqlite3.Connection
        try:
            self._raw = sqlite3.connect(
                f"{path.as_uri()}?mode=rw",
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=512,
            )
        except self._errors as error:
            raise self._store_error(error) from error
        for pragma in pragmas:
            self.execute(f"PRAGMA {pragma}")

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._raw.execute(sql, params).fetchall()
        except self._errors as error:
            raise self._store_error(error) from error

    def check(self) -> None:
        """Raises where the file was removed or replaced: writes to it would be lost."""
        if file_identity(self._path) != self._place:
            raise DatabaseUnusable(f"{self._path}: replaced by another file")

    def close(self) -> None:
        try:
            self._raw.close()
        except self._errors as error:
            _LOG.warning("%s: closing: %s", self._path, error)

    def _store_error(self, error: Exception) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 1) & 0xFF
        if code == _BUSY:  # SQLite has waited already
            return StoreError(f"{self._path}: another process has locked it ({error})")
        if code in _TROUBLE:
            return DatabaseUnusable(f"{self._path}: {_TROUBLE[code]} ({error})")
        return StoreError(f"{self._path}: cannot store this: {error}")


def file_identity(path: Path, empty: bool = False) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError as error:
        raise DatabaseUnusable(f"{path}: {error.strerror}") from error
    if not found.st_size and not empty:
        raise DatabaseUnusable(f"{path}: it is empty")
    return found.st_dev, found.st_ino


def _create(path: Path) -> None:
    """Beside its place, then moved there, so that an empty file is never ours."""
    new = path.with_suffix(".new")
    for leftover in path.parent.glob(f"{new.name}*"):
        leftover.unlink()
    os.close(os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = _SqliteConnection(new, ("synchronous = FULL",), empty=True)
    migrated(connection, "BEGIN IMMEDIATE").close()
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class _ThreadsOwn(threading.local):
    connection: _SqliteConnection | None = None


class SqliteStore(WritingStore):
    def __init__(self, folder: Path) -> None:
        """Creates what is missing; never again after that."""
        super().__init__(f"{folder / _FILE}")
        self._path = folder / _FILE
        self._lock = FolderLock(folder)
        self._listeners: list[Callable[[str], None]] = []
        self._own = _ThreadsOwn()
        self._readers: weakref.WeakSet[_SqliteConnection] = weakref.WeakSet()
        self._claim()
        self._open(GroupWriter(self._connect, "BEGIN IMMEDIATE", lambda session: None, self._tell, _PACES))

    def read(self, work: Callable[[Tx], T]) -> T:
        self._check_open()
        known = self._own.connection is not None
        try:
            return self._read(work)
        except DatabaseUnusable:
            connection, self._own.connection = self._own.connection, None
            if connection is not None:
                connection.close()
            if not known:
                raise
        return self.read(work)

    def listen(self, changed: Callable[[str], None]) -> None:
        self._listeners.append(changed)

    def hears(self) -> bool:
        """Always: no other process writes here."""
        return True

    def _release(self) -> None:
        for connection in list(self._readers):
            connection.close()
        self._lock.close()

    def _claim(self) -> None:
        """Refuses a missing file where there was one: an empty database would forget every block."""
        folder = self._path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_mode & 0o077:
                folder.chmod(0o700)
            used = self._lock.take()
            if not self._path.exists():
                if used:
                    raise StoreError(f"{self._path}: gone; put it back, or remove {folder}/lock to start over")
                _create(self._path)
            self._path.chmod(0o600)
            self._lock.sign()
        except OSError as error:
            self._lock.close()
            raise StoreError(f"{error.filename or folder}: {error.strerror}") from error
        except StoreError:
            self._lock.close()
            raise

    def _connect(self) -> _SqliteConnection:
        file_identity(self._path)
        try:
            self._lock.take()
            self._lock.sign()
        except OSError as error:
            raise DatabaseUnusable(f"{self._path.parent}: {error.strerror}") from error
        return migrated(_SqliteConnection(self._path, _PRAGMAS), "BEGIN IMMEDIATE")

    def _read(self, work: Callable[[Tx], T]) -> T:
        if (connection := self._own.connection) is None:
            connection = _SqliteConnection(self._path, ("query_only = 1", "trusted_schema = 0", "cell_size_check = 1"))
            self._own.connection = connection
            self._readers.add(connection)
        connection.check()
        with transaction(SqlTx(connection.execute), "BEGIN") as tx:
            return work(tx)

    def _tell(self, changed: Sequence[str]) -> None:
        for id in dict.fromkeys(changed):
            tell(self._listeners, id)
