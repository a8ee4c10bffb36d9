"""Two daemons on one PostgreSQL: a ticket that is answered at one is spent at the other, once."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import postgres
from daemons import bearer
from replicas import enrol_in_database, replica, sign_in, start_replica

pytestmark = pytest.mark.xdist_group("pg")
DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}


def eventually(client: httpx.Client, command: str, status: int) -> bool:
    """Whether a change at another replica arrives; it is announced when it is made, and heard soon."""
    deadline = time.monotonic() + 20
    while client.post("/api/v1/evaluate", json={"command": command}).status_code != status:
        if time.monotonic() > deadline:
            return False
    return True


@pytest.mark.slow(why="a PostgreSQL and two daemons are really started")
def test_an_answer_at_one_replica_wakes_and_frees_at_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: postgres.Server
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    url = server.new_database()
    enrol_in_database(tmp_path, url)
    with replica(tmp_path, "one", url) as one, replica(tmp_path, "two", url) as two:
        operators = {1: sign_in(one), 2: sign_in(two)}
        token = one.tcp().post("/api/v1/agents", json={"name": "agent_123"}, headers=operators[1]).json()["token"]
        first, second = one.tcp(headers=bearer(token)), two.tcp(headers=bearer(token))
        held = first.post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        answers: list[Any] = []
        waiting = threading.Thread(
            target=lambda: answers.append(first.get(f"/api/v1/tickets/{held}/wait?seconds=20").json())
        )
        waiting.start()
        approved = two.tcp(headers=operators[2]).post(f"/api/v1/tickets/{held}/approve", json={})
        assert approved.status_code == 200, approved.text
        waiting.join(20)
        assert answers[0]["state"] == "approved"
        assert sorted(race(first, second, {**DATABASE, "pendingId": held})) == [200, 403]
        principal = answers[0]["agent"]["principal"]
        block = {"principal": principal, "reason": "enough"}
        assert one.tcp(headers=operators[1]).post("/api/v1/blocks", json=block).status_code == 200
        assert eventually(second, "npm install", 403)
        change = {"principal": principal, "name": "agent_123", "revoked": True}
        assert one.tcp(headers=operators[1]).patch("/api/v1/agents", json=change).status_code == 200
        assert eventually(second, "ls", 401)
        assert one.tcp(headers=operators[1]).get("/api/v1/audit/verify").json()["ok"] is True


@pytest.mark.slow(why="daemons are really started")
def test_a_replica_with_other_keys_does_not_start_and_with_the_same_ones_it_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: postgres.Server
) -> None:
    url, here, there = server.new_database(), tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(here))
    enrol_in_database(here, url)
    refused = start_replica(there, "two", url)
    assert refused.process.wait(30) == 1 and refused.said == ""
    assert (there / "two.err").read_text().splitlines()[-1] == (
        "interlock serve: the store cannot be used: it is used with other keys than installation.key and checkpoint.key in "
        f"{there}/interlock: copy installation.key and checkpoint.key from the state folder of a replica that runs on it, "
        "mode 0600, and start again"
    )
    shutil.copy(here / "interlock" / "installation.key", there / "interlock")
    refused = start_replica(there, "two", url)
    assert refused.process.wait(30) == 1
    assert "other keys than checkpoint.key in" in (there / "two.err").read_text()
    shutil.copy(here / "interlock" / "checkpoint.key", there / "interlock")
    with replica(here, "one", url) as one, replica(there, "two", url) as two:
        agent = one.tcp().post("/api/v1/agents", json={"name": "agent_123"}, headers=sign_in(one)).json()
        first = one.tcp(headers=bearer(agent["token"]))
        held = first.post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        approve = two.tcp(headers=sign_in(two)).post(f"/api/v1/tickets/{held}/approve", json={})
        assert approve.status_code == 200, approve.text
        assert first.post("/api/v1/evaluate", json={**DATABASE, "pendingId": held}).status_code == 200


def race(first: httpx.Client, second: httpx.Client, body: dict[str, str]) -> list[int]:
    """Both spend at the same moment."""
    found: list[int] = []
    threads = [
        threading.Thread(
            target=lambda client=client: found.append(client.post("/api/v1/evaluate", json=body).status_code)
        )  # type: ignore[misc]
        for client in (first, second)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
