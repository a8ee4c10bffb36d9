"""Runs SQL on both databases behind one call (transactions, numbered migrations, own errors), and converts records to rows and back."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.resources import files
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from interlock.canonical_json import normal_name
from interlock.model import NOTHING, AgentRef, Human, Level, Requirement, TicketState
from interlock.ports import StoreError
from interlock.times import milliseconds_to_seconds

Row = tuple[Any, ...]
Run = Callable[[str, Sequence[Any]], list[Row]]

_MARK = "\ufdd0"  # a noncharacter: JSON follows


class DatabaseUnusable(StoreError):
    """The connection cannot be used any more."""


class TransactionConflict(StoreError):
    """This one can be run again from its start."""


class SqlConnection(Protocol):
    """Takes `?` for parameters; raises StoreError, DatabaseUnusable or TransactionConflict."""

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def check(self) -> None:
        """Raises DatabaseUnusable where the connection no longer leads to the database."""

    def close(self) -> None: ...


class Transaction:
    """Refuses everything after an error and after its end."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.failed: StoreError | None = None
        self.changed: list[str] = []  # announced to listeners on commit

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        if self.failed is not None:
            raise self.failed
        try:
            return self.run(sql, [storable_text(value) if isinstance(value, str) else value for value in params])
        except StoreError as error:
            self.failed = error
            raise

    def end(self) -> None:
        self.failed = self.failed or StoreError("this transaction has ended")


Tr = TypeVar("Tr", bound=Transaction)


@contextmanager
def transaction(session: Tr, begin: str) -> Iterator[Tr]:
    execute = session.run
    execute(begin, ())
    try:
        yield session
        if session.failed is not None:  # the body went on after an error
            raise session.failed
    except BaseException as error:
        if isinstance(session.failed, DatabaseUnusable):
            raise session.failed from error
        execute("ROLLBACK", ())
        raise
    finally:
        session.end()
    execute("COMMIT", ())


def storable_text(text: str) -> str:
    """NUL and lone surrogates are written as JSON behind a mark."""
    if "\0" not in text and not text.startswith(_MARK):
        if text.isascii():  # as most text is
            return text
        with suppress(UnicodeEncodeError):
            text.encode()
            return text
    return _MARK + json.dumps(text)


def stored_text(text: str) -> str:
    return str(json.loads(text[1:])) if text.startswith(_MARK) else text


_NAME = re.compile(r"(\d{4})_\w+\.sql")
_TABLE = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at DOUBLE PRECISION NOT NULL)"


class Migration(Struct, frozen=True):
    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> list[str]:
        lines = (line for line in self.text.splitlines() if line.strip() and not line.startswith("--"))
        return [part for part in ("\n".join(lines) + "\n").split(";\n") if part.strip()]


def migrations() -> list[Migration]:
    folder = files("interlock.storage") / "migrations"
    named = ((_NAME.fullmatch(file.name), file) for file in folder.iterdir())
    read = (Migration(int(match[1]), file.name, file.read_text()) for match, file in named if match)
    found = sorted(read, key=attrgetter("number"))
    numbers = [migration.number for migration in found]
    if numbers != list(range(1, len(found) + 1)):
        raise StoreError(f"migrations: expected 1 to {len(found)}, got {numbers}")
    return found


def migrate(database: SqlConnection, begin: str, lock: str = "", known: list[Migration] | None = None) -> None:
    known = migrations() if known is None else known
    with transaction(Transaction(database.execute), begin) as session:
        if lock:
            session.execute(lock)
        session.execute(_TABLE)
        done = session.execute("SELECT number, name, sha256 FROM migrations ORDER BY number")
        _check(done, known)
        for migration in known[len(done) :]:
            for statement in migration.statements:
                session.execute(statement)
            row = (migration.number, migration.name, migration.sha256, time.time())
            session.execute("INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)", row)


def _check(done: list[Row], known: list[Migration]) -> None:
    if len(done) > len(known):
        raise StoreError(
            f"the database is at migration {done[-1][0]}, this program knows {len(known)}: start a newer interlock"
        )
    for (number, name, sha256), migration in zip(done, known):
        if (number, sha256) != (migration.number, migration.sha256):
            raise StoreError(f"migration {number} of the database is {name}, and not this program's {migration.name}")


R = TypeVar("R")

_LOG = logging.getLogger(__name__)
_AT_ONCE = 50


def to_json(value: Any) -> str:
    return "[]" if value == () else _ENCODER.encode(value)


def from_json(text: str) -> Any:
    return NOTHING if text == "{}" else json.loads(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"cannot be stored: {value!r}")


_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=_plain)


def _tuple(text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(json.loads(text))


_Codec = tuple[Callable[[Any], Any], Callable[[Any], Any]]  # writes and reads a column
# By the annotation of a field; a field of another type is refused when its table is first used.
_CODECS: dict[str, _Codec] = {
    "str": (str, stored_text),
    "int": (int, int),
    "float": (float, float),
    "Seconds": (float, lambda value: milliseconds_to_seconds(value * 1000)),
    "bool": (int, bool),
    "Level": (int, Level),
    "Human": (int, Human),
    "TicketState": (str, TicketState),
    "Json": (to_json, from_json),
    "tuple[str, ...]": (to_json, _tuple),
    "tuple[Json, ...]": (to_json, _tuple),
    "frozenset[str]": (lambda value: to_json(sorted(value)), lambda text: frozenset(_tuple(text))),
}
_NESTED: dict[str, type[Any]] = {"AgentRef": AgentRef, "Requirement": Requirement}


def _leaves(record: type[Any], before: str = "") -> Iterator[tuple[str, _Codec]]:
    """Refuses a field whose type has no conversion."""
    for name, of in record.__annotations__.items():
        if of in _NESTED:
            yield from _leaves(_NESTED[of], f"{before}{name}.")
        else:
            yield f"{before}{name}", _CODECS[of]


def name_key(record: Any) -> str:
    return normal_name(record.agent.name if hasattr(record, "agent") else record.name)


class RecordTable(Struct, Generic[R], frozen=True, dict=True):
    """`by_name` adds the column `name_key`; each row that is saved `announces` an event to listeners."""

    name: str
    record: type[R]
    key: tuple[str, ...] = ()
    by_name: bool = False
    announces: str = ""

    @cached_property
    def _leaves(self) -> dict[str, _Codec]:
        return dict(_leaves(self.record))

    @cached_property
    def _codecs(self) -> tuple[tuple[Callable[[Any], Any], ...], ...]:
        return tuple(zip(*self._leaves.values()))

    @cached_property
    def _nested(self) -> tuple[tuple[int, int, type[Any]], ...]:
        inner, at = [], 0
        for of in self.record.__annotations__.values():
            nested = _NESTED.get(of)
            end = at + (len(dict(_leaves(nested))) if nested is not None else 1)
            inner += [(at, end, nested)] if nested is not None else []
            at = end
        return tuple(reversed(inner))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return tuple(path.rpartition(".")[2] for path in self._leaves)

    @cached_property
    def select(self) -> str:
        return f"SELECT {_list(self.columns)} FROM {self.name}"

    @cached_property
    def insert(self) -> str:
        return f"INSERT INTO {self._into} VALUES {placeholders(len(self.columns) + self.by_name, 1)}"

    @cached_property
    def upsert(self) -> str:
        changes = ", ".join(f'"{name}" = excluded."{name}"' for name in self.columns if name not in self.key)
        return f"{self.insert} ON CONFLICT ({_list(self.key)}) DO UPDATE SET {changes}"

    @cached_property
    def _taken(self) -> Callable[[R], tuple[Any, ...]]:
        return attrgetter(*self._leaves)

    def values(self, record: R) -> list[Any]:
        own = [write(value) for write, value in zip(self._codecs[0], self._taken(record))]
        return [*own, name_key(record)] if self.by_name else own

    def _build(self, row: Row) -> R:
        values = [read(value) for read, value in zip(self._codecs[1], row)]
        for start, end, record in self._nested:
            values[start:end] = [record(*values[start:end])]
        return self.record(*values)

    def find(self, session: Transaction, where: str, params: Sequence[Any] = ()) -> list[R]:
        return list(map(self._build, session.execute(f"{self.select} {where}", params)))

    def readable(self, session: Transaction, where: str, params: Sequence[Any] = ()) -> list[R]:
        """A garbled row must not hide the others."""
        found = []
        for row in session.execute(f"{self.select} {where}", params):
            try:
                found.append(self._build(row))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                _LOG.error("a row of %s cannot be read and is skipped: %s", self.name, error)
        return found

    def first(self, session: Transaction, where: str, *params: Any) -> R | None:
        return next(iter(self.find(session, f"{where} LIMIT 1", params)), None)

    @cached_property
    def _by_key(self) -> str:
        return f"WHERE {' AND '.join(f'{name} = ?' for name in self.key)}"

    def get(self, session: Transaction, *key: Any) -> R | None:
        return self.first(session, self._by_key, *key)

    def save(self, session: Transaction, record: R) -> None:
        session.execute(self.upsert, self.values(record))
        session.changed += [self.announces] if self.announces else []

    def getter(self) -> Callable[[Transaction, str], R | None]:
        return lambda session, key: self.get(session, key)

    def saver(self) -> Callable[[Transaction, R], None]:
        return lambda session, record: self.save(session, record)

    def add_new(self, session: Transaction, record: R) -> bool:
        """Adds a row; False where one is in its way."""
        sql = f"{self.insert} ON CONFLICT DO NOTHING RETURNING {_list(self.key)}"
        return bool(session.execute(sql, self.values(record)))

    def change(self, session: Transaction, record: R, fixed: Sequence[str], where: str, params: Sequence[Any]) -> bool:
        """Compare-and-set of every column that is not fixed; False where no row matches."""
        kept = [(name, value) for name, value in zip(self.columns, self.values(record)) if name not in fixed]
        names = ", ".join(f'"{name}" = ?' for name, _ in kept)
        sql = f"UPDATE {self.name} SET {names} WHERE {where} RETURNING {_list(self.key)}"
        return bool(session.execute(sql, [*(value for _, value in kept), *params]))

    def add(self, session: Transaction, records: Sequence[R]) -> None:
        insert_many(session, self._into, list(map(self.values, records)))

    @cached_property
    def _into(self) -> str:
        return f"{self.name} ({_list((*self.columns, 'name_key') if self.by_name else self.columns)})"


def where(*conditions: tuple[str, Any]) -> tuple[str, list[Any]]:
    """The conditions with a value other than None, and the value for each `?`."""
    used = [(text, value) for text, value in conditions if value is not None]
    clause = f"WHERE {' AND '.join(text for text, _ in used)} " if used else ""
    return clause, [value for text, value in used for _ in range(text.count("?"))]


def contains(text: str) -> str:
    """A LIKE pattern, escaped by `!`, in any case."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return f"%{text.lower()}%"


def placeholders(columns: int, rows: int) -> str:
    """`(?, ?), (?, ?)`, a group for each row."""
    return ", ".join([f"({', '.join('?' * columns)})"] * rows)


def insert_many(session: Transaction, into: str, rows: Sequence[Sequence[Any]], then: str = "") -> None:
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        sql = f"INSERT INTO {into} VALUES {placeholders(len(some[0]), len(some))} {then}"
        session.execute(sql, [value for row in some for value in row])


def _list(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
