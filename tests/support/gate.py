"""A service on a real SQLite folder, with a clock that tests move and an operator who is enrolled."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clock import TestClock
from interlock.analysis.rules import Rulebook
from interlock.approvals import answers
from interlock.config import Config, config_of
from interlock.engine.evaluate import Request, evaluate
from interlock.identity import operators
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.sessions import OperatorSession
from interlock.model import Action, AgentRef, Decision
from interlock.ports import Access
from interlock.records import AuditQuery, AuditRow, Ticket
from interlock.runtime.state import State
from interlock.startup import open_state, open_store, read_rules

CHEAP = Kdf(1, 64, 1)  # a passphrase that is cheap to guess, so that tests are quick
PASSPHRASE = "correct horse battery staple"
AGENT = AgentRef("uid:1000", "claude", "s1")


@cache
def _read() -> tuple[Config, tuple[Rulebook, str]]:
    plain = config_of({}, environ={})
    return plain, read_rules(plain)


def shipped(config: Config) -> tuple[Rulebook, str] | None:
    """The shipped rules, read once; None for a configuration that has others."""
    plain, known = _read()
    same = (config.rules, config.danger_patterns) == (plain.rules, plain.danger_patterns)
    return known if same else None


@cache
def _empty_database() -> bytes:
    with TemporaryDirectory(prefix="interlock-") as folder:
        open_store(f"sqlite://{folder}/state").close()
        return (Path(folder) / "state" / "state.db").read_bytes()


def create_folder(folder: Path) -> None:
    """A new state folder with an empty database, copied from one that was created as any; an existing folder stays as it is."""
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True)
        with open(os.open(folder / "state.db", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_empty_database())


def access_of(more: dict[str, Any]) -> Access:
    """Takes the access to files out of a request's fields."""
    return Access(
        *(more.pop(name, None) for name in ("files", "project", "inspect_impact", "take_snapshot", "resolve"))
    )


class Gate:
    """The whole engine, without an interface."""

    def __init__(self, folder: Path, **config: Any) -> None:
        self.folder, self.clock = folder, TestClock()
        self.config: Config = config_of({"store": {"url": f"sqlite://{folder}"}, **config}, environ={})
        create_folder(folder)
        self.state = self._open()

    def _open(self) -> State:
        self.store = open_store(self.config.store)
        return open_state(self.config, self.store, self.clock, known=shipped(self.config))

    def restart(self) -> None:
        """Another process on the same folder: nothing in memory survives."""
        self.state.recorder.flush()
        self.store.close()
        self.state = self._open()

    def close(self) -> None:
        self.store.close()

    def enrol(self, name: str = "ann", *roles: str) -> None:
        """The first operator."""
        row, key = enrol(name, PASSPHRASE, None, now=self.clock.now(), by=name, roles=roles or ("admin",), kdf=CHEAP)
        operators.enrol_first(self.state, row, key)

    def sign_in(self, name: str = "ann") -> OperatorSession:
        return operators.sign_in(self.state, name, PASSPHRASE, "cli")[1]

    def add(self, name: str, *roles: str, teams: tuple[str, ...] = (), service: bool = False) -> None:
        operators.add_operator(self.state, self.sign_in(), name, PASSPHRASE, roles, teams, service, CHEAP)

    def ask(self, action: Action, agent: AgentRef = AGENT, **more: Any) -> Decision:
        return evaluate(self.state, Request(action, agent, "test", access=access_of(more), **more))

    def held(self, action: Action, agent: AgentRef = AGENT, **more: Any) -> Ticket:
        """Requests an action and expects a ticket."""
        found = self.ask(action, agent, **more)
        assert not found.allowed and found.ticket is not None, found
        return found.ticket

    def approve(self, ticket: Ticket, by: str = "ann") -> Ticket:
        return answers.approve(self.state, self.sign_in(by), ticket.id)

    def records(self, event: str = "") -> list[AuditRow]:
        self.state.recorder.flush()
        return self.store.read(lambda tx: tx.audit(AuditQuery(event=event)))
