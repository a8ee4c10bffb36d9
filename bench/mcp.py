"""Measures the loop over MCP: `record_execution_step` beside a bare echo tool of the same SDK, in the same run."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from bench.http import Wall, pin
from interlock.config import config_of
from interlock.identity.agents import add_agent
from interlock.identity.keys.passphrases import Kdf, enrol
from interlock.identity.operators import enrol_first, sign_in
from interlock.startup import open_state, open_store

CALLS = 150  # of each kind, in turns of TURN, so that what else the machine does meets all of them alike
TURN = 25
AGENTS = (1, 4, 16, 64)
EACH = 8  # steps of each of many agents
PASSPHRASE = "orchid lantern 47 river"
POLICY = (
    'name = "bench"\nextends = "default"\n[loop]\nstart = "allow"\nmax_autonomous_steps = 10000\nstep_ceiling = 10000\n'
)
HINT = "reading docs/setup.md to check the install steps"
ECHO = """
import asyncio, sys
import mcp_types as types
from mcp.server import Server

async def tools(context, params):
    schema = {"type": "object", "properties": {"operation": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool.model_validate({"name": "echo", "inputSchema": schema})])

async def call(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text=str(params.arguments))])

server = Server("echo", version="1", on_list_tools=tools, on_call_tool=call)

async def stdio():
    from mcp.server.stdio import stdio_server
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

def http():
    import uvicorn
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    manager = StreamableHTTPSessionManager(server)
    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            async with manager.run():
                await send({"type": "lifespan.startup.complete"})
                await receive()
            await send({"type": "lifespan.shutdown.complete"})
        else:
            await manager.asgi_app(scope, receive, send)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")

http() if sys.argv[1] == "http" else asyncio.run(stdio())
"""
Call = Callable[[], Awaitable[Any]]


@dataclass
class Kind:
    """One tool over one transport."""

    name: str
    call: Call
    again: Call | None = None  # what begins anew before each turn: fifty of the same in one execution raise the tier
    times: list[float] = field(default_factory=list)

    def at(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1e3


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with world(Path(folder)) as made:
            await made.report()


@dataclass
class World:
    """A daemon, an echo server, and clients of both."""

    folder: Path
    port: int
    echo_port: int
    daemon: int
    stack: AsyncExitStack
    tokens: list[str]

    async def report(self) -> None:
        began = time.perf_counter()
        dongle = await self.stdio(["-m", "interlock", "mcp", "--config", str(self.folder / "interlock.toml")])
        await listed(dongle)
        ready = time.perf_counter() - began
        began = time.perf_counter()
        echo = await self.stdio([str(self.folder / "echo.py"), "stdio"])
        await listed(echo)
        echo_ready = time.perf_counter() - began
        here = await self.http(self.port, self.tokens[0])
        plain = await self.http(self.echo_port, "-")
        kinds = [
            Kind("echo, stdio", lambda: echo.call_tool("echo", arguments("e"))),
            Kind("record_execution_step, stdio", stepping(dongle, "one"), lambda: begun(dongle, "one")),
            Kind("echo, HTTP", lambda: plain.call_tool("echo", arguments("e"))),
            Kind("record_execution_step, HTTP", stepping(here, "two"), lambda: begun(here, "two")),
        ]
        for kind in kinds:  # what is imported and remembered first
            await measured(kind, 5)
            kind.times.clear()
        for _ in range(CALLS // TURN):
            for kind in kinds:
                await measured(kind, TURN)
        print(
            "\nrecord_execution_step over MCP, one client, judged and stored before the answer; beside an echo of the same SDK\n"
        )
        print(f"{'':<34}{'p50':>10}{'p99':>10}{'x echo':>10}")
        for kind, base in ((kinds[0], kinds[0]), (kinds[1], kinds[0]), (kinds[2], kinds[2]), (kinds[3], kinds[2])):
            print(f"{kind.name:<34}{kind.at(0.5):>7.2f} ms{kind.at(0.99):>7.2f} ms{kind.at(0.5) / base.at(0.5):>10.2f}")
        print("aim: at most 1.4 times the echo")
        print(f"\nstart-up until the tools are listed: {ready * 1e3:.0f} ms (echo {echo_ready * 1e3:.0f} ms)")
        await self.memory()
        await self.many()

    async def memory(self) -> None:
        servers = [(words(pid), resident(pid)) for pid in children() if words(pid)]
        for said, size in servers:
            print(f"memory: {said:<20}{size:>6.0f} MB")
        print(f"memory: {'the daemon':<20}{resident(self.daemon):>6.0f} MB")

    async def many(self) -> None:
        print("\nagents at once over HTTP, each a principal and connection of its own\n")
        print(f"{'':<10}{'steps/s':>10}{'p50':>12}{'p99':>12}{'echo/s':>10}{'echo p50':>12}")
        for count in AGENTS:
            talks = [await self.http(self.port, token) for token in self.tokens[:count]]
            for at, talk in enumerate(talks):
                await begun(talk, f"many{at}")
            calls = [stepping(talk, f"many{at}") for at, talk in enumerate(talks)]
            steps, rate = await together(calls)
            echoes = [await self.http(self.echo_port, "-") for _ in range(count)]
            plain, echo_rate = await together([_echo(talk) for talk in echoes])
            print(
                f"{count:<10}{rate:>10.0f}{steps.at(0.5):>9.1f} ms{steps.at(0.99):>9.1f} ms{echo_rate:>10.0f}{plain.at(0.5):>9.1f} ms"
            )

    async def stdio(self, words: list[str]) -> Client:
        server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        return await self.stack.enter_async_context(Client(server, mode="legacy"))

    async def http(self, port: int, token: str) -> Client:
        headers = {"authorization": f"Bearer {token}"}
        http = await self.stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        server = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        return await self.stack.enter_async_context(Client(server, mode="auto"))


def _echo(talk: Client) -> Call:
    return lambda: talk.call_tool("echo", arguments("e"))


async def begun(talk: Client, name: str) -> None:
    """A new execution."""
    started = await talk.call_tool("mcp_aql_execute", {"operation": "execute_agent", "params": {"element_name": name}})
    assert '"success":true' in started.content[0].text, started  # type: ignore[union-attr]


def stepping(talk: Client, name: str) -> Call:
    """A function that reports one step that may go on."""

    async def step() -> None:
        said = await talk.call_tool("mcp_aql_create", arguments(name))
        assert '"continue":true' in said.content[0].text, said  # type: ignore[union-attr]

    return step


def arguments(name: str) -> dict[str, Any]:
    return {"operation": "record_execution_step", "params": {"element_name": name, "next_action_hint": HINT}}


async def listed(talk: Client) -> None:
    assert (await talk.list_tools()).tools


async def measured(kind: Kind, count: int) -> None:
    if kind.again is not None:
        await kind.again()
    for _ in range(count):
        began = time.perf_counter()
        await kind.call()
        kind.times.append(time.perf_counter() - began)


async def together(calls: list[Call]) -> tuple[Kind, float]:
    kinds = [Kind("", call) for call in calls]
    began = time.perf_counter()
    await asyncio.gather(*(measured(kind, EACH) for kind in kinds))
    taken = time.perf_counter() - began
    return Kind("", calls[0], times=[one for kind in kinds for one in kind.times]), len(calls) * EACH / taken


async def listening(port: int) -> None:
    """Waits until somebody answers there."""
    for _ in range(600):
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            return writer.close()
    raise TimeoutError("the echo did not start")


def children() -> list[int]:
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return [int(word) for word in path.read_text().split()]


def words(pid: int) -> str:
    argv = Path(f"/proc/{pid}/cmdline").read_bytes()
    named = {b"serve": "", b"http": "", b"echo.py": "echo over stdio", b"mcp": "interlock mcp"}
    return next((said for word, said in named.items() if word in argv), "")


def resident(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def prepared(folder: Path, count: int) -> list[str]:
    """An operator and agents in the store, before the daemon has it."""
    config = config_of({"store": {"url": f"sqlite://{folder}/state"}}, environ={})
    store = open_store(config.store)
    try:
        state = open_state(config, store, Wall())
        enrol_first(
            state, *enrol("ana", PASSPHRASE, None, now=time.time(), by="bench", roles=("admin",), kdf=Kdf(1, 64, 1))
        )
        _, session = sign_in(state, "ana", PASSPHRASE, "bench")
        return [add_agent(state, session, f"bench{at}")[0] for at in range(count)]
    finally:
        store.close()


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    (folder / "policy.toml").write_text(POLICY)
    (folder / "echo.py").write_text(ECHO)
    (folder / "interlock.toml").write_text(
        f'[store]\nurl = "sqlite://{folder}/state"\n[policy]\nuse = "{folder}/policy.toml"\n[limits]\nrequests_per_minute = 10000000\n'
    )
    tokens = prepared(folder, max(AGENTS))
    daemon = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "interlock", "serve", "--config", str(folder / "interlock.toml"), "--port", "0",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    echo_port = 20_000 + os.getpid() % 20_000
    echo = await asyncio.create_subprocess_exec(sys.executable, str(folder / "echo.py"), "http", str(echo_port))
    try:
        assert daemon.stdout is not None
        port = 0
        while not port:
            line = (await daemon.stdout.readline()).decode()
            assert line, "the daemon did not start"
            port = int(line.split("http://")[1].split()[0].rpartition(":")[2]) if "http://" in line else 0
        await listening(echo_port)
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 1:  # the servers on one core, the client on the others
            for pid in (daemon.pid, echo.pid):
                pin(pid, cores[-1])
        async with AsyncExitStack() as stack:
            yield World(folder, port, echo_port, daemon.pid, stack, tokens)
    finally:
        for process in (daemon, echo):
            process.terminate()
            await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
