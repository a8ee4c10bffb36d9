"""One transaction in SQL, written once for every database, with the queries for snapshots and deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.records import Snapshot, SnapshotQuery
from interlock.records.deliveries import Delivery
from interlock.storage import Transaction
from interlock.storage.access import IdentityQueries, PermissionQueries
from interlock.storage.audit import AuditQueries
from interlock.storage.counters import CounterQueries
from interlock.storage.executions import LoopQueries, PlanQueries
from interlock.storage.rows import RecordTable
from interlock.storage.tickets import TicketQueries

if TYPE_CHECKING:
    from interlock.ports import Tx


SNAPSHOTS = RecordTable("snapshots", Snapshot, key=("id",))


class SnapshotQueries:
    """The part of a transaction for snapshots."""

    db: Transaction

    def add_snapshot(self, row: Snapshot) -> None:
        """Adds a snapshot; refuses an existing id."""
        self.db.execute(SNAPSHOTS.insert, SNAPSHOTS.values(row))

    def snapshot(self, id: str) -> Snapshot | None:
        return SNAPSHOTS.first(self.db, "WHERE id = ?", (id,))

    def snapshots(self, query: SnapshotQuery) -> list[Snapshot]:
        """The newest first."""
        wanted: list[str] = []
        params: list[str | float] = []
        for column in ("state", "principal", "machine"):
            if value := getattr(query, column):
                wanted.append(f"{column} = ?")
                params.append(value)
        if query.actions:
            wanted.append("undoes = ''")
        if query.before:
            wanted.append("at < ?")
            params.append(query.before)
        where = f"WHERE {' AND '.join(wanted)} " if wanted else ""
        order = f"ORDER BY at DESC, id DESC LIMIT {max(1, int(query.limit))}"
        return SNAPSHOTS.readable(self.db, f"{where}{order}", params)

    def end_snapshot(self, row: Snapshot, before: Snapshot) -> bool:
        """Compare-and-set on the state; False when another change came first."""
        sql = "UPDATE snapshots SET state = ?, ended_at = ?, ended_by = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self.db.execute(sql, (row.state, row.ended_at, row.ended_by, before.id, before.state)))


DELIVERIES = RecordTable("deliveries", Delivery, key=("id",))
_FIXED = ("id", "channel", "event", "about", "words", "made_at")


class DeliveryQueries:
    """The part of a transaction for deliveries."""

    db: Transaction

    def add_delivery(self, row: Delivery) -> bool:
        """Adds a delivery; False where the id exists."""
        sql = f"{DELIVERIES.insert} ON CONFLICT (id) DO NOTHING RETURNING id"
        return bool(self.db.execute(sql, DELIVERIES.values(row)))

    def delivery(self, id: str) -> Delivery | None:
        return DELIVERIES.first(self.db, "WHERE id = ?", (id,))

    def due_deliveries(self, channel: str, now: float, limit: int) -> list[Delivery]:
        """The due deliveries of a channel, the longest due first."""
        where = f"WHERE channel = ? AND done_at = 0 AND due_at <= ? ORDER BY due_at LIMIT {max(1, int(limit))}"
        return DELIVERIES.readable(self.db, where, (channel, now))

    def next_delivery(self, channel: str) -> float | None:
        """The time of a channel's next delivery."""
        sql = "SELECT due_at FROM deliveries WHERE channel = ? AND done_at = 0 ORDER BY due_at LIMIT 1"
        found = self.db.execute(sql, (channel,))
        return float(found[0][0]) if found else None

    def owed(self, channel: str) -> int:
        """The number of a channel's open deliveries."""
        return int(
            self.db.execute("SELECT COUNT(*) FROM deliveries WHERE channel = ? AND done_at = 0", (channel,))[0][0]
        )

    def change_delivery(self, row: Delivery, before: Delivery) -> bool:
        """Compare-and-set on the version; False when another change came first."""
        sql = f"{DELIVERIES.update(_FIXED)} WHERE id = ? AND version = ? RETURNING id"
        return bool(self.db.execute(sql, (*DELIVERIES.changes(row, _FIXED), before.id, before.version)))

    def deliveries(self, channel: str, limit: int) -> list[Delivery]:
        """The newest first."""
        return DELIVERIES.readable(
            self.db, f"WHERE channel = ? ORDER BY made_at DESC LIMIT {max(1, int(limit))}", (channel,)
        )

    def forget_deliveries(self, before: float) -> None:
        """Deletes deliveries that ended before this time."""
        self.db.execute("DELETE FROM deliveries WHERE done_at > 0 AND done_at < ?", (before,))


class SqlTx(
    TicketQueries,
    IdentityQueries,
    CounterQueries,
    PermissionQueries,
    LoopQueries,
    AuditQueries,
    PlanQueries,
    DeliveryQueries,
    SnapshotQueries,
):
    """All queries of a transaction."""

    def __init__(self, db: Transaction) -> None:
        self.db = db


def _is_a_transaction(session: Transaction) -> Tx:
    """Has the type checker compare the queries with the port."""
    return SqlTx(session)
