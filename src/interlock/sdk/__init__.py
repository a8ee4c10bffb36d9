"""The Python interface (`from interlock import Gate`): its exceptions, and what its two backends share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from interlock.client import ApiError, NoDaemon
from interlock.error_codes import AnswerRefused
from interlock.identity.sessions import SignInRefused, TooManySignIns
from interlock.model import Confidential, Decision, TicketState
from interlock.ports import StoreError
from interlock.records import Ticket
from interlock.sdk.replies import UnreadableReply
from interlock.web.concurrency import seconds_until_due

CHANNEL = "python"  # through which an operator answers
NAP = 1.0  # seconds


class GateError(Exception):
    """The gate cannot do this; the message is for a person, `code` is from the error registry where one applies."""

    def __init__(self, words: str, code: str = "") -> None:
        self.code = code
        super().__init__(words)


class NotAllowed(Exception):
    """An action that must not run, at least not now; `decision` says why and what to do."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        super().__init__(decision.reason)

    @property
    def reason(self) -> str:
        return self.decision.reason

    @property
    def ticket(self) -> Ticket | None:
        """The ticket that a person can answer; None where nobody can."""
        return self.decision.ticket

    @property
    def instead(self) -> tuple[str, ...]:
        """The safer alternatives."""
        return self.decision.instead

    @property
    def wait_seconds(self) -> int:
        """The seconds of cooling-off before the action can be requested again."""
        return math.ceil(self.decision.wait_seconds)


class Held(NotAllowed):
    """Time or a human can still allow it: `gate.wait(held.decision)`, then ask again."""


class Denied(NotAllowed):
    """It was refused, or nothing could be decided."""


def require_allowed(decision: Decision) -> Decision:
    """Returns a decision that allows; raises Held or Denied for any other."""
    if decision.allowed:
        return decision
    raise Held(decision) if decision.held else Denied(decision)


@contextmanager
def raise_gate_errors() -> Iterator[None]:
    """Converts the errors of the engine, the store and the daemon into GateError."""
    try:
        yield
    except (AnswerRefused, ApiError) as error:
        raise GateError(str(error), error.code) from error
    except SignInRefused as error:
        code = "RATE_LIMIT_EXCEEDED" if isinstance(error, TooManySignIns) else "PERMISSION_DENIED"
        raise GateError(str(error), code) from error
    except (StoreError, NoDaemon, UnreadableReply) as error:
        raise GateError(f"the state cannot be known: {error}", "INTERNAL_ERROR") from error


class SignedInSession(Confidential, Struct, frozen=True):
    """An operator, for some minutes. Only the token counts; an invented session is refused."""

    HIDDEN = ("token",)

    operator: str
    expires_at: float
    token: str


def is_answered(ticket: Ticket, now: float) -> bool:
    return not ticket.open and not (ticket.state is TicketState.APPROVED and ticket.cooling_ends_at > now)


def seconds_until_change(ticket: Ticket, now: float) -> float:
    return min(30.0, seconds_until_due(ticket, now))
