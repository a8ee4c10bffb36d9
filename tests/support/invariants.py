"""Checks the state that a killed process left behind: nothing acknowledged is lost, nothing spent twice, the chain is whole."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from interlock.approvals.tickets import seal_of
from interlock.audit.proof import verify_chains
from interlock.model import AgentRef, TicketState
from interlock.records import Approval, AuditQuery, Ticket, TicketQuery
from interlock.runtime.state import State

ALL = 1_000_000
AGREED = (TicketState.APPROVED, TicketState.SPENT)
# What a caller was told -> how the ticket may stand from then on; a ticket that was agreed to can still expire.
STANDS = {
    "held": tuple(TicketState),
    "approved": (*AGREED, TicketState.EXPIRED),
    "rejected": (TicketState.REJECTED,),
    "spent": (TicketState.SPENT,),
    "executed": (TicketState.SPENT,),
}
# What a caller was told -> the event of the record of it.
EVENTS = {
    "held": "CONFIRMATION_REQUIRED",
    "approved": "approve",
    "rejected": "reject",
    "spent": "CONFIRMATION_GRANTED",
    "executed": "executed",
}


@dataclass
class Acknowledged:
    """The acknowledgements that callers received before the process was killed."""

    tickets: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  # word -> ids
    recorded: set[str] = field(default_factory=set)  # everyday commands that are in a group that was written
    blocked: set[str] = field(default_factory=set)  # principals

    def take(self, word: str, what: str) -> None:
        if word == "recorded":
            self.recorded.add(what)
        elif word == "blocked":
            self.blocked.add(what)
        else:
            assert word in STANDS, (word, what)
            self.tickets[word][what] += 1

    @property
    def count(self) -> int:
        return sum(len(ids) for ids in self.tickets.values()) + len(self.recorded) + len(self.blocked)


@dataclass
class StoredState:
    """The contents of the store."""

    tickets: dict[str, Ticket]
    approvals: dict[str, list[Approval]]
    events: Counter[tuple[str, str]]  # of the record: event and ticket
    commands: set[str]
    blocked: set[str]


def broken_invariants(state: State, said: Acknowledged) -> list[str]:
    """Every broken invariant, as text."""
    found = read_stored(state)
    verdict = verify_chains(state)
    return [
        *(f"chain: {fault.words}" for fault in verdict.faults),
        *lost_promises(found, said),
        *double_spends(found, said),
        *(words for ticket in found.tickets.values() for words in impossible_rows(state, ticket, found)),
        *wrong_figures(state, found),
    ]


def read_stored(state: State) -> StoredState:
    tickets = state.store.read(lambda tx: tx.tickets(TicketQuery(tuple(TicketState), limit=ALL)))
    rows = state.store.read(lambda tx: tx.audit(AuditQuery(limit=ALL)))
    bodies = [(row.event, json.loads(row.body)) for row in rows]
    return StoredState(
        {ticket.id: ticket for ticket in tickets},
        state.store.read(lambda tx: {ticket.id: tx.approvals(ticket.id) for ticket in tickets}),
        Counter((event, body["ticket"]) for event, body in bodies if body.get("ticket")),
        {body["judged"]["fields"]["command"] for _, body in bodies if "judged" in body},
        {block.principal for block in state.store.read(lambda tx: tx.blocks()) if not block.lifted_at},
    )


def lost_promises(found: StoredState, said: Acknowledged) -> Iterator[str]:
    for word, ids in said.tickets.items():
        for id in ids:
            ticket = found.tickets.get(id)
            if ticket is None:
                yield f"{word} {id}: there is no such ticket"
            elif ticket.state not in STANDS[word]:
                yield f"{word} {id}: it is {ticket.state.value}"
            elif word == "executed" and not ticket.executed_at:
                yield f"executed {id}: nothing is known of that"
            if not found.events[EVENTS[word], id]:
                yield f"{word} {id}: there is no record of it"
    yield from (f"recorded {command!r}: there is no record of it" for command in said.recorded - found.commands)
    yield from (f"blocked {principal}: it is not" for principal in said.blocked - found.blocked)


def double_spends(found: StoredState, said: Acknowledged) -> Iterator[str]:
    yield from (
        f"spent {id}: {times} callers were let through" for id, times in said.tickets["spent"].items() if times > 1
    )
    for id, ticket in found.tickets.items():
        times = found.events[EVENTS["spent"], id]
        if times != (ticket.state is TicketState.SPENT):
            yield f"{id} is {ticket.state.value}, and the record has let it through {times} times"


def impossible_rows(state: State, ticket: Ticket, found: StoredState) -> Iterator[str]:
    """A row that no sequence of moves leads to; each change and its record are one."""
    stands, agreed = ticket.state, [one for one in found.approvals[ticket.id] if one.verdict == "approve"]
    refused = [one for one in found.approvals[ticket.id] if one.verdict == "reject"]
    rules = {
        "it was decided": bool(ticket.decided_at) == (stands not in (TicketState.WAITING, TicketState.COOLING)),
        "it was spent": bool(ticket.spent_at) == (stands is TicketState.SPENT),
        "it was reported": not ticket.executed_at or stands is TicketState.SPENT,
        "somebody signed for it": bool(agreed) if stands in AGREED else True,
        "somebody signed against it": bool(refused) == (stands is TicketState.REJECTED),
        "the statements are recorded": len(agreed) == found.events[EVENTS["approved"], ticket.id],
        "the refusal is recorded": len(refused) == found.events[EVENTS["rejected"], ticket.id],
        "the report is recorded": bool(ticket.executed_at) == found.events[EVENTS["executed"], ticket.id],
        "its opening is recorded": found.events[EVENTS["held"], ticket.id] > 0,
        "its seal holds": ticket.seal == seal_of(state, ticket),
    }
    yield from (
        f"{ticket.id} is {stands.value}, and this does not fit: {rule}" for rule, kept in rules.items() if not kept
    )


def wrong_figures(state: State, found: StoredState) -> Iterator[str]:
    """The figures are changed with what they count."""
    figures = state.store.read(lambda tx: tx.figures())
    tickets = found.tickets.values()
    counted = {
        "approved": (figures.approved, sum(1 for one in found.tickets if found.events[EVENTS["approved"], one])),
        "rejected": (figures.rejected, sum(1 for one in tickets if one.state is TicketState.REJECTED)),
        "executed": (figures.executed, sum(1 for one in tickets if one.executed_at)),
    }
    yield from (f"{name}: {have} counted, {are} there" for name, (have, are) in counted.items() if have != are)


def agent_of(name: str, principal: str = "uid:1000") -> AgentRef:
    """The agent of one ticket: what it does has its name in it, so that another process can try it again."""
    return AgentRef(principal, name, name)


def push(name: str) -> str:
    """A dangerous command that nobody else asks for."""
    return f"git push --force origin {name}"
