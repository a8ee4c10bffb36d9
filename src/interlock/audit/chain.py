"""The audit record: bodies of attempts (DL-07), tokens (CT-12) and events, their hash chain, signed checkpoints, and the recorder."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.canonical_json import canonical_json, dump_json, parse_canonical, simplify
from interlock.model import NOTHING, AgentRef, Json, Level, Requirement
from interlock.ports import Clock, Store, StoreError, Tx
from interlock.records import AuditRow, Checkpoint, HistoryEntry
from interlock.redaction import has_no_secret, redact
from interlock.times import iso

SCHEMA = 1
FIRST_SEQ = 0
GENESIS = "0" * 64  # the previous hash of a writer's first record
CHECKPOINT = "checkpoint"
_HARMLESS = '"reauth":false'  # in every full record; looks like a secret to redaction

Sign = Callable[[bytes], str]


ALLOWED, CONFIRMED, DENIED = "allowed", "confirmed", "denied"
HELD = "CONFIRMATION_REQUIRED"  # the reason of a held attempt
# GK-06's three events, and the one it has no name for.
EVENTS = MappingProxyType({ALLOWED: "OPERATION_ALLOWED", CONFIRMED: "CONFIRMATION_GRANTED", DENIED: "OPERATION_DENIED"})
TOKEN_EVENTS = frozenset({"TOKEN_ISSUED", "TOKEN_VALIDATED", "TOKEN_REJECTED", "TOKEN_REVOKED"})  # CT-12
# What operators and the system do.
SYSTEM_EVENTS = frozenset(
    "approve reject revoke expire executed grant grant_used grant_revoked mode_change policy_change block unblock unlock lock "
    "enrol operator_change credential_change agent_change pattern_change planner_change adapter_trust server_change hook_change jail verify_failed elicited challenge reveal checkpoint prune start stop "
    "daemon_was_down journal alert execution pause pause_end plan plan_end plan_input workflow false_alarm delivery undo.done undo.refused undo.pruned".split()
)
# What follows from other records, or from somebody being there; lists of people's own fold these away.
ROUTINE = frozenset({"TOKEN_ISSUED", "TOKEN_VALIDATED", "TOKEN_REVOKED", "unlock", "lock", "checkpoint"})


class Attempt(Struct, frozen=True):
    """One evaluated action: DL-07's fields, and everything that a replay needs."""

    at: float
    adapter_name: str  # the interface, where no adapter is loaded
    operation: str
    level: Level
    outcome: str  # allowed, confirmed, denied
    agent: AgentRef
    adapter_trust: str = "none"
    reason: str = ""
    confirmation_token: str = ""
    user_id: str = ""
    parameters: Json = NOTHING
    endpoint: str = ""
    door: str = ""
    strength: str = ""
    digest: str = ""
    ticket: str = ""
    execution: str = ""
    step: Json = NOTHING  # of the loop: its number, and the agent's report of the previous one
    irreversible: bool = False
    score: int = 0
    tier: str = ""
    factors: tuple[str, ...] = ()
    findings: tuple[Any, ...] = ()
    facts: Any = None  # the inputs of the decision, for replay
    requirement: Requirement | None = None
    decision: str = ""  # the word on the wire
    policy_name: str = ""
    mode: str = ""
    grant: str = ""
    kept: Json = NOTHING  # the snapshot taken first: id and digest
    paused_by_operator: str = ""  # whose pause was in force
    audit_context: tuple[str, ...] = ()  # as the adapter declares it


def fingerprint(secret: str) -> str:
    """C-29: a token or code as the record writes it."""
    return "sha256:" + hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def attempt_event(attempt: Attempt) -> str:
    """In GK-06's words; R-18: held until somebody approves."""
    return HELD if attempt.outcome == DENIED and attempt.reason.startswith(HELD) else EVENTS[attempt.outcome]


def attempt_body(attempt: Attempt) -> dict[str, Any]:
    if attempt.outcome not in EVENTS:
        raise ValueError(f"outcome: expected {', '.join(EVENTS)}, got {attempt.outcome!r:.80}")
    body: dict[str, Any] = simplify(attempt)
    body["timestamp"] = iso(body.pop("at"))
    body["danger_level"] = int(body.pop("level"))
    body["level"] = attempt.level.word
    body["session"] = attempt.agent.session
    if attempt.confirmation_token:
        body["confirmation_token"] = fingerprint(attempt.confirmation_token)
    if attempt.requirement is not None:
        body["requirement"]["word"] = attempt.requirement.word
    always = {"adapter_name", "operation", "danger_level", "adapter_trust", "outcome", "score", "irreversible", "agent"}
    return {key: value for key, value in body.items() if key in always or value not in ("", None, [], {})}


def token_body(
    at: float,
    event: str,
    token: str,
    operation: str,
    adapter_name: str,
    failure_reason: str = "",
    session_id: str = "",
    user_id: str = "",
) -> dict[str, Any]:
    """CT-12: the token as a fingerprint; refuses an unknown event."""
    _refuse_unknown(event, TOKEN_EVENTS)
    context = {"session_id": session_id, "user_id": user_id}
    return {
        "timestamp": iso(at),
        "token_id": fingerprint(token),
        "operation": operation,
        "adapter_name": adapter_name,
        "outcome": "failure" if failure_reason else "success",
        "client_context": {key: value for key, value in context.items() if value},
    } | ({"failure_reason": failure_reason} if failure_reason else {})


def event_body(at: float, event: str, by: str, details: Json = NOTHING) -> dict[str, Any]:
    """Refuses an unknown event, and details that set who or when."""
    _refuse_unknown(event, SYSTEM_EVENTS)
    if taken := {"timestamp", "by"} & set(details):
        raise ValueError(f"details: {min(taken)!r} is not theirs to say")
    return {"timestamp": iso(at), "by": by, **simplify(details)}


def _refuse_unknown(event: str, known: frozenset[str]) -> None:
    if event not in known:
        raise ValueError(f"event: expected one of {', '.join(sorted(known))}, got {event!r:.80}")


def entry(
    writer: str,
    head: AuditRow | None,
    at: float,
    event: str,
    body: Json,
    rulebook: str = "",
    policy: str = "",
    key_id: str = "",
) -> AuditRow:
    """Follows `head`, secrets out; refuses a head of another writer, an empty writer or event."""
    if not writer or not event:
        raise ValueError(f"audit: empty {'event' if writer else 'writer'}")
    if head is not None and head.writer != writer:
        raise ValueError(f"audit: {writer!r} cannot follow a record of {head.writer!r}")
    text = canonical_json(body)
    if not has_no_secret(text.replace(_HARMLESS, "")):
        text = canonical_json(redact(simplify(body)))
    seq, prev = (head.seq + 1, head.hash) if head else (FIRST_SEQ, GENESIS)
    row = AuditRow(writer, seq, moment(at), event, text, prev, "", key_id, SCHEMA, rulebook, policy)
    return replace(row, hash=hash_of(row))


def moment(at: float) -> float:
    """A time as it is kept: whole milliseconds."""
    return _millis(at) / 1000


def hash_of(row: AuditRow) -> str:
    """Over every field of a record but its hash."""
    parts = [
        "interlock.audit", row.schema, row.writer, row.seq, _millis(row.at), row.event, row.body, row.prev, row.key_id, row.rulebook,
        row.policy,
    ]  # fmt: skip
    return hashlib.sha256(dump_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def head_of(row: AuditRow) -> dict[str, Any]:
    return {"seq": row.seq, "hash": row.hash}


def checkpoint(heads: Json, floors: Json, at: float) -> bytes:
    """The signed text; refuses an invalid head."""
    places = {"floors": _places(floors), "heads": _places(heads)}
    whole = {"at": _millis(at), **places, "what": "interlock.checkpoint", "schema": SCHEMA}
    return dump_json(whole).encode("utf-8", "surrogatepass")


def signed_checkpoint(heads: Json, floors: Json, at: float, key_id: str, sign: Sign) -> Checkpoint:
    """The store assigns its number."""
    return Checkpoint(0, moment(at), _places(heads), _places(floors), sign(checkpoint(heads, floors, at)), key_id)


def checkpoint_body(point: Checkpoint) -> dict[str, Any]:
    """So that the chain shows a removed checkpoint."""
    return {"digest": fingerprint_of(point), "key_id": point.key_id, "writers": len(point.heads)}


def _places(places: Json) -> dict[str, dict[str, Any]]:
    for writer, place in places.items():
        if not isinstance(place, Mapping) or set(place) != {"seq", "hash"} or not isinstance(place["hash"], str):
            raise ValueError(f"checkpoint {writer!r:.80}: expected seq and hash, got {place!r:.80}")
        seq = place["seq"]
        if not isinstance(seq, int) or isinstance(seq, bool) or seq < FIRST_SEQ:
            raise ValueError(f"checkpoint {writer!r:.80}: expected the number of a record, got {seq!r:.80}")
    return {writer: dict(place) for writer, place in places.items()}


def _millis(at: float) -> int:
    return round(at * 1000)


def fingerprint_of(point: Checkpoint) -> str:
    return hashlib.sha256(checkpoint(point.heads, point.floors, point.at)).hexdigest()


GROUP = 256  # records; more are written at once
MOST_WAITING = 50_000  # pending records while the store cannot be used; one more is refused

AuditEvent = tuple[str, Json]
LateRecord = Callable[[], tuple[HistoryEntry, AuditEvent]]


class AuditRecorder:
    def __init__(self, store: Store, clock: Clock, writer: str, key_id: str, hashes: tuple[str, str]) -> None:
        self.store, self.clock, self.writer, self.key_id, self.hashes = store, clock, writer, key_id, hashes
        self._waiting: list[tuple[LateRecord, float]] = []
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self.failing = False

    def now(self, tx: Tx, event: str, body: Json) -> None:
        self.these(tx, [(event, body)])

    def event(self, tx: Tx, event: str, by: str, details: Json) -> None:
        self.now(tx, event, event_body(self.clock.now(), event, by, details))

    def event_alone(self, event: str, by: str, details: Json = NOTHING) -> None:
        self.store.write(lambda tx: self.event(tx, event, by, details))

    def these(self, tx: Tx, events: Iterable[AuditEvent]) -> None:
        at = self.clock.now()
        self._append(tx, ((at, event, body) for event, body in events))

    def _append(self, tx: Tx, records: Iterable[tuple[float, str, Json]]) -> None:
        head, rows = tx.audit_head(self.writer), []
        for at, event, body in records:
            head = entry(self.writer, head, at, event, body, *self.hashes, self.key_id)
            rows.append(head)
        tx.append_audit(rows)

    def later(self, record: LateRecord) -> None:
        """Built with the next group; refuses when too many wait."""
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                raise StoreError("too many records wait to be written")
            self._waiting.append((record, self.clock.now()))

    @property
    def full(self) -> bool:
        return len(self._waiting) >= GROUP

    def flush(self) -> None:
        """Writes pending records, after any group in progress; unwritten ones stay pending."""
        with self._writing:
            with self._lock:
                group, self._waiting = self._waiting, []
            if not group:
                return
            try:
                self.store.write(lambda tx: self._write(tx, group))
            except Exception:
                self.failing = True
                with self._lock:
                    self._waiting = group + self._waiting
                raise
            self.failing = False

    def _write(self, tx: Tx, group: list[tuple[LateRecord, float]]) -> None:
        built = [(*record(), at) for record, at in group]
        self._append(tx, ((at, *event) for _, event, at in built))
        tx.add_deeds([action for action, _, _ in built])


def body_of(row: AuditRow) -> dict[str, Any]:
    try:
        body = parse_canonical(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
