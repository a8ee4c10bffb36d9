"""Runs `interlock proxy`: names the server, connects its pipes to the client's through a relay, until either side ends."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvloop
from msgspec import Struct, field

from interlock.adapters.local_servers import GENERIC
from interlock.analysis.programs.load import describe
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.client.connection import DaemonLink
from interlock.client.lines import LineReader, LineSplitter, LineWriter, claim_stdin, claim_stdout
from interlock.config import Config
from interlock.identity import make_undumpable
from interlock.model import Confidential
from interlock.proxy import ServerIdentity, plain_name
from interlock.proxy.gate import ProxyGate
from interlock.proxy.messages import PARSE, Send, error
from interlock.proxy.relay import Relay

if TYPE_CHECKING:
    from interlock.proxy.remote import RemoteServer

PATIENCE = 2.0  # seconds for the client to read the last output, and for a server to end
SWEEP = 1.0  # seconds between two checks for late responses
FAILED = 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STARTERS = frozenset("run tool exec dlx env".split())
_SUFFIXES = (".py", ".js", ".mjs", ".cjs", ".ts", ".exe", ".cmd", ".sh")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)")


class ProxySettingError(ValueError):
    """Settings that cannot be used; the message says which."""


class ServerAddress(Confidential, Struct, frozen=True):
    HIDDEN = ("headers", "env")

    behind: ServerIdentity
    command: Sequence[str] = ()
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


class ProxyOptions(Confidential, Struct, frozen=True):
    HIDDEN = ("token",)

    config: Config
    config_path: Path | None
    token: str = ""


_PR_SET_PDEATHSIG = 1


class Stdio:
    """The client on stdin and stdout; `over` is set when it has gone."""

    def __init__(self, most: int) -> None:
        self._most, self.over = most, asyncio.Event()
        self._out = LineWriter(claim_stdout(), self._pace, self.over.set)
        self.paced_servers: list[Callable[[bool], None]] = []  # pause these while the client reads slowly

    def listen(self, line: Send) -> None:
        LineReader(claim_stdin(), LineSplitter(line, self._most, self._too_long), self.over.set).start()

    def send(self, data: bytes) -> None:
        self._out.put(data)

    async def drain(self) -> None:
        await self._out.wait_until_read(PATIENCE)

    def _pace(self, slow: bool) -> None:
        for pace in self.paced_servers:
            pace(slow)

    def _too_long(self) -> None:
        self.send(error(None, PARSE, f"Interlock passes on no line of more than {self._most} bytes"))


class ServerProcess(asyncio.SubprocessProtocol):
    """A server as child process; `gone` resolves to the reason for its end."""

    def __init__(self, lines: LineSplitter) -> None:
        self._lines = lines
        self._transport: Any = None
        self._exited = asyncio.Event()
        self.gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        line: Send,
        most: int,
        too_long: Callable[[], None],
        env: Mapping[str, str],
    ) -> ServerProcess:
        """Starts the server or raises OSError. It shares our stderr: clients show it."""
        loop, end_with_parent = asyncio.get_running_loop(), None
        if sys.platform == "linux":  # the kernel ends the child with this process, however that ends
            prctl = ctypes.CDLL(None).prctl
            end_with_parent = lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) and None  # noqa: E731
        _, made = await loop.subprocess_exec(
            lambda: cls(LineSplitter(line, most, too_long)),
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            env={**os.environ, **env},
            preexec_fn=end_with_parent,
        )
        return made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._lines.feed(data)

    def process_exited(self) -> None:
        self._exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """After the process has ended and its output was read."""
        code = self._transport.get_returncode()
        words = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended (exit code {code})"
        if not self.gone.done():
            self.gone.set_result(f"the server {words}")

    def send(self, data: bytes) -> None:
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None and not pipe.is_closing():
            pipe.write(data)

    def pace(self, slow: bool) -> None:
        pipe = self._transport.get_pipe_transport(1)
        if pipe is not None and not pipe.is_closing():
            (pipe.pause_reading if slow else pipe.resume_reading)()

    async def stop(self, patience: float) -> None:
        """Closes the server's input, then terminates and kills it where it does not end."""
        pipe = self._transport.get_pipe_transport(0)
        if pipe is not None:
            pipe.close()
        for end in (None, self._transport.terminate, self._transport.kill):
            if end is not None:
                with suppress(ProcessLookupError):
                    end()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._exited.wait(), patience)
                return


class ServerConnection:
    """One server with its gate and its relay; responses go to `client`."""

    def __init__(self, place: ServerAddress, setting: ProxyOptions, client: Send) -> None:
        self.place, self._limits = place, setting.config.proxy
        link = DaemonLink(setting.config, setting.config_path, setting.token)
        self.gate = ProxyGate(place.behind, link, setting.config, os.getcwd())
        self.relay = Relay(self.gate, client, self._send, self.report)
        self._holding: asyncio.Task[None] | None = None
        self._server: ServerProcess | RemoteServer | None = None

    async def start(self) -> bool:
        """False where the server cannot be started."""
        place, line, most = self.place, self.relay.from_server, self._limits.line_bytes
        try:
            if place.url:
                # Half a second of imports that a local server does not need.
                from interlock.proxy.remote import RemoteServer

                self._server = RemoteServer(place, line, self.report, most)
            else:
                self._server = await ServerProcess.start(place.command, line, most, self._too_long, place.env)
        except OSError as problem:
            self.report(f"it cannot be started: {problem.strerror or problem}")
            return False
        await self.gate.report_tools({})
        self._holding = asyncio.create_task(self.gate.session.hold())
        return True

    def report(self, words: str) -> None:
        """Never the content of a call."""
        print(f"interlock proxy {self.place.behind.name}: {words}", file=sys.stderr, flush=True)

    def pace(self, slow: bool) -> None:
        if self._server is not None:
            self._server.pace(slow)

    def _send(self, data: bytes) -> None:
        if self._server is not None:
            self._server.send(data)

    def _too_long(self) -> None:
        words = f"the server wrote a line of more than {self._limits.line_bytes} bytes"
        self.report(words)
        self.relay.fail_pending(f"{words}, and the request it answers is unknown")

    async def watch(self) -> None:
        """Cancels late requests until the server has ended."""
        assert self._server is not None
        while not (await asyncio.wait({self._server.gone}, timeout=SWEEP))[0]:
            self.relay.expire(self._limits.answer_seconds)
        why = self._server.gone.result()
        self.report(why)
        self.relay.fail_pending(why)

    async def stop(self) -> None:
        self.relay.close()
        if self._holding is not None:
            self._holding.cancel()
        stopping = self._server.stop(PATIENCE) if self._server is not None else asyncio.sleep(0)
        await asyncio.gather(stopping, self.gate.session.end(), return_exceptions=True)


def run_relay(relaying: Coroutine[Any, Any, int]) -> int:
    """Relays until either side ends; 0 where that was the client."""
    make_undumpable()
    return uvloop.run(relaying)


async def relay_one(place: ServerAddress, setting: ProxyOptions) -> int:
    stdio = Stdio(setting.config.proxy.line_bytes)
    line = ServerConnection(place, setting, stdio.send)
    if not await line.start():
        return FAILED
    stdio.paced_servers.append(line.pace)
    stdio.listen(line.relay.from_client)
    return await until_over(stdio, [line], line.watch())


async def until_over(stdio: Stdio, lines: Sequence[ServerConnection], watching: Coroutine[Any, Any, object]) -> int:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stdio.over.set)
    watched, left = loop.create_task(watching), loop.create_task(stdio.over.wait())
    await asyncio.wait({watched, left}, return_when=asyncio.FIRST_COMPLETED)
    by_client = left.done()
    left.cancel()
    watched.cancel()
    await asyncio.gather(*(line.stop() for line in lines), return_exceptions=True)
    await stdio.drain()
    return 0 if by_client else FAILED


def server_address(
    name: str,
    trust: str,
    command: Sequence[str] = (),
    url: str = "",
    header_files: Iterable[Path] = (),
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> ServerAddress:
    """Raises ProxySettingError for a name or a URL that cannot be used."""
    if url and urlsplit(url).scheme not in ("http", "https"):
        raise ProxySettingError(f"--url: expected http://… or https://…, got {url[:80]!r}")
    at = urlsplit(url)
    name = name or (plain_name(at.hostname or "").lstrip("._-")[:64] if url else _command_name(command))
    if not NAME.fullmatch(name):
        raise ProxySettingError(f"--name: expected 1 to 64 of A-Z, a-z, 0-9, -, _ and ., got {name[:80]!r}")
    words = json.dumps(list(command), ensure_ascii=False)
    if url:  # without its query, which may be a secret and change
        words = f"{at.scheme}://{at.hostname}{f':{at.port}' if at.port else ''}{at.path}"
    lines = [line for file in header_files for line in _headers(file)]
    return ServerAddress(
        ServerIdentity(name, words, trust), tuple(command), url, {**(headers or {}), **dict(lines)}, dict(env or {})
    )


def _command_name(command: Sequence[str]) -> str:
    """`npx -y @scope/server-memory@1.2` -> `server-memory`."""
    for word in command:
        names = map(_base_name, (word, *PurePath(word).parts[-2::-1]))  # …/server-memory/dist/index.js
        short = next((part for part in names if part.lower() not in GENERIC), _base_name(word))
        program = describe(short.lower())
        # These only start the server.
        runs = program.wrapper or "engine" in program.place or any(one.packages for one in program.carries)
        starts = runs or short.lower() in _STARTERS or is_interpreter(short.lower())
        if short and not word.startswith("-") and not starts and "=" not in word:
            return short
    return _base_name(command[0]) if command else ""


def _base_name(word: str) -> str:
    short = reduce(str.removesuffix, _SUFFIXES, PurePath(word.replace("\\", "/")).name.partition("@")[0])
    return plain_name(short).lstrip("._-")[:64]


def _headers(path: Path) -> Iterable[tuple[str, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            found = _HEADER.fullmatch(line.strip())
            if found is None:
                raise ProxySettingError(f"{path}:{number}: expected `Name: value`")
            yield found[1], found[2]
