"""The record: what protects is chained in the same transaction as what it tells of; everyday work in groups."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from interlock.core.audit import entry
from interlock.core.audit_bodies import deed_body
from interlock.core.audit_json import parsed
from interlock.core.records import NOTHING, AuditRow, Deed
from interlock.ports import Clock, Store, StoreError, Tx

GROUP = 256  # records; more are written at once
KEPT = 50_000  # records that wait while the store cannot be used; the answer to one more is no

Body = Mapping[str, Any]
Told = tuple[str, Body]  # event and body


class Recorder:
    """One writer's chain."""

    def __init__(self, store: Store, clock: Clock, writer: str, key_id: str, hashes: tuple[str, str]) -> None:
        self.store, self.clock, self.writer, self.key_id, self.hashes = store, clock, writer, key_id, hashes
        self._waiting: list[tuple[Deed, Callable[[], Told], float]] = []
        self._lock = threading.Lock()
        self.failing = False  # what waited could not be written, the last time that was tried

    def now(self, tx: Tx, event: str, body: Body) -> None:
        """Chains a record in this transaction."""
        self.these(tx, [(event, body)])

    def these(self, tx: Tx, told: Iterable[Told]) -> None:
        """Chains several."""
        (rulebook, policy), at = self.hashes, self.clock.now()
        head, rows = tx.audit_head(self.writer), []
        for event, body in told:
            head = entry(self.writer, head, at, event, body, rulebook, policy, self.key_id)
            rows.append(head)
        tx.append_audit(rows)

    def later(self, deed: Deed, told: Callable[[], Told]) -> None:
        """Keeps a record of everyday work for the next group; refuses when too many wait."""
        with self._lock:
            if len(self._waiting) >= KEPT:
                raise StoreError("too many records wait to be written")
            self._waiting.append((deed, told, self.clock.now()))

    @property
    def full(self) -> bool:
        return len(self._waiting) >= GROUP

    def flush(self) -> int:
        """Writes what waits; how many that was. What cannot be written waits on."""
        with self._lock:
            group, self._waiting = self._waiting, []
        if not group:
            return 0
        try:
            self.store.write(lambda tx: self._write(tx, group))
        except Exception:
            self.failing = True
            with self._lock:
                self._waiting = group + self._waiting
            raise
        self.failing = False
        return len(group)

    def _write(self, tx: Tx, group: list[tuple[Deed, Callable[[], Told], float]]) -> None:
        rulebook, policy = self.hashes
        head, rows = tx.audit_head(self.writer), []
        for _, told, at in group:
            event, body = told()
            head = entry(self.writer, head, at, event, body, rulebook, policy, self.key_id)
            rows.append(head)
        tx.append_audit(rows)
        tx.add_deeds(deed for deed, _, _ in group)


def deed(at: float, event: str, by: str, details: Body = NOTHING) -> Body:
    """The body of what an operator or the system did."""
    return deed_body(at, event, by, details)


def body_of(row: AuditRow) -> dict[str, Any]:
    """What a record says; nothing where it cannot be read."""
    try:
        body = parsed(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
