"""Protocols that the engine needs from outside: store, clock, channels, impact inspector, snapshot taker, planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from interlock.config.channels import ChannelRoute
from interlock.records import Challenge, Ticket

if TYPE_CHECKING:
    from interlock.notify import Message
    from interlock.policy.impact import Impact
    from interlock.policy.load import ProjectFile
    from interlock.policy.real_paths import Resolve
    from interlock.snapshots import SnapshotLimits, TakenSnapshot
    from interlock.snapshots.client import SnapshotClient
    from interlock.storage.group_commit import WritingStore
    from interlock.storage.sql import SqlTx

T = TypeVar("T")


class StoreEvent(StrEnum):
    """Changes that a store announces besides ticket ids, none of which begins with a NUL."""

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
    def now(self) -> float: ...


# The state of an installation, whose reads and writes block, and the queries of a transaction; `storage` has both.
Store: TypeAlias = "WritingStore"
Tx: TypeAlias = "SqlTx"


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
    """Why a message was not delivered, without an address. `hopeless`: another try cannot succeed."""

    def __init__(self, words: str, hopeless: bool = False) -> None:
        self.hopeless = hopeless
        super().__init__(words)


class Carrier(Protocol):
    """Delivers messages over the network; it may block for seconds, so only a thread of its own calls it."""

    def send(self, message: Message) -> None:
        """Returns when the message was accepted; raises Undelivered."""


class OpenChannel(Struct, frozen=True):
    """Without a carrier, `problem` gives the reason."""

    way: ChannelRoute
    carrier: Carrier | None = None
    address: str = ""  # without secrets
    problem: str = ""


class Access(Struct, frozen=True):
    """The files of a request's user, as far as they can be read, inspected and copied with that user's rights."""

    read: Callable[[str], str | None] | None = None  # the text of a script
    project: Callable[[str], Sequence[ProjectFile]] | None = None  # the project files that count in a folder
    inspect: Callable[[Mapping[str, Any]], Impact] | None = None
    snapshot: Callable[[Mapping[str, Any], str, float, SnapshotLimits], TakenSnapshot] | None = None
    resolve: Resolve | None = None  # symbolic links


NO_ACCESS = Access()


# Takes and restores snapshots with the rights of the agent's user; a failure is a result with a problem.
SnapshotTaker: TypeAlias = "SnapshotClient"


class PlannerError(Exception):
    """The planner does not answer, or its reply is unusable; the words are for a person."""


class PlannerTimeout(PlannerError):
    """The planner did not answer in time."""


class UnknownRequest(PlannerError):
    """The planner works, but has no plan for this request."""


UNKNOWN_USER = -1


class PortListener(Struct, frozen=True):
    """Whose program it is, where the kernel reports it."""

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
        """Raises PlannerError."""
