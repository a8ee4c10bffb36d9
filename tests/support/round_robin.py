"""A proxy that sends each request to the next server, as a balancer without sticky sessions does."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def balanced(ports: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """The proxy's address, and the port that each request was sent to."""
    following, used = itertools.cycle(ports), []

    class Passing(BaseHTTPRequestHandler):
        def _pass_on(self) -> None:
            used.append(port := next(following))
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            server = HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                server.request(self.command, self.path, body, dict(self.headers))
                answer = server.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.read())
            finally:
                server.close()

        do_GET = do_POST = _pass_on

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}", used
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
