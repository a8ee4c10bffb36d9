"""Which schema does a database have? Numbered files bring it to this program's; a newer one is refused."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass
from importlib.resources import files

from interlock.ports import StoreError
from interlock.stores.seam import Database, Row, Session, transaction

_NAME = re.compile(r"(\d{4})_\w+\.sql")
_TABLE = "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at DOUBLE PRECISION NOT NULL)"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def statements(self) -> list[str]:
        """What the file runs, without comments; a statement ends with `;` at the end of a line."""
        lines = (line for line in self.text.splitlines() if line.strip() and not line.startswith("--"))
        return [part for part in ("\n".join(lines) + "\n").split(";\n") if part.strip()]


def migrations() -> list[Migration]:
    """The files of this program, in order; refuses a gap."""
    folder = files("interlock.stores") / "migrations"
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


def migrate(database: Database, begin: str, lock: str = "", known: list[Migration] | None = None) -> None:
    """Brings a database to this program's schema, in one transaction that nobody else runs at the same time."""
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
    """Refuses a database that another program made."""
    if len(done) > len(known):
        raise StoreError(
            f"the database is at migration {done[-1][0]}, this program knows {len(known)}: start a newer interlock"
        )
    for (number, name, sha256), migration in zip(done, known):
        if (number, sha256) != (migration.number, migration.sha256):
            raise StoreError(f"migration {number} of the database is {name}, and not this program's {migration.name}")


def _apply(session: Session, migration: Migration) -> None:
    for statement in migration.statements:
        session.execute(statement)
    session.execute(
        "INSERT INTO migrations (number, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.sha256, time.time()),
    )
