"""Protocols that the engine needs from outside: store, clock, channels, impact inspector, snapshot taker, planner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from interlock.config.channels import ChannelRoute
from interlock.model import AgentRef
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
    SealedSession,
    Snapshot,
    SnapshotQuery,
    Ticket,
    TicketQuery,
)
from interlock.records.deliveries import Delivery
from interlock.records.plans import PlanQuery, PlanRow, Workflow

if TYPE_CHECKING:
    from interlock.notify import Message
    from interlock.policy.impact import Impact
    from interlock.policy.load import ProjectFile
    from interlock.policy.real_paths import Resolve
    from interlock.snapshots import PruneResult, SnapshotLimits, TakenSnapshot, UndoPlan, UndoResult

T = TypeVar("T")


class StoreEvent(StrEnum):
    """Changes that a store announces to its listeners besides ticket ids, none of which begins with a NUL."""

    AGENTS = "\0agents"
    BLOCKS = "\0blocks"
    DENIALS = "\0denials"
    OPERATORS = "\0operators"
    PATTERNS = "\0patterns"
    SETTING = "\0setting:"  # and its key behind it


class StoreError(Exception):
    """The store is corrupt, locked, full or unreachable; the caller has to deny."""


class QueueFull(Exception):
    """The agent has as many open tickets as it may have."""


class Clock(Protocol):
    """The clock; tests replace it."""

    def now(self) -> float: ...


class Tx(Protocol):
    """One transaction: all of it is stored, or nothing."""

    # tickets
    def open_ticket(self, ticket: Ticket, most_open: int) -> Ticket:
        """Stores a new ticket, or returns the live one of the same digest and agent; raises QueueFull."""

    def ticket(self, id: str) -> Ticket | None: ...

    def live_ticket(self, digest: str, agent: AgentRef) -> Ticket | None:
        """The newest ticket of this digest and agent that is not spent, however it stands."""

    def ticket_by_token(self, token_hash: str) -> Ticket | None: ...

    def tickets(self, query: TicketQuery) -> list[Ticket]: ...

    def change_ticket(self, ticket: Ticket, before: Ticket) -> bool:
        """Compare-and-set on state and version; False after a concurrent change."""

    def add_approval(self, approval: Approval) -> None: ...

    def approvals(self, ticket: str) -> list[Approval]: ...

    # people
    def operators(self) -> list[OperatorRow]: ...

    def save_operator(self, row: OperatorRow) -> None: ...

    def credentials(self, operator: str) -> list[Credential]: ...

    def all_credentials(self) -> list[Credential]:
        """Of all operators, the removed ones included."""

    def save_credential(self, row: Credential) -> None: ...

    def use_credential(self, id: str, before: int, counter: int, at: float) -> bool:
        """Compare-and-set on the counter; False after a concurrent change."""

    def sealed_session(self, mark: str) -> SealedSession | None: ...

    def sealed_sessions(self, kind: str) -> list[SealedSession]:
        """The one that ends first comes first."""

    def save_session(self, row: SealedSession) -> None: ...

    def note_session(self, mark: str, at: float, before: float) -> None:
        """Sets when it was last seen, where that was before that time."""

    def delete_session(self, mark: str) -> bool:
        """False where another transaction came first."""

    def delete_sessions(self, owner: str) -> None: ...

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
        """An agent's history since then, the newest first."""

    def counts(self, agent: AgentRef, operation: str, execution: str, now: float, window: float = 600) -> Counts:
        """The counts for escalation; forbidden attempts are those of the last `window` seconds."""

    def denials(self, now: float, principal: str = "") -> list[Denial]:
        """The denials in force, of one principal or of all."""

    def save_denial(self, denial: Denial) -> None: ...

    def forget_denials(self, before: float) -> None:
        """Deletes those that ended before that time."""

    # grants, patterns, settings
    def grants(self, now: float) -> list[Grant]:
        """The grants in force."""

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
        """The notifications that were not delivered yet, and those that stay until they are cleared."""

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
        """Stores a new one; False where the id exists already."""

    def delivery(self, id: str) -> Delivery | None: ...

    def due_deliveries(self, channel: str, now: float, limit: int) -> list[Delivery]:
        """The deliveries that a channel has to send now, the longest due first."""

    def next_delivery(self, channel: str) -> float | None:
        """The time of a channel's next delivery."""

    def owed(self, channel: str) -> int:
        """The number of deliveries that a channel still has to send."""

    def change_delivery(self, row: Delivery, before: Delivery) -> bool:
        """Compare-and-set on the version; False after a concurrent change."""

    def deliveries(self, channel: str, limit: int) -> list[Delivery]:
        """The newest first."""

    def forget_deliveries(self, before: float) -> None:
        """Deletes those that ended before that time."""

    # snapshots
    def add_snapshot(self, row: Snapshot) -> None:
        """Stores a new one; refuses an id that exists already."""

    def snapshot(self, id: str) -> Snapshot | None: ...

    def snapshots(self, query: SnapshotQuery) -> list[Snapshot]:
        """The newest first."""

    def end_snapshot(self, row: Snapshot, before: Snapshot) -> bool:
        """Compare-and-set on the state; False after a concurrent change."""

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
        """Every agent that ever called, the latest first."""


class Store(Protocol):
    """The state of an installation. Reads and writes block; they run in a bounded pool."""

    def read(self, work: Callable[[Tx], T]) -> T:
        """Runs work that changes nothing; raises StoreError."""

    def write(self, work: Callable[[Tx], T]) -> T:
        """Runs work in one transaction and returns when it is on disk; raises StoreError, with nothing stored, when it is not."""

    def write_soon(self, work: Callable[[Tx], T]) -> T:
        """Like `write`, but a power cut can undo what was written last.

        Only for data that protects nobody, such as counts of steps.
        """

    def listen(self, changed: Callable[[str], None]) -> None:
        """Calls back with the id of a changed ticket or a StoreEvent, whichever process made the change;
        after an interruption with everything that may have been missed."""

    def hears(self) -> bool:
        """Whether the listeners got every change that was made elsewhere until a second ago."""

    def check(self) -> None:
        """Raises StoreError when the store cannot be used."""

    def close(self) -> None: ...


class Channel(Protocol):
    """A way to notify a person; it carries links and titles, never codes or secrets."""

    name: str

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None: ...


@runtime_checkable
class CodeChannel(Channel, Protocol):
    """A channel that may show codes, because only the person at this machine sees it."""

    def show(self, challenge: Challenge, code: str, words: str, seconds: float) -> None:
        """Shows a code for `seconds`; returns at once."""

    def hide(self, challenge: str) -> None:
        """Removes a code that is no longer valid."""


class Undelivered(Exception):
    """A message was not delivered; the words give the reason, without an address. `hopeless`: another try cannot succeed."""

    def __init__(self, words: str, hopeless: bool = False) -> None:
        self.hopeless = hopeless
        super().__init__(words)


class Carrier(Protocol):
    """Delivers messages over the network; it may block for seconds, so only a thread of its own calls it."""

    def send(self, message: Message) -> None:
        """Returns when the message was accepted; raises Undelivered."""


class OpenChannel(Struct, frozen=True):
    """A configured channel with its carrier; without one, `problem` gives the reason."""

    way: ChannelRoute
    carrier: Carrier | None = None
    address: str = ""  # without secrets
    problem: str = ""


class Access(Struct, frozen=True):
    """The files of a request's user, as far as they can be read, inspected and copied here with that user's rights."""

    read: Callable[[str], str | None] | None = None  # the text of a script
    project: Callable[[str], Sequence[ProjectFile]] | None = None  # the project files that count in a folder
    inspect: Callable[[Mapping[str, Any]], Impact] | None = None
    snapshot: Callable[[Mapping[str, Any], str, float, SnapshotLimits], TakenSnapshot] | None = None
    resolve: Resolve | None = None  # symbolic links


NO_ACCESS = Access()


class SnapshotTaker(Protocol):
    """Takes and restores snapshots with the rights of the agent's user; a failure is a result with a problem."""

    def take(self, question: Mapping[str, Any], id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot: ...

    def plan(self, id: str, digest: str = "", diff: bool = False) -> UndoPlan:
        """The changes that an undo would make; refuses a snapshot with another digest."""

    def undo(self, id: str, as_id: str, at: float, digest: str = "", force: bool = False) -> UndoResult:
        """Restores a snapshot, after taking one of the present state as `as_id`."""

    def settle(self, id: str) -> bool:
        """Records that the action ran, so that the present state is its result."""

    def prune(self, now: float, days: float, total_bytes: int) -> PruneResult: ...

    def close(self) -> None: ...


class PlannerError(Exception):
    """The planner does not answer, or its reply is unusable; the words are for a person."""


class PlannerTimeout(PlannerError):
    """The planner did not answer in time."""


class UnknownRequest(PlannerError):
    """The planner works, but has no plan for this request."""


UNKNOWN_USER = -1


class PortListener(Struct, frozen=True):
    """The user whose program listens on a port of this machine, where the kernel reports it."""

    uid: int
    user: str


class PlannerReply(Struct, frozen=True):
    """The reply of a planner, and its name; nothing of the reply is trusted."""

    said: Mapping[str, Any]
    planner: str
    notice: str = ""  # for the reader of the plan


class Planner(Protocol):
    """Turns a request in prose into a plan (seed 004); its reply is untrusted, and it runs nothing."""

    def plan(self, intent: str, context: Mapping[str, Any]) -> PlannerReply:
        """The planner's reply; raises PlannerError."""
