"""What comes back from a socket is not believed because it came back: an answer that is not whole allows nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate
from interlock.client import DaemonClient, DaemonReply, NoDaemon
from interlock.model import Decision
from interlock.policy.wire import decision_json
from interlock.records import Ticket
from interlock.sdk.remote import RemoteBackend, complete, long_poll, wait_for_answer
from interlock.sdk.replies import UnreadableReply, parse_decision, parse_ticket
from raw_http import request
from stored_records import ticket as kept_ticket

ALLOWED: dict[str, Any] = {"allowed": True, "decision": "allow", "reason": "Allowed."}


def test_a_whole_answer_that_allows_is_one() -> None:
    assert parse_decision(DaemonReply(200, ALLOWED)).allowed


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (202, ALLOWED),
        (403, ALLOWED),
        (503, ALLOWED),
        (200, {**ALLOWED, "allowed": 1}),
        (200, {**ALLOWED, "allowed": "true"}),
        (200, {**ALLOWED, "allowed": False}),
        (200, {**ALLOWED, "decision": "approve"}),
        (200, {**ALLOWED, "decision": "yes"}),
        (200, {"allowed": True}),
        (200, {"allowed": True, "decision": "allow"}),
        (200, {**ALLOWED, "level": 9}),
        (200, {**ALLOWED, "level": 0}),
        (200, {**ALLOWED, "pendingId": "x", "expiresAt": "soon"}),
        (200, {**ALLOWED, "factors": 7}),
        (200, []),
        (200, None),
        (200, "allow"),
        (500, {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "x"}}),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_is_not_whole_allows_nothing(status: int, body: Any) -> None:
    decision = parse_decision(DaemonReply(status, body))
    assert not decision.allowed and not decision


@pytest.mark.parametrize("body", [None, [], {}, {"id": "x"}, {"id": "x", "state": "spent"}])
def test_what_is_no_ticket_is_none(body: Any) -> None:
    with pytest.raises(UnreadableReply):
        parse_ticket(body)


def test_a_denial_keeps_its_code_and_its_details() -> None:
    error = {"code": "RATE_LIMIT_EXCEEDED", "message": "slowly", "details": {"retry_after_seconds": 3}}
    body = {"allowed": False, "decision": "deny", "reason": "Denied: slowly.", "success": False, "error": error}
    decision = parse_decision(DaemonReply(429, body))
    assert (decision.outcome, decision.code, dict(decision.details)) == (
        "deny",
        "RATE_LIMIT_EXCEEDED",
        error["details"],
    )


def test_a_decision_is_true_only_when_it_allows() -> None:
    assert Decision("allow", "") and not any(
        Decision(word, "") for word in ("cool_off", "confirm", "approve", "verify", "block", "deny")
    )
    assert decision_json(Decision("deny", "x"))["allowed"] is False


@contextmanager
def answering(path: Path, *answers: bytes) -> Iterator[None]:
    """A socket that gives these answers, one to each caller."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            for answer in answers:
                with listening.accept()[0] as sock:
                    request(sock)
                    sock.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        thread.join(20)


def http(status: str, body: Any) -> bytes:
    data = json.dumps(body)
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\n\r\n{data}".encode()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
        http("200 OK", {"allowed": True}),
        http("200 OK", ALLOWED)[:-9],
    ],
)
def test_whoever_answers_nonsense_allows_nothing(tmp_path: Path, answer: bytes) -> None:
    with answering(tmp_path / "s", answer):
        decision = Gate._over(RemoteBackend(DaemonClient(tmp_path / "s"))).evaluate(command="ls")
    assert decision.outcome == "deny" and decision.unknown


def test_a_long_poll_understands_what_a_proxy_sends(tmp_path: Path) -> None:
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n4\r\n: 1}\r\n0\r\n\r\n'
    with answering(tmp_path / "s", chunked):
        found = asyncio.run(long_poll(DaemonClient(tmp_path / "s"), "/x", 5))
    assert (found.status, found.body) == (200, {"a": 1})


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"])
def test_a_long_poll_tells_nonsense_from_an_answer(tmp_path: Path, answer: bytes) -> None:
    with answering(tmp_path / "s", answer), pytest.raises(NoDaemon):
        asyncio.run(long_poll(DaemonClient(tmp_path / "s"), "/x", 5))


def test_a_long_poll_gives_up_in_time_and_where_nobody_is(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        with pytest.raises(NoDaemon, match="did not answer within"):
            asyncio.run(long_poll(DaemonClient(tmp_path / "s"), "/x", 0.2))
    with pytest.raises(NoDaemon, match="no daemon answers"):
        asyncio.run(long_poll(DaemonClient(tmp_path / "nobody"), "/x", 5))


def test_polls_ask_for_no_more_than_is_left_and_stop_when_nobody_answers() -> None:
    asked: list[float] = []

    async def poll(seconds: int) -> Ticket:
        asked.append(seconds)
        if len(asked) == 1:
            raise NoDaemon("nobody")
        return kept_ticket("t1", expires_at=9e9)

    async def sleep(seconds: float) -> None:
        asked.append(seconds)
        if len(asked) > 3:
            raise TimeoutError

    with pytest.raises(NoDaemon):
        complete(wait_for_answer(0.0, poll, sleep))
    assert asked == [0]
    with pytest.raises(TimeoutError):
        complete(wait_for_answer(1_000_000.0, poll, sleep))
    assert 0 < asked[1] <= 60
    assert asked[2] > 0, "a poll that comes back at once is not repeated at once"
    assert 0 < asked[3] <= 60
