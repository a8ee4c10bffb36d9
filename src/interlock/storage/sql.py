"""One transaction in SQL, written once for every database, with the queries for executions, plans, the audit, deliveries and snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from msgspec.structs import replace

from interlock.audit.chain import FIRST_SEQ, GENESIS
from interlock.model import AgentRef
from interlock.policy.digest import normal_name
from interlock.ports import StoreError
from interlock.records import (
    AuditQuery,
    AuditRow,
    Challenge,
    Checkpoint,
    Delivery,
    Execution,
    Notification,
    Snapshot,
    SnapshotQuery,
)
from interlock.records.plans import PlanQuery, PlanRow, Workflow
from interlock.storage import RecordTable, Transaction, contains, stored_text, where
from interlock.storage.access import IdentityQueries, SettingQueries
from interlock.storage.tickets import CounterQueries, StandingQueries, TicketQueries

CHALLENGES = RecordTable("challenges", Challenge, key=("id",))
EXECUTIONS = RecordTable("executions", Execution, key=("id",), by_name=True)
NOTIFICATIONS = RecordTable("notifications", Notification, key=("id",), by_name=True)

_LIVE = "status IN ('running', 'paused')"  # an execution starts running, and a block is its principal's
_FIXED_EXECUTION = ("id", "principal", "name", "session", "parent", "started_at", "goal", "quota")
# Delivered with every directive until they are cleared; all others once.
_PERSISTENT = "('permission_pending', 'autonomy_pause', 'danger_zone')"


def next_number(db: Transaction, name: str) -> int:
    """The next number of a sequence; never the same twice."""
    return int(
        db.execute(
            "INSERT INTO counters (name, value) VALUES (?, 1) "
            "ON CONFLICT (name) DO UPDATE SET value = counters.value + 1 RETURNING value",
            (name,),
        )[0][0]
    )


class LoopQueries:
    """The part of a transaction for executions."""

    db: Transaction

    def challenge(self, id: str) -> Challenge | None:
        return CHALLENGES.first(self.db, "WHERE id = ?", (id,))

    def challenges(self, principal: str = "", state: str = "open", since: float = 0.0) -> list[Challenge]:
        """The oldest first; an empty filter matches any."""
        clause, params = where(
            ("principal = ?", principal or None), ("state = ?", state or None), ("opened_at > ?", since)
        )
        return CHALLENGES.find(self.db, f"{clause}ORDER BY opened_at, id", params)

    def save_challenge(self, challenge: Challenge) -> None:
        CHALLENGES.save(self.db, challenge)

    def execution(self, id: str) -> Execution | None:
        return EXECUTIONS.first(self.db, "WHERE id = ?", (id,))

    def executions(
        self, agent: AgentRef | None = None, status: str = "", most: int = 0, live: bool = False
    ) -> list[Execution]:
        """The newest first, at most so many; 0 means all. `live` leaves out those that have ended."""
        principal, name = (agent.principal, normal_name(agent.name)) if agent is not None else (None, None)
        clause, params = where(
            ("principal = ?", principal), ("name_key = ?", name), ("status = ?", status or None), (_LIVE, live or None)
        )
        cut = f" LIMIT {int(most)}" if most else ""
        return EXECUTIONS.find(self.db, f"{clause}ORDER BY started_at DESC, id{cut}", params)

    def save_execution(self, execution: Execution, before: Execution | None) -> bool:
        """Adds an execution, or compare-and-sets it on its version; False where it changed in between."""
        if before is None:
            return EXECUTIONS.add_new(self.db, execution)
        if execution.id != before.id:
            raise StoreError(f"execution {before.id!r} cannot become execution {execution.id!r}")
        after = replace(execution, version=before.version + 1)
        same = (before.id, before.version)
        # To set a status to itself would write both indexes again, with every step of an agent.
        fixed = (*_FIXED_EXECUTION, "status") if after.status == before.status else _FIXED_EXECUTION
        return EXECUTIONS.change(self.db, after, fixed, "id = ? AND version = ?", same)

    def add_notification(self, note: Notification) -> int:
        """Stores it under the next number, whatever number it has."""
        number = next_number(self.db, "notification")
        self.db.execute(NOTIFICATIONS.insert, NOTIFICATIONS.values(replace(note, id=number)))
        return number

    def notifications(self, agent: AgentRef, now: float) -> list[Notification]:
        """The agent's undelivered notifications, and those that stay until cleared."""
        clause = (
            "WHERE principal = ? AND name_key = ? AND cleared_at = 0 AND at <= ? "
            f"AND (delivered_at = 0 OR type IN {_PERSISTENT}) ORDER BY id"
        )
        return NOTIFICATIONS.find(self.db, clause, (agent.principal, normal_name(agent.name), now))

    def change_notification(self, note: Notification) -> None:
        """Changes a notification; refuses an unknown number."""
        if not NOTIFICATIONS.change(self.db, note, ("id", "principal", "name"), "id = ?", (note.id,)):
            raise StoreError(f"there is no notification {note.id}")


PLANS = RecordTable("plans", PlanRow, key=("id",))
WORKFLOWS = RecordTable("workflows", Workflow, key=("id",))
_LIKE = "lower({}) LIKE ? ESCAPE '!'"
_WORDS = " OR ".join(map(_LIKE.format, ("intent", "generated", "command")))


class PlanQueries:
    """The part of a transaction for plans and workflows."""

    db: Transaction

    def plan(self, id: str) -> PlanRow | None:
        return PLANS.first(self.db, "WHERE id = ?", (id,))

    def plans(self, query: PlanQuery) -> list[PlanRow]:
        """The newest first; a text is searched for in requests, proposals and runs."""
        clause, params = where(
            ("status = ?", query.status or None),
            ("operator = ?", query.operator or None),
            ("made_at < ?", query.before or None),
            (f"({_WORDS})", contains(query.text) if query.text else None),
        )
        return PLANS.readable(
            self.db, f"{clause}ORDER BY made_at DESC, id DESC LIMIT {max(1, int(query.limit))}", params
        )

    def save_plan(self, row: PlanRow) -> None:
        PLANS.save(self.db, row)

    def workflow(self, id: str) -> Workflow | None:
        return WORKFLOWS.first(self.db, "WHERE id = ? AND removed_at = 0", (id,))

    def workflows(self) -> list[Workflow]:
        """By name, without the removed ones."""
        return WORKFLOWS.readable(self.db, "WHERE removed_at = 0 ORDER BY name, id")

    def save_workflow(self, row: Workflow) -> None:
        WORKFLOWS.save(self.db, row)


AUDIT = RecordTable("audit", AuditRow, key=("writer", "seq"))
CHECKPOINTS = RecordTable("checkpoints", Checkpoint, key=("id",))

# Jumps from writer to writer by the index, so that a long audit costs no more than a short one.
_WRITERS = """
WITH RECURSIVE named(writer) AS (
  SELECT min(writer) FROM audit
  UNION ALL SELECT (SELECT min(audit.writer) FROM audit WHERE audit.writer > named.writer) FROM named WHERE named.writer IS NOT NULL
) SELECT writer FROM named WHERE writer IS NOT NULL UNION SELECT writer FROM audit_heads
"""


class AuditQueries:
    """The part of a transaction for the audit."""

    db: Transaction

    def audit_head(self, writer: str) -> AuditRow | None:
        """The end of a chain; None for records that belong to no chain."""
        known = "EXISTS (SELECT 1 FROM audit_heads AS head WHERE head.writer = audit.writer)"
        return AUDIT.first(self.db, f"WHERE writer = ? AND {known} ORDER BY seq DESC", (writer,))

    def append_audit(self, rows: Iterable[AuditRow]) -> None:
        """Adds to chains; refuses a record that does not follow the one before it."""
        ordered = sorted(rows, key=lambda row: (row.writer, row.seq))
        for writer, group in groupby(ordered, key=lambda row: row.writer):
            chain = list(group)
            self._move_head(writer, chain)
            AUDIT.add(self.db, chain)

    def audit(self, query: AuditQuery) -> list[AuditRow]:
        """Matching records: by number for one writer, else by time."""
        clause, params = where(
            ("writer = ?", query.writer or None),
            ("seq > ?", query.after_seq if query.after_seq >= 0 else None),
            ("event = ?", query.event or None),
            ("at >= ?", query.since or None),
            ("at <= ?", query.until or None),
            (_LIKE.format("body"), contains(query.text) if query.text else None),
        )
        order = "seq" if query.writer else "at, writer, seq"
        if query.newest_first:
            order = ", ".join(f"{column} DESC" for column in order.split(", "))
        return AUDIT.find(self.db, f"{clause}ORDER BY {order} LIMIT ?", [*params, query.limit])

    def audit_writers(self) -> list[str]:
        """Every writer with a chain or with records."""
        return sorted(stored_text(writer) for (writer,) in self.db.execute(_WRITERS))

    def prune_audit(self, writer: str, before_seq: int) -> int:
        """Deletes records before a number; always keeps a chain's last one."""
        head = self.db.execute("SELECT seq FROM audit_heads WHERE writer = ?", (writer,))
        if not head:
            return 0
        gone = self.db.execute(
            "DELETE FROM audit WHERE writer = ? AND seq < ? RETURNING seq", (writer, min(before_seq, head[0][0]))
        )
        return len(gone)

    def checkpoints(self) -> list[Checkpoint]:
        return CHECKPOINTS.find(self.db, "ORDER BY id")

    def add_checkpoint(self, checkpoint: Checkpoint) -> int:
        """Stores it under the next number, whatever number it has."""
        number = next_number(self.db, "checkpoint")
        self.db.execute(CHECKPOINTS.insert, CHECKPOINTS.values(replace(checkpoint, id=number)))
        return number

    def _move_head(self, writer: str, chain: list[AuditRow]) -> None:
        """Moves a chain's end to the last of these records; refuses records that do not continue it."""
        found = self.db.execute("SELECT seq, hash FROM audit_heads WHERE writer = ?", (writer,))
        seq, hash = found[0] if found else (FIRST_SEQ - 1, GENESIS)
        for row in chain:
            if row.seq != seq + 1 or row.prev != hash:
                if found and row is chain[0] and not self._is_there(writer, seq):
                    raise StoreError(
                        f"the record was cut off outside Interlock: the end of {writer!r}, number {seq}, is gone; put a copy of the state"
                        " back, or move it away to start over"
                    )
                got, expected = f"{row.seq} after {row.prev[:12]!r}", f"{seq + 1} after {hash[:12]!r}"
                raise StoreError(f"audit of {writer!r}: record {got} does not continue it, expected {expected}")
            seq, hash = row.seq, row.hash
        if found:
            moved = self.db.execute(
                "UPDATE audit_heads SET seq = ?, hash = ? WHERE writer = ? AND seq = ? AND hash = ? RETURNING seq",
                (seq, hash, writer, *found[0]),
            )
        else:
            moved = self.db.execute(
                "INSERT INTO audit_heads (writer, seq, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING seq",
                (writer, seq, hash),
            )
        if not moved:
            raise StoreError(f"audit of {writer!r}: somebody else added to it at the same time")

    def _is_there(self, writer: str, seq: int) -> bool:
        return bool(self.db.execute("SELECT 1 FROM audit WHERE writer = ? AND seq = ?", (writer, seq)))


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
        clause, params = where(
            *((f"{column} = ?", getattr(query, column) or None) for column in ("state", "principal", "machine")),
            ("undoes = ?", "" if query.actions else None),
            ("at < ?", query.before or None),
        )
        order = f"ORDER BY at DESC, id DESC LIMIT {max(1, int(query.limit))}"
        return SNAPSHOTS.readable(self.db, f"{clause}{order}", params)

    def end_snapshot(self, row: Snapshot, before: Snapshot) -> bool:
        """Compare-and-set on the state; False when another change came first."""
        sql = "UPDATE snapshots SET state = ?, ended_at = ?, ended_by = ? WHERE id = ? AND state = ? RETURNING id"
        return bool(self.db.execute(sql, (row.state, row.ended_at, row.ended_by, before.id, before.state)))


DELIVERIES = RecordTable("deliveries", Delivery, key=("id",))
_FIXED_DELIVERY = ("id", "channel", "event", "about", "words", "made_at")


class DeliveryQueries:
    """The part of a transaction for deliveries."""

    db: Transaction

    def add_delivery(self, row: Delivery) -> bool:
        """Adds a delivery; False where the id exists."""
        return DELIVERIES.add_new(self.db, row)

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
        same = (before.id, before.version)
        return DELIVERIES.change(self.db, row, _FIXED_DELIVERY, "id = ? AND version = ?", same)

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
    StandingQueries,
    CounterQueries,
    IdentityQueries,
    SettingQueries,
    LoopQueries,
    AuditQueries,
    PlanQueries,
    DeliveryQueries,
    SnapshotQueries,
):
    """All queries of a transaction."""

    def __init__(self, db: Transaction) -> None:
        self.db = db
