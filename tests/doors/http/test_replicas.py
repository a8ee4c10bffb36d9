"""Two daemons on one PostgreSQL: a ticket that is answered at one is spent at the other, once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import postgres
from daemon import PASSPHRASE, Daemon, bearer, enrolled
from interlock.config import config_of
from interlock.service.opening import open_state
from interlock.stores import open_store

pytestmark = pytest.mark.xdist_group("pg")
DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}


class Wall:
    def now(self) -> float:
        import time

        return time.time()


@contextmanager
def replica(folder: Path, name: str, url: str) -> Iterator[Daemon]:
    config = folder / f"{name}.toml"
    config.write_text(f'[store]\nurl = "{url}"\n[policy]\nuse = "spec"\n[daemon]\nsocket = "{folder}/{name}.sock"\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "serve", "--config", str(config), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=(folder / f"{name}.err").open("wb"),
        env={**os.environ, "XDG_STATE_HOME": str(folder)},
    )
    assert process.stdout is not None
    line = next((raw.decode() for raw in process.stdout if b"http://" in raw), "")
    running = Daemon(process, folder, int(line.split("http://")[1].split()[0].rpartition(":")[2]) if line else 0, line)
    try:
        yield running
    finally:
        for client in running.clients:
            client.close()
        assert running.stop() == 0, (folder / f"{name}.err").read_text()
        process.stdout.close()


def sign_in(running: Daemon) -> dict[str, str]:
    answer = running.tcp().post("/api/v1/session", json={"operator": "ana", "passphrase": PASSPHRASE})
    return bearer(answer.json()["token"])


@pytest.mark.slow(why="a PostgreSQL and two daemons are really started")
def test_an_answer_at_one_replica_wakes_and_frees_at_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with postgres.running() as server:
        url = server.new_database()
        store = open_store(url)
        enrolled(open_state(config_of({"store": {"url": url}}), store, Wall()))
        store.close()
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
            waiting.join(10)
            assert answers[0]["state"] == "approved"
            assert sorted(race(first, second, {**DATABASE, "pendingId": held})) == [200, 403]
            principal = answers[0]["agent"]["principal"]
            block = {"principal": principal, "reason": "enough"}
            assert one.tcp(headers=operators[1]).post("/api/v1/blocks", json=block).status_code == 200
            assert second.post("/api/v1/evaluate", json={"command": "npm install"}).status_code == 403
            change = {"principal": principal, "name": "agent_123", "revoked": True}
            assert one.tcp(headers=operators[1]).patch("/api/v1/agents", json=change).status_code == 200
            assert second.post("/api/v1/evaluate", json={"command": "ls"}).status_code == 401
            assert one.tcp(headers=operators[1]).get("/api/v1/audit/verify").json()["ok"] is True


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
