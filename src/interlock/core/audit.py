"""What is a record of the chain, and what is signed of it?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.audit_json import canonical_json, dumped, simple
from interlock.core.records import AuditRow, Checkpoint
from interlock.core.redact import redact, spotless

SCHEMA = 1
FIRST_SEQ = 0
GENESIS = "0" * 64  # what the first record of a writer follows
CHECKPOINT = "checkpoint"  # the event of a record that says one was signed
_HASHED = "interlock.audit"
_SIGNED = "interlock.checkpoint"
_HARMLESS = '"reauth":false'  # in every full record; it sounds like a secret, and is none

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
    if not spotless(text.replace(_HARMLESS, "")):
        text = canonical_json(redact(simple(body)))
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
    return hashlib.sha256(dumped([_HASHED, *parts]).encode("utf-8", "surrogatepass")).hexdigest()


def head_of(row: AuditRow) -> dict[str, Any]:
    """A record as a checkpoint lists it, as a head or as a floor."""
    return {"seq": row.seq, "hash": row.hash}


def checkpoint(heads: Mapping[str, Any], floors: Mapping[str, Any], at: float) -> bytes:
    """What is signed: every writer's head, the last pruned record of each, and when; refuses what is no head."""
    whole = {"at": _millis(at), "floors": _places(floors), "heads": _places(heads), "what": _SIGNED, "schema": SCHEMA}
    return dumped(whole).encode("utf-8", "surrogatepass")


def signed_checkpoint(
    heads: Mapping[str, Any], floors: Mapping[str, Any], at: float, key_id: str, sign: Sign
) -> Checkpoint:
    """A checkpoint that is ready to be kept; the store gives it its number."""
    return Checkpoint(0, moment(at), _places(heads), _places(floors), sign(checkpoint(heads, floors, at)), key_id)


def checkpoint_body(point: Checkpoint) -> dict[str, Any]:
    """The body of the record that a checkpoint was signed, so that the chain misses one that was removed."""
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
    """A checkpoint as the record speaks of it."""
    return hashlib.sha256(checkpoint(point.heads, point.floors, point.at)).hexdigest()
