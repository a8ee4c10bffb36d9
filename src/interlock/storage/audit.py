"""Queries for the audit: one append-only chain per writer, and the signed checkpoints over them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from msgspec.structs import replace

from interlock.audit.chain import FIRST_SEQ, GENESIS
from interlock.ports import StoreError
from interlock.records import AuditQuery, AuditRow, Checkpoint
from interlock.storage import Transaction, stored_text
from interlock.storage.executions import next_number
from interlock.storage.rows import RecordTable

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
        wanted: list[tuple[str, str | float, bool]] = [
            ("writer = ?", query.writer, bool(query.writer)),
            ("seq > ?", query.after_seq, query.after_seq >= 0),
            ("event = ?", query.event, bool(query.event)),
            ("at >= ?", query.since, bool(query.since)),
            ("at <= ?", query.until, bool(query.until)),
            ("lower(body) LIKE ? ESCAPE '!'", _like(query.text), bool(query.text)),
        ]
        used = {condition: value for condition, value, asked in wanted if asked}
        order = "seq" if query.writer else "at, writer, seq"
        if query.newest_first:
            order = ", ".join(f"{column} DESC" for column in order.split(", "))
        where = f"WHERE {' AND '.join(used)}" if used else ""
        return AUDIT.find(self.db, f"{where} ORDER BY {order} LIMIT ?", [*used.values(), query.limit])

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


def _like(text: str) -> str:
    """A LIKE pattern that finds this text anywhere, in any case."""
    for special in "!%_":
        text = text.replace(special, f"!{special}")
    return f"%{text.lower()}%"
