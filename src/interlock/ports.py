"""Protocols that the engine needs from outside: store, clock, channels, impact inspector, snapshot taker, planner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from interlock.config.channels import ChannelRoute
from interlock.model import Action, AgentRef, Loss
from interlock.records import (
    AgentRow,
    AgentTotals,
    Approval,
    AuditQuery,
    AuditRow,
    Block,
    Challenge,
    Checkpoint,
    Counts,
    Credential,
    Denial,
    Execution,
    Figures,
    Grant,
    HistoryEntry,
    Notification,
    OperatorRow,
    Snapshot,
    SnapshotQuery,
    Ticket,
    TicketQuery,
)
from interlock.records.deliveries import Delivery
from interlock.records.plans import PlanQuery, PlanRow, Workflow

if TYPE_CHECKING:
    from interlock.notify import Message
    from interlock.snapshots import PruneResult, SnapshotLimits, TakenSnapshot, UndoPlan, UndoResult

T = TypeVar("T")


class StoreEvent(StrEnum):
    """What a listener of a store hears beside tickets' ids, none of which begins with a NUL."""

    AGENTS = "\0agents"
    BLOCKS = "\0blocks"
    DENIALS = "\0denials"
    OPERATORS = "\0operators"
    PATTERNS = "\0patterns"
    SETTING = "\0setting:"  # and its key behind it


class StoreError(Exception):
    """The store cannot answer: corrupt, locked, full or unreachable. Whoever asked has to deny."""


class QueueFull(Exception):
    """The agent has as many open tickets as it may have."""


class Clock(Protocol):
    """The time; only tests have another one."""

    def now(self) -> float: ...


class Tx(Protocol):
    """One transaction: everything in it is kept, or nothing."""

    # tickets
    def open_ticket(self, ticket: Ticket, most_open: int) -> Ticket:
        """Keeps a new ticket, or returns the live one of the same digest and agent; raises QueueFull."""

    def ticket(self, id: str) -> Ticket | None: ...

    def live_ticket(self, digest: str, agent: AgentRef) -> Ticket | None:
        """The newest ticket of this digest and agent that is not spent, however it stands."""

    def ticket_by_token(self, token_hash: str) -> Ticket | None: ...

    def tickets(self, query: TicketQuery) -> list[Ticket]: ...

    def change_ticket(self, ticket: Ticket, before: Ticket) -> bool:
        """Compare-and-set on state and version; False when somebody was faster."""

    def add_approval(self, approval: Approval) -> None: ...

    def approvals(self, ticket: str) -> list[Approval]: ...

    # people
    def operators(self) -> list[OperatorRow]: ...

    def save_operator(self, row: OperatorRow) -> None: ...

    def credentials(self, operator: str) -> list[Credential]: ...

    def all_credentials(self) -> list[Credential]:
        """Of everybody, the removed ones too."""

    def save_credential(self, row: Credential) -> None: ...

    def use_credential(self, id: str, before: int, counter: int, at: float) -> bool:
        """Compare-and-set on the counter; False when somebody was faster."""

    # agents
    def agent(self, principal: str, name: str) -> AgentRow | None: ...

    def agents(self) -> list[AgentRow]: ...

    def agent_by_token(self, token_hash: str) -> AgentRow | None: ...

    def save_agent(self, row: AgentRow) -> None: ...

    def block(self, principal: str) -> Block | None:
        """The block that is in force."""

    def blocks(self) -> list[Block]: ...

    def save_block(self, block: Block) -> None: ...

    def add_deeds(self, deeds: Iterable[HistoryEntry]) -> None: ...

    def deeds(self, principal: str, name: str, since: float, most: int) -> list[HistoryEntry]:
        """What an agent did since then, the newest first."""

    def counts(self, agent: AgentRef, operation: str, execution: str, now: float, window: float = 600) -> Counts:
        """What escalation looks at; forbidden attempts are those of the last `window` seconds."""

    def denials(self, now: float, principal: str = "") -> list[Denial]:
        """What is held or was rejected and still binds, of one principal or of all."""

    def save_denial(self, denial: Denial) -> None: ...

    def forget_denials(self, before: float) -> None:
        """Lets go of what ended before that."""

    # grants, patterns, settings
    def grants(self, now: float) -> list[Grant]:
        """The grants that still count."""

    def grant(self, id: str) -> Grant | None: ...

    def save_grant(self, grant: Grant) -> None: ...

    def use_grant(self, id: str, now: float) -> bool:
        """Takes one use; False when there is none left."""

    def patterns(self) -> list[Mapping[str, Any]]: ...

    def save_pattern(self, pattern: Mapping[str, Any]) -> None: ...

    def delete_pattern(self, id: str) -> bool: ...

    def setting(self, key: str) -> str | None: ...

    def save_setting(self, key: str, value: str) -> None: ...

    # the loop
    def challenge(self, id: str) -> Challenge | None: ...

    def challenges(self, principal: str = "", state: str = "open", since: float = 0.0) -> list[Challenge]:
        """The oldest first; an empty word means any."""

    def save_challenge(self, challenge: Challenge) -> None: ...

    def execution(self, id: str) -> Execution | None: ...

    def executions(self, agent: AgentRef | None = None, status: str = "", most: int = 0) -> list[Execution]:
        """The newest first; so many of them, or all."""

    def save_execution(self, execution: Execution, before: Execution | None) -> bool:
        """Compare-and-set on the version; `before` is None for a new one."""

    def add_notification(self, note: Notification) -> int: ...

    def notifications(self, agent: AgentRef, now: float) -> list[Notification]:
        """What the agent was not told yet, and what stays until it is cleared."""

    def change_notification(self, note: Notification) -> None: ...

    # plans
    def plan(self, id: str) -> PlanRow | None: ...

    def plans(self, query: PlanQuery) -> list[PlanRow]: ...

    def save_plan(self, row: PlanRow) -> None: ...

    def workflow(self, id: str) -> Workflow | None: ...

    def workflows(self) -> list[Workflow]: ...

    def save_workflow(self, row: Workflow) -> None: ...

    # messages
    def add_delivery(self, row: Delivery) -> bool:
        """Keeps a new one; False where there is one of this id already."""

    def delivery(self, id: str) -> Delivery | None: ...

    def due_deliveries(self, channel: str, now: float, limit: int) -> list[Delivery]:
        """What a channel has to tell now, the longest due first."""

    def next_delivery(self, channel: str) -> float | None:
        """When a channel has something to tell next."""

    def owed(self, channel: str) -> int:
        """How many things a channel has still to tell."""

    def change_delivery(self, row: Delivery, before: Delivery) -> bool:
        """Compare-and-set on the version; False when somebody was faster."""

    def deliveries(self, channel: str, limit: int) -> list[Delivery]:
        """The newest first."""

    def forget_deliveries(self, before: float) -> None:
        """Lets go of what ended before that."""

    # snapshots
    def add_snapshot(self, row: Snapshot) -> None:
        """Keeps a new one; refuses an id that is there already."""

    def snapshot(self, id: str) -> Snapshot | None: ...

    def snapshots(self, query: SnapshotQuery) -> list[Snapshot]:
        """The newest first."""

    def end_snapshot(self, row: Snapshot, before: Snapshot) -> bool:
        """Compare-and-set on the state; False when somebody was faster."""

    # the record
    def audit_head(self, writer: str) -> AuditRow | None: ...

    def append_audit(self, rows: Iterable[AuditRow]) -> None:
        """Adds to a writer's chain; refuses a record that does not continue it."""

    def audit(self, query: AuditQuery) -> list[AuditRow]: ...

    def audit_writers(self) -> list[str]: ...

    def prune_audit(self, writer: str, before_seq: int) -> int: ...

    def checkpoints(self) -> list[Checkpoint]: ...

    def add_checkpoint(self, checkpoint: Checkpoint) -> int: ...

    def figures(self) -> Figures: ...

    def agent_totals(self) -> list[AgentTotals]:
        """Every agent that ever asked, whoever did last first."""


class Store(Protocol):
    """Where state is kept. Both calls block; they run in a bounded pool."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Runs work that changes nothing; raises StoreError."""

    def write(self, work: Callable[[Tx], T]) -> T:
        """Runs work in one transaction and returns when it is on disk; raises StoreError and keeps nothing when it is not."""

    def write_soon(self, work: Callable[[Tx], T]) -> T:
        """The same, and returns when nothing but a power cut can undo it, which undoes at most what was written last.

        For what nobody is protected by, such as how many steps of everyday work were done.
        """

    def listen(self, changed: Callable[[str], None]) -> None:
        """Calls back with a ticket's id when it changed, and with a Change when that did, whichever process changed it;
        after an interruption with everything that may have been missed."""

    def hears(self) -> bool:
        """Whether every change that others had made a second ago has been told to the listeners."""

    def check(self) -> None:
        """Raises StoreError when the store cannot be used."""

    def close(self) -> None: ...


class Channel(Protocol):
    """A way to a human. It carries links and titles, never codes or secrets unless it is one that may show them."""

    name: str

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None: ...


@runtime_checkable
class CodeChannel(Channel, Protocol):
    """A channel that may show codes: only the person in front of this machine sees it."""

    def show(self, challenge: Challenge, code: str, words: str, seconds: float) -> None:
        """Shows a code for so long; returns at once."""

    def hide(self, challenge: str) -> None:
        """Takes it away: the code counts no more."""


class Undelivered(Exception):
    """A message did not get to people; the words say why, and hold no address. Some are not worth another try."""

    def __init__(self, words: str, hopeless: bool = False) -> None:
        self.hopeless = hopeless
        super().__init__(words)


class Carrier(Protocol):
    """Takes messages to people who are elsewhere. It may block for seconds: only a thread of its own calls it."""

    def send(self, message: Message) -> None:
        """Returns when it was taken over; raises Undelivered."""


@dataclass(frozen=True, slots=True)
class OpenChannel:
    """A way to people with its carrier; without one, the problem says why."""

    way: ChannelRoute
    carrier: Carrier | None = None
    address: str = ""  # as it may be shown
    problem: str = ""


class ImpactInspector(Protocol):
    """Looks at the real world, as the agent's user, without running anything."""

    def script(self, path: str) -> str | None:
        """The text of a script that an action would run."""

    def loss(self, action: Action) -> tuple[Loss, str]:
        """What would really be gone, and that in words."""


class SnapshotTaker(Protocol):
    """Keeps what actions would change, and brings it back, as the agent's user; what fails is an answer with a problem."""

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot: ...

    def plan(self, id: str, digest: str = "", diff: bool = False) -> UndoPlan:
        """What an undo would change; refuses a snapshot with another digest."""

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> UndoResult:
        """Brings it back, after keeping what is there now as `as_id`."""

    def settle(self, id: str) -> bool:
        """The action ran: what is there now is its doing."""

    def prune(self, now: float, days: float, total_bytes: int) -> PruneResult: ...

    def close(self) -> None: ...


class PlannerError(Exception):
    """There is no plan: the planner does not answer, or says nothing that can be used. The words are for a person."""


class PlannerTimeout(PlannerError):
    """It did not answer in time."""


class UnknownRequest(PlannerError):
    """The planner works, and knows nothing for this request."""


UNKNOWN_USER = -1


@dataclass(frozen=True, slots=True)
class PortListener:
    """Whoever listens on a port of this machine: the user that the program runs as, where the kernel says."""

    uid: int
    user: str


@dataclass(frozen=True, slots=True)
class PlannerReply:
    """What a planner said, and which one it was; nothing of `said` is believed."""

    said: Mapping[str, Any]
    planner: str
    notice: str = ""  # what whoever reads the plan has to know


class Planner(Protocol):
    """Turns plain words into a plan (seed 004). What it says is a stranger's, and it runs nothing."""

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        """The plan as the planner says it; raises PlannerError."""
