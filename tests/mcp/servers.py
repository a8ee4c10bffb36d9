"""Real MCP servers and real MCP clients for tests: stdio and HTTP, each in both protocol eras, in front of one real daemon."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

import warm_processes
from aql_lint import lint
from daemons import Daemon, daemon

PATIENCE = 30.0
ERAS = {"2025": "legacy", "2026": "auto"}
KINDS = tuple(f"{transport}-{era}" for transport in ("stdio", "http") for era in ERAS)
_NUMBERS = itertools.count(1)


@dataclass
class Talk:
    """One client's connection, used from a test as if it were a function."""

    kind: str
    client: Client
    loop: Loop
    seen: list[str] = field(default_factory=list)  # every byte of every answer
    closing: Callable[[], None] = lambda: None

    def raw(self, tool: str, arguments: Any, **more: Any) -> types.CallToolResult:
        result = self.loop.run(self.client.call_tool(tool, arguments, **more))
        assert isinstance(result, types.CallToolResult)
        self.seen.append(result.model_dump_json())
        return result

    def call(self, tool: str, operation: str, /, **params: Any) -> dict[str, Any]:
        """The envelope of one call, linted."""
        result = self.raw(tool, {"operation": operation, "params": params})
        envelope: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
        lint(envelope, operation == "introspect")
        assert result.is_error is (
            envelope.get("error", {}).get("code") in ("INTERNAL_ERROR", "VALIDATION_INVALID_ENCODING")
        )
        return envelope

    def read(self, operation: str, /, **params: Any) -> dict[str, Any]:
        return self.call("mcp_aql_read", operation, **params)

    def create(self, operation: str, /, **params: Any) -> dict[str, Any]:
        return self.call("mcp_aql_create", operation, **params)

    def execute(self, operation: str, /, **params: Any) -> dict[str, Any]:
        return self.call("mcp_aql_execute", operation, **params)

    def tools(self) -> list[types.Tool]:
        return self.loop.run(self.client.list_tools()).tools

    def close(self) -> None:
        self.closing()


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Any], patience: float = PATIENCE) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(patience)

    def open(
        self, entering: Callable[[AsyncExitStack], Coroutine[Any, Any, Client]]
    ) -> tuple[Client, Callable[[], None]]:
        """A client that is entered and left in one task, as its task groups want it."""
        ready: Future[Client] = Future()
        leave = asyncio.Event()

        async def live() -> None:
            try:
                async with AsyncExitStack() as stack:
                    client = await entering(stack)
                    ready.set_result(client)
                    await leave.wait()
            except BaseException as error:
                if not ready.done():
                    ready.set_exception(error)
                raise

        task = asyncio.run_coroutine_threadsafe(live(), self._loop)

        def close() -> None:
            self._loop.call_soon_threadsafe(leave.set)
            task.result(PATIENCE)

        return ready.result(PATIENCE), close

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)


@dataclass
class Servers:
    """One daemon, and clients of it."""

    daemon: Daemon
    loop: Loop
    shared: dict[str, Talk] = field(default_factory=dict)
    opened: list[Talk] = field(default_factory=list)

    _signed: tuple[float, int, dict[str, str]] | None = None

    def operator(self) -> dict[str, str]:
        """The headers of an operator who signed in within the last minute: only so many are at once."""
        now, pid = time.monotonic(), self.daemon.process.pid
        if self._signed is None or now - self._signed[0] > 60 or self._signed[1] != pid:
            self._signed = now, pid, self.daemon.sign_in()
        return self._signed[2]

    @property
    def config(self) -> Path:
        return self.daemon.folder / "interlock.toml"

    def token(self, name: str = "") -> str:
        """A new agent's token: a fresh principal."""
        body = {"name": name or f"agent{next(_NUMBERS)}"}
        answer = self.daemon.here().post("/api/v1/agents", json=body, headers=self.operator())
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])

    def talk(
        self, kind: str, token: str = "", words: tuple[str, ...] = (), env: dict[str, str] | None = None, **more: Any
    ) -> Talk:
        """A new connection of a fresh principal."""
        transport, era = kind.split("-")
        token = token or self.token()

        async def enter(stack: AsyncExitStack) -> Client:
            server: Any
            if transport == "stdio":
                server = StdioServerParameters(
                    command=sys.executable, args=self.words(token, *words), env={**os.environ, **(env or {})}
                )
            else:
                http = await stack.enter_async_context(
                    httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=30)
                )
                server = streamable_http_client(f"http://127.0.0.1:{self.daemon.port}/mcp", http_client=http)
            return await stack.enter_async_context(Client(server, mode=ERAS[era], **more))

        with warm_processes.forking():
            client, close = self.loop.open(enter)
        made = Talk(kind, client, self.loop, closing=close)
        self.opened.append(made)
        return made

    def words(self, token: str, *words: str) -> list[str]:
        path = self.daemon.folder / f"token{next(_NUMBERS)}"
        path.write_text(token)
        path.chmod(0o600)
        return ["-m", "interlock", "mcp", "--config", str(self.config), "--token-file", str(path), *words]

    def waiting(self, name: str) -> list[dict[str, Any]]:
        """The tickets of an agent's name that wait for an operator."""
        answer = self.daemon.here().get("/api/v1/tickets", headers=self.operator()).json()
        return [one for one in answer["tickets"] if one["agent"]["name"] == name and one["state"] == "pending_approval"]

    def approve(self, name: str) -> None:
        """A person agrees to everything that an agent of this name waits for."""
        headers = self.operator()
        found = self.waiting(name)
        assert found, f"nothing of {name} waits"
        for one in found:
            answer = self.daemon.here().post(f"/api/v1/tickets/{one['id']}/approve", json={}, headers=headers)
            assert answer.status_code == 200, answer.text

    def start(self, talk: Talk, name: str, **params: Any) -> dict[str, Any]:
        """An execution that a person agreed to."""
        held = talk.execute("execute_agent", element_name=name, **params)
        assert held["error"]["code"] == "CONFIRMATION_REQUIRED", held
        self.approve(name)
        begun = talk.execute("execute_agent", element_name=name, **params, _confirmation=held["confirmation"]["token"])
        assert begun["success"], begun
        return dict(begun["data"])


def fresh() -> str:
    """A name nobody has used."""
    return f"builder{next(_NUMBERS)}"


@contextmanager
def serving(folder: Path, toml: str = "", policy: str = "default", anew: bool = False) -> Iterator[Servers]:
    """A daemon with two operators; the clients that were opened are closed with it."""
    with daemon(folder, toml=toml, policy=policy, anew=anew) as running:
        servers = Servers(running, Loop())
        try:
            yield servers
        finally:
            for talk in servers.opened:
                try:
                    talk.close()
                except Exception as error:  # its server may have been killed by the test
                    print(f"{talk.kind}: {type(error).__name__}")
            servers.loop.close()
            if servers.daemon is not running:  # a test has killed the first one
                servers.daemon.stop()
