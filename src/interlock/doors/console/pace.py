"""Does somebody only click? Five approvals in two minutes, through whatever channel, as the record has them."""

from __future__ import annotations

import json

from interlock.core.records import AuditQuery
from interlock.service.state import State

MANY, WITHIN = 5, 120.0
_MOST = 200  # records that are looked at


def too_fast(state: State, operator: str) -> bool:
    """Whether this operator approved so many within so short a time."""
    query = AuditQuery(event="approve", since=state.clock.now() - WITHIN, limit=_MOST, newest_first=True)
    rows = state.store.read(lambda tx: tx.audit(query))
    return sum(_by(row.body) == operator for row in rows) >= MANY


def _by(body: str) -> str:
    try:
        return str(json.loads(body).get("by", ""))
    except (ValueError, AttributeError):
        return ""
