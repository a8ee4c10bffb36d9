"""Decisions at a daemon: over its socket, or at its address with a token. Nothing is kept between calls, so threads and forks are fine."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.decision import Decision
from interlock.core.records import Ticket
from interlock.core.registry import Pattern, PatternError
from interlock.core.undo import Undone
from interlock.doors.client import ApiError, Daemon, NoDaemon, part, refusal
from interlock.doors.sdk.asking import Body
from interlock.doors.sdk.backend import CHANNEL, Session
from interlock.doors.sdk.errors import GateError, told
from interlock.doors.sdk.longpoll import asked
from interlock.doors.sdk.reading import Unreadable, decision_of, lost, moment, ticket_of, undone_of
from interlock.doors.sdk.waiting import Nap, Poll, polls

PATIENCE = 30.0  # seconds beside those that a poll takes
LONG = 120.0  # for what brings files back
NEWEST = "newest"  # instead of a snapshot's id


@dataclass(frozen=True, slots=True)
class Remote:
    """A client of one daemon."""

    daemon: Daemon

    @property
    def place(self) -> str:
        return self.daemon.place

    def evaluate(self, body: Body) -> Decision:
        """What the daemon decides; one that does not answer has allowed nothing."""
        try:
            decision = decision_of(self.daemon.ask("POST", "/evaluate", body))
        except NoDaemon as error:
            return lost(str(error))
        if decision.ticket is None:
            return decision
        try:  # the answer says little of its ticket
            whole = ticket_of(self.daemon.get(_path(decision.ticket.id)))
        except (NoDaemon, ApiError, Unreadable):
            return decision
        return replace(decision, ticket=whole)

    def ticket(self, id: str) -> Ticket:
        with told():
            return ticket_of(self.daemon.get(_path(id)))

    def wait(self, id: str, seconds: float) -> Ticket:
        steps, said, silence = polls(seconds), None, NoDaemon("")
        while True:
            try:
                step = steps.send(said)
            except StopIteration as end:
                return _heard(end.value, silence)
            said = None
            if isinstance(step, Nap):
                time.sleep(step.seconds)
                continue
            try:
                with told():
                    said = ticket_of(self.daemon.get(_wait(id, step), step.seconds + PATIENCE))
            except GateError as error:
                if not isinstance(error.__cause__, NoDaemon):
                    raise
                silence = error.__cause__

    async def awaited(self, id: str, seconds: float) -> Ticket:
        import asyncio

        steps, said, silence = polls(seconds), None, NoDaemon("")
        while True:
            try:
                step = steps.send(said)
            except StopIteration as end:
                return _heard(end.value, silence)
            said = None
            if isinstance(step, Nap):
                await asyncio.sleep(step.seconds)
                continue
            try:
                said = await self._poll(id, step)
            except NoDaemon as error:
                silence = error

    async def _poll(self, id: str, step: Poll) -> Ticket:
        answer = await asked(self.daemon, _wait(id, step), step.seconds + PATIENCE)
        with told():
            if answer.status != 200:
                raise refusal(answer)
            return ticket_of(answer.body)

    def executed(self, id: str, agent: str, outcome: str) -> Ticket:
        with told():
            return ticket_of(self.daemon.post(f"{_path(id)}/executed", {"outcome": outcome, "agent": agent}))

    def metrics(self) -> dict[str, Any]:
        with told():
            return dict(self.daemon.get("/metrics"))

    def patterns(self) -> tuple[Pattern, ...]:
        with told():
            listed = self.daemon.get("/patterns")
        try:
            return tuple(Pattern.of(wire) for wire in listed["patterns"])
        except (PatternError, KeyError, TypeError) as error:
            raise GateError(f"the daemon's patterns cannot be read: {error}") from error

    def register(self, pattern: Pattern, session: Session | None) -> None:
        with told():
            self._signed(session, "changing the daemon's registry").post("/patterns", pattern.wire)

    def unregister(self, id: str, session: Session | None) -> Pattern:
        with told():
            operator = self._signed(session, "changing the daemon's registry")
            return Pattern.of(operator.call("DELETE", f"/patterns/{part(id)}"))

    def undo(self, id: str, force: bool) -> Undone:
        with told():
            path = f"/undo/{part(id or NEWEST)}"
            return undone_of(self.daemon.call("POST", path, {"force": force}, LONG))

    def sign_in(self, name: str, passphrase: str) -> Session:
        """With the agent's own token out of it: an agent signs nobody in."""
        with told():
            body = {"operator": name, "passphrase": passphrase, "channel": CHANNEL}
            made = self.daemon.on_behalf("").post("/session", body)
            return Session(str(made["operator"]), moment(made["expiresAt"]), str(made["token"]))

    def sign_out(self, session: Session) -> None:
        with told():
            self._signed(session, "signing out").call("DELETE", "/session")

    def approve(self, session: Session, id: str, reason: str) -> Ticket:
        with told():
            return ticket_of(self._signed(session, "an approval").post(f"{_path(id)}/approve", {"reason": reason}))

    def reject(self, session: Session, id: str, reason: str) -> Ticket:
        with told():
            return ticket_of(self._signed(session, "a rejection").post(f"{_path(id)}/reject", {"reason": reason}))

    def after_fork(self) -> Remote:
        return self

    def close(self) -> None:
        return None

    def _signed(self, session: Session | None, deed: str) -> Daemon:
        if not isinstance(session, Session):
            words = f"{deed} takes an operator's session; sign in with gate.sign_in(name, passphrase)"
            raise GateError(words, "PERMISSION_DENIED")
        return self.daemon.on_behalf(session.token)


def _path(id: str) -> str:
    return f"/tickets/{part(id)}"


def _wait(id: str, step: Poll) -> str:
    return f"{_path(id)}/wait?seconds={step.seconds}"


def _heard(ticket: Ticket | None, silence: NoDaemon) -> Ticket:
    if ticket is None:
        raise GateError(f"the state cannot be known: {silence}", "INTERNAL_ERROR")
    return ticket
