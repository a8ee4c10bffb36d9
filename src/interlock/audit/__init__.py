"""Bodies of audit records: attempts (DL-07), tokens (CT-12), and events of operators or the system; unknown events are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from interlock.canonical_json import parse_canonical, simplify
from interlock.model import AgentRef, Level, Requirement
from interlock.records import NOTHING, AuditRow, Json, nothing
from interlock.times import iso

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
_DANGER = (
    "timestamp adapter_name operation danger_level adapter_trust outcome confirmation_token user_id parameters".split()
)
_TOKEN = "timestamp event token_id operation adapter_name outcome failure_reason client_context".split()
_GATE = "timestamp event operation endpoint result reason".split()


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
    confirmation_token: str = ""  # becomes a fingerprint
    user_id: str = ""
    parameters: Json = field(default_factory=nothing)
    endpoint: str = ""
    door: str = ""
    strength: str = ""
    digest: str = ""
    ticket: str = ""
    challenge: str = ""
    execution: str = ""
    step: Json = field(default_factory=nothing)  # of the loop: its number, and the agent's report of the previous one
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
    kept: Json = field(default_factory=nothing)  # the snapshot taken first: id and digest
    paused_by_operator: str = ""  # whose pause was in force
    audit_context: tuple[str, ...] = ()  # as the adapter declares it


def fingerprint(secret: str) -> str:
    """C-29: a token or code as the record writes it."""
    return "sha256:" + hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def attempt_event(attempt: Attempt) -> str:
    """The event of an attempt's record, in GK-06's words."""
    return HELD if is_held(attempt) else EVENTS[attempt.outcome]


def is_held(attempt: Attempt) -> bool:
    """R-18: whether an attempt was denied until somebody approves."""
    return attempt.outcome == DENIED and attempt.reason.startswith(HELD)


def attempt_body(attempt: Attempt) -> dict[str, Any]:
    """The body of an attempt's record; refuses an outcome that DL-07 does not have."""
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
    """The body of a token's record (CT-12), the token as a fingerprint; refuses an unknown event."""
    if event not in TOKEN_EVENTS:
        raise ValueError(f"event: expected one of {', '.join(sorted(TOKEN_EVENTS))}, got {event!r:.80}")
    context = {"session_id": session_id, "user_id": user_id}
    body: dict[str, Any] = {
        "timestamp": iso(at),
        "token_id": fingerprint(token),
        "operation": operation,
        "adapter_name": adapter_name,
        "outcome": "failure" if failure_reason else "success",
        "client_context": {key: value for key, value in context.items() if value},
    }
    return {**body, "failure_reason": failure_reason} if failure_reason else body


def checked_event_body(at: float, event: str, by: str, details: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """The body of an event by an operator or the system; refuses an unknown event, and details that set who or when."""
    if event not in SYSTEM_EVENTS:
        raise ValueError(f"event: expected one of {', '.join(sorted(SYSTEM_EVENTS))}, got {event!r:.80}")
    if taken := {"timestamp", "by"} & set(details):
        raise ValueError(f"details: {min(taken)!r} is not theirs to say")
    return {"timestamp": iso(at), "by": by, **simplify(details)}


def danger_entry(row: AuditRow) -> dict[str, Any] | None:
    """The record as DL-07's DangerAuditEntry, and nothing else; None where it is none."""
    return _view(row, _DANGER, "danger_level")


def token_entry(row: AuditRow) -> dict[str, Any] | None:
    """The record as CT-12's TokenAuditEntry; None where it is none."""
    return _view(row, _TOKEN, "token_id")


def gate_entry(row: AuditRow) -> dict[str, Any] | None:
    """The record as GK-06's AuditEntry; None where it is none."""
    return _view(row, _GATE, "danger_level")


def _view(row: AuditRow, names: list[str], needed: str) -> dict[str, Any] | None:
    try:
        body = parse_canonical(row.body)
    except ValueError:
        return None
    if not isinstance(body, dict) or needed not in body:
        return None
    whole = {**body, "event": row.event, "result": body.get("outcome")}
    return {name: whole[name] for name in names if name in whole}
