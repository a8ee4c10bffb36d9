"""★ Decides in this process, without a daemon: opens the state folder, holds its lock and writes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec.structs import replace

import interlock
from interlock.approvals import answers, settle
from interlock.approvals.grants import add_pattern, remove_pattern
from interlock.config import Config
from interlock.engine import undoing
from interlock.engine.evaluate import evaluate
from interlock.identity import home_for, operators
from interlock.identity.agents import change_agent
from interlock.identity.keys.signing import KeyFileError
from interlock.identity.sessions import OperatorSession
from interlock.impact.files import find_project_files, read_text, real_paths
from interlock.impact.warm_child import WarmInspector
from interlock.maintenance import Maintenance, sign_record
from interlock.model import AgentRef, Decision
from interlock.policy.registry import Pattern, PatternError, Registry
from interlock.ports import Access, Clock, StoreError
from interlock.records import Challenge, Ticket
from interlock.runtime.state import State, SystemClock
from interlock.sdk import CHANNEL, GateError, SignedInSession, is_answered, raise_gate_errors, seconds_until_change
from interlock.sdk.request import Body
from interlock.snapshots import UndoResult
from interlock.snapshots.client import WarmSnapshotter
from interlock.startup import open_state, open_store, record_start
from interlock.web.callers import ApiCaller
from interlock.web.errors import HttpProblem
from interlock.web.evaluate_body import request_of
from interlock.web.json_body import parse_json
from interlock.web.wire import figures_json

LOG = logging.getLogger("interlock")
INTERFACE = "python"
_APPROVE = re.compile(r"interlock approve pdact_\w+")  # commands for a daemon, and there is none
_UNDO = re.compile(r"`?interlock undo (u_\w+)`?")


def open_in_process(
    config: Config, registry: Registry | None = None, clock: Clock | None = None, silence: str = ""
) -> InProcessBackend:
    """Raises GateError where another process holds the folder. `silence` is why no daemon was asked."""
    try:
        store = open_store(config.store)
    except (StoreError, OSError) as error:
        words = f"nothing can be decided: {error}"
        if f"in use by process {os.getpid()}" in str(error):
            words += ", which is this one; share one Gate (`gate.for_agent(name)`)"
        elif silence and "in use" in str(error):
            words += f", and {silence}"
        raise GateError(words, "INTERNAL_ERROR") from error
    try:
        state = open_state(config, store, clock or SystemClock(), (LogChannel(),))
        if registry is not None:
            _add_saved(registry, state)
            state.enforce(registry=registry)
        record_start(state, interlock.__version__)
        return InProcessBackend(config, state)
    except BaseException as error:
        store.close()
        if isinstance(error, StoreError | KeyFileError | OSError):
            raise GateError(f"the state cannot be known: {error}", "INTERNAL_ERROR") from error
        raise


def _add_saved(registry: Registry, state: State) -> None:
    """The patterns that operators saved in this folder, to the program's own."""
    known = {pattern.id for pattern in registry}
    for wire in state.store.read(lambda tx: tx.patterns()):
        with suppress(PatternError):  # one that cannot be read was warned of when the state was opened
            if (pattern := Pattern.of(wire)).id not in known:
                registry.register(pattern)


class LogChannel:
    """A program may have better ways to reach people."""

    name = "log"

    def tell(self, event: str, about: Ticket | Challenge | None, words: str) -> None:
        LOG.warning("%s%s: %s", event, f" {about.id}" if about else "", words)


class InProcessBackend:
    def __init__(self, config: Config, state: State) -> None:
        self.config, self.state = config, state
        self._process, self._closed = os.getpid(), False
        self._who = ApiCaller(f"uid:{os.getuid()}", here=True)
        self._own: set[str] = set()  # patterns that this program registered by itself
        self._waiting: list[tuple[str, Callable[[], None]]] = []  # for tickets
        self._inspector = WarmInspector() if config.impact.inspect else None  # starts with the first inspection
        self._snapshotter = WarmSnapshotter(config.snapshots, config.folder)  # starts with the first snapshot
        state.snapshots.taker = self._snapshotter
        self._upkeep = Maintenance(state, config.audit)
        state.store.listen(self._wake)
        self._upkeep.start()

    @property
    def place(self) -> str:
        return str(self.config.folder)

    def evaluate(self, body: Body) -> Decision:
        """Decides after the same checks as the daemon's API, so that both decide alike."""
        data, isolation = json.dumps(body).encode(), self.state.strength
        try:
            if len(data) > (most := self.config.limits.body_bytes):
                raise HttpProblem("VALIDATION_PAYLOAD_TOO_LARGE", f"the action is larger than {most} bytes")
            request = request_of(parse_json(data), self._who)
        except HttpProblem as problem:
            words = f"Denied: {problem.words}."
            return Decision("deny", words, code=problem.code, strength=isolation, details=problem.details)
        action = replace(request.action, home=home_for(self._who.principal, os.environ.get("HOME", "")))
        access = Access(read_text, find_project_files, self._inspector, self._snapshotter.take, real_paths)
        decision = evaluate(self.state, replace(request, action=action, door=INTERFACE, access=access))
        id = decision.ticket.id if decision.ticket else ""
        approve = _APPROVE.sub(f"gate.approve('{id}', session)", decision.reason)  # calls, which take whole ids
        return replace(decision, reason=_UNDO.sub(r"gate.undo('\1')", approve))

    def ticket(self, id: str) -> Ticket:
        with raise_gate_errors():
            found = self.state.store.read(lambda tx: tx.ticket(id))
        if found is None or found.agent.principal != self._who.principal:
            raise GateError(f"no ticket {id!r:.80}", "NOT_FOUND_RESOURCE")
        return settle(found, self.state.clock.now())

    def wait(self, id: str, seconds: float) -> Ticket:
        end, event = time.monotonic() + seconds, threading.Event()
        with self._woken(id, event.set):
            while True:
                event.clear()
                ticket, rest = self._poll(id, end)
                if rest <= 0:
                    return ticket
                event.wait(rest)

    async def wait_async(self, id: str, seconds: float) -> Ticket:
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        end = time.monotonic() + seconds

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended, and nobody waits on it
                loop.call_soon_threadsafe(event.set)

        with self._woken(id, wake):
            while True:
                event.clear()
                ticket, rest = await asyncio.to_thread(self._poll, id, end)
                if rest <= 0:
                    return ticket
                with suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), rest)

    @contextmanager
    def _woken(self, id: str, wake: Callable[[], None]) -> Iterator[None]:
        self._waiting.append((id, wake))
        try:
            yield
        finally:
            self._waiting.remove((id, wake))

    def _wake(self, changed: str) -> None:
        for id, wake in tuple(self._waiting):
            if id == changed:
                wake()

    def _poll(self, id: str, end: float) -> tuple[Ticket, float]:
        """And the seconds to wait for the next change; 0 when waiting is over."""
        if self._closed:
            raise GateError("the gate was closed")
        ticket, now = self.ticket(id), self.state.clock.now()
        left = 0.0 if is_answered(ticket, now) else end - time.monotonic()
        return ticket, min(left, seconds_until_change(ticket, now))

    @raise_gate_errors()
    def executed(self, id: str, agent: str, outcome: str) -> Ticket:
        return answers.report_execution(self.state, AgentRef(self._who.principal, agent), id, outcome)

    @raise_gate_errors()
    def metrics(self) -> dict[str, Any]:
        self.state.recorder.flush()
        return figures_json(self.state.store.read(lambda tx: tx.figures()))

    def patterns(self) -> tuple[Pattern, ...]:
        return self.state.registry.list()

    @raise_gate_errors()
    def register(self, pattern: Pattern, session: SignedInSession | None) -> None:
        """For this program while it runs; with a session it is saved, and counts for everybody."""
        if session is not None:
            add_pattern(self.state, self._operator(session), pattern.wire)
            return
        try:
            self.state.registry.register(pattern)
        except PatternError as error:
            raise GateError(str(error), "VALIDATION_INVALID_VALUE") from None
        try:
            self._record_pattern(registered=pattern.wire)
        except BaseException:
            self.state.registry.unregister(pattern.id)
            raise
        self._own.add(pattern.id)

    @raise_gate_errors()
    def unregister(self, id: str, session: SignedInSession | None) -> Pattern:
        """One that this program did not register takes an admin's session."""
        if session is not None:
            gone = remove_pattern(self.state, self._operator(session), id)
            self._own.discard(id)
            return gone
        if id not in {pattern.id for pattern in self.state.registry}:
            raise GateError(f"no pattern {id!r:.100}", "NOT_FOUND_RESOURCE")
        if id not in self._own:
            words = f"pattern {id!r} was not registered by this program: taking it out needs session="
            raise GateError(words, "PERMISSION_DENIED")
        self._record_pattern(unregistered=id)
        self._own.discard(id)
        return self.state.registry.unregister(id)

    @raise_gate_errors()
    def undo(self, id: str, force: bool) -> UndoResult:
        """As this process's user: a snapshot of its own, or of a daemon in the same folder."""
        return undoing.undo(self.state, self._who.principal, id, force, self._who.principal).undone

    @raise_gate_errors()
    def sign_in(self, name: str, passphrase: str) -> SignedInSession:
        token, session = operators.sign_in(self.state, name, passphrase, CHANNEL, self._who.principal)
        return SignedInSession(session.operator, session.expires_at, token)

    def sign_out(self, session: SignedInSession) -> None:
        self.state.sessions.sign_out(session.token)

    @raise_gate_errors()
    def approve(self, session: SignedInSession, id: str, reason: str) -> Ticket:
        return answers.approve(self.state, self._operator(session), id, reason)

    @raise_gate_errors()
    def reject(self, session: SignedInSession, id: str, reason: str) -> Ticket:
        return answers.reject(self.state, self._operator(session), id, reason)

    @raise_gate_errors()
    def trust(self, session: SignedInSession, agent: str, tier: str) -> None:
        """R-14: takes an admin's session."""
        change_agent(self.state, self._operator(session), self._who.principal, agent, tier)

    def after_fork(self) -> InProcessBackend:
        """The child can open the folder once its parent has closed it; its patterns come along."""
        try:
            made = open_in_process(self.config, self.state.registry, self.state.clock)
        except GateError as error:
            words = f"this gate belongs to process {self._process}, which forked: {error}; a daemon serves any number"
            raise GateError(words, error.code) from error
        made._own = self._own
        return made

    def close(self) -> None:
        """Writes what is left, signs the record and releases the folder; nothing in a forked child."""
        if self._closed or os.getpid() != self._process:
            return
        self._closed = True
        for _, wake in tuple(self._waiting):
            wake()
        self._upkeep.stop()
        self._snapshotter.close()
        if self._inspector is not None:
            self._inspector.close()
        try:
            self.state.recorder.event_alone("stop", "interlock", {})
            sign_record(self.state)
        except StoreError as error:
            LOG.error("at the end: %s", error)
        self.state.store.close()

    def _operator(self, session: SignedInSession) -> OperatorSession:
        token = session.token if isinstance(session, SignedInSession) else ""
        found = self.state.sessions.session(token, self.state.clock.now())
        if found is None:
            words = "nobody is signed in with that; sign in with gate.sign_in(name, passphrase)"
            raise GateError(words, "PERMISSION_DENIED")
        return found

    def _record_pattern(self, **change: Any) -> None:
        details = {**change, "scope": "this process"}
        self.state.recorder.event_alone("pattern_change", self._who.principal, details)
