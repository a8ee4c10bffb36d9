"""In which other words did an agent try what is held? As the record has it: those tries met the same ticket."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from interlock.core.audit_bodies import HELD
from interlock.core.records import AuditQuery, Ticket
from interlock.service.state import State

MOST = 300  # records that are looked at
_EACH = 20  # tries of one ticket that are told


def tries_of(state: State, tickets: Iterable[Ticket]) -> Mapping[str, Sequence[str]]:
    """By ticket, the oldest first."""
    since = {ticket.id: ticket.opened_at for ticket in tickets}
    if not since:
        return {}
    query = AuditQuery(event=HELD, since=min(since.values()), limit=MOST, newest_first=True)
    found: dict[str, list[str]] = {}
    for row in reversed(state.store.read(lambda tx: tx.audit(query))):
        ticket, text = _tried(row.body)
        if ticket in since and text:
            found.setdefault(ticket, []).append(text)
    return {ticket: texts[-_EACH:] for ticket, texts in found.items()}


def _tried(body: str) -> tuple[str, str]:
    """The ticket that a try met, and its text; nothing for a record that somebody garbled."""
    try:
        facts: Any = json.loads(body)["facts"]
        at = facts["circumstances"]
        return str(at["denied"]["ticket"] if "denied" in at else at["denied_goal"]), str(facts["titles"]["tools"][0][1])
    except (ValueError, LookupError, TypeError):
        return "", ""
