"""Cards of the queue: one for each action that waits, most urgent first; spots approvals made too fast."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from msgspec import Struct

from interlock.analysis.display_text import visible
from interlock.approvals import is_freed_by_time
from interlock.approvals.display import ActionDisplay, action_text, display_action, reasons
from interlock.approvals.step_up import needs_stepup
from interlock.audit.chain import HELD, body_of
from interlock.console.visit import Visit
from interlock.model import Span, TicketState, requirement_words
from interlock.policy.effect_key import parse
from interlock.policy.impact import impact_words, recoverable, snapshot_problem
from interlock.records import Approval, AuditQuery, Ticket
from interlock.runtime.state import State

HIGHLIGHTED = 20_000  # characters highlighted; the rest is shown plain
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<sign>&&|\|\||;;|[;|&()<>{}]+)|(?P<note>#[^\n]*)"
    r"|(?P<text>'[^']*'?|\"(?:[^\"\\]|\\.)*\"?)|(?P<flag>-{1,2}[A-Za-z0-9][\w-]*=?)|(?P<word>(?:[^\s;|&()<>'\"\\]|\\.)+|.)",
    re.S,
)


class Piece(Struct, frozen=True):
    text: str
    kind: str = ""  # program, flag, text, sign or nothing
    marked: bool = False


def highlight(text: str, marks: Iterable[Span] = ()) -> list[Piece]:
    """The whole text in pieces; nothing is left out, as text that is not shown was not approved."""
    spans = sorted((max(0, start), min(end, len(text))) for start, end in marks if start < end)
    return [piece for piece in _cut(_tokens(text), spans) if piece.text]


def runs(pieces: Iterable[Piece]) -> list[tuple[bool, list[Piece]]]:
    return [(marked, list(group)) for marked, group in groupby(pieces, key=lambda piece: piece.marked)]


def _tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """The first word of a command is its program."""
    first = True
    for found in _TOKEN.finditer(text, 0, HIGHLIGHTED):
        kind, said = found.lastgroup or "", found.group()
        if kind == "word":
            kind, first = ("program" if first and "=" not in said else ""), first and "=" in said
        elif kind == "sign":
            first = not said.startswith((">", "<"))
        elif kind == "space":
            kind, first = "", first or "\n" in said
        elif kind == "note":
            kind = "sign"
        yield found.start(), said, kind
    if len(text) > HIGHLIGHTED:
        yield HIGHLIGHTED, text[HIGHLIGHTED:], ""


def _cut(tokens: Iterable[tuple[int, str, str]], spans: list[Span]) -> Iterator[Piece]:
    edges = sorted({edge for span in spans for edge in span})
    for start, said, kind in tokens:
        cuts = [start, *(edge for edge in edges if start < edge < start + len(said)), start + len(said)]
        for a, b in pairwise(cuts):
            marked = any(low <= a < high for low, high in spans)
            shown = "\n".join(visible(line) for line in said[a - start : b - start].split("\n"))
            yield Piece(shown, kind, marked)


class Card(Struct, frozen=True):
    ticket: Ticket
    shown: ActionDisplay
    needs: str
    step_up: bool
    target: str  # typed by an operator who approved too many in a row
    reasons: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    tries: tuple[str, ...] = ()  # the text of every attempt, the first one first
    changes: tuple[tuple[str, str], ...] = ()  # kind, line

    @property
    def runs(self) -> list[tuple[bool, list[Piece]]]:
        return runs(highlight(self.shown.text, self.shown.marks))

    @property
    def blast(self) -> str:
        return impact_words(self.ticket.factors)

    @property
    def cannot_be_undone(self) -> bool:
        """Irreversible, and no inspection found a way to recover its targets."""
        return self.ticket.irreversible and not recoverable(self.ticket.factors)

    @property
    def no_snapshot(self) -> str:
        return snapshot_problem(self.ticket.factors)

    @property
    def cooling(self) -> bool:
        """Whether time alone lets it run (R-3)."""
        return self.ticket.state is TicketState.COOLING and is_freed_by_time(self.ticket)

    @property
    def severity(self) -> str:
        """The registry's severity where one of its patterns matched; empty otherwise, as the level says it."""
        return self.ticket.severity if self.ticket.patterns else ""

    @property
    def patterns(self) -> tuple[tuple[str, str], ...]:
        found = ((str(one.get("id") or ""), str(one.get("description") or "")) for one in self.ticket.patterns)
        return tuple((id, words) for id, words in found if words)


def cards(tickets: Iterable[tuple[Ticket, list[Approval]]], tries: Mapping[str, Sequence[str]]) -> list[Card]:
    """The most urgent first; `tries` are the texts of other attempts by ticket."""
    groups: dict[tuple[object, ...], list[tuple[Ticket, list[Approval]]]] = {}
    for ticket, approvals in tickets:
        agent = ticket.agent
        effect = ticket.effect_keys or (ticket.digest,)
        groups.setdefault((agent.principal, agent.name, int(ticket.level), effect), []).append((ticket, approvals))
    made = [_card(sorted(group, key=lambda one: one[0].opened_at), tries) for group in groups.values()]
    return sorted(made, key=_urgency)


def _urgency(card: Card) -> tuple[float, ...]:
    ends = card.ticket.cooling_ends_at if card.cooling else card.ticket.expires_at
    return (not card.cooling, -int(card.ticket.level), ends)


def card_of(ticket: Ticket, approvals: Iterable[Approval] = (), tries: Sequence[str] = ()) -> Card:
    return _card([(ticket, list(approvals))], {ticket.id: tries})


def _card(group: list[tuple[Ticket, list[Approval]]], tries: Mapping[str, Sequence[str]]) -> Card:
    ticket, approvals = group[-1]
    asked = [text for one, _ in group for text in (action_text(one.action, one.title)[0], *tries.get(one.id, ()))]
    findings = [finding for finding in ticket.findings if isinstance(finding, Mapping)]
    return Card(
        ticket,
        display_action(ticket.action, findings, ticket.title),
        requirement_words(ticket.requirement),
        needs_stepup(ticket),
        target_of(ticket),
        reasons(ticket.reason, ticket.level.word, findings, ticket.factors),
        _unique(str(one.get("instead") or "") for one in findings),
        _unique(str(one.get("undo") or "") for one in findings)[: 1 if ticket.irreversible else None],
        _unique(f"{one.operator} ({one.channel})" for one in approvals if one.verdict == "approve"),
        tuple(asked),
        _changes(asked),
    )


def target_of(ticket: Ticket) -> str:
    """The first target's last part, else the operation's name."""
    target = next((key.target for key in map(parse, ticket.effect_keys) if key.known), "").removesuffix("_*")
    name = target.rstrip("/").rpartition("/")[2] or ticket.operation or ticket.level.word
    return visible(name.strip()[:80]) or ticket.level.word  # as displayed, so that it can be typed


def _changes(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    if len(texts) < 2 or texts[-1] == texts[-2]:
        return ()
    lines = difflib.ndiff(texts[-2].split("\n"), texts[-1].split("\n"))
    kinds = {"+": "add", "-": "del", " ": ""}
    return tuple((kinds[line[0]], line[2:]) for line in lines if line[0] in kinds)[:40]


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))


MOST = 300  # records searched
_EACH = 20  # attempts shown for one ticket


def other_attempts(state: State, tickets: Iterable[Ticket]) -> Mapping[str, Sequence[str]]:
    since = {ticket.id: ticket.opened_at for ticket in tickets}
    if not since:
        return {}
    query = AuditQuery(event=HELD, since=min(since.values()), limit=MOST, newest_first=True)
    found: dict[str, list[str]] = {}
    for row in reversed(state.store.read(lambda tx: tx.audit(query))):
        ticket, text = _attempt(body_of(row))
        if ticket in since and text:
            found.setdefault(ticket, []).append(text)
    return {ticket: texts[-_EACH:] for ticket, texts in found.items()}


def _attempt(body: Mapping[str, Any]) -> tuple[str, str]:
    try:
        facts = body["facts"]
        at = facts["circumstances"]
        return str(at["denied"]["ticket"] if "denied" in at else at["denied_goal"]), str(facts["titles"]["tools"][0][1])
    except (LookupError, TypeError):
        return "", ""


MANY, WITHIN = 5, 120.0
_MOST = 200  # approvals searched


def approves_too_fast(visit: Visit) -> bool:
    state = visit.state
    query = AuditQuery(event="approve", since=state.clock.now() - WITHIN, limit=_MOST, newest_first=True)
    rows = state.store.read(lambda tx: tx.audit(query))
    return [body_of(row).get("by") for row in rows].count(visit.who.operator) >= MANY
