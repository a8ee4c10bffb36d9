"""What does the SQL run on? Two databases behind one call, with their errors in our words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from interlock.ports import StoreError

Row = tuple[Any, ...]
Run = Callable[[str, Sequence[Any]], list[Row]]

_MARK = "\ufdd0"  # no character of any language: what follows is JSON


class Unusable(StoreError):
    """The database itself is in trouble; the connection is of no more use."""


class Again(StoreError):
    """Somebody else's transaction came first; this one can be run again from its start."""


class Database(Protocol):
    """One connection; `execute` takes `?` for parameters and raises StoreError, Unusable or Again."""

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def check(self) -> None:
        """Raises Unusable where the connection does not lead to the database any more."""

    def close(self) -> None: ...


class Session:
    """What one transaction runs its SQL on; after an error, and after its end, it refuses everything."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.failed: StoreError | None = None
        self.changed: list[str] = []  # what listeners will hear

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        if self.failed is not None:
            raise self.failed
        try:
            return self._run(
                sql,
                [  # most text needs no look inside
                    plain(value) if isinstance(value, str) and not (value.isascii() and "\0" not in value) else value
                    for value in params
                ],
            )
        except StoreError as error:
            self.failed = error
            raise

    def end(self) -> None:
        """Makes a transaction that was kept beyond its work useless."""
        self.failed = self.failed or StoreError("this transaction has ended")


@contextmanager
def transaction(database: Database, begin: str) -> Iterator[Session]:
    """Runs the body in one transaction: kept when it ends well, undone when it raises."""
    session = Session(database.execute)
    database.execute(begin)
    try:
        yield session
        if session.failed is not None:  # the body went on after an error
            raise session.failed
    except BaseException as error:
        if isinstance(session.failed, Unusable):
            raise session.failed from error
        database.execute("ROLLBACK")
        raise
    finally:
        session.end()
    database.execute("COMMIT")


def plain(text: str) -> str:
    """Text that both databases can keep: NUL and lone surrogates are written as JSON behind a mark."""
    if "\0" not in text and not text.startswith(_MARK):
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            pass
    return _MARK + json.dumps(text)


def original(text: str) -> str:
    """What `plain` was given."""
    return str(json.loads(text[1:])) if text.startswith(_MARK) else text
