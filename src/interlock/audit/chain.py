"""The hash chain: records, signed checkpoints, and the recorder that chains protective events at once and everyday ones in groups."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from interlock.audit import checked_event_body
from interlock.canonical_json import canonical_json, dump_json, parse_canonical, simplify
from interlock.ports import Clock, Store, StoreError, Tx
from interlock.records import NOTHING, AuditRow, Checkpoint, HistoryEntry
from interlock.redaction import has_no_secret, redact

SCHEMA = 1
FIRST_SEQ = 0
GENESIS = "0" * 64  # the previous hash of a writer's first record
CHECKPOINT = "checkpoint"  # the event of a record that says one was signed
_HASHED = "interlock.audit"
_SIGNED = "interlock.checkpoint"
_HARMLESS = '"reauth":false'  # in every full record; looks like a secret to redaction

Sign = Callable[[bytes], str]  # what is signed -> signature in hex


def entry(
    writer: str,
    head: AuditRow | None,
    at: float,
    event: str,
    body: Mapping[str, Any],
    rulebook: str = "",
    policy: str = "",
    key_id: str = "",
) -> AuditRow:
    """The record that follows `head`, secrets out; refuses a head of another writer and an empty writer or event."""
    if not writer or not event:
        raise ValueError(f"audit: empty {'event' if writer else 'writer'}")
    if head is not None and head.writer != writer:
        raise ValueError(f"audit: {writer!r} cannot follow a record of {head.writer!r}")
    text = canonical_json(body)
    if not has_no_secret(text.replace(_HARMLESS, "")):
        text = canonical_json(redact(simplify(body)))
    seq, prev = (head.seq + 1, head.hash) if head else (FIRST_SEQ, GENESIS)
    mark = _hash(SCHEMA, writer, seq, _millis(at), event, text, prev, key_id, rulebook, policy)
    return AuditRow(writer, seq, moment(at), event, text, prev, mark, key_id, SCHEMA, rulebook, policy)


def moment(at: float) -> float:
    """A time as it is kept: whole milliseconds."""
    return _millis(at) / 1000


def hash_of(row: AuditRow) -> str:
    """SHA-256 over every field of a record but its hash."""
    return _hash(
        row.schema, row.writer, row.seq, _millis(row.at), row.event, row.body, row.prev, row.key_id, row.rulebook, row.policy
    )  # fmt: skip


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(dump_json([_HASHED, *parts]).encode("utf-8", "surrogatepass")).hexdigest()


def head_of(row: AuditRow) -> dict[str, Any]:
    """A record as a checkpoint lists it, as a head or as a floor."""
    return {"seq": row.seq, "hash": row.hash}


def checkpoint(heads: Mapping[str, Any], floors: Mapping[str, Any], at: float) -> bytes:
    """The signed text of a checkpoint: each writer's head and last pruned record, and the time; refuses an invalid head."""
    whole = {"at": _millis(at), "floors": _places(floors), "heads": _places(heads), "what": _SIGNED, "schema": SCHEMA}
    return dump_json(whole).encode("utf-8", "surrogatepass")


def signed_checkpoint(
    heads: Mapping[str, Any], floors: Mapping[str, Any], at: float, key_id: str, sign: Sign
) -> Checkpoint:
    """A signed checkpoint; the store assigns its number."""
    return Checkpoint(0, moment(at), _places(heads), _places(floors), sign(checkpoint(heads, floors, at)), key_id)


def checkpoint_body(point: Checkpoint) -> dict[str, Any]:
    """The body of a checkpoint's record, so that the chain shows a removed checkpoint."""
    return {"digest": fingerprint_of(point), "key_id": point.key_id, "writers": len(point.heads)}


def _places(places: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {writer: _place(writer, place) for writer, place in places.items()}


def _place(writer: str, place: Any) -> dict[str, Any]:
    seq, hash = (place.get("seq"), place.get("hash")) if isinstance(place, Mapping) else (None, None)
    if not isinstance(place, Mapping) or set(place) != {"seq", "hash"} or not isinstance(hash, str):
        raise ValueError(f"checkpoint {writer!r:.80}: expected seq and hash, got {place!r:.80}")
    if not isinstance(seq, int) or isinstance(seq, bool) or seq < FIRST_SEQ:
        raise ValueError(f"checkpoint {writer!r:.80}: expected the number of a record, got {seq!r:.80}")
    return {"seq": seq, "hash": hash}


def _millis(at: float) -> int:
    return round(at * 1000)


def fingerprint_of(point: Checkpoint) -> str:
    """A hash of a checkpoint, for its record."""
    return hashlib.sha256(checkpoint(point.heads, point.floors, point.at)).hexdigest()


GROUP = 256  # records; more are written at once
MOST_WAITING = 50_000  # pending records while the store cannot be used; one more is refused

Body = Mapping[str, Any]
AuditEvent = tuple[str, Body]  # event and body


class AuditRecorder:
    """One writer's chain."""

    def __init__(self, store: Store, clock: Clock, writer: str, key_id: str, hashes: tuple[str, str]) -> None:
        self.store, self.clock, self.writer, self.key_id, self.hashes = store, clock, writer, key_id, hashes
        self._waiting: list[tuple[HistoryEntry, Callable[[], AuditEvent], float]] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self.failing = False  # the last flush failed

    def now(self, tx: Tx, event: str, body: Body) -> None:
        """Chains a record in this transaction."""
        self.these(tx, [(event, body)])

    def these(self, tx: Tx, events: Iterable[AuditEvent]) -> None:
        """Chains several."""
        (rulebook, policy), at = self.hashes, self.clock.now()
        head, rows = tx.audit_head(self.writer), []
        for event, body in events:
            head = entry(self.writer, head, at, event, body, rulebook, policy, self.key_id)
            rows.append(head)
        tx.append_audit(rows)

    def later(self, action: HistoryEntry, event: Callable[[], AuditEvent]) -> None:
        """Queues a record of everyday work for the next group; refuses when too many wait."""
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                raise StoreError("too many records wait to be written")
            self._waiting.append((action, event, self.clock.now()))

    @property
    def full(self) -> bool:
        return len(self._waiting) >= GROUP

    def flush(self) -> int:
        """Writes pending records, after any group in progress, and returns how many; unwritten ones stay pending."""
        with self._writing:
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

    def _write(self, tx: Tx, group: list[tuple[HistoryEntry, Callable[[], AuditEvent], float]]) -> None:
        rulebook, policy = self.hashes
        head, rows = tx.audit_head(self.writer), []
        for _, told, at in group:
            event, body = told()
            head = entry(self.writer, head, at, event, body, rulebook, policy, self.key_id)
            rows.append(head)
        tx.append_audit(rows)
        tx.add_deeds(done for done, _, _ in group)


def event_body(at: float, event: str, by: str, details: Body = NOTHING) -> Body:
    """The body of an event by an operator or the system."""
    return checked_event_body(at, event, by, details)


def body_of(row: AuditRow) -> dict[str, Any]:
    """The parsed body of a record; empty where it cannot be read."""
    try:
        body = parse_canonical(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
