"""Opens the store that a URL names, and runs SQL on both databases behind one call: transactions, numbered migrations, own errors."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Protocol

from msgspec import Struct

from interlock.ports import StoreError

Row = tuple[Any, ...]
Run = Callable[[str, Sequence[Any]], list[Row]]

_MARK = "\ufdd0"  # a noncharacter: JSON follows


class DatabaseUnusable(StoreError):
    """The database itself failed; the connection cannot be used any more."""


class TransactionConflict(StoreError):
    """Another transaction came first; this one can be run again from its start."""


class SqlConnection(Protocol):
    """One connection; `execute` takes `?` for parameters and raises StoreError, DatabaseUnusable or TransactionConflict."""

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def check(self) -> None:
        """Raises DatabaseUnusable where the connection no longer leads to the database."""

    def close(self) -> None: ...


class Transaction:
    """Runs the SQL of one transaction; refuses everything after an error and after its end."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.failed: StoreError | None = None
        self.changed: list[str] = []  # announced to listeners on commit

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        if self.failed is not None:
            raise self.failed
        try:
            return self._run(
                sql,
                [  # most text needs no escaping
                    storable_text(value)
                    if isinstance(value, str) and not (value.isascii() and "\0" not in value)
                    else value
                    for value in params
                ],
            )
        except StoreError as error:
            self.failed = error
            raise

    def end(self) -> None:
        """Refuses every later use of the transaction."""
        self.failed = self.failed or StoreError("this transaction has ended")


@contextmanager
def transaction(database: SqlConnection, begin: str) -> Iterator[Transaction]:
    """Runs the body in one transaction: commits when it returns, rolls back when it raises."""
    session = Transaction(database.execute)
    database.execute(begin)
    try:
        yield session
        if session.failed is not None:  # the body went on after an error
            raise session.failed
    except BaseException as error:
        if isinstance(session.failed, DatabaseUnusable):
            raise session.failed from error
        database.execute("ROLLBACK")
        raise
    finally:
        session.end()
    database.execute("COMMIT")


def storable_text(text: str) -> str:
    """Text that both databases can store: NUL and lone surrogates are written as JSON behind a mark."""
    if "\0" not in text and not text.startswith(_MARK):
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            pass
    return _MARK + json.dumps(text)


def stored_text(text: str) -> str:
    """The text that `storable_text` was given."""
    return str(json.loads(text[1:])) if text.startswith(_MARK) else text


_NAME = re.compile(r"(\d{4})_\w+\.sql")
_TABLE = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at DOUBLE PRECISION NOT NULL)"


class Migration(Struct, frozen=True):
    """One numbered file."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> list[str]:
        """The statements without comments; each ends with `;` at the end of a line."""
        lines = (line for line in self.text.splitlines() if line.strip() and not line.startswith("--"))
        return [part for part in ("\n".join(lines) + "\n").split(";\n") if part.strip()]


def migrations() -> list[Migration]:
    """The files of this program, in order; refuses a gap."""
    folder = files("interlock.storage") / "migrations"
    found = [
        Migration(int(match[1]), file.name, file.read_text())
        for file in folder.iterdir()
        if (match := _NAME.fullmatch(file.name))
    ]
    found.sort(key=lambda migration: migration.number)
    numbers = [migration.number for migration in found]
    if numbers != list(range(1, len(found) + 1)):
        raise StoreError(f"migrations: expected 1 to {len(found)}, got {numbers}")
    return found


def migrate(database: SqlConnection, begin: str, lock: str = "", known: list[Migration] | None = None) -> None:
    """Brings a database to this program's schema, in one transaction under an exclusive lock."""
    known = migrations() if known is None else known
    with transaction(database, begin) as session:
        if lock:
            session.execute(lock)
        session.execute(_TABLE)
        done = session.execute("SELECT number, name, sha256 FROM migrations ORDER BY number")
        _check(done, known)
        for migration in known[len(done) :]:
            _apply(session, migration)


def _check(done: list[Row], known: list[Migration]) -> None:
    """Refuses a database whose migrations are not this program's."""
    if len(done) > len(known):
        raise StoreError(
            f"the database is at migration {done[-1][0]}, this program knows {len(known)}: start a newer interlock"
        )
    for (number, name, sha256), migration in zip(done, known):
        if (number, sha256) != (migration.number, migration.sha256):
            raise StoreError(f"migration {number} of the database is {name}, and not this program's {migration.name}")


def _apply(session: Transaction, migration: Migration) -> None:
    for statement in migration.statements:
        session.execute(statement)
    session.execute(
        "INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.sha256, time.time()),
    )
