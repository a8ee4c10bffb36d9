"""Answers plain tool calls whose reply comes at once without the MCP library; every other message is handed to it."""

# A call is made once. Where its reply is late or needs more than forwarding, the line goes to the library after all,
# which claims the call that was started for it.

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, NoReturn

from msgspec import Struct

from interlock.loop.protocol.envelope import AqlProblem, check_request
from interlock.mcp.server import ToolCall, offered_token, reply_text
from interlock.mcp.wire import LineWriter, decode_message, decoding_problem

SOON = 0.25  # seconds in which a reply is passed on by itself
LINGER = 0.1  # seconds in which the last calls are answered when the client has hung up
MOST = 64  # calls in progress at once
LONGEST = 1 << 20  # bytes of a line
_CALL = {"jsonrpc", "id", "method", "params"}
_PARAMS = {"name", "arguments", "_meta"}
_CANCELS = b"notifications/cancelled"

Reply = Mapping[str, Any]
Begin = Callable[[ToolCall], Coroutine[Any, Any, Reply] | None]


class _Flight(Struct, eq=False):
    """One call in progress."""

    id: int | str
    line: bytes
    call: ToolCall
    task: asyncio.Task[Reply]
    late: asyncio.TimerHandle


class FastPath:
    """Sits between the wire and the library, to which it is both stdin and stdout."""

    def __init__(self, begin: Begin, out: LineWriter) -> None:
        """`begin` starts a call, or returns None for an unknown tool."""
        self._begin, self._out = begin, out
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._flights: dict[int | str, _Flight] = {}
        self._handed_over: dict[int | str, _Flight] = {}  # handed over: the library will claim them
        self._opening: Any = None  # the id of the handshake
        self._open = False  # the handshake is over: calls are answered

    def take(self, line: bytes) -> None:
        """Takes one line of the client."""
        if self._open and self._start_plain(line):
            return
        if not self._open and b'"initialize"' in line:
            self._opening = _id_of(line)
        if _CANCELS in line:
            for flight in list(self._flights.values()):
                self._hand_over(flight)
        self._lines.put_nowait(decode_message(line))

    def end(self) -> None:
        """Marks the end of the client's input."""
        self._lines.put_nowait(None)

    def claim(self, call: ToolCall) -> asyncio.Task[Reply] | None:
        """The call already started for exactly this request; returned once, then None."""
        flight = self._handed_over.pop(call.who, None)
        if flight is None or (flight.call.tool, flight.call.arguments) != (call.tool, call.arguments):
            return None  # the id was used before for another call
        return flight.task

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line
        await asyncio.sleep(LINGER)
        for flight in list(self._flights.values()):
            yield self._take_out(flight)  # the library ends calls in progress

    async def write(self, text: str) -> None:
        if self._opening is not None and not self._open:
            self._open = _accepts(text, self._opening)
        self._out.put(text.encode())
        await self._out.wait_for_room()

    async def wait_until_read(self, seconds: float) -> None:
        """Waits until the client has read everything, at most this long."""
        await self._out.wait_until_read(seconds)

    async def flush(self) -> None:
        """Does nothing: `write` does not buffer."""

    def _start_plain(self, line: bytes) -> bool:
        """Starts the call in a line where it is a plain one; whether it was."""
        if b'"tools/call"' not in line or len(line) > LONGEST or len(self._flights) >= MOST:
            return False
        found = _call_of(line)
        if found is None or found[0] in self._flights:
            return False
        id, call = found
        work = self._begin(call)
        if work is None:
            return False
        task = self._loop.create_task(work)
        flight = _Flight(id, line, call, task, self._loop.call_later(SOON, self._is_late, id))
        self._flights[id] = flight
        task.add_done_callback(lambda _: self._finish(flight))
        return True

    def _is_late(self, id: int | str) -> None:
        self._hand_over(self._flights[id])

    def _finish(self, flight: _Flight) -> None:
        if self._flights.get(flight.id) is not flight:
            return  # the library has it
        task = flight.task
        if task.cancelled() or task.exception() is not None or offered_token(task.result().get("envelope", {})):
            self._hand_over(flight)
        else:
            self._forget(flight)
            self._out.put(_answer(flight.id, task.result(), flight.call.tool))

    def _hand_over(self, flight: _Flight) -> None:
        self._lines.put_nowait(self._take_out(flight))

    def _take_out(self, flight: _Flight) -> str:
        self._forget(flight)
        self._handed_over[flight.id] = flight
        return decode_message(flight.line)

    def _forget(self, flight: _Flight) -> None:
        flight.late.cancel()
        del self._flights[flight.id]


def _call_of(line: bytes) -> tuple[int | str, ToolCall] | None:
    """The call in a line that is nothing else; None for any unusual line, which the library judges."""
    try:
        message = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or set(message) != _CALL or message["method"] != "tools/call":
        return None
    id, params = message["id"], message["params"]
    if message["jsonrpc"] != "2.0" or type(id) not in (int, str) or not isinstance(params, dict):
        return None
    name, arguments, meta = params.get("name"), params.get("arguments"), params.get("_meta", {})
    if not _PARAMS.issuperset(params) or not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    if not isinstance(meta, dict) or any(key != "progressToken" for key in meta) or decoding_problem(arguments):
        return None
    try:
        check_request(arguments)
    except AqlProblem:
        return None
    return id, ToolCall(name, arguments)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _answer(id: int | str, reply: Reply, tool: str) -> bytes:
    """The response, as the library would write it."""
    text, failed = reply_text(reply, tool)
    result = {"content": [{"text": text, "type": "text"}], "isError": failed}
    response = {"jsonrpc": "2.0", "id": id, "result": result}
    return json.dumps(response, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _id_of(line: bytes) -> Any:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message.get("id") if isinstance(message, dict) and message.get("method") == "initialize" else None


def _accepts(text: str, id: Any) -> bool:
    """Whether this response accepts the handshake."""
    message = json.loads(text)
    return message.get("id") == id and "protocolVersion" in (message.get("result") or {})
