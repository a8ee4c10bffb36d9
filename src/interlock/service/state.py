"""What the service holds in memory: the store, the rules, the policy in force, the keys, who is blocked, who is signed in."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.classify import Rulebook
from interlock.core.hold import Held, Keep
from interlock.core.model import Human, Requirement, TicketState
from interlock.core.policy import Policy
from interlock.core.records import Approval, Block, Ticket
from interlock.core.registry import Registry
from interlock.core.statement import agrees
from interlock.ports import Channel, Clock, Store
from interlock.service.installation import Installation
from interlock.service.reading import Reader
from interlock.service.record import Recorder
from interlock.service.sessions import Sessions
from interlock.service.tickets import seal_of

if TYPE_CHECKING:
    from interlock.core.weigh import Weighed
    from interlock.service.request import Judged

LOG = logging.getLogger("interlock")


@dataclass(slots=True)
class State:
    """Everything a decision is made with; built once by a door and passed down."""

    store: Store
    rules: Rulebook
    reader: Reader
    policy: Policy
    clock: Clock
    installation: Installation
    registry: Registry
    recorder: Recorder
    sessions: Sessions
    mode: str = "enforcing"
    strength: str = "plain"
    channels: Sequence[Channel] = ()
    shared: bool = False  # other processes write to the same store
    policy_hash: str = ""
    rulebook_hash: str = ""
    problems: list[str] = field(default_factory=list)  # what went wrong lately, for the operator
    _blocks: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_id(self, prefix: str) -> str:
        """An id that cannot be guessed (CT-02, C-26)."""
        return prefix + secrets.token_urlsafe(18).replace("-", "0").replace("_", "1")

    def blocked(self, principal: str) -> str:
        """Why a principal is blocked, as this process remembers it; a row deleted behind its back lifts nothing."""
        return self._blocks.get(principal, "")

    def remember_block(self, block: Block) -> None:
        with self._lock:
            if block.lifted_at:
                self._blocks.pop(block.principal, None)
            else:
                self._blocks[block.principal] = block.reason

    def remember_blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.remember_block(block)

    def agreement(self, ticket: Ticket, approvals: Iterable[Approval], asked: Requirement, now: float) -> str:
        """Empty when this ticket may be spent, else why not; the ticket's own columns are not believed."""
        if ticket.seal != seal_of(self, ticket):
            return "the ticket was altered outside Interlock"
        if ticket.requirement.join(asked).human is Human.NONE:
            return ""  # only time was asked for, and the seal binds the time
        roster = self.sessions.roster
        if roster is None:
            return "nobody has unlocked this daemon since it started: an operator runs `interlock unlock`"
        found = agrees(ticket, approvals, now, roster.people, roster.verify, asked=asked)
        return "" if found.satisfied else found.reason

    def tell(self, event: str, ticket: Ticket | None, words: str = "") -> None:
        """Tells every channel; one that fails is noted, and changes no decision."""
        for channel in self.channels:
            try:
                channel.tell(event, ticket, words or (ticket.title if ticket else ""))
            except Exception as error:
                self.trouble(f"channel {channel.name}: {type(error).__name__}")

    def trouble(self, words: str) -> None:
        LOG.error("%s", words)
        self.problems = [*self.problems[-49:], words]

    def words(self, judged: Judged, weighed: Weighed, held: Held) -> str:
        """Two sentences for whoever asked: what would happen and why it is held, and what to do."""
        if (
            self.policy.literal_globs and held.outcome != "allow"
        ):  # the specification's own words, and nothing beside them
            return held.reason or weighed.reason()
        return sentence(judged, weighed, held)


def sentence(judged: Judged, weighed: Weighed, held: Held) -> str:
    """The reason of a decision, in words for a person."""
    why = held.reason or weighed.reason() or "nothing stands against it"
    if held.outcome == "allow":
        if held.keep is Keep.SPEND and held.ticket is not None:
            return f"Allowed once: ticket {held.ticket.id} was answered by {held.ticket.decided_by}."
        return "Allowed." if not weighed.factors else f"Allowed: {_end(why)}"
    instead = next((f.instead for f in judged.judgement.assessment.findings if f.instead), "")
    advice = f" Instead: {_end(instead)}" if instead else ""
    if held.outcome == "block" or held.ticket is None:
        return f"Denied: {_end(why)}{advice}"
    lead = "Denied" if held.outcome == "deny" else "Held"
    return f"{lead}: {_end(why)}{advice} {_next(held, weighed)}"


def _next(held: Held, weighed: Weighed) -> str:
    ticket = held.ticket.id if held.ticket else ""
    if held.ticket is not None and held.ticket.state is TicketState.REJECTED:
        return "Other words for the same thing meet the same answer."
    if held.outcome == "cool_off":
        return f"Ask again in {held.wait_seconds} s with ticket {ticket}; an operator can veto it until then."
    return f"An operator can answer ticket {ticket} (`interlock approve {ticket}`); then try again."


def _end(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
