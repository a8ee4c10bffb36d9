"""One record's whole story: what was asked, what weighed how much, who answered through which channel, and what proves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.assertion import PREFIX
from interlock.core.audit_bodies import ROUTINE
from interlock.core.audit_proof import Proof
from interlock.core.loss import blast_of, recoverable, undo_told
from interlock.core.records import Approval, Ticket
from interlock.core.redact import redact
from interlock.core.shown import RUNS, Shown, shown, unwrapped
from interlock.core.ticket import settled
from interlock.core.wire import finding_json
from interlock.doors.cli.ticket_words import requirement_words
from interlock.doors.console.colour import Piece, coloured, runs
from interlock.doors.console.lines import Line, kept_of, line, lines, when
from interlock.service.false_alarms import Mark, markable, marks, rules_of
from interlock.service.proving import proof_of
from interlock.service.replaying import action_of, assessed, title
from interlock.service.searching import Entry, Wanted, search
from interlock.service.state import State

RELATED = 30
LOOKED = 2_000  # records that are looked at for those that belong to it
_HUMAN = ("none", "confirm", "approve", "verify")


@dataclass(frozen=True, slots=True)
class Fired:
    """One rule that fired."""

    id: str
    reason: str
    instead: str
    known: bool  # it is in the rulebook that is in force


@dataclass(frozen=True, slots=True)
class Signed:
    """What one person said."""

    operator: str
    verdict: str
    when: str
    channel: str
    how: str


@dataclass(frozen=True, slots=True)
class Story:
    """Everything about one record."""

    entry: Entry
    line: Line
    shown: Shown | None  # of what was asked
    runs: list[tuple[bool, list[Piece]]]
    facts: tuple[tuple[str, str], ...]
    fired: tuple[Fired, ...]
    factors: tuple[str, ...]
    ticket: Ticket | None
    signed: tuple[Signed, ...]
    related: list[Line]
    proof: Proof
    signed_when: str
    markable: bool
    mark: Mark | None


def story(state: State, entry: Entry) -> Story:
    body = entry.body
    id = str(body.get("ticket") or "")
    ticket, approvals = state.store.read(lambda tx: (tx.ticket(id), tx.approvals(id))) if id else (None, [])
    found = _shown(state, body) if entry.level >= 0 else None
    proof = proof_of(state, entry.row)
    return Story(
        entry,
        line(entry),
        found,
        runs(coloured(found.text, found.marks)) if found else [],
        tuple((name, words) for name, words in _facts(entry) if words),
        _fired(state, body),
        tuple(undo_told(words, _texts(body.get("factors"))) for words in _texts(body.get("factors"))),
        settled(ticket, state.clock.now()) if ticket is not None else None,
        tuple(map(_signed, approvals)),
        _related(state, entry, id),
        proof,
        when(proof.signed_at) if proof.signed_at is not None else "",
        markable(entry),
        marks(state).get(entry.id),
    )


def _shown(state: State, body: Mapping[str, Any]) -> Shown:
    """What was judged, whole, with what would really have run; the harm is marked by the rules that fired then."""
    action = action_of(body)
    seen = assessed(body, state.rules)
    if seen is None:
        return shown(action, (), title(body))
    fired = set(rules_of(body))
    findings = redact([finding_json(one) for one in seen.findings if one.rule in fired])
    hidden = unwrapped(seen.steps, findings, action)
    return shown({**action, RUNS: hidden}, findings, title(body))


def _facts(entry: Entry) -> list[tuple[str, str]]:
    """What a person asks first, in that order."""
    body = entry.body
    if entry.level < 0:
        return []
    agent, where = _table(body.get("agent")), _table(body.get("parameters")) or _table(body.get("judged"))
    name = f", calls itself {agent['name']}" if agent.get("name") else ""
    asked = _table(body.get("requirement"))
    human = asked.get("human")
    words = {**asked, "human": _HUMAN[human] if isinstance(human, int) and 0 <= human < 4 else human}
    back = kept_of(body) or recoverable(_texts(body.get("factors")))
    score = f"{body.get('score', '')}{', tier ' + str(body['tier']) if body.get('tier') else ''}"
    return [
        ("Answer", f"{body.get('decision', '')}{': ' + str(body['reason']) if body.get('reason') else ''}"),
        ("Score", score),
        ("Undo", "cannot be undone" if body.get("irreversible") and not back else ""),
        ("Looked", blast_of(_texts(body.get("factors")))),
        ("Asked for", requirement_words(words) if asked else ""),
        ("Agent", f"{agent.get('principal', '')}{name}"),
        ("Session", str(agent.get("session") or "")),
        ("In", str(where.get("cwd") or "")),
        ("Through", f"{body.get('door') or body.get('adapter_name', '')}, {body.get('strength') or 'plain'} strength"),
        ("Policy", f"{body.get('policy_name', '')}, mode {body.get('mode', '')}"),
        ("Grant", str(body.get("grant") or "")),
        ("Execution", str(body.get("execution") or "")),
        ("Digest", str(body.get("digest") or "")),
    ]


def _fired(state: State, body: Mapping[str, Any]) -> tuple[Fired, ...]:
    """The rules by their ids, with what the rulebook says of them now."""
    known = state.rules.rules
    return tuple(
        Fired(id, known[id].reason if id in known else "", known[id].instead if id in known else "", id in known)
        for id in rules_of(body)
    )


def _signed(approval: Approval) -> Signed:
    fresh = "with step-up" if approval.reauth else "signed in"
    how = "by passkey" if approval.key_id.startswith(PREFIX) else f"by key, {fresh}"
    return Signed(approval.operator, approval.verdict, when(approval.at), approval.channel, how)


def _related(state: State, entry: Entry, ticket: str) -> list[Line]:
    """The other records of the same ticket, the first one first."""
    if not ticket:
        return []
    found = search(state, Wanted(text=ticket, without=ROUTINE), page=RELATED, most=LOOKED)
    return [one for one in reversed(lines(found.entries)) if one.id != entry.id]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
