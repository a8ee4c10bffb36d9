"""When did the policy, the rules or the mode become what they are, and who changed them? From the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.records import AuditQuery, AuditRow
from interlock.service.record import body_of
from interlock.service.state import State

MOST = 500  # records of a kind that are looked at
_EVENTS = ("start", "mode_change", "pattern_change")


@dataclass(frozen=True, slots=True)
class Turn:
    """One change of what decides."""

    at: float
    what: str  # policy, rules, mode, pattern
    words: str
    by: str = ""


def history(state: State) -> list[Turn]:
    """Every change that the record keeps, the newest first; files are changed by whoever can write them, seen at the next start."""
    queries = [AuditQuery(event=event, limit=MOST, newest_first=True) for event in _EVENTS]
    starts, modes, patterns = state.store.read(lambda tx: [tx.audit(query) for query in queries])
    found = [*_starts(reversed(starts)), *map(_mode, modes), *map(_pattern, patterns)]
    return sorted(found, key=lambda turn: turn.at, reverse=True)


def _starts(rows: Iterable[AuditRow]) -> Iterator[Turn]:
    """What was not as it was at the start before."""
    before: AuditRow | None = None
    for row in rows:
        said = body_of(row)
        if before is None or row.policy != before.policy:
            yield Turn(row.at, "policy", f"{said.get('policy', 'unknown')}, {row.policy[:12]}")
        if before is None or row.rulebook != before.rulebook:
            yield Turn(row.at, "rules", f"version {said.get('version', 'unknown')}, {row.rulebook[:12]}")
        before = row


def _mode(row: AuditRow) -> Turn:
    said = body_of(row)
    why = f": {said['reason']}" if said.get("reason") else ""
    return Turn(row.at, "mode", f"{said.get('before', '?')} to {said.get('after', '?')}{why}", str(said.get("by", "")))


def _pattern(row: AuditRow) -> Turn:
    said = body_of(row)
    added = said.get("registered")
    one: Mapping[str, Any] = added if isinstance(added, Mapping) else {}
    words = f"{one.get('id', '?')} registered" if one else f"{said.get('unregistered', '?')} taken out"
    return Turn(row.at, "pattern", words, str(said.get("by", "")))
