"""★ The gate of a Python program: one request before each action, its answer, its patterns; the backend that decides, and the shared gate of `interlock.guard`."""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any, Unpack
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.client import ApiError, DaemonClient, NoDaemon, find_daemon
from interlock.config import Config, load_config
from interlock.journal import JournalError
from interlock.journal.build import begin_run
from interlock.journal.undo import JournalUndo
from interlock.model import Action, Decision
from interlock.policy.registry import Pattern, Registry, RegistryMatch
from interlock.records import Ticket
from interlock.sdk import Denied, GateError, SignedInSession, raise_gate_errors, require_allowed
from interlock.sdk.guard import Guard, OutcomeReport, ask_gate
from interlock.sdk.in_process import InProcessBackend, open_in_process
from interlock.sdk.remote import RemoteBackend
from interlock.sdk.replies import parse_undo_result
from interlock.sdk.request import ActionArguments, plain_body, request_body
from interlock.snapshots import UndoResult

NAME = "python"  # of an agent that has no other
_OUTCOME = 500  # characters
# Decides for a gate. Every call but `wait_async` blocks; failures raise GateError, except in `evaluate`, which denies.
GateBackend = InProcessBackend | RemoteBackend
Folder = str | os.PathLike[str] | None
ConfigSource = Config | Folder


class Gate:
    """A client of the daemon where one answers, else the state folder's own writer. Safe to share between threads."""

    def __init__(
        self,
        config: ConfigSource = None,
        *,
        agent: str = "",
        session: str = "",
        policy: str | None = None,
        store: Folder = None,
        url: str | None = None,
        token: str | None = None,
    ) -> None:
        """Opens; raises GateError where nothing can decide, so that a broken gate never lets an action pass."""
        self._shared = SharedBackend(connect(config, policy, store, url, token))
        self._default = "" if token else NAME  # a token has a name of its own
        self._agent, self._session = agent or self._default, session

    @classmethod
    def _over(cls, backend: GateBackend) -> Gate:
        gate = cls.__new__(cls)
        gate._shared, gate._default = SharedBackend(backend), NAME
        return gate.for_agent(NAME)

    def for_agent(self, agent: str, session: str = "") -> Gate:
        """A gate for another agent, over the same state; closing either closes both."""
        gate = copy(self)
        gate._agent, gate._session = agent or self._default, session
        return gate

    def evaluate(self, action: Action | None = None, **asked: Unpack[ActionArguments]) -> Decision:
        """The decision about one action; any failure is a denial."""
        request = request_body(action, **asked)
        backend = self._shared.backend()
        try:
            body = plain_body(request | {"agent": {"name": self._agent, "session": self._session}})
        except Denied as no:
            return no.decision
        return backend.evaluate(body)

    def check(self, action: Action | None = None, *, wait: float = 0.0, **asked: Unpack[ActionArguments]) -> Decision:
        """The decision that allows, after up to `wait` seconds for a person; raises Held or Denied, which carry the one that does not."""
        return require_allowed(ask_gate(self, wait, asked, action))

    @contextmanager
    def guarding(
        self, action: Action | None = None, *, wait: float = 0.0, **asked: Unpack[ActionArguments]
    ) -> Iterator[Decision]:
        """A block that is entered only when the action is allowed, and whose outcome is reported; raises as `check` does."""
        with OutcomeReport(self, self.check(action, wait=wait, **asked)) as report:
            yield report.decision

    @property
    def guard(self) -> Guard:
        """A decorator that makes a function ask first."""
        return Guard(lambda: self)

    def wait(self, decision: Decision | Ticket | str, timeout: float | None = None) -> Ticket:
        """The ticket once it is answered and has cooled, or as it stands after `timeout` seconds; then ask again."""
        return self._shared.backend().wait(ticket_id(decision), timeout_seconds(timeout))

    def executed(self, decision: Decision, outcome: str = "done") -> Ticket | None:
        """Reports the outcome of an allowed action; None where it needed no ticket."""
        if not outcome.strip():
            raise ValueError("outcome: describe the result of the action")
        if not decision.allowed:
            raise ValueError(f"this was not allowed to run: {decision.reason}")
        if decision.ticket is None:
            return None
        return self._shared.backend().executed(decision.ticket.id, self._agent, outcome[:_OUTCOME])

    def undo(self, id: str = "", *, force: bool = False) -> UndoResult:
        """Restores what an action changed, from the snapshot in `decision.kept`, the journal in `run.undo` or the newest snapshot;
        a result that is not `done` changed nothing."""
        backend = self._shared.backend()
        return undo_run(backend.config, id, force) if id.startswith("j_") else backend.undo(id, force)

    def run(
        self,
        command: str | Sequence[str],
        *,
        cwd: Folder = None,
        wait: float = 0.0,
        input: str | None = None,
        timeout: float | None = None,
    ) -> GateRun:
        """Runs a shell command, or a program with its arguments, once it is allowed, and keeps what it changes where the journal can;
        raises as `check` does, and subprocess.TimeoutExpired."""
        where = os.path.abspath(cwd or os.getcwd())
        words = command if isinstance(command, str) else shlex.join(command)
        with self.guarding(command=words, cwd=where, wait=wait) as decision:
            config, assessed, journal = self._shared.backend().config, decision.assessment, None
            # One that becomes another user runs without the journal, which would keep it from doing so.
            if config is not None and assessed is not None and not assessed.flags.escalates_privileges:
                journal = begin_run(config, self._agent, build=True)
            shell = next(path for path in _SHELLS if os.path.exists(path))
            argv = [shell, "-c", command] if isinstance(command, str) else list(command)
            given = {"input": input} if input is not None else {"stdin": subprocess.DEVNULL}
            done = subprocess.run(
                journal.argv(argv) if journal else argv,
                cwd=where, capture_output=True, encoding="utf-8", errors="replace", timeout=timeout, **given,
            )  # fmt: skip
            return GateRun(decision, done.returncode, done.stdout, done.stderr, journal.id() if journal else "")

    @property
    def registry(self) -> GateRegistry:
        """Seed 003's patterns."""
        return GateRegistry(self._shared.backend)

    def metrics(self) -> dict[str, Any]:
        """Seed 003's figures, with its names."""
        return self._shared.backend().metrics()

    def sign_in(self, name: str, passphrase: str) -> SignedInSession:
        """An operator's session. Ask a person for the passphrase; a program that keeps one has approved everything."""
        return self._shared.backend().sign_in(name, passphrase)

    def sign_out(self, session: SignedInSession) -> None:
        self._shared.backend().sign_out(session)

    def approve(self, pending_id: str, session: SignedInSession, reason: str = "") -> Ticket:
        """Signs an approval with the operator's key; raises GateError for whoever may not."""
        return self._shared.backend().approve(session, pending_id, reason)

    def reject(self, pending_id: str, session: SignedInSession, reason: str) -> Ticket:
        """Signs a rejection; the agent is told the reason, and the same effect on the same target stays refused."""
        if not reason.strip():
            raise GateError("a rejection says why", "VALIDATION_MISSING_PARAM")
        return self._shared.backend().reject(session, pending_id, reason)

    @property
    def place(self) -> str:
        """Where decisions are made: a state folder, a daemon's socket or its address."""
        return self._shared.backend().place

    def close(self) -> None:
        """Releases the state folder; the gate answers no more."""
        self._shared.close()

    def __enter__(self) -> Gate:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def ticket_id(waits: Decision | Ticket | str) -> str:
    ticket = waits.ticket if isinstance(waits, Decision) else waits
    if isinstance(ticket, Ticket | str):
        return ticket if isinstance(ticket, str) else ticket.id
    if isinstance(waits, Decision):
        raise ValueError(f"there is nothing to wait for: {waits.reason}")
    raise TypeError(f"expected a Decision, a Ticket or a ticket's id, got {type(waits).__name__}")


def timeout_seconds(timeout: float | None) -> float:
    return math.inf if timeout is None else max(0.0, timeout)


class GateRegistry(Struct, frozen=True):
    """A gate's patterns. Without a session a program adds and removes only its own; everything else takes an operator's."""

    _backend: Callable[[], GateBackend]

    def register(
        self,
        pattern: Pattern | Mapping[str, Any] | None = None,
        /,
        *,
        session: SignedInSession | None = None,
        **fields: Any,
    ) -> Pattern:
        """Adds a pattern, given whole, as a mapping or by its fields; raises PatternError for one that must not be used."""
        if not isinstance(pattern, Pattern):
            pattern = Pattern.of({**(pattern or {}), **fields})
        elif fields:
            raise TypeError("a Pattern is complete: no field goes beside it")
        self._backend().register(pattern, session)
        return pattern

    def unregister(self, id: str, *, session: SignedInSession | None = None) -> Pattern:
        return self._backend().unregister(id, session)

    def match(self, action: str) -> RegistryMatch:
        """Matches an action's name; raises MatchFailure where that is impossible."""
        return Registry(self.list()).match(action)

    def list(self) -> tuple[Pattern, ...]:
        return self._backend().patterns()

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self.list())

    def __len__(self) -> int:
        return len(self.list())


_OPENING = threading.Lock()
_open_shared = cache(Gate)


def shared_gate() -> Gate:
    """The program's own; raises GateError where nothing can decide, and tries again the next time."""
    with _OPENING:
        return _open_shared()


# By the daemon where one answers, else by this process, with the user's own configuration.
guard = Guard(shared_gate)

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


class GateRun(Struct, frozen=True):
    decision: Decision
    returncode: int
    stdout: str
    stderr: str
    undo: str = ""  # for `gate.undo`; empty where it changed nothing or no journal was possible


def undo_run(config: Config | None, id: str, force: bool) -> UndoResult:
    """Raises GateError for a command that is not known here."""
    if config is None:
        raise GateError("the journal is on the machine of the daemon", "NOT_FOUND_RESOURCE")
    try:
        body = JournalUndo(config).undo(id, force)
    except JournalError as error:
        raise GateError(str(error), "NOT_FOUND_RESOURCE") from error
    nothing = {"changes": (), "total": 0, "undone": False, "refused": False, "problem": "", "say": ()}
    with raise_gate_errors():
        return parse_undo_result({**nothing, **body})


PATIENCE = 5.0  # seconds that a daemon may take to say that it is there
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def connect(config: ConfigSource, policy: str | None, store: Folder, url: str | None, token: str | None) -> GateBackend:
    """Raises GateError where nothing decides, and ConfigError or PolicyError for settings that must not be used."""
    if url is not None:
        if (config, policy, store) != (None, None, None):
            raise TypeError("url= is a daemon with its own settings: config=, policy= and store= do not go with it")
        return RemoteBackend(_daemon_at(url, token))
    chosen = gate_config(config, policy, store)
    daemon = replace(find_daemon(chosen), token=token or "")
    try:
        daemon.get("/status", PATIENCE)
    except ApiError as error:
        raise GateError(str(error), error.code) from error
    except NoDaemon as error:
        if token:
            raise GateError(f"a token counts at a daemon only, and {error}", "INTERNAL_ERROR") from error
        return open_in_process(chosen, silence=str(error))
    if policy is not None:
        raise GateError(f"the daemon on {daemon.place} decides by its own policy: leave policy= out")
    return RemoteBackend(daemon, None if token else chosen)


def gate_config(config: ConfigSource, policy: str | None, store: Folder) -> Config:
    """A Config or a file, with another policy or store where given."""
    made = config if isinstance(config, Config) else load_config(Path(config) if config is not None else None)
    if policy is not None:
        mode = "enforcing" if made.mode_of_policy else made.mode
        made = replace(made, policy=policy, mode=mode, mode_of_policy=False)
    if store is not None:
        address = str(store) if isinstance(store, str) and "://" in store else folder_url(store)
        if address != made.store:  # another store has another daemon
            made = replace(made, store=address, daemon=replace(made.daemon, socket=""))
    return made


def folder_url(folder: str | os.PathLike[str]) -> str:
    path = Path(folder).expanduser().absolute()
    url = f"sqlite://{path}"
    if Path(unquote(urlsplit(url).path)) != path:
        raise ValueError(f"{path}: a state folder's name has no %, # or ?")
    return url


def _daemon_at(url: str, token: str | None) -> DaemonClient:
    if not token:
        raise GateError("url= takes token=, which `interlock agents add NAME` gives")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"expected https://host or http://127.0.0.1:port, got {url!r:.200}")
    if parts.scheme == "http" and parts.hostname not in _HERE:
        raise ValueError(f"{url!r:.200}: a token goes in the clear to this machine only; elsewhere use https")
    return DaemonClient(Path(), token, url)


class SharedBackend:
    """The backend that gates share, until it is closed."""

    def __init__(self, backend: GateBackend) -> None:
        self._backend, self._process, self._closed = backend, os.getpid(), False
        self._parents: list[GateBackend] = []  # a parent's connections are not for its child to close
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, backend.close)  # at the latest when the program ends
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (renew := forked()) and renew())

    def backend(self) -> GateBackend:
        """Raises GateError once closed, and in a forked child that cannot open the folder for itself."""
        if self._closed:
            raise GateError("this gate is closed")
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid() and (made := self._backend.after_fork()) is not self._backend:
                    self._parents.append(self._backend)
                    self._backend = made
                    self._end = weakref.finalize(self, made.close)
                self._process = os.getpid()
        return self._backend

    def close(self) -> None:
        self._closed = True
        self._end()

    def _forked(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
