"""Eight processes that spend one ticket at the same moment, over HTTP: one is let through."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import postgres
from daemons import bearer, daemon
from killed_daemons import Caller
from replicas import enrol_in_database, replica, sign_in
from stored_records import race

RACES, RACERS = 5, 8
ONE = [200, *[403] * (RACERS - 1)]


def racing(ports: Sequence[int], agent: dict[str, str], operators: Sequence[dict[str, str]], name: str) -> list[int]:
    """The statuses of processes that spend one approved ticket, in turns at each of the daemons."""
    _, held = Caller(ports[0], agent).evaluate(name)
    id = held["pendingId"]
    status, answer = Caller(ports[-1], operators[-1]).ask("POST", f"/tickets/{id}/approve", {})
    assert (status, answer.get("state")) == (200, "approved"), answer
    numbers, into = os.pipe()
    os.write(into, bytes(range(RACERS)))

    def spend() -> int:
        port = ports[os.read(numbers, 1)[0] % len(ports)]  # each process takes a number of its own
        return Caller(port, agent).evaluate(name, id)[0]

    try:
        return sorted(race(RACERS, spend))
    finally:
        os.close(numbers)
        os.close(into)


@pytest.mark.xdist_group("faults")
def test_of_eight_processes_that_spend_one_ticket_at_one_daemon_one_is_let_through(tmp_path: Path) -> None:
    with daemon(tmp_path, policy="default") as running:
        operator = running.sign_in()
        made = running.here(headers=operator).post("/api/v1/agents", json={"name": "agent"})
        agent = bearer(made.json()["token"])
        for number in range(RACES):
            assert racing([running.port], agent, [operator], f"race{number}") == ONE
        assert running.here(headers=operator).get("/api/v1/audit/verify").json()["ok"] is True


@pytest.mark.xdist_group("pg")
@pytest.mark.slow(why="a PostgreSQL and two daemons are really started")
def test_of_eight_processes_that_spend_one_ticket_at_two_replicas_one_is_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: postgres.Server
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = server.new_database()
    enrol_in_database(tmp_path, url)
    with replica(tmp_path, "one", url, "default") as one, replica(tmp_path, "two", url, "default") as two:
        ports, operators = [one.port, two.port], [sign_in(one), sign_in(two)]
        made = one.tcp(headers=operators[0]).post("/api/v1/agents", json={"name": "agent"})
        agent = bearer(made.json()["token"])
        for number in range(RACES):
            assert racing(ports, agent, operators, f"race{number}") == ONE
        assert one.tcp(headers=operators[0]).get("/api/v1/audit/verify").json()["ok"] is True
