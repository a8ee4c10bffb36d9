"""Measures stores as they fill up: ticket lookup and audit append with few rows and with many, as ratios."""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

import postgres
from interlock.audit.chain import entry
from interlock.model import AgentRef, Human, Level, Requirement, TicketState
from interlock.ports import Store
from interlock.records import AuditRow, Ticket
from interlock.startup import open_store
from interlock.storage.decisions import AUDIT, TICKETS

TICKET_COUNTS = (1, 10_000, 1_000_000)
RECORD_COUNTS = (1_000, 1_000_000)
LOOKUPS, APPENDS = 500, 100  # of each round
ROUNDS = 5  # each figure is the best median of these, so that what else the machine does matters less
NOW = 1_700_000_000.0
AGENT = AgentRef("token:0123456789abcdef", "claude", "s1")
WRITER = "main"
_SPREAD, _RANGE = 2_654_435_761, 1 << 32  # multiplied and cut off, numbers one after the other lie far apart, each once

FILLING = {"shared_buffers": "512MB", "max_wal_size": "8GB"}  # so that a million rows are soon there

Fill = Callable[[str, Sequence[str]], None]  # a table, and what to run


@dataclass(frozen=True)
class Dialect:
    """What the two databases spell differently: a number in hex, numbers from one to another, a hash."""

    hex: str
    numbers: str
    sha: str


SQLITE = Dialect(
    "printf('%08x', {0})",
    "(WITH RECURSIVE n(n) AS (SELECT {0} UNION ALL SELECT n + 1 FROM n WHERE n < {1}) SELECT n FROM n) AS numbers",
    "printf('%064x', {0})",
)
POSTGRES = Dialect("lpad(to_hex({0}), 8, '0')", "generate_series({0}, {1}) AS numbers(n)", "lpad(to_hex({0}), 64, '0')")


def main() -> None:
    print(
        f"how long a store takes as it fills up: the best of {ROUNDS} medians, and how many times that is of the first\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        measured("SQLite", f"sqlite://{folder}/state", SQLITE, in_sqlite(Path(folder) / "state" / "state.db"))
    if postgres.find_binaries() is None:
        print("PostgreSQL is not installed: nothing to measure")
        return
    with postgres.running(**FILLING) as server:
        url = server.new_database()
        measured("PostgreSQL", url, POSTGRES, in_postgres(url))


def measured(name: str, url: str, dialect: Dialect, fill: Fill) -> None:
    """One table: the same work at each size."""
    begun = time.monotonic()
    with opened(url) as store:
        store.write(lambda tx: tx.open_ticket(ticket(1), 5))
        store.write(lambda tx: tx.append_audit([record(None)]))
    lookups = measure(url, TICKET_COUNTS, lambda low, high: fill("tickets", more_tickets(dialect, low, high)), look_up)
    appends = measure(url, RECORD_COUNTS, lambda low, high: fill("audit", more_records(dialect, high)), append)
    print(f"{name} (filled and measured in {time.monotonic() - begun:.0f} s)")
    for what, found in (("ticket lookup", lookups), ("audit append", appends)):
        first = next(iter(found.values()))
        for count, seconds in found.items():
            print(f"  {what:<14}{count:>12,} rows{seconds * 1e6:>10.0f} µs{seconds / first:>8.2f} x")
    print()


def measure(
    url: str, counts: Sequence[int], grow: Callable[[int, int], None], work: Callable[[Store, int], list[float]]
) -> dict[int, float]:
    """The best median of the work's times at each size."""
    found, size = {}, 1
    for count in counts:
        if count > size:
            grow(size + 1, count)
            size = count
        with opened(url) as store:
            work(store, count)  # as warm as it gets
            found[count] = min(statistics.median(work(store, count)) for _ in range(ROUNDS))
    return found


def look_up(store: Store, count: int) -> list[float]:
    """Finds tickets by their digest, anywhere among the others."""
    chance, times = random.Random(count), []
    for _ in range(LOOKUPS):
        digest = digest_of(chance.randint(1, count))
        begun = time.perf_counter()
        found = store.read(lambda tx, digest=digest: tx.live_ticket(digest, AGENT))  # type: ignore[misc]
        times.append(time.perf_counter() - begun)
        assert found is not None and found.digest == digest
    return times


def append(store: Store, count: int) -> list[float]:
    """Adds to the chain, each record in a commit of its own."""
    head, times = store.read(lambda tx: tx.audit_head(WRITER)), []
    assert head is not None and head.seq >= count - 1
    for _ in range(APPENDS):
        begun = time.perf_counter()
        head = store.write(lambda tx, head=head: added(tx, head))  # type: ignore[misc]
        times.append(time.perf_counter() - begun)
    return times


def added(tx: Any, head: AuditRow) -> AuditRow:
    row = record(head)
    tx.append_audit([row])
    return row


def record(head: AuditRow | None) -> AuditRow:
    seq = head.seq + 1 if head else 0
    return entry(WRITER, head, NOW + seq / 100, "OPERATION_ALLOWED", {"operation": "command:git", "outcome": "allowed"})


def ticket(number: int) -> Ticket:
    asked = Requirement(human=Human.APPROVE)
    made = Ticket(
        f"pdact_{number:08x}", digest_of(number), AGENT, TicketState.WAITING, asked, NOW, NOW + 3600, Level.DANGEROUS
    )
    return replace(made, title="git push --force origin main", token_hash=f"{number:08x}")


def digest_of(number: int) -> str:
    return f"v1:{number * _SPREAD % _RANGE:08x}"


def more_tickets(dialect: Dialect, low: int, high: int) -> list[str]:
    """The first ticket again and again, each for another action; all of them are still open."""
    number = dialect.hex.format("n")
    changed = {
        "id": f"'pdact_' || {number}",
        "digest": f"'v1:' || {dialect.hex.format(f'n * {_SPREAD} % {_RANGE}')}",
        "token_hash": number,
        "opened_at": "opened_at + n / 1000.0",
    }
    names = (*TICKETS.columns, "name_key")
    values = ", ".join(changed.get(name, f'"{name}"') for name in names)
    numbers, columns = dialect.numbers.format(low, high), ", ".join(f'"{name}"' for name in names)
    return [
        f"INSERT INTO tickets ({columns}) SELECT {values} FROM {numbers}, tickets WHERE id = 'pdact_00000001' ORDER BY n"
    ]


def more_records(dialect: Dialect, high: int) -> list[str]:
    """The first record again and again; a store compares hashes, it does not make them."""
    last = high - 1
    changed = {"seq": "n", "at": "at + n / 100.0", "prev": dialect.sha.format("n - 1"), "hash": dialect.sha.format("n")}
    values = ", ".join(changed.get(name, f'"{name}"') for name in AUDIT.columns)
    columns = ", ".join(f'"{name}"' for name in AUDIT.columns)
    newest = "(SELECT coalesce(max(seq), 0) + 1 FROM audit)"
    numbers = dialect.numbers.format(newest, last)
    return [
        f"INSERT INTO audit ({columns}) SELECT {values} FROM {numbers}, audit WHERE seq = 0 ORDER BY n",
        f"UPDATE audit_heads SET seq = {last}, hash = (SELECT hash FROM audit WHERE seq = {last})",
    ]


def in_sqlite(path: Path) -> Fill:
    def fill(table: str, statements: Sequence[str]) -> None:
        raw = sqlite3.connect(path, isolation_level=None)
        raw.execute("PRAGMA journal_mode = OFF")  # nobody minds when this is lost
        raw.execute("PRAGMA synchronous = OFF")
        raw.execute("PRAGMA cache_size = -400000")
        indexes = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
        run(lambda sql: raw.execute(sql), raw.execute(indexes, (table,)).fetchall(), statements)
        raw.execute("PRAGMA journal_mode = WAL")
        raw.close()

    return fill


def in_postgres(url: str) -> Fill:
    def fill(table: str, statements: Sequence[str]) -> None:
        import psycopg

        with psycopg.connect(url, autocommit=True) as raw:
            raw.execute("SET maintenance_work_mem = '256MB'")
            raw.execute("SET synchronous_commit = off")
            indexes = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname NOT LIKE '%%pkey'"
            found = raw.execute(indexes, (table,)).fetchall()
            run(lambda sql: raw.execute(sql), found, [*statements, "ANALYZE"])  # type: ignore[call-overload]

    return fill


def run(execute: Callable[[str], Any], indexes: Sequence[tuple[str, str]], statements: Sequence[str]) -> None:
    """Fills a table whose indexes are made anew afterwards, which is quicker."""
    for name, _ in indexes:
        execute(f"DROP INDEX {name}")
    for statement in statements:
        execute(statement)
    for _, sql in indexes:
        execute(sql)


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


if __name__ == "__main__":
    main()
