"""What was kept before actions ran: added once, found again, its end noted by one."""

from __future__ import annotations

from interlock.core.snapshots import Snapshot, SnapshotQuery
from interlock.stores.rows import Table
from interlock.stores.seam import Session

SNAPSHOTS = Table("snapshots", Snapshot, key=("id",))


class Snapshots:
    """The part of a transaction that is about snapshots."""

    db: Session

    def add_snapshot(self, row: Snapshot) -> None:
        """Keeps a new one; refuses an id that is there already."""
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
        """Compare-and-set on the state; False when somebody was faster."""
        sql = "UPDATE snapshots SET state = ?, ended_at = ?, ended_by = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self.db.execute(sql, (row.state, row.ended_at, row.ended_by, before.id, before.state)))
