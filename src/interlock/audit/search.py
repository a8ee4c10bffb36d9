"""Searches the record, newest first, lists changes of the policy, and renders a record as one line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from interlock.approvals.display import one_line
from interlock.audit.chain import EVENTS, HELD, body_of
from interlock.canonical_json import normal_name
from interlock.model import Json
from interlock.records import AuditQuery, AuditRow
from interlock.times import iso

if TYPE_CHECKING:
    from interlock.runtime.state import State

PAGE = 50
STEP = 200
MOST = 4_000
ATTEMPTS = frozenset({*EVENTS.values(), HELD})

Place = tuple[float, str, int]  # where a record stands in time: at, writer, number


class RecordQuery(Struct, frozen=True):
    """An empty field matches anything."""

    text: str = ""
    event: str = ""
    agent: str = ""  # its principal or its name
    level: int = -1  # at least; -1 means records of any kind
    since: float = 0.0
    until: float = 0.0
    attempts: bool = False  # only agents' actions
    without: frozenset[str] = frozenset()  # events that are skipped, and counted


class RecordEntry(Struct, frozen=True):
    row: AuditRow
    body: Json = {}

    @property
    def id(self) -> str:
        return f"{self.row.writer}/{self.row.seq}"

    @property
    def attempt(self) -> bool:
        return is_attempt(self.row)

    @property
    def level(self) -> int:
        found = self.body.get("danger_level")
        return found if isinstance(found, int) and 0 <= found <= 4 else -1


class RecordPage(Struct, frozen=True):
    entries: tuple[RecordEntry, ...]
    older: Place | None = None  # the last that was looked at; None where there is nothing older
    looked: int = 0
    passed_over: int = 0

    @property
    def cut(self) -> bool:
        return self.older is not None and len(self.entries) < PAGE


def search(
    state: State, wanted: RecordQuery, before: Place | None = None, page: int = PAGE, most: int = MOST
) -> RecordPage:
    state.recorder.flush()
    entries: list[RecordEntry] = []
    looked, last, over = 0, before, 0
    for row in _older(state, wanted, before):
        if len(entries) == page or looked == most:
            return RecordPage(tuple(entries), last, looked, over)
        looked, last = looked + 1, place_of(row)
        # quick checks, before its body is parsed
        fits = wanted.level < 0 or any(f'"danger_level":{level}' in row.body for level in range(wanted.level, 5))
        if not fits or (wanted.attempts and not is_attempt(row)):
            continue
        entry = RecordEntry(row, body_of(row))
        if entry.level < wanted.level or (wanted.agent and normal_name(wanted.agent) not in _names(entry.body)):
            continue
        over += row.event in wanted.without
        entries += [entry] if row.event not in wanted.without else []
    return RecordPage(tuple(entries), None, looked, over)


def place_of(row: AuditRow) -> Place:
    return (row.at, row.writer, row.seq)


def find_record(state: State, writer: str, seq: int) -> RecordEntry | None:
    state.recorder.flush()
    rows = state.store.read(lambda tx: tx.audit(AuditQuery(writer, seq - 1, limit=1))) if writer else []
    return RecordEntry(rows[0], body_of(rows[0])) if rows and rows[0].seq == seq else None


def _older(state: State, wanted: RecordQuery, before: Place | None) -> Iterator[AuditRow]:
    """All records of one time come together."""
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


def _text(wanted: RecordQuery) -> str:
    """The words, else the agent where its name has one spelling."""
    if wanted.text or not wanted.agent.isascii():
        return wanted.text
    return json.dumps(wanted.agent.strip())[1:-1]


def _names(body: Json) -> set[str]:
    given = [one.get(key) for one in (table(body.get("agent")), body) for key in ("principal", "name")]
    return {normal_name(str(name)) for name in given if name}


MOST_CHANGES = 500


class PolicyChange(Struct, frozen=True):
    at: float
    what: str  # policy, rules, mode, pattern
    words: str
    by: str = ""


def policy_changes(state: State) -> list[PolicyChange]:
    """Newest first; changes of files show at the next start."""
    query = AuditQuery(limit=MOST_CHANGES, newest_first=True)
    events = ("start", "mode_change", "pattern_change")
    starts, modes, patterns = state.store.read(lambda tx: [tx.audit(replace(query, event=one)) for one in events])
    found = [*_starts(reversed(starts)), *map(_mode, modes), *map(_pattern, patterns)]
    return sorted(found, key=lambda turn: turn.at, reverse=True)


def _starts(rows: Iterable[AuditRow]) -> Iterator[PolicyChange]:
    before: AuditRow | None = None
    for row in rows:
        said = body_of(row)
        if before is None or row.policy != before.policy:
            yield PolicyChange(row.at, "policy", f"{said.get('policy', 'unknown')}, {row.policy[:12]}")
        if before is None or row.rulebook != before.rulebook:
            yield PolicyChange(row.at, "rules", f"version {said.get('version', 'unknown')}, {row.rulebook[:12]}")
        before = row


def _mode(row: AuditRow) -> PolicyChange:
    said = body_of(row)
    why = f": {said['reason']}" if said.get("reason") else ""
    words = f"{said.get('before', '?')} to {said.get('after', '?')}{why}"
    return PolicyChange(row.at, "mode", words, str(said.get("by", "")))


def _pattern(row: AuditRow) -> PolicyChange:
    said = body_of(row)
    one = table(said.get("registered"))
    words = f"{one.get('id', '?')} registered" if one else f"{said.get('unregistered', '?')} taken out"
    return PolicyChange(row.at, "pattern", words, str(said.get("by", "")))


_SKIPPED = frozenset({"timestamp", "by", "digest", "key_id", "statement", "proof"})


def describe_record(body: Json) -> str:
    if "danger_level" in body:
        ticket = f"  {body['ticket']}" if body.get("ticket") else ""
        about = f"{body.get('level', '')}; {agent_words(body)}"
        return f"{body.get('decision', '')}  {record_title(body)}  ({about}){ticket}"
    if "token_id" in body:
        return token_line(body)
    return ": ".join(filter(None, (f"by {body['by']}" if body.get("by") else "", details_line(body))))


def details_line(body: Json) -> str:
    """The details of an event, without who and when; the reason comes first."""
    if "plan" in body:
        return _plan_line(body)
    given = {key: value for key, value in body.items() if key not in _SKIPPED and value not in ("", None, [], {})}
    said = [_short(given.pop("reason"))] if "reason" in given else []
    return ", ".join((*said, *(f"{key} {_moment(key, value)}" for key, value in given.items())))


def _plan_line(body: Json) -> str:
    plan = str(body["plan"])
    if "status" in body:
        code = f" with {body['exit']}" if "exit" in body else ""
        journal = f"; `interlock undo {body['journal']}` takes back what it changed" if body.get("journal") else ""
        return f"ended in {body['status']}{code} after {body.get('seconds', 0)} s{journal}  ({plan})"
    if "command" not in body:
        return f"{body.get('characters', 0)} characters typed into its command  ({plan})"
    about = [f"{body.get('risk', '')} risk{', edited' if body.get('edited') else ''}"]
    about += [f"in {body.get('cwd', '')}, at the {body.get('place', '')}"]
    about += _named(body, ("ticket", "ticket"), ("kept", "snapshot"))
    return f"runs {one_line({'kind': 'command', 'command': body['command']})}  ({'; '.join([*about, plan])})"


def _named(body: Json, *words: tuple[str, str]) -> list[str]:
    return [f"{word} {body[key]}" for key, word in words if body.get(key)]


def token_line(body: Json) -> str:
    mark = str(body["token_id"])
    said = [f"{body.get('outcome', '')} for {body.get('operation', '')} through {body.get('adapter_name', '')}"]
    said += _named(table(body.get("client_context")), ("session_id", "session"), ("user_id", "by"))
    said += [str(body["failure_reason"])] if body.get("failure_reason") else []
    return f"{', '.join(said)}  ({mark[:19]}{'…' if len(mark) > 19 else ''})"


def _moment(key: str, value: object) -> str:
    if key.endswith("_at") and isinstance(value, int | float) and 0 < value < 1e11:
        return f"{iso(float(value))[:19]}Z"
    return _short(value)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."


def is_attempt(row: AuditRow) -> bool:
    return row.event in ATTEMPTS


def record_title(body: Json) -> str:
    return one_line(action_of(body), str(body.get("operation", "")))


def action_of(body: Json) -> Json:
    judged = table(body.get("judged"))
    fields = {**table(judged.get("fields")), "kind": judged.get("kind"), "cwd": judged.get("cwd", "")}
    return table(body.get("parameters")) or fields


def agent_words(body: Json) -> str:
    """The proved principal, and the claimed name."""
    who = table(body.get("agent"))
    return " ".join(str(who[key]) for key in ("principal", "name") if who.get(key))


def table(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}
