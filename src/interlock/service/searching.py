"""Which records fit, the newest first, a page at a time? For people who look through the record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.core.digest import normal_name
from interlock.core.records import AuditQuery, AuditRow
from interlock.service.record import body_of
from interlock.service.replaying import ATTEMPTS
from interlock.service.state import State

PAGE = 50
STEP = 200  # records that are read at once
MOST = 4_000  # that are looked at for one page

Place = tuple[float, str, int]  # where a record stands in time: at, writer, number


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; empty means anything."""

    text: str = ""
    event: str = ""
    agent: str = ""  # its principal or the name it goes by
    level: int = -1  # at least; -1 means records of any kind
    since: float = 0.0
    until: float = 0.0
    attempts: bool = False  # only what agents asked for
    without: frozenset[str] = frozenset()  # events that are passed over, and counted


@dataclass(frozen=True, slots=True)
class Entry:
    """One record with its body read."""

    row: AuditRow
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.row.writer}/{self.row.seq}"

    @property
    def attempt(self) -> bool:
        return self.row.event in ATTEMPTS

    @property
    def level(self) -> int:
        """Of an attempt; -1 of everything else."""
        found = self.body.get("danger_level")
        return found if isinstance(found, int) and 0 <= found <= 4 else -1


@dataclass(frozen=True, slots=True)
class Found:
    """One page, and where the next one begins; None where there is nothing older."""

    entries: tuple[Entry, ...]
    older: Place | None = None
    looked: int = 0
    passed_over: int = 0

    @property
    def cut(self) -> bool:
        """Whether the search stopped before it had a page full, because it had read enough."""
        return self.older is not None and len(self.entries) < PAGE


def search(state: State, wanted: Wanted, before: Place | None = None, page: int = PAGE, most: int = MOST) -> Found:
    """One page of what fits, older than a place; what waits for its group is written first."""
    state.recorder.flush()
    entries: list[Entry] = []
    looked, last, over = 0, before, 0
    for row in _older(state, wanted, before):
        if len(entries) == page or looked == most:
            return Found(tuple(entries), last, looked, over)
        looked, last = looked + 1, place_of(row)
        if _may_fit(row, wanted) and fits(entry := Entry(row, body_of(row)), wanted):
            if row.event in wanted.without:
                over += 1
            else:
                entries.append(entry)
    return Found(tuple(entries), None, looked, over)


def fits(entry: Entry, wanted: Wanted) -> bool:
    """What the store cannot tell by itself."""
    if (wanted.attempts and not entry.attempt) or entry.level < wanted.level:
        return False
    return not wanted.agent or normal_name(wanted.agent) in _names(entry.body)


def _may_fit(row: AuditRow, wanted: Wanted) -> bool:
    """What can be told before a body is read, which takes longest."""
    if wanted.attempts and row.event not in ATTEMPTS:
        return False
    return wanted.level < 0 or any(f'"danger_level":{level}' in row.body for level in range(wanted.level, 5))


def place_of(row: AuditRow) -> Place:
    return (row.at, row.writer, row.seq)


def one(state: State, writer: str, seq: int) -> Entry | None:
    """The record of this number."""
    state.recorder.flush()
    rows = state.store.read(lambda tx: tx.audit(AuditQuery(writer, seq - 1, limit=1))) if writer else []
    return Entry(rows[0], body_of(rows[0])) if rows and rows[0].seq == seq else None


def _older(state: State, wanted: Wanted, before: Place | None) -> Iterator[AuditRow]:
    """Everything that the store finds, the newest first; records of one moment come whole, however many there are."""
    query = AuditQuery("", -1, wanted.event, wanted.since, wanted.until, _text(wanted), STEP, True)
    while True:
        if before is not None:
            query = replace(query, until=min(before[0], wanted.until or before[0]))
        rows = state.store.read(lambda tx, query=query: tx.audit(query))  # type: ignore[misc]
        fresh = [row for row in rows if before is None or place_of(row) < before]
        yield from fresh
        if len(rows) < query.limit:
            return
        if fresh:
            before, query = place_of(fresh[-1]), replace(query, limit=STEP)
        else:  # more than a page of one moment
            query = replace(query, limit=query.limit * 2)


def _text(wanted: Wanted) -> str:
    """What the store looks for in the text: the words, else the agent where its name is spelled in one way."""
    if wanted.text or not wanted.agent.isascii():
        return wanted.text
    return json.dumps(wanted.agent.strip())[1:-1]


def _names(body: Mapping[str, Any]) -> set[str]:
    """Everything that whoever asked is called."""
    who = body.get("agent")
    given = [who.get("principal"), who.get("name")] if isinstance(who, Mapping) else []
    return {normal_name(str(name)) for name in (*given, body.get("principal"), body.get("name")) if name}
