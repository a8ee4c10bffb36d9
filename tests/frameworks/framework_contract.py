"""What every framework's piece promises; each check_*.py says how its example is run, and these are its tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from daemons import Daemon, daemon
from interlock import Gate

Run = Callable[..., str]  # gate, commands, wait= -> everything that the model was told
PUSH, STATUS, FORMAT = "git push --force origin main", "git status", "mkfs.ext4 /dev/sdb"
PATIENCE = 20.0  # seconds


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A real daemon under the default policy, with operators."""
    with daemon(tmp_path_factory.mktemp("daemon"), policy="default") as made:
        yield made


@pytest.fixture(scope="session")
def shared(running: Daemon) -> Iterator[Gate]:
    with Gate(running.folder / "interlock.toml") as made:
        yield made


@pytest.fixture
def gate(shared: Gate, request: pytest.FixtureRequest, ran: list[str]) -> Gate:
    """Each test is another agent."""
    ran.clear()
    return shared.for_agent(request.node.name, request.node.name)


def answered(running: Daemon, agent: str, word: str = "approve") -> dict[str, Any]:
    """What a person does who sees the ticket of this agent: signs in, and answers it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        listed = running.here().get("/api/v1/tickets", params={"state": "open", "agent": agent}).json()["tickets"]
        if listed:
            path, body = f"/api/v1/tickets/{listed[0]['id']}/{word}", {"reason": "not on a Friday"}
            answer = running.here().post(path, json=body, headers=running.sign_in())
            assert answer.status_code == 200, answer.text
            return dict(answer.json())
        time.sleep(0.1)
    raise AssertionError("nothing was held")


def record(running: Daemon, id: str) -> dict[str, Any]:
    return dict(running.here().get(f"/api/v1/tickets/{id}").json())


def test_what_is_allowed_runs_and_what_is_held_does_not_and_the_model_is_told_why(
    run: Run, gate: Gate, ran: list[str]
) -> None:
    told = run(gate, STATUS, PUSH)
    assert ran == [STATUS] and f"ran {STATUS}" in told
    assert "Held as dangerous" in told and "pdact_" in told and "Instead:" in told


def test_what_nobody_may_approve_is_denied(run: Run, gate: Gate, ran: list[str]) -> None:
    told = run(gate, FORMAT)
    assert ran == [] and "nobody may approve" in told


def test_an_approval_lets_one_call_through(run: Run, gate: Gate, ran: list[str], running: Daemon) -> None:
    run(gate, PUSH)
    approved = answered(running, gate._agent)
    assert ran == []
    told = run(gate, "git push --force origin release", PUSH, PUSH)
    assert ran == [PUSH], told
    kept = record(running, approved["id"])
    assert kept["outcome"] == "ran" and kept["state"] == "executed"


def test_a_call_waits_for_the_person(run: Run, gate: Gate, ran: list[str], running: Daemon) -> None:
    person = threading.Thread(target=answered, args=(running, gate._agent))
    person.start()
    told = run(gate, PUSH, wait=60)
    person.join()
    assert ran == [PUSH] and f"ran {PUSH}" in told


def test_a_no_is_told_with_its_reason(run: Run, gate: Gate, ran: list[str], running: Daemon) -> None:
    number = len(gate._agent)  # a no to one agent of a user binds the others
    refused = f"git push --force origin{number} branch{number}"
    person = threading.Thread(target=answered, args=(running, gate._agent, "reject"))
    person.start()
    told = run(gate, refused, wait=60)
    person.join()
    assert ran == [] and "not on a Friday" in told
