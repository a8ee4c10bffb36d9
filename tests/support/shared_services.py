"""Services in this process that share one PostgreSQL, and edits of the database from outside."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import psycopg

from clock import TestClock
from gate import AGENT, PASSPHRASE
from interlock.analysis.rules import Rulebook
from interlock.config import config_of
from interlock.engine.evaluate import Request, evaluate, quick
from interlock.identity import operators
from interlock.identity.sessions import OperatorSession
from interlock.model import Action, Decision, command
from interlock.ports import Store, StoreEvent, Tx
from interlock.startup import open_state, open_store, read_rules

PATIENCE = 60.0
EVERYDAY = command("npm install", "/home/dev/app")  # everyday work, and more than a blocked agent may do
WIPE = {
    "id": "custom_wipe",
    "pattern": "wipe_cache",
    "category": "data_deletion",
    "severity": "high",
    "requiresHumanApproval": True,
}


@cache
def rules() -> tuple[Rulebook, str]:
    """Read once for all replicas."""
    return read_rules(config_of({}))


class Replica:
    """A service with a store of its own on the shared database."""

    def __init__(self, url: str, **tables: Any) -> None:
        self.store = open_store(url)
        self.clock = TestClock()
        config = config_of({"store": {"url": url}, "policy": {"use": "spec"}, **tables})
        self.state = open_state(config, self.store, self.clock, known=rules())
        self.heard: list[str] = []
        self._more = threading.Condition()
        self.store.listen(self._hear)  # after the state's own listener, so that whatever is here was taken over

    def _hear(self, id: str) -> None:
        with self._more:
            self.heard.append(id)
            self._more.notify_all()

    @contextmanager
    def hearing(self, *changes: str) -> Iterator[None]:
        """Returns when the changes that are made inside have been heard, and not some earlier ones."""
        mark = f"until {uuid.uuid4()}"
        self.store.write(lambda tx: tx.save_setting(mark, ""))
        self._until({StoreEvent.SETTING + mark})
        self.heard.clear()
        yield
        self._until(set(changes))

    def _until(self, changes: set[str]) -> None:
        with self._more:
            assert self._more.wait_for(lambda: changes <= set(self.heard), PATIENCE), self.heard

    def sign_in(self, name: str = "ann") -> OperatorSession:
        return operators.sign_in(self.state, name, PASSPHRASE, "cli")[1]

    def quick(self, action: Action = EVERYDAY) -> Decision | None:
        return quick(self.state, Request(action, AGENT, "test"))

    def allows(self) -> bool:
        """Whether everyday work is allowed without the store."""
        found = self.quick()
        return found is not None and found.allowed

    def ask(self, action: Action) -> Decision:
        return evaluate(self.state, Request(action, AGENT, "test"))

    def patterns(self) -> set[str]:
        return {pattern.id for pattern in self.state.registry}


class InterruptedStore:
    """A store after whose next write something happens elsewhere, before its process has gone on."""

    def __init__(self, store: Store, then: Callable[[], None]) -> None:
        self._store, self._then = store, [then]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, work: Callable[[Tx], Any]) -> Any:
        found = self._store.write(work)
        if self._then:
            self._then.pop()()
        return found


def eventually(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def run(url: str, sql: str, *params: Any) -> Any:
    """Runs SQL on the database from outside the services."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql, params or None)
        return cursor.fetchall() if cursor.description else None


def edit(url: str, sql: str, *params: Any) -> None:
    """An edit that is announced like a change of ours."""
    run(url, sql, *params)
    for change in StoreEvent:
        run(url, "SELECT pg_notify('interlock_ticket', %s)", "\ufdd0" + json.dumps(change))
