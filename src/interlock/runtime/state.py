"""State of a running process: store, rules, policy in force, keys of the installation, clock, blocks and sessions."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.rules import Rulebook
from interlock.approvals.confirmations import Elicitations, SessionConfirmations
from interlock.approvals.denials import StandingAnswers
from interlock.approvals.statements import TicketProof
from interlock.approvals.tickets import is_altered
from interlock.audit.chain import AuditRecorder
from interlock.canonical_json import json_table
from interlock.identity.isolation import Jails
from interlock.identity.keys.signing import CHECKPOINTS, INSTALLATION, SigningKey, checkpoint_key, installation_key
from interlock.identity.sessions import OperatorSessions
from interlock.identity.visitors import Visitors
from interlock.model import Confidential, Level
from interlock.policy.exemptions import OperatorPause
from interlock.policy.policy import Policy
from interlock.policy.registry import Registry
from interlock.ports import Channel, Clock, SnapshotTaker, Store, StoreError, Tx
from interlock.records import Block, Challenge, Ticket
from interlock.redaction import redact_text
from interlock.runtime import ActionReader, InForce
from interlock.runtime.adapters import Adapters
from interlock.runtime.declarations import Declarations
from interlock.runtime.integrity import IntegrityBaseline, ShownCodes
from interlock.runtime.plan_desk import PlanDesk
from interlock.snapshots import SnapshotUsage

if TYPE_CHECKING:
    from interlock.notify.outbox import Outbox
    from interlock.runtime.memory import Memory


LOG = logging.getLogger("interlock")


class SnapshotPlaces(Struct):
    taker: SnapshotTaker | None = None  # works as this process's user
    takers: Mapping[str, SnapshotTaker] = {}  # by principal; each as its own user
    journal: Path | None = None  # the store of journaled actions of this process's user
    machine: str = ""
    usage: SnapshotUsage = field(default_factory=SnapshotUsage)

    def owner_of(self, principal: str) -> str:
        """Empty for the folder of this process's user."""
        return principal if principal in self.takers else ""

    def taker_for(self, principal: str) -> SnapshotTaker | None:
        return self.takers.get(principal, self.taker)


class PauseInForce(Struct):
    found: OperatorPause | None = None
    order: float = 0.0  # time of the newest pause order that was followed
    roster: object = None  # that pause orders were last checked with


class State(Struct):
    """Everything that a decision depends on; built once by an interface and passed down."""

    # What it depends on, from the start to the end.
    store: Store
    reader: ActionReader
    clock: Clock
    installation: Installation
    recorder: AuditRecorder
    sessions: OperatorSessions
    # In force: frozen, and replaced as a whole (`enforce`). A decision takes it once, and carries it in `Judged`.
    in_force: InForce
    strength: str = "plain"
    channels: Sequence[Channel] = ()
    outbox: Outbox | None = None  # messages to people who are elsewhere
    shared: bool = False
    # What lives: each part has an owner that guards it.
    memory: Memory | None = None  # of a store that others change too
    baseline: IntegrityBaseline = field(default_factory=IntegrityBaseline)
    adapters: Adapters = field(default_factory=Adapters)
    confirmations: SessionConfirmations = field(default_factory=SessionConfirmations)
    codes: ShownCodes = field(default_factory=ShownCodes)
    elicitations: Elicitations = field(default_factory=Elicitations)
    snapshots: SnapshotPlaces = field(default_factory=SnapshotPlaces)
    pause: PauseInForce = field(default_factory=PauseInForce)
    visitors: Visitors = field(default_factory=Visitors)
    jails: Jails = field(default_factory=Jails)
    plans: PlanDesk = field(default_factory=PlanDesk)
    declarations: Declarations = field(default_factory=Declarations)
    standing: StandingAnswers = field(default_factory=StandingAnswers)
    # Its own memory, guarded by its lock.
    problems: list[str] = []  # the latest problems, for the operator
    troubles: Counter[str] = field(default_factory=Counter)  # problems since the start, by kind
    alerts: dict[str, str] = {}
    blocks: dict[str, str] = {}  # principal -> why
    agents_version: object = field(default_factory=object)  # replaced after every change of an agent, anywhere
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_id(self, prefix: str) -> str:
        """Cannot be guessed (CT-02, C-26)."""
        return prefix + secrets.token_urlsafe(18).replace("-", "0").replace("_", "1")

    def enforce(self, **changes: Any) -> None:
        with self.lock:
            self.in_force = replace(self.in_force, **changes)

    @property
    def rules(self) -> Rulebook:
        return self.in_force.rules

    @property
    def policy(self) -> Policy:
        return self.in_force.policy

    @property
    def mode(self) -> str:
        return self.in_force.mode

    @property
    def registry(self) -> Registry:
        return self.in_force.registry

    def blocked(self, principal: str) -> str:
        """From memory; a deleted row lifts nothing."""
        return self.blocks.get(principal, "")

    def paused(self, now: float) -> tuple[str, Level]:
        """The operator whose pause is in force, and the highest level that passes."""
        found = self.pause.found
        return (found.by, found.ceiling) if found is not None and found.at(now) else ("", Level.SAFE)

    def fresh(self) -> bool:
        return self.memory is None or self.memory.fresh()

    def catch_up(self) -> None:
        """Raises StoreError."""
        if self.memory is not None and not self.memory.fresh():
            self.memory.refresh()

    def changed(self) -> None:
        """Another process may have changed shared state later."""
        if self.memory is not None:
            self.memory.changed()

    def remember_block(self, block: Block) -> None:
        with self.lock:
            if block.lifted_at:
                self.blocks.pop(block.principal, None)
            else:
                self.blocks[block.principal] = block.reason
        self.publish_blocks()

    def publish_blocks(self) -> None:
        """For hooks in jails, which read them while no daemon answers."""
        try:
            self.jails.stand(self.blocks)
        except OSError as error:
            self.trouble(f"blocks cannot be published to jails: {error}", "jail")

    def proof_of(self, ticket: Ticket, session: str, now: float) -> TicketProof:
        ended = "it was used or revoked before, and its row was altered since"
        problem = ended if self.baseline.has_ended(ticket.id) else ""
        if is_altered(self, ticket):
            problem = "the ticket was altered outside Interlock"
        roster = self.sessions.roster
        return TicketProof(
            problem,
            self.baseline.cooling_since(ticket, now) if not self.shared else None,
            self.codes.is_agreed(ticket.id, now),
            self.elicitations.is_confirmed(ticket, session, now),
            *((roster.people, roster.verify) if roster is not None else ()),
        )

    def tell(self, event: str, about: Ticket | Challenge | None, words: str = "") -> None:
        """Notifies every channel; a failing one is reported and changes no decision."""
        for channel in self.channels:
            try:
                channel.tell(event, about, words or (about.title if isinstance(about, Ticket) else ""))
            except Exception as error:
                self.trouble(f"channel {channel.name}: {type(error).__name__}", "channel")

    def trouble(self, words: str, kind: str = "other") -> None:
        words = redact_text(words)  # an error may quote its input
        LOG.error("%s", words)
        self.troubles[kind] += 1
        self.problems[:] = [*self.problems[-49:], words]


INSTALLATION_SETTING = "installation"  # hashes of the keys that a shared database was first used with


class OtherKeys(StoreError):
    """A shared database belongs to other keys, under which no replica would find another's tickets."""


class Installation(Confidential, Struct, frozen=True):
    HIDDEN = ("digest_key", "checkpoint")

    digest_key: bytes
    checkpoint: SigningKey
    folder: Path = Path()

    @classmethod
    def open(cls, folder: Path) -> Installation:
        """The keys in a folder; creates them the first time."""
        return cls(installation_key(folder), checkpoint_key(folder), folder)

    def agree(self, tx: Tx) -> None:
        """Refuses a database with the hashes of other keys."""
        stored = tx.setting(INSTALLATION_SETTING)
        # public hashes of the keys: 32 random bytes cannot be guessed from a hash
        mark = hashlib.sha256(b"interlock installation key\0" + self.digest_key).hexdigest()[:32]
        ours = {INSTALLATION: mark, CHECKPOINTS: self.checkpoint.key_id}
        if stored is None:
            tx.save_setting(INSTALLATION_SETTING, json.dumps(ours))
            return
        known = json_table(stored)
        if wrong := [name for name, mark in ours.items() if known.get(name) != mark]:
            raise OtherKeys(
                f"it is used with other keys than {' and '.join(wrong)} in {self.folder}: copy {INSTALLATION} and {CHECKPOINTS}"
                " from the state folder of a replica that runs on it, mode 0600, and start again"
            )


class SystemClock:
    def now(self) -> float:
        return time.time()
