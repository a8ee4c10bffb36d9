"""Real `interlock serve` processes for tests, and the app in this process with a clock that tests move."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import warm_processes
from clock import TestClock
from gate import create_folder, shipped
from interlock.config import Config, config_of
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.operators import add_operator, enrol_first, sign_in
from interlock.records import OperatorRow
from interlock.runtime.state import State
from interlock.server.app import DaemonApp, build
from interlock.startup import open_state, open_store

QUICK = Kdf(1, 64, 1)  # a passphrase that is cheap to guess, so that tests are quick
PASSPHRASE = "orchid lantern 47 river"
NAMES = {"ana": ("admin",), "bo": ()}  # operators and their roles
BASE = "http://127.0.0.1:7310"
TLS = ssl.create_default_context()  # no client here speaks it, and each would take 20 ms to make one of its own


def folder_config(folder: Path, **tables: Any) -> Config:
    """A configuration whose state is in a folder."""
    given: dict[str, Any] = {"store": {"url": f"sqlite://{folder}/state"}, "policy": {"use": "spec"}, **tables}
    return config_of(given, environ={})


@dataclass
class InProcessDaemon:
    """The daemon's app in this process; `call` sends one request, with the client address as the caller."""

    state: State
    daemon: DaemonApp
    clock: TestClock
    config: Config
    agents: dict[str, str] = field(default_factory=dict)

    def sign_in(self, name: str = "ana") -> dict[str, str]:
        """The headers of a signed-in operator."""
        token, _ = sign_in(self.state, name, PASSPHRASE, "test")
        return bearer(token)

    def agent(self, name: str = "agent_123", tier: str = "") -> dict[str, str]:
        """The headers of an agent with a token."""
        answer = self.call("POST", "/api/v1/agents", {"name": name, "trust_tier": tier}, self.sign_in())
        return bearer(answer.json()["token"])

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        peer: str = "",
        content: bytes | None = None,
    ) -> httpx.Response:
        """One request; `peer` is who the kernel says is on the unix socket."""
        return asyncio.run(self.acall(method, path, body, headers, peer, content))

    async def acall(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        peer: str = "",
        content: bytes | None = None,
    ) -> httpx.Response:
        self.daemon.start()
        transport = httpx.ASGITransport(self.daemon, client=(peer, 1) if peer else ("127.0.0.1", 5))  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            return await client.request(method, path, json=body, content=content, headers=headers)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@contextmanager
def in_process_daemon(folder: Path, **tables: Any) -> Iterator[InProcessDaemon]:
    """The app with two operators: ana, an admin, and bo."""
    config, clock = folder_config(folder, **tables), TestClock()
    create_folder(folder / "state")
    store = open_store(config.store)
    state = open_state(config, store, clock, known=shipped(config))
    enrol_operators(state)
    app = build(state, config, "test")
    try:
        yield InProcessDaemon(state, app, clock, config)
    finally:
        app.close()
        store.close()


def first_row(now: float) -> tuple[OperatorRow, bytes]:
    return enrol("ana", PASSPHRASE, None, now=now, by="terminal", roles=("admin",), kdf=QUICK)


def enrol_operators(state: State) -> None:
    """Enrols the operators, as the terminal and an admin do."""
    enrol_first(state, *first_row(state.clock.now()))
    _, session = sign_in(state, "ana", PASSPHRASE, "test")
    for name, roles in NAMES.items():
        if name != "ana":
            add_operator(state, session, name, PASSPHRASE, roles, kdf=QUICK)


@dataclass
class Daemon:
    """A real process."""

    process: subprocess.Popen[bytes]
    folder: Path
    port: int
    said: str
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def socket(self) -> Path:
        return self.folder / "state" / "interlock.sock"

    def here(self, **more: Any) -> httpx.Client:
        """A client on the unix socket."""
        none_kept = httpx.Limits(max_keepalive_connections=0)  # a group of tests asks for hundreds of clients
        transport = httpx.HTTPTransport(uds=str(self.socket), retries=0, verify=TLS, limits=none_kept)
        return self._remember(httpx.Client(transport=transport, base_url="http://interlock", timeout=60, **more))

    def tcp(self, **more: Any) -> httpx.Client:
        base = f"http://127.0.0.1:{self.port}"
        return self._remember(httpx.Client(base_url=base, timeout=60, trust_env=False, verify=TLS, **more))

    def sign_in(self, name: str = "ana") -> dict[str, str]:
        answer = self.here().post("/api/v1/session", json={"operator": name, "passphrase": PASSPHRASE})
        assert answer.status_code == 200, answer.text
        return bearer(answer.json()["token"])

    def stop(self, sig: int = signal.SIGTERM) -> int:
        """Sends a signal and waits for the end."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(60)

    def errors(self) -> str:
        return (self.folder / "stderr").read_text()

    def _remember(self, client: httpx.Client) -> httpx.Client:
        self.clients.append(client)
        return client


def write_config(folder: Path, toml: str = "", policy: str = "spec") -> Path:
    path = folder / "interlock.toml"
    path.write_text(f'[store]\nurl = "sqlite://{folder}/state"\n[policy]\nuse = "{policy}"\n{toml}\n')
    return path


def enrol_in_folder(folder: Path) -> None:
    """Enrols operators in the state folder, before a daemon opens it."""
    config = folder_config(folder)
    create_folder(folder / "state")
    store = open_store(config.store)
    try:
        enrol_operators(open_state(config, store, _Wall(), known=shipped(config)))
    finally:
        store.close()


class _Wall:
    def now(self) -> float:
        return time.time()


def start_daemon(folder: Path, *words: str, config: Path | None = None, anew: bool = False) -> Daemon:
    """Starts a daemon and waits until it answers or has ended; with `anew` it has its own command line and environment in /proc."""
    path = config or folder / "interlock.toml"
    if not path.exists():
        write_config(folder)
    with (folder / "stderr").open("ab") as errors:
        process = (subprocess.Popen if anew else warm_processes.Popen)(
            [*warm_processes.INTERLOCK, "serve", "--config", str(path), "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=errors,
            env={key: value for key, value in os.environ.items() if key != "MCPAQL_SAFETY_LOOP"},
        )
    assert process.stdout is not None
    said, port = [], 0
    for raw in process.stdout:
        line = raw.decode()
        said.append(line)
        found = re.search(r"http://\S+:(\d+)", line)
        port = port or (int(found[1]) if found else 0)
        if "Ctrl-C" in line:
            break
    return Daemon(process, folder, port, "".join(said))


@contextmanager
def daemon(
    folder: Path, *words: str, toml: str = "", policy: str = "spec", people: bool = True, anew: bool = False
) -> Iterator[Daemon]:
    """A real daemon on a free port and a unix socket, with two operators."""
    if people and not (folder / "state" / "state.db").exists():
        enrol_in_folder(folder)
    running = start_daemon(folder, *words, config=write_config(folder, toml, policy), anew=anew)
    try:
        yield running
    finally:
        for client in running.clients:
            client.close()
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
        assert running.process.stdout is not None
        running.process.stdout.close()
