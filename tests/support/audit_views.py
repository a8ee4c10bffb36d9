"""Records of the audit in the forms of the specification."""

from __future__ import annotations

from typing import Any

from interlock.audit.chain import body_of
from interlock.records import AuditRow

_DANGER = (
    "timestamp adapter_name operation danger_level adapter_trust outcome confirmation_token user_id parameters".split()
)
_TOKEN = "timestamp event token_id operation adapter_name outcome failure_reason client_context".split()
_GATE = "timestamp event operation endpoint result reason".split()


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
    body = body_of(row)
    whole = {**body, "event": row.event, "result": body.get("outcome")}
    return {name: whole[name] for name in names if name in whole} if needed in body else None
