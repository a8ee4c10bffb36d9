"""Calls a daemon over its unix socket or its address; refuses to talk to a socket that another user owns."""

from __future__ import annotations

import json
import os
import pwd
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.config import Config
from interlock.model import Confidential
from interlock.problems import ExpectedError
from interlock.socket_peers import foreign_peer, too_long

API = "/api/v1"
PATIENCE = 30.0  # seconds; a long poll asks for more
_MOST_BYTES = 64 * 1024 * 1024


class NoDaemon(ExpectedError):
    """No daemon answers on the socket, or one of another user, who must not get a passphrase."""


class ApiError(ExpectedError):
    """The daemon refused; `code` is from the error registry."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status, self.code = status, code
        super().__init__(message)


class DaemonReply(Struct, frozen=True):
    status: int
    body: Any


class DaemonClient(Confidential, Struct, frozen=True):
    HIDDEN = ("token",)

    path: Path
    token: str = ""
    url: str = ""  # instead of the socket

    @property
    def place(self) -> str:
        return self.url or str(self.path)

    def on_behalf(self, token: str) -> DaemonClient:
        return replace(self, token=token)

    def get(self, path: str, patience: float = PATIENCE, **query: Any) -> Any:
        return self.call("GET", _with_query(path, query), patience=patience)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.call("POST", path, body or {})

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, patience: float = PATIENCE) -> Any:
        """Raises ApiError for any reply but a success."""
        answer = self.ask(method, path, body, patience)
        if not 200 <= answer.status < 300:
            raise refusal(answer)
        return answer.body

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, patience: float = PATIENCE
    ) -> DaemonReply:
        with self._request(method, path, body, patience) as response:
            return self._reply(response)

    def lines(self, path: str, **query: Any) -> Iterator[str]:
        with self._request("GET", _with_query(path, query), None, PATIENCE) as response:
            if response.status != 200:
                raise refusal(self._reply(response))
            for line in response:
                yield line.decode("utf-8", "replace").rstrip("\r\n")

    def _reply(self, response: HTTPResponse) -> DaemonReply:
        return DaemonReply(response.status, parse_reply(response.read(_MOST_BYTES), self.place))

    @contextmanager
    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, seconds: float
    ) -> Iterator[HTTPResponse]:
        data = json.dumps(body).encode() if body is not None else None
        try:
            made = http_connection(self.url, seconds) if self.url else SocketConnection(self.path, seconds)
            with closing(made) as connection:
                with suppress(BrokenPipeError):  # it may have replied before reading everything
                    connection.request(method, self.target(path), data, self.headers(data is not None))
                yield connection.getresponse()
        except TimeoutError:
            raise NoDaemon(f"the daemon on {self.place} did not answer within {seconds:g} s") from None
        except (OSError, HTTPException) as error:
            raise NoDaemon(no_answer_reason(self.place, error)) from None

    def target(self, path: str) -> str:
        """A daemon behind a proxy may have a path prefix."""
        return urlsplit(self.url).path.rstrip("/") + API + path

    def headers(self, body: bool = False) -> dict[str, str]:
        headers = {"Accept": "application/json", "Connection": "close"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers | ({"Content-Type": "application/json"} if body else {})


def http_connection(url: str, seconds: float) -> HTTPConnection:
    """A connection to an address, without a proxy; connects with the first request."""
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=seconds)


class SocketConnection(HTTPConnection):
    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self.socket_path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(str(self.socket_path))
            check_peer(self.sock, self.socket_path)
        except BaseException:
            self.sock.close()
            raise


def find_daemon(config: Config) -> DaemonClient:
    operator = os.geteuid() == 0 or login_name() in config.separate.operators
    return DaemonClient(config.agents_socket if config.separate.on and not operator else config.socket_path)


def login_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return ""


def path_segment(text: str) -> str:
    return quote(text, safe="")


def check_peer(sock: socket.socket, path: Path) -> None:
    """Refuses all but our own user, root, and the folder's owner, who could have planted the socket."""
    if (uid := foreign_peer(sock, path)) is not None:
        raise NoDaemon(f"the socket {path} is served by user {uid}, who is not you; nothing was sent")


def no_answer_reason(place: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError | ConnectionRefusedError):
        return f"no daemon answers on {place}; start one with `interlock serve`"
    if isinstance(error, PermissionError):
        return f"{place} belongs to another user's daemon; run this as that user"
    if isinstance(error, OSError) and "too long" in str(error):
        return too_long(place)
    return f"the daemon on {place} broke off: {error or type(error).__name__}"


def _with_query(path: str, query: Mapping[str, Any]) -> str:
    words = {key: "true" if value is True else value for key, value in query.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(words)}" if words else path


def parse_reply(data: bytes, place: str) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        raise NoDaemon(f"what answers on {place} is no interlock daemon") from None


def refusal(answer: DaemonReply) -> ApiError:
    body = answer.body if isinstance(answer.body, dict) else {}
    error = body.get("error")
    if isinstance(error, dict):
        return ApiError(answer.status, str(error.get("code", "")), str(error.get("message", "no reason was given")))
    return ApiError(answer.status, "", str(body.get("reason") or f"the daemon answered {answer.status}"))
