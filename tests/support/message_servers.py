"""Real servers for messages: one that speaks HTTP, one that speaks SMTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 20.0


@dataclass
class Receiver:
    """Records the requests it receives; gives `answers` in turn, and repeats the last one."""

    answers: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hangs: threading.Event | None = None
    url: str = ""

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in list(self.got)]

    def until(self, enough: Callable[[list[dict[str, Any]]], Any], said: str = "nothing came") -> list[dict[str, Any]]:
        return until(lambda: found if enough(found := self.bodies()) else None, said)


def until(found: Callable[[], Any], said: str = "it did not happen") -> Any:
    """Polls until there is a result and returns it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if (value := found()) is not None and value is not False:
            return value
        time.sleep(0.02)
    raise AssertionError(said)


@contextmanager
def http_receiver(*answers: int, location: str = "") -> Iterator[Receiver]:
    """A receiver on a free port of this machine."""
    kept = Receiver(list(answers) or [204])

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if kept.hangs is not None:
                kept.hangs.wait(PATIENCE)
            status = kept.answers.pop(0) if len(kept.answers) > 1 else kept.answers[0]
            kept.paths.append(self.path)
            kept.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    kept.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield kept
    finally:
        if kept.hangs is not None:
            kept.hangs.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class ReceivedMails:
    """The mails that a server received."""

    port: int
    got: list[Any] = field(default_factory=list)

    def texts(self) -> list[str]:
        return [part.get_body(("plain", "html")).get_content() for part in list(self.got)]


@contextmanager
def mail_server() -> Iterator[ReceivedMails]:
    """A mail server on a free port of this machine."""
    from aiosmtpd.controller import Controller
    from aiosmtpd.smtp import AuthResult

    kept = ReceivedMails(0)

    class Keep:
        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
            kept.got.append(message_from_bytes(envelope.content, policy=policy.default))
            return "250 taken"

    class OnAnyPort(Controller):
        def _trigger_server(self) -> None:
            """It looks for itself at the port that it was given, where none was asked for."""
            self.port = self.server.sockets[0].getsockname()[1]
            super()._trigger_server()

    controller = OnAnyPort(
        Keep(), hostname="127.0.0.1", port=0, ready_timeout=PATIENCE, auth_require_tls=False,
        authenticator=lambda server, session, envelope, mechanism, given: AuthResult(success=True),
    )  # fmt: skip
    controller.start()
    try:
        kept.port = controller.port
        yield kept
    finally:
        controller.stop()
