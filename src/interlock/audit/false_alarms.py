"""False alarms that operators marked in the record, grouped by the rule that would have to change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from interlock.audit.chain import body_of
from interlock.audit.search import RecordEntry, find_record, record_title
from interlock.error_codes import AnswerRefused, NotFound
from interlock.identity.sessions import OperatorSession
from interlock.ports import Tx
from interlock.records import AuditQuery
from interlock.redaction import redact_text
from interlock.runtime.state import State

EVENT = "false_alarm"
MOST = 1_000  # marks that are read, the newest first
NOTE = 500  # characters


class FalseAlarm(Struct, frozen=True):
    record: str  # writer/number
    by: str
    at: float
    note: str
    rules: tuple[str, ...]  # that had fired
    level: str
    text: str  # of the action, the example that a rule would have to spare
    ticket: str = ""


class AlarmsOfRule(Struct, frozen=True):
    rule: str  # empty: no rule fired, the policy asked
    known: bool
    marks: tuple[FalseAlarm, ...]

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(mark.text for mark in self.marks))

    @property
    def quoted(self) -> tuple[str, ...]:
        return tuple(json.dumps(text, ensure_ascii=False) for text in self.examples)


def mark(state: State, by: OperatorSession, writer: str, seq: int, note: str = "") -> None:
    if (entry := find_record(state, writer, seq)) is None:
        raise NotFound(f"there is no record {writer[:80]}/{seq}")
    if not is_markable(entry):
        raise AnswerRefused("only something held or denied can be a false alarm")
    details = {
        "record": entry.id,
        **{name: str(entry.body.get(name, "")) for name in ("ticket", "level")},
        "rules": list(rules_of(entry.body)),
        "text": record_title(entry.body),
        "note": redact_text(note.strip())[:NOTE],
    }

    def work(tx: Tx) -> None:
        if entry.id in _read(tx):
            raise AnswerRefused("this is marked already")
        state.recorder.event(tx, EVENT, by.operator, details)

    state.store.write(work)


def unmark(state: State, by: OperatorSession, writer: str, seq: int) -> None:
    """Both events stay in the record."""
    id = f"{writer}/{seq}"

    def work(tx: Tx) -> None:
        if id not in _read(tx):
            raise NotFound("this is not marked")
        state.recorder.event(tx, EVENT, by.operator, {"record": id, "withdrawn": True})

    state.store.write(work)


def is_markable(entry: RecordEntry) -> bool:
    return entry.attempt and str(entry.body.get("outcome")) == "denied"


def marks(state: State) -> dict[str, FalseAlarm]:
    return state.store.read(_read)


def alarms_by_rule(state: State) -> list[AlarmsOfRule]:
    by_rule: dict[str, list[FalseAlarm]] = {}
    for found in marks(state).values():
        for rule in found.rules or ("",):
            by_rule.setdefault(rule, []).append(found)
    made = [AlarmsOfRule(rule, rule in state.rules.rules, tuple(found)) for rule, found in by_rule.items()]
    return sorted(made, key=lambda alarm: (-len(alarm.marks), alarm.rule))


def rules_of(body: Mapping[str, Any]) -> tuple[str, ...]:
    findings = body.get("findings")
    listed = findings if isinstance(findings, list) else ()
    rules = (one.get("rule", "") if isinstance(one, Mapping) else one for one in listed)
    return tuple(dict.fromkeys(str(rule) for rule in rules if rule))


def _read(tx: Tx) -> dict[str, FalseAlarm]:
    found: dict[str, FalseAlarm] = {}
    rows = tx.audit(AuditQuery(event=EVENT, limit=MOST, newest_first=True))
    for row in sorted(rows, key=lambda row: (row.at, row.writer, row.seq)):
        body = body_of(row)
        record = str(body.get("record", ""))
        found.pop(record, None)
        if not body.get("withdrawn"):
            rules = body.get("rules")
            texts = {name: str(body.get(name, "")) for name in ("by", "note", "level", "text", "ticket")}
            listed = tuple(map(str, rules)) if isinstance(rules, list) else ()
            found[record] = FalseAlarm(record=record, at=row.at, rules=listed, **texts)
    return dict(reversed(found.items()))
