"""Keeps connections to the daemon open for MCP servers and proxies, and starts a daemon where none answers."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from interlock.client import API, NoDaemon, check_peer, no_answer_reason
from interlock.config import Config
from interlock.socket_peers import answers

T = TypeVar("T")
PATIENCE = 60.0  # seconds for an answer
IDLE_CONNECTIONS = 8
_MOST_BYTES = 16 * 1024 * 1024
_MOST_HEAD = 65_536

_GONE = "the daemon broke off before it had the question"
_MAYBE = "; the call may have counted, so see get_execution_state before calling again"
UNREADABLE = "the daemon's answer cannot be read"
START_PATIENCE = 30.0  # seconds
HOLD_AGAIN = 2.0  # seconds between two tries to hold the session
FAREWELL = 2.0  # seconds
LOST = (NoDaemon, OSError, asyncio.IncompleteReadError)
LOG = "daemon.log"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# By a daemon: none that could change its decisions.
_INHERITED = "HOME PATH USER LOGNAME LANG LC_ALL TZ XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR".split()


class ConnectionBroken(NoDaemon):
    """It ended before the reply was complete; the request may have been processed."""


class RequestNotSent(ConnectionBroken):
    """The connection ended before the daemon accepted the request, which can be sent again."""


class DaemonPipe(asyncio.Protocol):
    """One request at a time; an asyncio protocol, as streams cost a quarter of the time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._data, self._length = b"", -1
        self._waiting: asyncio.Future[bytes] | None = None
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    async def ask(self, request: bytes, patience: float | None) -> bytes:
        loop = asyncio.get_running_loop()
        assert self._transport is not None
        if self.closed or self._transport.is_closing():
            raise RequestNotSent(_GONE)
        waiting: asyncio.Future[bytes] = loop.create_future()
        self._waiting = waiting
        timer = loop.call_later(patience, self._late, patience) if patience is not None else None
        try:
            self._transport.write(request)
            return await waiting
        finally:
            self._waiting = None
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._data = self._data + data if self._data else data
        if self._length < 0:
            head, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return self._fail(NoDaemon(UNREADABLE)) if len(self._data) > _MOST_HEAD else None
            self._data, self._length = rest, _length(head)
            if not 0 <= self._length <= _MOST_BYTES:
                return self._fail(NoDaemon(UNREADABLE))
        if len(self._data) >= self._length:
            body, self._data, self._length = self._data[: self._length], self._data[self._length :], -1
            if self._waiting is not None and not self._waiting.done():
                self._waiting.set_result(body)
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        """The kernel reports a request that was left unread as an error, unlike a reply that broke off."""
        self.closed = True
        unheard = isinstance(exc, OSError) and not self._data and self._length < 0
        self._fail(RequestNotSent(_GONE) if unheard else ConnectionBroken(f"the daemon broke off{_MAYBE}"))

    def close(self) -> None:
        self.closed = True
        if self._transport is not None:
            self._transport.close()

    def _late(self, patience: float) -> None:
        self._fail(NoDaemon(f"the daemon did not answer within {patience:g} s{_MAYBE}"))

    def _fail(self, error: Exception) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
        self.close()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length" and value.strip().isdigit():
            return int(value) if head.startswith(b"HTTP/1.1 ") else -1
    return -1


class DaemonLink:
    def __init__(self, config: Config, config_path: Path | None, token: str = "") -> None:
        self._config, self._config_path = config, config_path
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        self._head = f"Host: localhost\r\nContent-Type: application/json\r\n{bearer}"
        self._idle: list[DaemonPipe] = []
        self._starting = asyncio.Lock()

    async def post(
        self, path: str, body: Mapping[str, Any], patience: float | None = PATIENCE, start: bool = True
    ) -> Any:
        """The reply of any status; raises NoDaemon where none answers and none can be started."""
        data = _ENCODER.encode(body).encode()
        head = f"POST {API}{path} HTTP/1.1\r\n{self._head}Content-Length: {len(data)}\r\n\r\n"
        return await self._request(head.encode() + data, patience, start)

    async def get(self, path: str, patience: float = PATIENCE) -> Any:
        return await self._request(f"GET {API}{path} HTTP/1.1\r\n{self._head}\r\n".encode(), patience, False)

    async def reach(self) -> None:
        self._keep(await self._open())

    def close(self) -> None:
        for pipe in self._idle:
            pipe.close()
        self._idle.clear()

    async def _request(self, request: bytes, patience: float | None, start: bool) -> Any:
        while self._idle:  # a restarted daemon has closed them
            # A request that may have been processed is not repeated: a step would count twice.
            with suppress(RequestNotSent):
                return await self._send_over(self._idle.pop(), request, patience)
        return await self._send_over(await (self._open() if start else self._connect()), request, patience)

    async def _send_over(self, pipe: DaemonPipe, request: bytes, patience: float | None) -> Any:
        try:
            body = await pipe.ask(request, patience)
        except BaseException:
            pipe.close()
            raise
        self._keep(pipe)
        try:
            return msgspec.json.decode(body)
        except ValueError:
            raise NoDaemon(UNREADABLE) from None

    def _keep(self, pipe: DaemonPipe) -> None:
        if len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(pipe)
        else:
            pipe.close()

    async def _open(self) -> DaemonPipe:
        try:
            with suppress(FileNotFoundError, ConnectionRefusedError):
                return await self._connect()
            async with self._starting:
                with suppress(FileNotFoundError, ConnectionRefusedError):
                    return await self._connect()  # another process has started it meanwhile
                await start_daemon(self._config, self._config_path)
                return await self._connect()
        except OSError as error:
            raise NoDaemon(no_answer_reason(str(self._config.agents_socket), error)) from None

    async def _connect(self) -> DaemonPipe:
        loop = asyncio.get_running_loop()
        _, pipe = await connect_checked(
            self._config.agents_socket, lambda sock: loop.create_unix_connection(DaemonPipe, sock=sock)
        )
        return pipe


async def connect_checked(path: Path, opened: Callable[[socket.socket], Awaitable[T]]) -> T:
    """What `opened` makes of a connection whose peer is checked."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, os.fspath(path))
        check_peer(sock, path)
        return await opened(sock)
    except BaseException:
        sock.close()
        raise


_APPROVE = {"type": "boolean", "title": "Go on", "description": "Whether this may be done, once."}
CONSENT_FORM: dict[str, Any] = {"type": "object", "properties": {"approve": _APPROVE}, "required": ["approve"]}


def consent_in(form: Any) -> bool | None:
    """True only for an accepted form that approves; None where the form was dismissed."""
    action = form.get("action") if isinstance(form, Mapping) else None
    if action not in ("accept", "decline"):
        return None
    content = form.get("content")
    return action == "accept" and isinstance(content, Mapping) and content.get("approve") is True


class DaemonSession:
    """Held by the daemon as long as this process lives; in it, the client's own user may be asked."""

    def __init__(self, link: DaemonLink) -> None:
        self._link, self.id = link, f"mcp_{secrets.token_hex(16)}"

    async def question(self, token: str) -> Mapping[str, Any] | None:
        """`{ask, message}` where the client's own user may arm this token; else None."""
        found = await self._post("/aql/ask", {"token": token})
        return found if isinstance(found, dict) and "ask" in found else None

    async def send_answer(self, ask: str, approve: bool) -> bool:
        found = await self._post("/aql/elicited", {"ask": ask, "approve": approve})
        return isinstance(found, dict) and found.get("armed") is True

    async def hold(self) -> None:
        """It ends with this process's connection, and nobody else answers for its user until then."""
        while True:
            await self._post("/aql/hold", {}, None)
            await asyncio.sleep(HOLD_AGAIN)

    async def end(self) -> None:
        await self._post("/aql/end", {}, FAREWELL)
        self._link.close()

    async def _post(self, path: str, body: Mapping[str, Any], patience: float | None = PATIENCE) -> Any:
        with suppress(*LOST):
            return await self._link.post(path, {"session": self.id, **body}, patience, start=False)
        return None


async def start_daemon(config: Config, config_path: Path | None) -> None:
    process = _spawn(config, config_path)
    end = asyncio.get_running_loop().time() + START_PATIENCE
    while asyncio.get_running_loop().time() < end:
        if answers(config.agents_socket, broken=False):
            return
        if process.poll() is not None:  # another daemon may have been faster
            await asyncio.sleep(0.2)
            if not answers(config.agents_socket, broken=False):
                break
        await asyncio.sleep(0.05)
    else:
        process.terminate()
    raise NoDaemon(f"no daemon answers on {config.agents_socket}, and none could be started; see {config.folder / LOG}")


def _spawn(config: Config, config_path: Path | None) -> subprocess.Popen[bytes]:
    config.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    words = ["--config", str(config_path.absolute())] if config_path is not None else []
    log = os.open(config.folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        argv, env = [sys.executable, "-I", "-m", "interlock", "serve", *words], daemon_environment(os.environ)
        how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "start_new_session": True}
        return subprocess.Popen(argv, env=env, cwd="/", **how)
    except OSError as error:
        raise NoDaemon(f"no daemon could be started: {error.strerror}") from None
    finally:
        os.close(log)


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {key: environ[key] for key in _INHERITED if key in environ}
