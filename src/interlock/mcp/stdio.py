"""MCP over stdio as a client of the daemon: plain tool calls bypass the MCP library, every other message is handed to it."""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
import uvloop
from mcp.server.stdio import stdio_server
from msgspec import Struct, field

from interlock.client import NoDaemon
from interlock.client.connection import FAREWELL, DaemonLink, DaemonSession
from interlock.client.lines import LineReader, LineSplitter, LineWriter, claim_stdin, claim_stdout
from interlock.config import Config
from interlock.error_codes import LoopProblem
from interlock.loop.protocol.envelope import check_request
from interlock.loop.protocol.gatekeeper import ANY
from interlock.loop.protocol.tools import ToolNaming
from interlock.mcp import instructions
from interlock.mcp.server import (
    PERMISSION_TOOL,
    Context,
    ToolCall,
    build_server,
    decode_message,
    decoding_problem,
    offered_token,
    reply_text,
    unknown_tool,
)
from interlock.model import Confidential, Json
from interlock.strict_json import table_in

SOON = 0.25  # seconds in which a reply is passed on by itself
LINGER = 0.1  # seconds for the last calls when the client has hung up
MOST = 64  # calls in progress at once
THREADS = 32  # calls at a time; each waits for the daemon and for a service
LONGEST = 1 << 20  # bytes of a line
_CANCELS = b"notifications/cancelled"

Reply = Json
Begin = Callable[[ToolCall], Coroutine[Any, Any, Reply] | None]


class _Flight(Struct, eq=False):
    line: bytes
    call: ToolCall
    task: asyncio.Task[Reply]
    late: asyncio.TimerHandle


class FastPath:
    """Sits between the wire and the library, to which it is both stdin and stdout."""

    def __init__(self, begin: Begin, out: LineWriter) -> None:
        """`begin` starts a call, or returns None for one that is not plain."""
        self._begin, self._out = begin, out
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._flights: dict[int | str, _Flight] = {}
        self._handed_over: dict[int | str, _Flight] = {}  # the library will claim them
        self._open = False  # the handshake is over: calls are answered

    def take(self, line: bytes) -> None:
        if self._open and self._start_plain(line):
            return
        if _CANCELS in line:
            for flight in list(self._flights.values()):
                self._hand_over(flight)
        self._lines.put_nowait(decode_message(line))

    def end(self) -> None:
        self._lines.put_nowait(None)

    def claim(self, call: ToolCall) -> asyncio.Task[Reply] | None:
        """For exactly this request; returned once, then None."""
        flight = self._handed_over.pop(call.who, None)
        return flight.task if flight is not None and flight.call == call else None  # an id may be used again

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line
        await asyncio.sleep(LINGER)
        for flight in list(self._flights.values()):
            yield self._take_out(flight)  # the library ends calls in progress

    async def write(self, text: str) -> None:
        if not self._open and '"protocolVersion"' in text:  # whether this accepts the handshake
            self._open = "protocolVersion" in table_in(json.loads(text), "result")
        self._out.put(text.encode())
        await self._out.wait_for_room()

    async def flush(self) -> None:
        """Does nothing: `write` does not buffer."""

    def _start_plain(self, line: bytes) -> bool:
        if b'"tools/call"' not in line or len(line) > LONGEST or len(self._flights) >= MOST:
            return False
        call = _call_of(line)
        if call is None or call.who in self._flights or (work := self._begin(call)) is None:
            return False
        task = self._loop.create_task(work)
        late = self._loop.call_later(SOON, lambda: self._hand_over(self._flights[call.who]))
        flight = self._flights[call.who] = _Flight(line, call, task, late)
        task.add_done_callback(lambda _: self._finish(flight))
        return True

    def _finish(self, flight: _Flight) -> None:
        task, call = flight.task, flight.call
        if self._flights.get(call.who) is not flight:
            return  # the library has it
        if task.cancelled() or task.exception() is not None or offered_token(task.result().get("envelope", {})):
            self._hand_over(flight)
        else:
            self._forget(flight)
            text, failed = reply_text(task.result(), call.tool)
            result = {"content": [{"text": text, "type": "text"}], "isError": failed}  # as the library would write it
            self._out.put(msgspec.json.encode({"jsonrpc": "2.0", "id": call.who, "result": result}) + b"\n")

    def _hand_over(self, flight: _Flight) -> None:
        self._lines.put_nowait(self._take_out(flight))

    def _take_out(self, flight: _Flight) -> str:
        self._forget(flight)
        self._handed_over[flight.call.who] = flight
        return decode_message(flight.line)

    def _forget(self, flight: _Flight) -> None:
        flight.late.cancel()
        del self._flights[flight.call.who]


class _CallParams(Struct, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any]
    meta: dict[Literal["progressToken"], Any] = field(default_factory=dict, name="_meta")


class _PlainCall(Struct, forbid_unknown_fields=True):
    """A line of the usual form; the library judges every other."""

    jsonrpc: Literal["2.0"]
    id: int | str
    method: Literal["tools/call"]
    params: _CallParams


_DECODER = msgspec.json.Decoder(_PlainCall)


def _call_of(line: bytes) -> ToolCall | None:
    try:
        found = _DECODER.decode(line)
        arguments = found.params.arguments
        check_request(arguments)
    except (ValueError, RecursionError, LoopProblem):
        return None
    return None if decoding_problem(arguments) else ToolCall(found.params.name, arguments, found.id)


_ENDPOINTS = ("create", "read", "execute", ANY)  # those that the loop has operations for
GREETING = 5.0  # seconds; a slower daemon is assumed to enforce
_PERMISSION: dict[str, Any] = {
    "name": PERMISSION_TOOL,
    "description": "Decides one tool call, for a client's permission prompt. Other operations: see introspect.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "tool_name": {"type": "string"},
            "input": {"type": "object", "additionalProperties": True},
            "tool_use_id": {"type": "string"},
        },
        "required": ["tool_name", "input"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}


class ServerOptions(Confidential, Struct, frozen=True):
    HIDDEN = ("token",)

    naming: ToolNaming = field(default_factory=ToolNaming)
    policy: str = ""  # its text
    mode: str = ""
    strict: bool = False
    permission_tool: bool = False
    token: str = ""  # of the agent, where it has one

    @property
    def wire(self) -> dict[str, Any]:
        naming = {"mode": self.naming.mode, "prefix": self.naming.prefix}
        found = {**naming, "policy": self.policy, "safetyMode": self.mode, "strict": self.strict}
        return {key: value for key, value in found.items() if value}


class SocketBackend:
    def __init__(self, link: DaemonLink, options: ServerOptions) -> None:
        self.link, self._options, self._wanted = link, options, options.wire
        self.fast_path: FastPath | None = None  # may have started calls before the library asks for them
        self.local: Any = None  # lists the tools and answers the calls in this process, in threads
        self._pool = ThreadPoolExecutor(THREADS, "call")
        self.session = DaemonSession(link)

    def who(self, context: Context) -> Any:
        """The request's id; the kernel tells the daemon who sent it."""
        return context.request_id

    def session_of(self, who: Any) -> str:
        return self.session.id

    async def mode(self) -> str:
        """The mode in force; empty while the daemon does not answer, as nothing is allowed then."""
        with suppress(NoDaemon, OSError):
            found = await self.link.post("/aql/tools", self._wanted, patience=GREETING, start=False)
            return str(found.get("safetyLoop", "")) if isinstance(found, dict) else ""
        return ""

    async def tools(self, who: Any) -> list[dict[str, Any]]:
        if self.local is not None:
            return list(await self._in_pool(self.local.tools))
        found = await self.link.post("/aql/tools", self._wanted)
        if not isinstance(found, dict) or "tools" not in found:
            raise NoDaemon("the daemon did not list its tools")
        return [*found["tools"], *([_PERMISSION] if self._options.permission_tool else [])]

    async def call(self, call: ToolCall) -> Json:
        """Claims the one that the fast path has started, if any."""
        if self.local is not None:
            return dict(await self._in_pool(self.local.call, call.tool, call.arguments))
        work = (self.fast_path.claim(call) if self.fast_path is not None else None) or self.begin(call)
        if work is None:
            raise unknown_tool(call.tool)
        return await work

    def begin(self, call: ToolCall) -> Coroutine[Any, Any, Json] | None:
        """None for an unknown tool, and where it is answered in this process."""
        if self.local is not None:
            return None
        endpoint, arguments = self._options.naming.endpoint_of(call.tool), call.arguments
        if call.tool == PERMISSION_TOOL and self._options.permission_tool:
            endpoint, arguments = ANY, {"operation": PERMISSION_TOOL, "params": call.arguments}
        body = {**self._wanted, "endpoint": endpoint, "arguments": arguments, "session": self.session.id}
        return self._post_call(body) if endpoint in _ENDPOINTS else None

    async def _post_call(self, body: Json) -> Json:
        found = await self.link.post("/aql", body)
        if not isinstance(found, dict) or "envelope" not in found or "isError" not in found:
            raise NoDaemon("the daemon did not answer the call")
        return found

    async def _in_pool(self, work: Any, *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *given)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def ask(self, who: Any, token: str) -> Json | None:
        return await self.session.question(token)

    async def elicited(self, who: Any, ask: str, approve: bool) -> bool:
        return await self.session.send_answer(ask, approve)


def run(config: Config, config_path: Path | None, options: ServerOptions, version: str) -> int:
    async def work() -> None:
        remote = SocketBackend(DaemonLink(config, config_path, options.token), options)
        await serve(remote, build_server(remote, version, ""))

    return run_quietly(work())


def run_quietly(work: Coroutine[Any, Any, None]) -> int:
    """Runs a server without logging: clients store stderr, and calls may carry codes."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    uvloop.run(work)
    return 0


async def serve(remote: SocketBackend, server: Any, more: str = "") -> None:
    """In a session that the daemon holds, until stdin ends."""
    with suppress(NoDaemon, OSError):
        await remote.link.reach()  # every answer reports a daemon that cannot be started
    server.instructions = instructions(await remote.mode()) + more
    holding = asyncio.create_task(remote.session.hold())
    out = LineWriter(claim_stdout())
    try:
        remote.fast_path = ends = FastPath(remote.begin, out)
        LineReader(claim_stdin(), LineSplitter(ends.take), ends.end).start()
        async with stdio_server(stdin=ends, stdout=ends) as (read, write):  # type: ignore[arg-type]
            await server.run(read, write, server.create_initialization_options())
    finally:
        holding.cancel()
        await remote.session.end()
    await out.wait_until_read(FAREWELL)
