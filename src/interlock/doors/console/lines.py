"""A record -> the line that lists show of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from interlock.core.audit_bodies import EVENTS, HELD
from interlock.core.shown import listed
from interlock.core.times import iso
from interlock.core.undo import ID
from interlock.doors.cli.record_words import details_told, token_told
from interlock.service.replaying import action_of
from interlock.service.searching import Entry

RECORD = "/console/audit/record"
# What the events of attempts are called here, and how that is coloured.
_ATTEMPTS = {
    EVENTS["allowed"]: ("allowed", "good"),
    EVENTS["confirmed"]: ("allowed, answered", "good"),
    EVENTS["denied"]: ("denied", "bad"),
    HELD: ("held", "level-2"),
}
_DEEDS = {"approve": "good", "reject": "bad", "block": "bad", "verify_failed": "bad", "alert": "bad"}


@dataclass(frozen=True, slots=True)
class Line:
    """One record in a list."""

    id: str
    to: str  # its own page
    at: float
    when: str
    what: str  # happened
    kind: str  # of badge
    level: int  # -1: none
    who: str
    words: str
    kept: str = ""  # the snapshot that was taken first, or brought back


def lines(entries: Iterable[Entry]) -> list[Line]:
    return [line(entry) for entry in entries]


def line(entry: Entry) -> Line:
    row, body = entry.row, entry.body
    what, kind = _ATTEMPTS.get(row.event, (row.event.replace("_", " ").lower(), _DEEDS.get(row.event, "")))
    return Line(
        entry.id,
        address(row.writer, row.seq),
        row.at,
        when(row.at),
        what,
        kind,
        entry.level,
        _who(body),
        _words(entry),
        kept_of(body),
    )


def address(writer: str, seq: int) -> str:
    """Where one record is shown."""
    return f"{RECORD}?{urlencode({'writer': writer, 'seq': seq})}"


def when(at: float) -> str:
    """`2026-01-28 12:05:00`, in UTC; nothing where somebody wrote it who is not us."""
    try:
        return iso(at)[:19].replace("T", " ")
    except (ValueError, TypeError, OverflowError):
        return ""


def kept_of(body: Mapping[str, Any]) -> str:
    """The snapshot that a record is about, where it has one."""
    kept = body.get("kept")
    found = kept.get("id") if isinstance(kept, Mapping) else body.get("snapshot")
    return found if isinstance(found, str) and ID.fullmatch(found) else ""


def _who(body: Mapping[str, Any]) -> str:
    agent = body.get("agent")
    if isinstance(agent, Mapping):
        return str(agent.get("name") or agent.get("principal") or "")
    return str(body.get("by") or "")


def _words(entry: Entry) -> str:
    if entry.level >= 0:
        return listed(action_of(entry.body), str(entry.body.get("operation", "")))
    return token_told(entry.body) if "token_id" in entry.body else details_told(entry.body)
