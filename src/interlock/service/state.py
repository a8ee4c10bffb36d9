"""What the service holds in memory: the store, the rules, the policy in force, the keys, who is blocked, who is signed in."""

from __future__ import annotations

import logging
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from interlock.core.classify import Rulebook
from interlock.core.guarded import NOTHING_GUARDED, Guarded
from interlock.core.hold import Held
from interlock.core.hook_rules import HookSettings
from interlock.core.looker_rules import LookerSettings
from interlock.core.loop_rules import LoopSettings, Ruled
from interlock.core.model import Human, Level, Requirement
from interlock.core.pause import PauseSettings, Pausing
from interlock.core.policy import Policy
from interlock.core.records import Approval, Block, Challenge, Ticket
from interlock.core.redact import redact_text
from interlock.core.registry import Registry
from interlock.core.standing import Standing
from interlock.core.statement import ANYBODY, agrees
from interlock.core.undo_rules import UndoSettings
from interlock.ports import Channel, Clock, Keeper, Store
from interlock.service.adapters import Adapters
from interlock.service.confirmed import Confirmed
from interlock.service.declaring import Declarations
from interlock.service.installation import Installation
from interlock.service.jails import Jails
from interlock.service.loop.codes import Codes
from interlock.service.pins import Pins
from interlock.service.plans.desk import Plans
from interlock.service.reading import Reader
from interlock.service.record import Recorder
from interlock.service.room import Room
from interlock.service.sessions import Sessions
from interlock.service.strength import JAILED
from interlock.service.tickets import seal_of, shown_hash
from interlock.service.unattested import Elicited
from interlock.service.visitors import Visitors
from interlock.service.words import sentence

if TYPE_CHECKING:
    from interlock.core.undo import Kept
    from interlock.core.weigh import Weighed
    from interlock.service.memory import Memory
    from interlock.service.outbox import Outbox
    from interlock.service.request import Judged

LOG = logging.getLogger("interlock")


def code_suffices(asked: Requirement) -> bool:
    """Whether a code that was shown without anybody signing in is enough: not where somebody in particular is asked for."""
    return not (asked.approvers - {ANYBODY} or asked.quorum > 1 or asked.reauth or asked.blocked)


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
    wall: str = ""  # around whoever makes this one call, where its door knows
    channels: Sequence[Channel] = ()
    outbox: Outbox | None = None  # messages to people who are elsewhere
    shared: bool = False  # other processes write to the same store
    policy_hash: str = ""
    rulebook_hash: str = ""
    problems: list[str] = field(default_factory=list)  # what went wrong lately, for the operator
    troubles: Counter[str] = field(default_factory=Counter)  # how often something went wrong since the start, by kind
    alerts: dict[str, str] = field(default_factory=dict)  # what is wrong now, in words
    blocks: dict[str, str] = field(default_factory=dict)  # principal -> why
    agents_version: object = field(default_factory=object)  # another one after every change of an agent, anywhere
    memory: Memory | None = None  # of a store that others change too
    pins: Pins = field(default_factory=Pins)
    adapters: Adapters = field(default_factory=Adapters)
    confirmed: Confirmed = field(default_factory=Confirmed)
    codes: Codes = field(default_factory=Codes)
    elicited: Elicited = field(default_factory=Elicited)
    challenge_seconds: float = 300.0  # OOB-08
    loops: LoopSettings = field(default_factory=LoopSettings)  # AE-08
    ruled: tuple[Ruled, ...] = ()  # what the policy was tightened by, for this call
    hooks: HookSettings = field(default_factory=HookSettings)
    looking: LookerSettings = field(default_factory=LookerSettings)
    undo: UndoSettings = field(default_factory=UndoSettings)
    keeper: Keeper | None = None  # of this machine's snapshots, as this process's user
    keepers: Mapping[str, Keeper] = field(default_factory=dict)  # as other users, each with a folder of their own
    machine: str = ""  # where they are
    guarded: Guarded = NOTHING_GUARDED  # what of this machine is Interlock's own
    room: Room = field(default_factory=Room)  # that they take up
    visitors: Visitors = field(default_factory=Visitors)
    jails: Jails = field(default_factory=Jails)
    plans: Plans = field(default_factory=Plans)
    declared: Declarations = field(default_factory=Declarations)
    standing: Standing = field(default_factory=Standing)  # patterns that operators allow or deny
    pauses: PauseSettings = field(default_factory=PauseSettings)
    pausing: Pausing | None = None  # an operator's pause, proved
    pause_order: float = 0.0  # when the newest order about it was given that was followed
    pause_roster: object = None  # that such an order was looked for with
    lock: threading.RLock = field(default_factory=threading.RLock)  # for whoever changes what is remembered

    def new_id(self, prefix: str) -> str:
        """An id that cannot be guessed (CT-02, C-26)."""
        return prefix + secrets.token_urlsafe(18).replace("-", "0").replace("_", "1")

    def blocked(self, principal: str) -> str:
        """Why a principal is blocked, as this process remembers it; a row deleted behind its back lifts nothing."""
        return self.blocks.get(principal, "")

    def whose(self, principal: str) -> str:
        """In whose folder a principal's snapshots are; that of this process's user has no name."""
        return principal if principal in self.keepers else ""

    def keeper_of(self, principal: str) -> Keeper | None:
        """Who brings back what was kept of a principal's."""
        return self.keepers.get(principal, self.keeper)

    def paused(self, now: float) -> tuple[str, Level]:
        """Whose pause is in force and up to which level it lets pass; nobody's, mostly."""
        found = self.pausing
        return (found.by, found.ceiling) if found is not None and found.at(now) else ("", Level.SAFE)

    def under(self, policy: Policy, mode: str, ruled: tuple[Ruled, ...] = ()) -> State:
        """The same service under another policy and mode, for one call; `ruled` says what made the policy another one."""
        if policy is self.policy and mode == self.mode:
            return self
        return replace(self, policy=policy, mode=mode, ruled=ruled or self.ruled)

    def within(self, strength: str) -> State:
        """The same service for a caller behind another wall, for one call."""
        return replace(self, wall=strength) if strength == JAILED else self  # the others can be seen by the principal

    def fresh(self) -> bool:
        """Whether what this process remembers is what the store says."""
        return self.memory is None or self.memory.fresh()

    def catch_up(self) -> None:
        """Asks the store where that is not so; raises StoreError."""
        if self.memory is not None and not self.memory.fresh():
            self.memory.refresh()

    def changed(self) -> None:
        """After a change of what others remember as well: which of us was last is for the store to say."""
        if self.memory is not None:
            self.memory.changed()

    def remember_block(self, block: Block) -> None:
        with self.lock:
            if block.lifted_at:
                self.blocks.pop(block.principal, None)
            else:
                self.blocks[block.principal] = block.reason
        self.stand()

    def stand(self) -> None:
        """Says who is blocked to the hooks in jails, which ask it while no daemon answers."""
        try:
            self.jails.stand(self.blocks)
        except OSError as error:
            self.trouble(f"who is blocked cannot be said to jails: {error}", "jail")

    def remember_blocks(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.remember_block(block)

    def agreement(
        self, ticket: Ticket, approvals: Iterable[Approval], asked: Requirement, now: float, session: str = ""
    ) -> str:
        """Empty when this ticket may be spent (in this session), else why not; the ticket's own columns are not believed."""
        if ticket.seal != seal_of(self, ticket) or ticket.shown_hash != shown_hash(ticket):
            return "the ticket was altered outside Interlock"
        if self.pins.has_ended(ticket.id):
            return "it was used or taken back before, and its row was altered since"
        whole = ticket.requirement.join(asked)
        if whole.cooling_seconds and not self.shared:
            wait = self.pins.cooling(ticket, whole.cooling_seconds, now)
            if wait:
                return f"it is cooling for {wait} s more"
        if whole.human is Human.NONE:
            return ""  # only time was asked for
        if self.codes.agreed(ticket.id, now) and code_suffices(whole):
            return ""
        if self.elicited.counts(ticket, asked, session, now):
            return ""  # the client's own user, unattested: enough for a confirm
        roster = self.sessions.roster
        if roster is None:
            return "nobody has unlocked this daemon since it started: an operator signs in (`interlock unlock`, or POST /api/v1/session)"
        found = agrees(ticket, approvals, now, roster.people, roster.verify, asked=asked)
        return "" if found.satisfied else found.reason

    def tell(self, event: str, about: Ticket | Challenge | None, words: str = "") -> None:
        """Tells every channel; one that fails is noted, and changes no decision."""
        for channel in self.channels:
            try:
                channel.tell(event, about, words or (about.title if isinstance(about, Ticket) else ""))
            except Exception as error:
                self.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")

    def trouble(self, words: str, kind: str = "other") -> None:
        words = redact_text(words)  # an error may quote what it could not take
        LOG.error("%s", words)
        self.troubles[kind] += 1
        self.problems[:] = [*self.problems[-49:], words]

    def words(self, judged: Judged, weighed: Weighed, held: Held, kept: Kept | None = None) -> str:
        """Two sentences for whoever asked: what would happen and why it is held, and what to do."""
        if self.policy.literal_globs and held.outcome != "allow":
            return held.reason or weighed.reason()  # the specification's own words, and nothing beside them
        return sentence(judged, weighed, held, kept)
