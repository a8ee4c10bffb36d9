"""Views of an audit record: the line in a list, and its whole story with the answers and the proof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from interlock.approvals import settle
from interlock.approvals.display import RUNS, ActionDisplay, display_action, list_text, unwrap_commands
from interlock.audit.chain import EVENTS, HELD, ROUTINE
from interlock.audit.false_alarms import is_markable, marks, rules_of
from interlock.audit.proof import proof_of
from interlock.audit.search import (
    RecordEntry,
    RecordQuery,
    action_of,
    details_line,
    record_title,
    search,
    table,
    token_line,
)
from interlock.console.cards import highlight, runs
from interlock.console.replies import address, when
from interlock.engine.replay import assess_record
from interlock.identity.passkey_proofs import PREFIX
from interlock.model import Human, finding_json, requirement_words
from interlock.policy.impact import impact_words, recoverable, undo_words_after
from interlock.records import Approval, AuditRow
from interlock.redaction import redact
from interlock.runtime.state import State
from interlock.snapshots import ID

RECORD = "/console/audit/record"
# Label and colour of the events of attempts.
_ATTEMPTS = {
    EVENTS["allowed"]: ("allowed", "good"),
    EVENTS["confirmed"]: ("allowed, answered", "good"),
    EVENTS["denied"]: ("denied", "bad"),
    HELD: ("held", "level-2"),
}
_DEEDS = {"approve": "good", "reject": "bad", "block": "bad", "verify_failed": "bad", "alert": "bad"}


class RecordLine(Struct, frozen=True):
    id: str
    to: str  # its own page
    at: float
    when: str
    what: str  # happened
    kind: str  # of badge
    level: int  # -1: none
    who: str
    words: str
    kept: str = ""  # the snapshot that was taken first, or restored


def record_lines(entries: Iterable[RecordEntry]) -> list[RecordLine]:
    return [line(entry) for entry in entries]


def line(entry: RecordEntry) -> RecordLine:
    row, body = entry.row, entry.body
    happened = _ATTEMPTS.get(row.event, (row.event.replace("_", " ").lower(), _DEEDS.get(row.event, "")))
    place = entry.id, record_address(row), row.at, when(row.at)
    return RecordLine(*place, *happened, entry.level, _who(body), _words(entry), snapshot_of(body))


def record_address(row: AuditRow) -> str:
    return address(RECORD, writer=row.writer, seq=row.seq)


def snapshot_of(body: Mapping[str, Any]) -> str:
    kept = body.get("kept")
    found = kept.get("id") if isinstance(kept, Mapping) else body.get("snapshot")
    return found if isinstance(found, str) and ID.fullmatch(found) else ""


def _who(body: Mapping[str, Any]) -> str:
    agent = body.get("agent")
    if isinstance(agent, Mapping):
        return str(agent.get("name") or agent.get("principal") or "")
    return str(body.get("by") or "")


def _words(entry: RecordEntry) -> str:
    if entry.level >= 0:
        return list_text(action_of(entry.body), str(entry.body.get("operation", "")))
    return token_line(entry.body) if "token_id" in entry.body else details_line(entry.body)


RELATED = 30
MOST_SEARCHED = 2_000  # records searched for related ones


def record_story(state: State, entry: RecordEntry) -> dict[str, Any]:
    body, factors = entry.body, _texts(entry.body.get("factors"))
    id = str(body.get("ticket") or "")
    ticket, approvals = state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id))) if id else (None, [])
    found = _display(state, body) if entry.level >= 0 else None
    return {
        "entry": entry,
        "line": line(entry),
        "shown": found,
        "runs": runs(highlight(found.text, found.marks)) if found else [],
        "facts": [(name, str(words)) for name, words in _facts(entry) if words],
        "fired": [(rule, state.rules.rules.get(rule)) for rule in rules_of(body)],
        "factors": [undo_words_after(words, factors) for words in factors],
        "ticket": settle(ticket, state.clock.now()) if ticket is not None else None,
        "signed": [(one, _signature(one)) for one in approvals],
        "related": _related_lines(state, entry, id),
        "proof": proof_of(state, entry.row),
        "markable": is_markable(entry),
        "mark": marks(state).get(entry.id),
    }


def _signature(approval: Approval) -> str:
    if approval.key_id.startswith(PREFIX):
        return "by passkey"
    return f"by key, {'with step-up' if approval.reauth else 'signed in'}"


def _display(state: State, body: Mapping[str, Any]) -> ActionDisplay:
    action = action_of(body)
    seen = assess_record(body, state.rules)
    if seen is None:
        return display_action(action, (), record_title(body))
    fired = set(rules_of(body))
    findings = redact([finding_json(one) for one in seen.findings if one.rule in fired])
    hidden = unwrap_commands(seen.steps, findings, action)
    return display_action({**action, RUNS: hidden}, findings, record_title(body))


def _facts(entry: RecordEntry) -> list[tuple[str, object]]:
    body = entry.body
    if entry.level < 0:
        return []
    agent, where = table(body.get("agent")), table(body.get("parameters")) or table(body.get("judged"))
    name = f", calls itself {agent['name']}" if agent.get("name") else ""
    asked = table(body.get("requirement"))
    human = asked.get("human")
    words = {**asked, "human": Human(human).name.lower() if isinstance(human, int) and 0 <= human < 4 else human}
    factors = _texts(body.get("factors"))
    back = snapshot_of(body) or recoverable(factors)
    score = f"{body.get('score', '')}{', tier ' + str(body['tier']) if body.get('tier') else ''}"
    return [
        ("Answer", f"{body.get('decision', '')}{': ' + str(body['reason']) if body.get('reason') else ''}"),
        ("Score", score),
        ("Undo", "cannot be undone" if body.get("irreversible") and not back else ""),
        ("Impact", impact_words(factors)),
        ("Asked for", requirement_words(words) if asked else ""),
        ("Agent", f"{agent.get('principal', '')}{name}"),
        ("Session", agent.get("session")),
        ("In", where.get("cwd")),
        ("Through", f"{body.get('door') or body.get('adapter_name', '')}, {body.get('strength') or 'plain'} isolation"),
        ("Policy", f"{body.get('policy_name', '')}, mode {body.get('mode', '')}"),
        ("Grant", body.get("grant")),
        ("Execution", body.get("execution")),
        ("Digest", body.get("digest")),
    ]


def _related_lines(state: State, entry: RecordEntry, ticket: str) -> list[RecordLine]:
    if not ticket:
        return []
    found = search(state, RecordQuery(text=ticket, without=ROUTINE), page=RELATED, most=MOST_SEARCHED)
    return [one for one in reversed(record_lines(found.entries)) if one.id != entry.id]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
