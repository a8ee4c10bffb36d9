"""One schema for every store: its columns are the records' fields, it grows by numbered files, and lookups need no scan."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import interlock.storage.decisions
import interlock.storage.sql
from interlock.model import TicketState
from interlock.ports import StoreError, Tx
from interlock.records import AuditQuery, Delivery, TicketQuery
from interlock.startup import open_store
from interlock.storage import Migration, RecordTable, Row, migrate, migrations
from interlock.storage.sql import SqlTx
from stored_records import AGENT, NOW, approval, chain, challenge, execution, grant, history_entry, notification, ticket

NOUNS = (interlock.storage.sql, interlock.storage.decisions)
TABLES = {value.name: value for noun in NOUNS for value in vars(noun).values() if isinstance(value, RecordTable)}


class Plain:
    """The least that a migration needs."""

    def __init__(self) -> None:
        self.raw = sqlite3.connect(":memory:", isolation_level=None)

    def execute(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        try:
            return self.raw.execute(sql, params).fetchall()
        except sqlite3.Error as error:
            raise StoreError(str(error)) from error

    def check(self) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def database() -> Plain:
    database = Plain()
    migrate(database, "BEGIN IMMEDIATE")
    return database


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_column_for_each_field(database: Plain, name: str) -> None:
    table = TABLES[name]
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
    assert sorted(columns) == sorted([*table.columns, *(["name_key"] if table.by_name else [])])


def test_a_second_start_changes_nothing(database: Plain) -> None:
    before = database.execute("SELECT * FROM migrations")
    migrate(database, "BEGIN IMMEDIATE")
    assert database.execute("SELECT * FROM migrations") == before


def test_new_files_are_applied_once_and_in_order(database: Plain) -> None:
    last = len(migrations())
    more = [
        *migrations(),
        Migration(
            last + 1, f"{last + 1:04}_a.sql", "CREATE TABLE a (x TEXT);\n-- a comment;\nCREATE INDEX ax ON a (x);\n"
        ),
        Migration(last + 2, f"{last + 2:04}_b.sql", "ALTER TABLE a ADD COLUMN y TEXT;\n"),
    ]
    for _ in range(2):
        migrate(database, "BEGIN IMMEDIATE", known=more)
    assert [row[1] for row in database.execute("PRAGMA table_info(a)")] == ["x", "y"]


def test_a_file_that_fails_leaves_nothing_behind(database: Plain) -> None:
    last = len(migrations())
    broken = Migration(last + 1, f"{last + 1:04}_a.sql", "CREATE TABLE a (x TEXT);\nCREATE TABLE a (x TEXT);\n")
    with pytest.raises(StoreError, match="already exists"):
        migrate(database, "BEGIN IMMEDIATE", known=[*migrations(), broken])
    assert database.execute("PRAGMA table_info(a)") == []
    assert len(database.execute("SELECT * FROM migrations")) == len(migrations())


def test_a_database_that_is_newer_than_the_program_is_refused(url: str) -> None:
    store = open_store(url)
    store.write(lambda tx: tx.execute("INSERT INTO migrations VALUES (9999, '9999_future.sql', '', 0)"))  # type: ignore[attr-defined]
    store.close()
    with pytest.raises(StoreError, match=r"at migration 9999, this program knows \d+: start a newer interlock"):
        open_store(url)


def test_a_database_with_another_history_is_refused(url: str) -> None:
    store = open_store(url)
    store.write(lambda tx: tx.execute("UPDATE migrations SET sha256 = 'other'"))  # type: ignore[attr-defined]
    store.close()
    with pytest.raises(StoreError, match="not this program's"):
        open_store(url)


@pytest.mark.parametrize("url", ["", "mysql://x", "/a/path", "sqlite3:///x"])
def test_an_unknown_store_is_refused_with_those_that_are_known(url: str) -> None:
    with pytest.raises(StoreError, match="known: postgres, postgresql, sqlite"):
        open_store(url)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite://folder", "sqlite://host/folder"])
def test_sqlite_needs_a_folder(url: str) -> None:
    with pytest.raises(StoreError, match="expected sqlite:///path/to/folder"):
        open_store(url)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    open_store(f"sqlite://{tmp_path}/a%20b%23%3F").close()
    assert (tmp_path / "a b#?" / "state.db").exists()


def test_a_store_is_loaded_only_when_it_is_used(tmp_path: Path) -> None:
    code = (
        "import sys, interlock.startup as s\n"
        "assert 'psycopg' not in sys.modules\n"
        f"s.open_store('sqlite://{tmp_path}/state').close()\n"
        "assert 'psycopg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


DELIVERY = Delivery("hook/x", "hook", "held", "ticket x", "", NOW, NOW)
LOOKUPS: dict[str, Callable[[Tx], Any]] = {
    "open a ticket": lambda tx: tx.open_ticket(ticket("t1"), 5),
    "a ticket": lambda tx: tx.ticket("t1"),
    "the live ticket": lambda tx: tx.live_ticket("d", AGENT),
    "a ticket by token": lambda tx: tx.ticket_by_token("h"),
    "all tickets": lambda tx: tx.tickets(TicketQuery()),
    "tickets by state": lambda tx: tx.tickets(TicketQuery(states=(TicketState.WAITING,), before=NOW)),
    "tickets of a principal": lambda tx: tx.tickets(TicketQuery(principal="p")),
    "tickets of an agent": lambda tx: tx.tickets(TicketQuery(principal="p", name="n", before=NOW)),
    "change a ticket": lambda tx: tx.change_ticket(ticket("t1"), ticket("t1")),
    "approvals": lambda tx: tx.approvals("t1"),
    "credentials": lambda tx: tx.credentials("ana"),
    "an agent": lambda tx: tx.agent("p", "n"),
    "an agent by token": lambda tx: tx.agent_by_token("h"),
    "a block": lambda tx: tx.block("p"),
    "counts": lambda tx: tx.counts(AGENT, "rm", "e1", NOW),
    "deeds": lambda tx: tx.add_deeds([history_entry()]),
    "denials": lambda tx: tx.denials(NOW, "p"),
    "grants": lambda tx: tx.grants(NOW),
    "a grant": lambda tx: tx.use_grant("g", NOW),
    "save a grant": lambda tx: tx.save_grant(grant("g")),
    "a setting": lambda tx: tx.setting("k"),
    "a challenge": lambda tx: tx.challenge("c"),
    "challenges": lambda tx: tx.challenges(),
    "challenges of a principal": lambda tx: tx.challenges("p"),
    "save a challenge": lambda tx: tx.save_challenge(challenge("c")),
    "executions": lambda tx: tx.executions(AGENT, "running"),
    "change an execution": lambda tx: tx.save_execution(execution("e"), execution("e")),
    "add a notification": lambda tx: tx.add_notification(notification()),
    "notifications": lambda tx: tx.notifications(AGENT, NOW),
    "the head of a chain": lambda tx: tx.audit_head("w"),
    "append to a chain": lambda tx: tx.append_audit(chain(2)),
    "records by number": lambda tx: tx.audit(AuditQuery(writer="w", after_seq=5)),
    "records by time": lambda tx: tx.audit(AuditQuery(since=NOW, newest_first=True)),
    "the newest records": lambda tx: tx.audit(AuditQuery(newest_first=True)),
    "records by event": lambda tx: tx.audit(AuditQuery(event="e", since=NOW)),
    "add a delivery": lambda tx: tx.add_delivery(DELIVERY),
    "due deliveries": lambda tx: tx.due_deliveries("hook", NOW, 10),
    "the next delivery": lambda tx: tx.next_delivery("hook"),
    "what a channel owes": lambda tx: tx.owed("hook"),
    "change a delivery": lambda tx: tx.change_delivery(DELIVERY, DELIVERY),
    "the newest deliveries": lambda tx: tx.deliveries("hook", 10),
    "forget deliveries": lambda tx: tx.forget_deliveries(NOW),
    "prune": lambda tx: tx.prune_audit("w", 5),
}


SMALL = ("USING", "CONSTANT ROW", "newest")  # an index in its order, the values of an INSERT, at most a thousand
FEW = "approvals, grants, credentials, challenges, challenges of a principal, executions, notifications, counts".split(
    ", "
)


@pytest.mark.parametrize("what", LOOKUPS)
def test_a_lookup_needs_no_scan_and_no_sorting(database: Plain, what: str) -> None:
    ran: list[tuple[str, Sequence[Any]]] = []

    def run(sql: str, params: Sequence[Any]) -> list[Row]:
        ran.append((sql, params))
        return database.execute(sql, params)

    LOOKUPS[what](SqlTx(run))
    assert ran
    for sql, params in ran:
        plan = [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
        slow = [step for step in plan if step.startswith("SCAN") and not any(word in step for word in SMALL)]
        slow += [step for step in plan if "TEMP B-TREE" in step and what not in FEW]
        assert not slow, (sql, plan)


def test_an_approval_of_an_unknown_ticket_is_refused_by_the_schema(database: Plain) -> None:
    database.execute("PRAGMA foreign_keys = 1")
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        SqlTx(database.execute).add_approval(approval("none"))
