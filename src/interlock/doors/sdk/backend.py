"""What a gate needs from whoever decides: this process itself, or a daemon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from interlock.core.decision import Decision
from interlock.core.records import Ticket
from interlock.core.registry import Pattern
from interlock.core.undo import Undone
from interlock.doors.sdk.asking import Body

CHANNEL = "python"  # how an operator's word came in


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in operator, for minutes. The token is what counts; whoever makes up a session is nobody."""

    operator: str
    expires_at: float
    token: str = field(repr=False)


class Backend(Protocol):
    """Every call blocks, but for `awaited`; what cannot be done raises GateError, only `evaluate` denies instead."""

    @property
    def place(self) -> str:
        """Where decisions are made, for a person."""

    def evaluate(self, body: Body) -> Decision: ...

    def ticket(self, id: str) -> Ticket: ...

    def wait(self, id: str, seconds: float) -> Ticket:
        """The ticket when it is answered and has cooled, or as it stands after so many seconds."""

    async def awaited(self, id: str, seconds: float) -> Ticket:
        """The same; no thread waits."""

    def executed(self, id: str, agent: str, outcome: str) -> Ticket: ...

    def metrics(self) -> dict[str, Any]: ...

    def patterns(self) -> tuple[Pattern, ...]: ...

    def register(self, pattern: Pattern, session: Session | None) -> None: ...

    def unregister(self, id: str, session: Session | None) -> Pattern: ...

    def undo(self, id: str, force: bool) -> Undone:
        """Brings back what an action changed; an empty id means the newest."""

    def sign_in(self, name: str, passphrase: str) -> Session: ...

    def sign_out(self, session: Session) -> None: ...

    def approve(self, session: Session, id: str, reason: str) -> Ticket: ...

    def reject(self, session: Session, id: str, reason: str) -> Ticket: ...

    def after_fork(self) -> Backend:
        """What a forked child goes on with; raises GateError where it cannot."""

    def close(self) -> None: ...
