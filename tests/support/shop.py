"""A small HTTP service in a process of its own: things that can be made, changed and deleted, and every way of misbehaving."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

KEY = "sk-shop-3f9a77c1d2"  # what the service wants to be shown


@dataclass
class Shop:
    """The running service, as a test sees it."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def log(self) -> list[dict[str, Any]]:
        """Every request that came, in order."""
        return list(self._asked("GET", "/log"))

    def things(self) -> dict[str, Any]:
        return dict(self._asked("GET", "/things"))

    def forget(self) -> None:
        self._asked("POST", "/forget")

    def _asked(self, method: str, path: str) -> Any:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            return json.loads(answer.read() or b"null")


@contextmanager
def open_shop() -> Iterator[Shop]:
    """The service on a free port."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield Shop(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


THINGS: dict[str, Any] = {}
LOG: list[dict[str, Any]] = []
LOCK = threading.Lock()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        return None

    def handle_any(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path == "/log":
            return self.json(200, LOG)
        if path == "/things":
            return self.json(200, THINGS)
        if path == "/forget":
            THINGS.clear()
            LOG.clear()
            return self.json(200, {})
        with LOCK:
            LOG.append({
                "method": self.command, "path": path, "query": parse_qsl(query, keep_blank_values=True),
                "body": body.decode("utf-8", "replace"), "type": self.headers.get("Content-Type", ""),
            })  # fmt: skip
            tries = sum(item["path"] == path for item in LOG)
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            return self.json(401, {"message": f"who are you? you sent {self.headers.get('Authorization')}"})
        return self.routed(path.removeprefix("/v1"), body, tries)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_any

    def routed(self, path: str, body: bytes, tries: int) -> None:
        words = [unquote(word) for word in path.strip("/").split("/")]
        if words[0] == "things":
            return self.about_things(words[1:], body)
        return getattr(self, f"on_{words[0]}")(words[1:], tries)

    def about_things(self, words: list[str], body: bytes) -> None:
        given = json.loads(body) if body and "json" in self.headers.get("Content-Type", "") else {}
        with LOCK:
            if not words:
                if self.command == "POST":
                    id = f"t{len(THINGS) + 1}"
                    THINGS[id] = {"id": id, **given}
                    return self.json(201, THINGS[id])
                if self.command == "DELETE":
                    THINGS.clear()
                    return self.json(200, {"deleted": "everything"})
                return self.json(200, list(THINGS.values()))
            id = words[0]
            if id not in THINGS:
                return self.json(404, {"message": f"no {id}"})
            if self.command == "PUT":
                THINGS[id] = given
            elif self.command == "PATCH":
                THINGS[id] = {key: value for key, value in {**THINGS[id], **given}.items() if value is not None}
            elif self.command == "DELETE":
                del THINGS[id]
                return self.plain(204, b"")
            return self.json(200, THINGS[id], {"ETag": '"1"'})

    def on_status(self, words: list[str], tries: int) -> None:
        self.json(int(words[0]), {"error": {"message": "it went wrong"}}, {"Retry-After": "7"})

    def on_last(self, words: list[str], tries: int) -> None:
        self.json(200, {"tries": tries}, {"X-Left": "0", "X-Reset": "600"})

    def on_flaky(self, words: list[str], tries: int) -> None:
        self.json(503 if tries < 3 else 200, {"tries": tries})

    def on_moved(self, words: list[str], tries: int) -> None:
        self.plain(302, b"", {"Location": "/v1/things"})

    def on_elsewhere(self, words: list[str], tries: int) -> None:
        self.plain(302, b"", {"Location": f"http://localhost:{self.server.server_address[1]}/v1/things"})

    def on_circles(self, words: list[str], tries: int) -> None:
        self.plain(302, b"", {"Location": "/v1/circles"})

    def on_halves(self, words: list[str], tries: int) -> None:
        self.plain(200, b'{"a": "\\ud800x", "\\udfff": [1]}', {"Content-Type": "application/json"})

    def on_nested(self, words: list[str], tries: int) -> None:
        self.plain(200, b"[" * 500 + b"]" * 500, {"Content-Type": "application/json"})

    def on_cookie(self, words: list[str], tries: int) -> None:
        self.json(200, {"sent": self.headers.get("Cookie", "")}, {"Set-Cookie": "session=1; Path=/"})

    def on_disguised(self, words: list[str], tries: int) -> None:
        home = f"127.0.0.1:{self.server.server_address[1]}"
        self.plain(302, b"", {"Location": f"http://a:b@{home}/v1/things"})

    def on_echo(self, words: list[str], tries: int) -> None:
        self.json(200, {"headers": dict(self.headers), self.headers["Authorization"]: 1, "words": words})

    def on_text(self, words: list[str], tries: int) -> None:
        self.plain(200, b"<p>hello</p>", {"Content-Type": "text/html"})

    def on_binary(self, words: list[str], tries: int) -> None:
        self.plain(200, b"\x89PNG\xff\x00", {"Content-Type": "image/png"})

    def on_deep(self, words: list[str], tries: int) -> None:
        self.plain(200, b"[" * 100_000, {"Content-Type": "application/json"})

    def on_large(self, words: list[str], tries: int) -> None:
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b"x" * 100_000)
        except OSError:
            pass

    def on_bomb(self, words: list[str], tries: int) -> None:
        self.plain(200, gzip.compress(b"0" * 50_000_000), {"Content-Encoding": "gzip"})

    def on_packed(self, words: list[str], tries: int) -> None:
        self.plain(200, gzip.compress(b'{"packed": true}'), {"Content-Encoding": "gzip"})

    def on_slow(self, words: list[str], tries: int) -> None:
        """A byte now and then: no single wait is long, the whole is."""
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(600):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            pass

    def on_broken(self, words: list[str], tries: int) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self.plain(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})

    def plain(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(body)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(urlsplit(f"//127.0.0.1:{server.server_address[1]}").port, flush=True)
    server.serve_forever()
