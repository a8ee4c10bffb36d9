"""A daemon that breaks off: what it may have heard is not said twice, what it cannot have heard is, and the answer says which."""

from __future__ import annotations

import asyncio
import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.client.connection import ConnectionBroken, DaemonLink
from interlock.config import Config, config_of
from interlock.loop.protocol.envelope import leaks
from interlock.mcp.server import NO_ANSWER, failure_text

PATIENCE = 20.0


class Fickle:
    """A server on a unix socket whose every step a test writes down."""

    def __init__(self, path: Path) -> None:
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._listening.settimeout(PATIENCE)
        self.heard: list[Any] = []

    def accept(self) -> socket.socket:
        made, _ = self._listening.accept()
        made.settimeout(PATIENCE)
        return made

    def hear(self, sock: socket.socket) -> None:
        """Takes one whole question."""
        data = b""
        while b"\r\n\r\n" not in data or not data.endswith(b"}"):
            data += sock.recv(65_536)
        self.heard.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def answer(self, sock: socket.socket) -> None:
        self.hear(sock)
        sock.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":true}')

    def nobody_came(self) -> bool:
        return not select.select([self._listening], [], [], 0)[0]

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def place(tmp_path: Path) -> Config:
    given = {"daemon": {"socket": str(tmp_path / "sock")}, "store": {"url": f"sqlite://{tmp_path}/state"}}
    return config_of(given, environ={})


@pytest.fixture
def fickle(place: Config) -> Iterator[Fickle]:
    made = Fickle(place.agents_socket)
    yield made
    made.close()


def asked(place: Config, script: Callable[[], None], *bodies: dict[str, Any]) -> list[Any]:
    """The answers to questions one after the other, while a server does as the script says."""
    serving = threading.Thread(target=script, daemon=True)
    serving.start()

    async def run() -> list[Any]:
        link, found = DaemonLink(place, None), []
        for body in bodies:
            try:
                found.append(await link.post("/aql", body, PATIENCE))
            except ConnectionBroken as error:
                found.append(error)
        link.close()
        return found

    found = asyncio.run(run())
    serving.join(PATIENCE)
    return found


def test_a_call_that_the_daemon_had_when_it_broke_off_is_not_made_twice(place: Config, fickle: Fickle) -> None:
    def script() -> None:
        with fickle.accept() as sock:
            fickle.answer(sock)
            fickle.hear(sock)

    first, second = asked(place, script, {"n": 1}, {"n": 2})
    assert first == {"ok": True} and isinstance(second, ConnectionBroken)
    assert fickle.heard == [{"n": 1}, {"n": 2}] and fickle.nobody_came()
    words = failure_text(second)
    assert "may have counted" in words and "get_execution_state" in words and not leaks(words)


def test_a_call_that_reached_a_daemon_too_late_is_made_again(place: Config, fickle: Fickle) -> None:
    def script() -> None:
        with fickle.accept() as sock:
            fickle.answer(sock)
            select.select([sock], [], [], PATIENCE)  # the next question is there, and nobody reads it
        with fickle.accept() as sock:
            fickle.answer(sock)

    assert asked(place, script, {"n": 1}, {"n": 2}) == [{"ok": True}, {"ok": True}]
    assert fickle.heard == [{"n": 1}, {"n": 2}]


def test_a_connection_that_was_closed_while_nobody_asked_is_not_used(place: Config, fickle: Fickle) -> None:
    def script() -> None:
        for _ in range(3):
            with fickle.accept() as sock:
                fickle.answer(sock)

    assert asked(place, script, {"n": 1}, {"n": 2}, {"n": 3}) == [{"ok": True}] * 3
    assert fickle.heard == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_half_an_answer_is_none_and_asks_for_no_other(place: Config, fickle: Fickle) -> None:
    def script() -> None:
        with fickle.accept() as sock:
            fickle.hear(sock)
            sock.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":')

    (only,) = asked(place, script, {"n": 1})
    assert isinstance(only, ConnectionBroken) and fickle.heard == [{"n": 1}] and fickle.nobody_came()


def test_what_nobody_expected_is_not_told_to_agents() -> None:
    assert failure_text(ValueError("/home/ana/secret")) == NO_ANSWER
