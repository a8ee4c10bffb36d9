"""Guarded functions whose gate is a client: of a daemon that answers, of one that has gone, and of none that there ever was."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemons import PASSPHRASE, Daemon, daemon
from interlock import Denied, Gate, Held, NotAllowed


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A real daemon, the same for all: each test is another agent."""
    with daemon(tmp_path_factory.mktemp("there")) as made:
        yield made


@pytest.fixture(scope="module")
def shared(there: Daemon) -> Iterator[Gate]:
    with Gate(there.folder / "interlock.toml") as made:
        yield made


@pytest.fixture
def gate(shared: Gate, request: pytest.FixtureRequest) -> Gate:
    return shared.for_agent(request.node.name, request.node.name)


def approves(gate: Gate, there: Daemon) -> threading.Thread:
    """A person who approves what this agent waits for next."""

    def person() -> None:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            asked = {"state": "open", "agent": gate._agent}
            for ticket in there.here().get("/api/v1/tickets", params=asked).json()["tickets"]:
                gate.approve(ticket["id"], gate.sign_in("ana", PASSPHRASE))
                return
            time.sleep(0.1)

    thread = threading.Thread(target=person)
    thread.start()
    return thread


def test_a_call_waits_for_a_person_at_the_daemon_and_runs_once(gate: Gate, there: Daemon) -> None:
    ran: list[str] = []

    @gate.guard(wait=60)
    def drop_database(name: str) -> str:
        ran.append(name)
        return "dropped"

    person = approves(gate, there)
    assert drop_database("main") == "dropped"
    person.join()
    asked = {"state": "executed", "agent": gate._agent}
    (ticket,) = there.here().get("/api/v1/tickets", params=asked).json()["tickets"]
    assert ran == ["main"] and (ticket["outcome"], ticket["decidedBy"]) == ("ran", "ana")
    with pytest.raises(NotAllowed):
        gate.guard(wait=0)(drop_database.__wrapped__)("main")  # type: ignore[attr-defined]
    assert ran == ["main"]


def test_a_hundred_awaited_calls_wait_at_once(gate: Gate) -> None:
    @gate.guard
    async def list_users(limit: int) -> int:
        return limit

    async def main() -> list[int]:
        return await asyncio.gather(*(list_users(number) for number in range(100)))

    assert asyncio.run(main()) == list(range(100))


def test_one_approval_runs_once_however_many_threads_call(gate: Gate) -> None:
    ran: list[int] = []

    @gate.guard
    def drop_database(name: str) -> None:
        ran.append(1)

    with pytest.raises(Held) as held:
        drop_database("other")
    assert held.value.ticket is not None
    gate.approve(held.value.ticket.id, gate.sign_in("ana", PASSPHRASE))

    def call(_: int) -> bool:
        try:
            drop_database("other")
        except NotAllowed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(call, range(8))) == 1
    assert ran == [1]


def test_a_claim_of_danger_counts_at_the_daemon_too(gate: Gate, there: Daemon) -> None:
    with pytest.raises(Held, match="its caller says that it is dangerous"):
        gate.check(operation="polish", danger="dangerous")
    with pytest.raises(Denied, match="danger: expected one of safe, reversible"):
        gate.check(operation="polish", danger="risky")
    assert gate.evaluate(operation="polish", danger="safe").allowed
    answer = there.here().post("/api/v1/evaluate", json={"command": "ls", "danger": "forbidden"})
    assert answer.status_code == 202 and not answer.json()["allowed"]


def test_a_daemon_that_has_gone_runs_nothing(tmp_path: Path) -> None:
    with daemon(tmp_path) as running, Gate(tmp_path / "interlock.toml") as gate:
        ran: list[int] = []

        @gate.guard(wait=60)
        def list_users() -> None:
            ran.append(1)

        list_users()
        running.stop()
        with pytest.raises(Denied, match="no daemon answers"):
            list_users()
        assert ran == [1]


PROGRAM = """
import threading
from interlock import NotAllowed, guard

@guard
def list_users() -> int:
    return 3

@guard(wait=0)
def drop_database(name: str) -> None:
    print("ran")

results = []
threads = [threading.Thread(target=lambda: results.append(list_users())) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(results)
try:
    drop_database("main")
except NotAllowed as no:
    print(type(no).__name__, no.decision.unknown)
"""


def run(home: Path, code: str) -> list[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_module_guards_without_a_gate_and_denies_where_nobody_can_decide(tmp_path: Path) -> None:
    assert run(tmp_path, PROGRAM) == ["[3, 3, 3, 3]", "Denied False"]  # there is no operator who could be waited for
    with Gate(store=tmp_path / "state" / "interlock"):  # another process decides in that folder, and does not answer
        code = PROGRAM.replace("results.append(list_users())", "None")
        assert run(tmp_path, code) == ["[]", "Denied True"]
