"""Long polls: woken when the ticket is decided, hundreds at once, no thread each."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from daemons import Daemon, InProcessDaemon, daemon, in_process_daemon

WAITERS = 300
DATABASE = {"agent": "agent_123", "action": "drop_database", "resource": "main"}


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


async def waiter(running: Daemon, ticket: str) -> tuple[str, float]:
    """One caller on a connection of its own: the state it was told, and when."""
    reader, writer = await asyncio.open_unix_connection(str(running.socket))
    writer.write(f"GET /api/v1/tickets/{ticket}/wait?seconds=50 HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    body = await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]))
    at = time.monotonic()
    writer.close()
    return json.loads(body)["state"], at


async def wait_together(running: Daemon, ticket: str, operator: dict[str, str]) -> tuple[list[float], int, int]:
    """When each of them was answered after the approval, and the daemon's threads before and meanwhile."""
    before = threads_of(running.process.pid)
    waiting = [asyncio.ensure_future(waiter(running, ticket)) for _ in range(WAITERS)]
    await asyncio.sleep(2)
    assert not any(task.done() for task in waiting)
    meanwhile = threads_of(running.process.pid)
    client = running.here()
    assert client.get("/healthz").status_code == 200
    answer = await asyncio.to_thread(client.post, f"/api/v1/tickets/{ticket}/approve", json={}, headers=operator)
    assert answer.status_code == 200, answer.text
    start = time.monotonic()
    answered = await asyncio.gather(*waiting)
    assert {state for state, _ in answered} == {"approved"}
    return [at - start for _, at in answered], before, meanwhile


@pytest.mark.slow(why="three hundred callers really wait for some seconds")
def test_hundreds_who_wait_are_woken_together_without_a_thread_each(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        ticket = running.here().post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        answered, before, meanwhile = asyncio.run(wait_together(running, ticket, running.sign_in()))
        assert len(answered) == WAITERS and max(answered) < 30  # and not when their own time was over
        assert meanwhile - before <= 8  # the pool, and nothing more


def test_a_wait_ends_with_its_time_and_shows_the_ticket_as_it_is(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        agent = app.agent()
        ticket = app.call("POST", "/api/v1/evaluate", DATABASE, agent).json()["pendingId"]
        start = time.monotonic()
        answer = app.call("GET", f"/api/v1/tickets/{ticket}/wait?seconds=1", headers=agent)
        assert answer.json()["state"] == "pending_approval" and time.monotonic() - start > 0.9
        assert app.call("GET", "/api/v1/tickets/pdact_x/wait?seconds=1", headers=agent).status_code == 404
        assert app.call("GET", f"/api/v1/tickets/{ticket}/wait?seconds=601", headers=agent).status_code == 400
        assert app.daemon.context.waiters._events == {}


def test_a_wait_is_woken_by_a_rejection_in_the_same_process(tmp_path: Path) -> None:
    with in_process_daemon(tmp_path) as app:
        agent, operator = app.agent(), app.sign_in()
        ticket = app.call("POST", "/api/v1/evaluate", DATABASE, agent).json()["pendingId"]

        async def both(app: InProcessDaemon) -> tuple[Any, float]:
            waiting = asyncio.ensure_future(app.acall("GET", f"/api/v1/tickets/{ticket}/wait?seconds=50", None, agent))
            await asyncio.sleep(0.3)
            start = time.monotonic()
            await app.acall("POST", f"/api/v1/tickets/{ticket}/reject", {"reason": "no"}, operator)
            return (await waiting).json(), time.monotonic() - start

        found, seconds = asyncio.run(both(app))
        assert (found["state"], found["decisionReason"]) == ("rejected", "no") and seconds < 40


def test_stopping_answers_those_who_wait(tmp_path: Path) -> None:
    with daemon(tmp_path) as running:
        ticket = running.here().post("/api/v1/evaluate", json=DATABASE).json()["pendingId"]
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.settimeout(30)
            waiting.connect(str(running.socket))
            waiting.sendall(f"GET /api/v1/tickets/{ticket}/wait?seconds=50 HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            assert running.here().get("/healthz").status_code == 200  # whoever asks later is answered later
            start = time.monotonic()
            assert running.stop() == 0
            assert time.monotonic() - start < 40
            with waiting.makefile("rb") as answer:
                head, _, body = answer.read().partition(b"\r\n\r\n")
        assert b" 200 " in head and json.loads(body)["state"] == "pending_approval"
