"""What waits -> cards for the queue: the same deed is one card, the most urgent first."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.core.circumstances import raises
from interlock.core.excerpt import visible
from interlock.core.loss import UNKEPT, blast_of
from interlock.core.model import Level, TicketState
from interlock.core.overlooked import harm, lookalikes
from interlock.core.records import Approval, Ticket
from interlock.core.statement import needs_reauth
from interlock.core.wire import requirement_json
from interlock.doors.cli.ticket_words import requirement_words
from interlock.doors.console.colour import Piece, coloured, runs

_TEXTS = ("command", "operation", "tool", "hint")
_REDACTED = "<secret:"


@dataclass(frozen=True, slots=True)
class Card:
    """One card: the newest ticket of one deed, and what differs between the tries."""

    ticket: Ticket
    runs: list[tuple[bool, list[Piece]]]
    fields: Mapping[str, str]
    needs: str
    step_up: bool
    target: str  # what is typed once too many were approved in a row
    reasons: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    harm: tuple[str, ...] = ()  # in a text that is not read at a glance
    letters: tuple[str, ...] = ()  # that look like others
    signed: tuple[str, ...] = ()
    tries: tuple[str, ...] = ()  # every text that it was asked for in, the first one first
    changes: tuple[tuple[str, str], ...] = ()  # kind, line
    links: Mapping[str, str] = field(default_factory=dict)

    @property
    def blast(self) -> str:
        """What a look at its targets saw when it was asked."""
        return blast_of(self.ticket.factors)

    @property
    def unkept(self) -> str:
        """Why what it would destroy could not be kept first."""
        found = (factor for factor in self.ticket.factors if factor.startswith(UNKEPT))
        return next(found, "").removeprefix(UNKEPT)

    @property
    def cooling(self) -> bool:
        return self.ticket.state is TicketState.COOLING


def cards(
    tickets: Iterable[tuple[Ticket, list[Approval]]], now: float, tries: Mapping[str, Sequence[str]] | None = None
) -> list[Card]:
    """Cards for open tickets, the most urgent first; `tries` are the other words that met a ticket."""
    groups: dict[tuple[object, ...], list[tuple[Ticket, list[Approval]]]] = {}
    for ticket, approvals in tickets:
        agent = ticket.agent
        deed = ticket.goals or (ticket.digest,)
        groups.setdefault((agent.principal, agent.name, int(ticket.level), deed), []).append((ticket, approvals))
    made = [_card(sorted(group, key=lambda one: one[0].opened_at), tries or {}) for group in groups.values()]
    return sorted(made, key=lambda card: urgency(card.ticket, now))


def urgency(ticket: Ticket, now: float) -> tuple[float, ...]:
    """What runs by itself soon comes first, then the greater harm, then what ends sooner."""
    soon = ticket.state is TicketState.COOLING
    ends = ticket.cooling_ends_at if soon else ticket.expires_at
    return (not soon, -int(ticket.level), ends - now)


def card_of(ticket: Ticket, approvals: Iterable[Approval] = (), tries: Sequence[str] = ()) -> Card:
    return _card([(ticket, list(approvals))], {ticket.id: tries})


def _card(group: list[tuple[Ticket, list[Approval]]], tries: Mapping[str, Sequence[str]]) -> Card:
    ticket, approvals = group[-1]
    asked = [text for one, _ in group for text in (shown(one)[0], *tries.get(one.id, ()))]
    text, fields = shown(ticket)
    findings = [finding for finding in ticket.findings if isinstance(finding, Mapping)]
    said = ticket.reason.removeprefix(f"{ticket.level.word}: ")
    return Card(
        ticket,
        runs(coloured(text, _marks(text, findings, ticket))),
        fields,
        requirement_words(requirement_json(ticket.requirement)),
        needs_step_up(ticket),
        target_of(ticket),
        _unique(
            [
                said,
                *(words for words in raises(ticket.factors) if said not in words),
                *(str(one.get("reason") or "") for one in findings if str(one.get("reason") or "") not in said),
            ]
        ),
        _unique(str(one.get("instead") or "") for one in findings),
        _unique(str(one.get("undo") or "") for one in findings)[: 1 if ticket.irreversible else None],
        harm(text, findings),
        lookalikes(text),
        _unique(f"{one.operator} ({one.channel})" for one in approvals if one.verdict == "approve"),
        tuple(asked),
        _changes(asked),
    )


def needs_step_up(ticket: Ticket) -> bool:
    """Whether a cookie alone is not enough."""
    return ticket.level >= Level.DANGEROUS or needs_reauth(ticket.requirement)


def shown(ticket: Ticket) -> tuple[str, Mapping[str, str]]:
    return shown_action(ticket.action, ticket.title)


def shown_action(action: Mapping[str, Any], title: str) -> tuple[str, Mapping[str, str]]:
    """The action's own text, and the fields beside it, whole."""
    text = next((str(action[name]) for name in _TEXTS if action.get(name)), title)
    rest = {key: value for key, value in action.items() if key not in (*_TEXTS, "kind", "cwd") and value}
    return text, {key: _written(value) for key, value in rest.items()}


def target_of(ticket: Ticket) -> str:
    """The name of what would be lost: the last part of the first target, else of the operation."""
    target = next((goal.partition(":")[2] for goal in ticket.goals if not goal.endswith(":?")), "")
    name = target.rstrip("/").rpartition("/")[2] or ticket.operation or ticket.level.word
    return visible(name.strip()[:80]) or ticket.level.word  # as it is shown, so that it can be typed


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _marks(text: str, findings: Iterable[Mapping[str, Any]], ticket: Ticket) -> list[tuple[int, int]]:
    """Where the harm is; not where a secret was taken out, for places moved with it."""
    if _REDACTED in text or ticket.action.get("kind") not in ("command", "intent"):
        return []
    worst = max((int(one.get("level") or 0) for one in findings), default=0)
    spans = [one.get("span") for one in findings if int(one.get("level") or 0) == worst]
    return [(int(span[0]), int(span[1])) for span in spans if isinstance(span, list | tuple) and len(span) == 2]


def _changes(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What the last try changed against the one before."""
    if len(texts) < 2 or texts[-1] == texts[-2]:
        return ()
    lines = difflib.ndiff(texts[-2].split("\n"), texts[-1].split("\n"))
    kinds = {"+": "add", "-": "del", " ": ""}
    return tuple((kinds[line[0]], line[2:]) for line in lines if line[0] in kinds)[:40]


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))
