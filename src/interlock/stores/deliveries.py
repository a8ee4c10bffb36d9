"""What channels owe to people: kept once, taken by one, looked back at."""

from __future__ import annotations

from interlock.core.deliveries import Delivery
from interlock.stores.rows import Table
from interlock.stores.seam import Session

DELIVERIES = Table("deliveries", Delivery, key=("id",))
_FIXED = ("id", "channel", "event", "about", "words", "made_at")


class Deliveries:
    """The part of a transaction that is about messages."""

    db: Session

    def add_delivery(self, row: Delivery) -> bool:
        """Keeps a new one; False where there is one of this id already."""
        sql = f"{DELIVERIES.insert} ON CONFLICT (id) DO NOTHING RETURNING id"
        return bool(self.db.execute(sql, DELIVERIES.values(row)))

    def delivery(self, id: str) -> Delivery | None:
        return DELIVERIES.first(self.db, "WHERE id = ?", (id,))

    def due_deliveries(self, channel: str, now: float, limit: int) -> list[Delivery]:
        """What a channel has to tell now, the longest due first."""
        where = f"WHERE channel = ? AND done_at = 0 AND due_at <= ? ORDER BY due_at LIMIT {max(1, int(limit))}"
        return DELIVERIES.readable(self.db, where, (channel, now))

    def next_delivery(self, channel: str) -> float | None:
        """When a channel has something to tell next."""
        sql = "SELECT due_at FROM deliveries WHERE channel = ? AND done_at = 0 ORDER BY due_at LIMIT 1"
        found = self.db.execute(sql, (channel,))
        return float(found[0][0]) if found else None

    def owed(self, channel: str) -> int:
        """How many things a channel has still to tell."""
        return int(
            self.db.execute("SELECT COUNT(*) FROM deliveries WHERE channel = ? AND done_at = 0", (channel,))[0][0]
        )

    def change_delivery(self, row: Delivery, before: Delivery) -> bool:
        """Compare-and-set on the version; False when somebody was faster."""
        sql = f"{DELIVERIES.update(_FIXED)} WHERE id = ? AND version = ? RETURNING id"
        return bool(self.db.execute(sql, (*DELIVERIES.changes(row, _FIXED), before.id, before.version)))

    def deliveries(self, channel: str, limit: int) -> list[Delivery]:
        """The newest first."""
        return DELIVERIES.readable(
            self.db, f"WHERE channel = ? ORDER BY made_at DESC LIMIT {max(1, int(limit))}", (channel,)
        )

    def forget_deliveries(self, before: float) -> None:
        """Lets go of what ended before that."""
        self.db.execute("DELETE FROM deliveries WHERE done_at > 0 AND done_at < ?", (before,))
