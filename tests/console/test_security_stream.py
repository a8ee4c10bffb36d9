"""The stream of what changed: for whoever is signed in, as long as they are, and with nothing in it that others wrote."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from browser_window import Window, signed_in_window
from daemons import InProcessDaemon, in_process_daemon
from interlock.identity.session_shelf import SessionShelf

PATIENCE = 20.0


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path_factory.mktemp("state"), policy={"use": "default"}) as made:
        yield made


@pytest.fixture(scope="module")
def ana(app: InProcessDaemon) -> Window:
    return signed_in_window(app)[0]


class Stream:
    """One page's stream; `after` is done once a text has come, and the page leaves after the last of them."""

    def __init__(self, window: Window, *after: tuple[str, Callable[[], object]]) -> None:
        self.window, self.after = window, list(after)
        self.headers: dict[str, str] = {}
        self.status, self.text, self.begun = 0, "", 0

    def read(self) -> str:
        asyncio.run(self._read())
        return self.text

    async def _read(self) -> None:
        self.window.app.daemon.start()
        self._left = asyncio.Event()
        cookie = "; ".join(f"{name}={value}" for name, value in self.window.cookies.items())
        scope = {
            "type": "http", "method": "GET", "path": "/console/events", "query_string": b"", "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 7310),
            "headers": [(b"host", b"localhost:7310"), (b"cookie", cookie.encode())],
        }  # fmt: skip
        async with asyncio.timeout(PATIENCE):
            await self.window.app.daemon(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self.status and not self._left.is_set():
            self._left.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        self._left.clear()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.begun = message["status"], self.begun + 1
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        self.text += message["body"].decode()
        if self.after and self.after[0][0] in self.text:
            self.after.pop(0)[1]()
        elif not self.after:
            self._left.set()


def test_the_stream_says_what_every_page_says_about_itself(app: InProcessDaemon, ana: Window) -> None:
    stream = Stream(ana, ("hello", lambda: app.daemon.console.events.tell("tickets")))
    assert "event: changed\ndata: tickets\n\n" in stream.read()
    assert stream.headers["x-frame-options"] == "DENY" and stream.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in stream.headers["content-security-policy"]


def test_nobody_gets_the_stream(app: InProcessDaemon) -> None:
    stream = Stream(Window(app))
    stream.read()
    assert stream.status == 401 and "event" not in stream.text


def test_whoever_is_signed_out_hears_nothing_more_however_much_changes(app: InProcessDaemon) -> None:
    window, _ = signed_in_window(app, "bo")

    def signed_out() -> None:
        app.state.visitors.shelf.drop_owned("bo")
        app.daemon.console.events.tell("tickets")

    text = Stream(window, ("hello", signed_out)).read()
    assert "event: signed-out" in text and "changed" not in text


def test_what_agents_write_is_not_in_the_stream(app: InProcessDaemon, ana: Window) -> None:
    evil = "x\n\nevent: signed-out\ndata: x\n\n"
    body = {"command": f"rm -rf '{evil}'", "agent": {"name": evil, "session": evil}}

    def asked() -> None:
        threading.Thread(target=app.call, args=("POST", "/api/v1/evaluate", body, None, "uid:1000")).start()

    text = Stream(ana, ("hello", asked)).read()
    assert "event: changed\ndata: tickets\n\n" in text and "signed-out" not in text


def test_a_store_that_fails_in_the_middle_ends_the_stream_and_begins_no_second_answer(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with in_process_daemon(tmp_path_factory.mktemp("broken"), policy={"use": "default"}) as app:
        window, _ = signed_in_window(app)

        def broken() -> None:
            # As with several daemons: whether somebody is signed in is asked of the store.
            app.state.visitors.shelf = SessionShelf(app.state.store, app.state.sessions.seal_key)
            app.state.store.close()
            app.daemon.console.events.tell("tickets")

        stream = Stream(window, ("hello", broken))
        text = stream.read()
        assert (stream.status, stream.begun) == (200, 1)
        assert "changed" not in text and "signed-out" not in text and "<html" not in text
        assert app.state.troubles["store"] == 1
