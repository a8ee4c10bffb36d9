"""What waits for a person now? Held actions, same effects as one, agents that wait for a code, and blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from interlock.core import messages
from interlock.core.channel_rules import BLOCK, CHALLENGE, COOLING, HELD
from interlock.core.messages import Message, Place
from interlock.core.model import Level, TicketState
from interlock.core.records import Block, Challenge, Ticket, TicketQuery
from interlock.core.ticket import settled
from interlock.ports import Tx

MOST = 1_000  # tickets that are looked at; an agent that opens more has been told of
_OPEN = TicketQuery((TicketState.COOLING, TicketState.WAITING), limit=MOST)


@dataclass(frozen=True, slots=True)
class Matter:
    """One thing that somebody has to answer."""

    id: str
    event: str
    since: float
    about: Ticket | Challenge | Block
    challenge: str = ""  # whose code frees it
    like_it: int = 0  # others of the same effect

    @property
    def level(self) -> Level | None:
        return self.about.level if isinstance(self.about, Ticket) else None

    def message(self, place: Place, now: float) -> Message:
        """What people are told of it."""
        if isinstance(self.about, Ticket):
            return messages.of_ticket(self.about, self.event, place, now, self.like_it)
        if isinstance(self.about, Challenge):
            return messages.of_challenge(self.about, place, now)
        return messages.of_block(self.about, place, now)


def waiting(tx: Tx, now: float) -> dict[str, Matter]:
    """All of them by id, the oldest first."""
    open_ones = [one for one in tx.challenges() if now < one.expires_at]
    blocks = [block for block in tx.blocks() if not block.lifted_at]
    tickets = [settled(ticket, now) for ticket in tx.tickets(_OPEN)]
    found = [*_tickets(tickets, open_ones), *_blocks(blocks, open_ones)]
    told = {matter.challenge for matter in found}
    found += [
        Matter(f"challenge {one.id}", CHALLENGE, one.opened_at, one, one.id) for one in open_ones if one.id not in told
    ]
    return {matter.id: matter for matter in sorted(found, key=lambda matter: matter.since)}


def _tickets(tickets: list[Ticket], challenges: list[Challenge]) -> list[Matter]:
    """One for each effect of each principal: its oldest ticket stands for all of them."""
    codes = {(one.agent.principal, one.digest): one.id for one in challenges if one.digest}
    found: dict[tuple[str, ...], Matter] = {}
    for ticket in sorted((ticket for ticket in tickets if ticket.open), key=lambda ticket: ticket.opened_at):
        own = ticket.effect_keys or (ticket.id,)
        key = (ticket.agent.principal, *own)  # a name is only claimed
        if key in found:
            found[key] = replace(found[key], like_it=found[key].like_it + 1)
            continue
        code = codes.get((ticket.agent.principal, ticket.digest), "")
        event = CHALLENGE if code else COOLING if ticket.state is TicketState.COOLING else HELD
        found[key] = Matter(f"ticket {ticket.id}", event, ticket.opened_at, ticket, code)
    return list(found.values())


def _blocks(blocks: list[Block], challenges: list[Challenge]) -> list[Matter]:
    codes = {one.agent.principal: one.id for one in challenges if one.kind == "block"}
    return [
        Matter(f"block {block.principal} {block.since!r}", BLOCK, block.since, block, codes.get(block.principal, ""))
        for block in blocks
    ]
