"""What waits -> cards for the queue: the same deed is one card, the most urgent first."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from interlock.analysis.effect_key import parse
from interlock.core.excerpt import visible
from interlock.core.loss import UNKEPT, blast_of, recoverable
from interlock.core.model import Level, TicketState
from interlock.core.records import Approval, Ticket
from interlock.core.shown import Shown, reasons, shown, written
from interlock.core.statement import needs_reauth
from interlock.core.ticket import freed_by_time
from interlock.core.wire import requirement_json
from interlock.doors.cli.ticket_words import requirement_words
from interlock.doors.console.colour import Piece, coloured, runs


@dataclass(frozen=True, slots=True)
class Card:
    """One card: the newest ticket of one deed, and what differs between the tries."""

    ticket: Ticket
    shown: Shown
    needs: str
    step_up: bool
    target: str  # what is typed once too many were approved in a row
    reasons: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    signed: tuple[str, ...] = ()
    tries: tuple[str, ...] = ()  # every text that it was asked for in, the first one first
    changes: tuple[tuple[str, str], ...] = ()  # kind, line
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> list[tuple[bool, list[Piece]]]:
        """The text as it was written, the harm marked."""
        return runs(coloured(self.shown.text, self.shown.marks))

    @property
    def blast(self) -> str:
        """What a look at its targets saw when it was asked."""
        return blast_of(self.ticket.factors)

    @property
    def for_good(self) -> bool:
        """Whether nothing brings back what it destroys, as far as anybody knows."""
        return self.ticket.irreversible and not recoverable(self.ticket.factors)

    @property
    def unkept(self) -> str:
        """Why what it would destroy could not be kept first."""
        found = (factor for factor in self.ticket.factors if factor.startswith(UNKEPT))
        return next(found, "").removeprefix(UNKEPT)

    @property
    def cooling(self) -> bool:
        """Whether time alone lets it run (R-3)."""
        return self.ticket.state is TicketState.COOLING and freed_by_time(self.ticket)

    @property
    def severity(self) -> str:
        """The registry's word, where its patterns spoke; else the level says it."""
        return self.ticket.severity if self.ticket.patterns else ""

    @property
    def patterns(self) -> tuple[tuple[str, str], ...]:
        """The registry's patterns that matched: id, and what their author says of them."""
        found = ((str(one.get("id") or ""), str(one.get("description") or "")) for one in self.ticket.patterns)
        return tuple((id, words) for id, words in found if words)


def cards(
    tickets: Iterable[tuple[Ticket, list[Approval]]], now: float, tries: Mapping[str, Sequence[str]] | None = None
) -> list[Card]:
    """Cards for open tickets, the most urgent first; `tries` are the other words that met a ticket."""
    groups: dict[tuple[object, ...], list[tuple[Ticket, list[Approval]]]] = {}
    for ticket, approvals in tickets:
        agent = ticket.agent
        deed = ticket.effect_keys or (ticket.digest,)
        groups.setdefault((agent.principal, agent.name, int(ticket.level), deed), []).append((ticket, approvals))
    made = [_card(sorted(group, key=lambda one: one[0].opened_at), tries or {}) for group in groups.values()]
    return sorted(made, key=lambda card: urgency(card.ticket, now))


def urgency(ticket: Ticket, now: float) -> tuple[float, ...]:
    """What runs by itself soon comes first, then the greater harm, then what ends sooner."""
    soon = ticket.state is TicketState.COOLING and freed_by_time(ticket)
    ends = ticket.cooling_ends_at if soon else ticket.expires_at
    return (not soon, -int(ticket.level), ends - now)


def card_of(ticket: Ticket, approvals: Iterable[Approval] = (), tries: Sequence[str] = ()) -> Card:
    return _card([(ticket, list(approvals))], {ticket.id: tries})


def _card(group: list[tuple[Ticket, list[Approval]]], tries: Mapping[str, Sequence[str]]) -> Card:
    ticket, approvals = group[-1]
    asked = [text for one, _ in group for text in (written(one.action, one.title)[0], *tries.get(one.id, ()))]
    findings = [finding for finding in ticket.findings if isinstance(finding, Mapping)]
    return Card(
        ticket,
        shown(ticket.action, findings, ticket.title),
        requirement_words(requirement_json(ticket.requirement)),
        needs_step_up(ticket),
        target_of(ticket),
        reasons(ticket.reason, ticket.level.word, findings, ticket.factors),
        _unique(str(one.get("instead") or "") for one in findings),
        _unique(str(one.get("undo") or "") for one in findings)[: 1 if ticket.irreversible else None],
        _unique(f"{one.operator} ({one.channel})" for one in approvals if one.verdict == "approve"),
        tuple(asked),
        _changes(asked),
    )


def needs_step_up(ticket: Ticket) -> bool:
    """Whether a cookie alone is not enough."""
    return ticket.level >= Level.DANGEROUS or needs_reauth(ticket.requirement)


def target_of(ticket: Ticket) -> str:
    """The name of what would be lost: the last part of the first target, else of the operation."""
    target = next((key.target for key in map(parse, ticket.effect_keys) if key.known), "").removesuffix("_*")
    name = target.rstrip("/").rpartition("/")[2] or ticket.operation or ticket.level.word
    return visible(name.strip()[:80]) or ticket.level.word  # as it is shown, so that it can be typed


def _changes(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What the last try changed against the one before."""
    if len(texts) < 2 or texts[-1] == texts[-2]:
        return ()
    lines = difflib.ndiff(texts[-2].split("\n"), texts[-1].split("\n"))
    kinds = {"+": "add", "-": "del", " ": ""}
    return tuple((kinds[line[0]], line[2:]) for line in lines if line[0] in kinds)[:40]


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))
