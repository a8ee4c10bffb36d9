"""★ Relays lines between a client and one MCP server: a `tools/call` passes the gate, everything else passes unchanged."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct

from interlock.proxy import UNTESTED, Catalog, ListedTool, ProxyVerdict
from interlock.proxy.gate import HeldCalls, McpClient, ProxyGate, carried_meta, take_answer
from interlock.proxy.messages import (
    CALL,
    CANCELLED,
    INVALID,
    LIST,
    METHOD,
    NOT_PASSED,
    PARSE,
    SERVER,
    AmbiguousMessage,
    Key,
    OwnRequests,
    Send,
    check_fields,
    denial,
    encode_message,
    error,
    id_key,
    mimics_call,
    parse_message,
    request,
    with_notice,
)

# Requests that an untested server gets: its identity and its listings.
_OPEN = frozenset(
    "initialize ping server/discover tools/list prompts/list resources/list resources/templates/list logging/setLevel".split()
)

_LISTING = 20.0  # seconds for a server to list its tools
_PAGES = 50
Json = dict[str, Any]


class PendingRequest(Struct):
    id: Any
    method: str
    at: float
    first: bool = True  # of the pages of a listing
    notice: str = ""  # added to the response
    cancelled: bool = False  # by the client


class Relay:
    """One client, one server; drops responses of the server to calls that it was not given."""

    def __init__(self, gate: ProxyGate, client: Send, server: Send, report: Callable[[str], None]) -> None:
        self.gate, self._client, self._server, self._report = gate, client, server, report
        self.catalog = Catalog()
        self.about = McpClient()
        self._loop = asyncio.get_running_loop()
        self._pending: dict[Key, PendingRequest] = {}
        self._judging: dict[Key, asyncio.Task[None]] = {}
        # Our own requests, by side: a server cannot answer for its client's user.
        prefix = f"interlock-{secrets.token_hex(6)}"
        self._asked_client, self._asked_server = OwnRequests(client, f"{prefix}-c"), OwnRequests(server, f"{prefix}-s")
        self._tasks: set[asyncio.Task[None]] = set()
        self._pinning: asyncio.Task[None] | None = None
        self._compared: dict[str, ListedTool] = {}  # the listing last compared with the pins
        self._holding = HeldCalls(gate, self._asked_client, client, gate.config.proxy.wait_seconds)

    # from the client

    def from_client(self, line: bytes) -> None:
        """An ambiguous line is refused."""
        try:
            message = parse_message(line)
            batch = message if type(message) is list else [message]
            if not batch:
                raise AmbiguousMessage("a batch is empty")
            for one in batch:
                check_fields(one)
        except AmbiguousMessage as problem:
            return self._refuse(None, PARSE, f"{NOT_PASSED}: {problem}")
        whole = batch is not message and b"\r" not in line  # some readers end a line there
        for one in batch:
            try:
                self._message(one, line + b"\n" if whole else encode_message(one))
            except AmbiguousMessage as problem:
                self._refuse(None, PARSE, f"{NOT_PASSED}: {problem}")
        return None

    def _message(self, message: Json, line: bytes) -> None:
        if "method" not in message:
            return None if self._asked_client.answer(message) else self._server(line)
        method = message["method"]
        if type(method) is not str:
            raise AmbiguousMessage("its method is no text")
        if mimics_call(method):  # outside the protocol, and a server might take it for a tool call
            words = f"the method {method!r:.80} is none of the protocol's and could be taken for {CALL!r}"
            if "id" not in message:
                return self._report(f"{words}: it was not passed on")
            id_key(message["id"])
            return self._refuse(message["id"], METHOD, f"{NOT_PASSED}: {words}")
        if "id" not in message:
            return self._notification(method, message, line)
        key = id_key(message["id"])
        if key in self._pending or key in self._judging:
            return self._refuse(message["id"], INVALID, "this id is in use")
        if method == CALL:
            return self._judge(key, self._call(message, key))
        if method == "initialize":
            self.about = McpClient.of(message.get("params"))
            self.gate.agent = self.about.name
        if self.gate.restricted and method not in _OPEN:
            return self._judge(key, self._restricted(message, key, line))
        return self._forward(message, key, line)

    def _notification(self, method: str, message: Json, line: bytes) -> None:
        if method == CALL:
            return self._report("a tools/call without an id was not passed on")
        params = message.get("params")
        if method == CANCELLED and type(params) is dict and "requestId" in params:
            key = id_key(params["requestId"])
            if judging := self._judging.pop(key, None):  # the server has never heard of it
                judging.cancel()
                return None
            if pending := self._pending.get(key):
                pending.cancelled = True
        return self._server(line)

    def _forward(self, message: Json, key: Key, line: bytes, notice: str = "") -> None:
        params = message.get("params")
        first = not (type(params) is dict and params.get("cursor"))
        if key[1] is not None:
            self._pending[key] = PendingRequest(message["id"], message["method"], self._loop.time(), first, notice)
        self._server(line)

    def _judge(self, key: Key, work: Coroutine[Any, Any, None]) -> None:
        self._judging[key] = self._begin(work)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _restricted(self, message: Json, key: Key, line: bytes) -> None:
        """Refuses a request to an untested server, unless its trust has changed since."""
        await self.gate.report_tools(self.catalog.marks)
        self._judging.pop(key, None)
        if self.gate.trust != UNTESTED:
            return self._forward(message, key, line)
        words = f"Denied: the server is untested and is asked for nothing but its listings. {self.gate.note}".strip()
        return self._refuse(message["id"], SERVER, words)

    # a call

    async def _call(self, message: Json, key: Key) -> None:
        """The only path of a call to the server; every failure on it is a denial."""
        id = message["id"]
        try:
            answer = await self._decide_call(message)
        except Exception as problem:
            self._report(f"a call could not be judged: {type(problem).__name__}")
            answer = denial(id, f"Denied: the call could not be judged ({type(problem).__name__}).")
        finally:
            judging = self._judging.pop(key, None)
        if judging is None:
            return  # cancelled by its client
        if isinstance(answer, str):
            self._forward(message, key, encode_message(message), answer)
        else:
            self._client(answer)

    async def _decide_call(self, message: Json) -> bytes | str:
        """The response to a denied call; or, for an allowed one, the notice to add to the server's response.

        The message is changed in place, so that exactly what was judged is forwarded.
        """
        id, params = message["id"], message.get("params")
        if id is None:
            return error(id, INVALID, "a call needs an id")
        if type(params) is not dict or type(name := params.get("name")) is not str:
            return denial(id, "Denied: a call is an object with the name of a tool.")
        arguments = params.get("arguments")
        if arguments is not None and type(arguments) is not dict:
            return denial(id, "Denied: the arguments of a tool are an object.")
        params, ask, yes = take_answer(params)
        message["params"] = params
        client = self.about.for_request(params)
        self.gate.agent = client.name
        if ask and yes is not None:
            await self.gate.session.send_answer(ask, yes)
        # One that is still unlisted then is judged as destructive.
        if self.catalog.stale or name not in self.catalog.tools:
            await self._list(carried_meta(params))
        if self._pinning is not None and not self._pinning.done():
            await asyncio.shield(self._pinning)

        async def judge() -> ProxyVerdict:
            return await self.gate.decide(name, arguments or {}, self.catalog.claims(name))

        verdict = await judge()
        if verdict.allowed:
            return verdict.words
        return await self._holding.answer(id, verdict, judge, client, params, bool(ask))

    async def _list(self, params: Json) -> None:
        cursor: Any = None
        for _ in range(_PAGES):
            more = params if cursor is None else {**params, "cursor": cursor}
            try:
                result = await asyncio.wait_for(self._asked_server.ask(LIST, more), _LISTING)
            except TimeoutError:
                self._report("the server did not list its tools")
                break
            self.catalog.learn(result, cursor is None)
            cursor = result.get("nextCursor") if type(result) is dict else None
            if cursor is None:
                break
        return self._compare()

    def _compare(self) -> None:
        if self.catalog.tools != self._compared:
            self._compared = dict(self.catalog.tools)
            self._pinning = self._begin(self._pin())

    async def _pin(self) -> None:
        changed = await self.gate.report_tools(self.catalog.marks)
        for name in sorted(changed - self.catalog.changed):
            self._report(f"the tool {name!r:.80} has changed since it was pinned")
        self.catalog.changed = changed

    # from the server

    def from_server(self, line: bytes) -> None:
        try:
            message = parse_message(line)
            if type(message) is list:
                for one in message:
                    self._server_message(one, encode_message(one))
            else:
                self._server_message(message, line + b"\n")
        except AmbiguousMessage as problem:
            self._report(f"the server wrote a line that is not passed on: {problem}")

    def _server_message(self, message: Any, line: bytes) -> None:
        check_fields(message)
        if "method" in message:
            return self._server_request(message, line)
        if self._asked_server.answer(message):
            return None
        id = message.get("id")
        if id is None and "error" in message:
            return self._client(line)
        pending = self._pending.pop(id_key(id), None)
        if pending is None:
            return self._report(f"the server answered a request that it was not given ({id!r:.60})")
        if pending.method == LIST:
            self.catalog.learn(message.get("result"), pending.first)
            if not self.catalog.stale:
                self._compare()
        return self._client(encode_message(with_notice(message, pending.notice)) if pending.notice else line)

    def _server_request(self, message: Json, line: bytes) -> None:
        method = message["method"]
        if method == "notifications/tools/list_changed":
            self.catalog.stale = True
        if "id" in message and method != "ping" and self.gate.trust == UNTESTED:
            self._server(error(message["id"], SERVER, "this server is untested: its client is not asked"))
            return self._report(f"the server is untested, so that its {method!r:.60} was not passed on")
        return self._client(line)

    def fail_pending(self, why: str) -> None:
        gone, self._pending = self._pending, {}
        for pending in gone.values():
            self._refuse(pending.id, SERVER, why)
        self._asked_server.give_up()

    def expire(self, seconds: float) -> None:
        """Cancels requests that the server has not answered within so many seconds, and notifies both sides."""
        now = self._loop.time()
        for key in [key for key, one in self._pending.items() if now - one.at > seconds]:
            pending = self._pending.pop(key)
            if pending.cancelled:
                continue
            self._report(f"the server did not answer {pending.method} within {seconds:g} s")
            self._server(request(CANCELLED, {"requestId": pending.id, "reason": "no answer in time"}))
            self._refuse(pending.id, SERVER, f"the server did not answer within {seconds:g} s")

    # our own requests

    def _refuse(self, id: Any, code: int, words: str) -> None:
        self._client(error(id, code, words))

    def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
