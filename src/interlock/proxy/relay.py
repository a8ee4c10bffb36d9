"""★ Relays lines between a client and one MCP server: a `tools/call` passes the gate, everything else passes unchanged."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.proxy import UNTESTED, Catalog, ListedTool, ProxyGate, ProxyVerdict
from interlock.proxy.held_calls import HeldCalls, McpClient, carried_meta, take_answer
from interlock.proxy.messages import (
    CALL,
    INVALID,
    LIST,
    METHOD,
    PARSE,
    SERVER,
    AmbiguousMessage,
    Key,
    check_fields,
    denial,
    encode_message,
    error,
    id_key,
    mimics_call,
    parse_message,
    with_notice,
)

# What an untested server is asked all the same: who it is, and what it has.
_OPEN = frozenset(
    "initialize ping server/discover tools/list prompts/list resources/list resources/templates/list logging/setLevel".split()
)
_LISTING = 20.0  # seconds in which a server says what it has
_PAGES = 50
Send = Callable[[bytes], None]
Json = dict[str, Any]


@dataclass(slots=True)
class PendingRequest:
    """A request that the server has not answered yet."""

    id: Any
    method: str
    at: float
    first: bool = True  # of the pages of a listing
    notice: str = ""  # what its client is told beside the answer
    given_up: bool = False  # by the client


class Relay:
    """One client, one server; nothing that the server says can be taken for the answer to a call that it was not given."""

    def __init__(self, gate: ProxyGate, client: Send, server: Send, report: Callable[[str], None]) -> None:
        self.gate, self._client, self._server, self._report = gate, client, server, report
        self.catalog = Catalog()
        self.about = McpClient()
        self._loop = asyncio.get_running_loop()
        self._asked: dict[Key, PendingRequest] = {}
        self._judging: dict[Key, asyncio.Task[None]] = {}
        # Requests of our own. Each side answers its own alone: a server must not say yes for its client's user.
        self._own: dict[Send, dict[str, asyncio.Future[Any]]] = {client: {}, server: {}}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pinning: asyncio.Task[None] | None = None
        self._compared: dict[str, ListedTool] = {}  # with what was pinned
        self._prefix, self._number = f"interlock-{secrets.token_hex(6)}-", 0
        self._holding = HeldCalls(gate, self._prompt, self._notify, gate.config.proxy.wait_seconds)

    # from the client

    def from_client(self, line: bytes) -> None:
        """Takes one line; what has no one reading goes no further."""
        try:
            message = parse_message(line)
            if type(message) is list:
                return self._batch(message)
            if type(message) is not dict:
                raise AmbiguousMessage("a message is an object")
            check_fields(message)
            forward = encode_message(message) if b"\r" in line else line + b"\n"  # some readers end a line there
            self._message(message, forward)
        except AmbiguousMessage as problem:
            self._client(encode_message(error(None, PARSE, f"Interlock did not pass this on: {problem}")))
        return None

    def _batch(self, messages: list[Any]) -> None:
        """Each by itself: what is judged and what is not must not wait for each other."""
        if not messages:
            raise AmbiguousMessage("a batch is empty")
        for message in messages:
            if type(message) is not dict:
                raise AmbiguousMessage("a message is an object")
            check_fields(message)
        for message in messages:
            try:
                self._message(message, encode_message(message))
            except AmbiguousMessage as problem:
                self._client(encode_message(error(None, PARSE, f"Interlock did not pass this on: {problem}")))

    def _message(self, message: Json, line: bytes) -> None:
        method = message.get("method")
        if "method" not in message:
            return self._response(message, line)
        if type(method) is not str:
            raise AmbiguousMessage("its method is no text")
        if mimics_call(method):
            return self._mimics(method, message)
        if "id" not in message:
            return self._notification(method, message, line)
        key = id_key(message["id"])
        if key in self._asked or key in self._judging:
            return self._client(encode_message(error(message["id"], INVALID, "this id is in use")))
        if method == CALL:
            return self._judge(key, self._call(message, key))
        if method == "initialize":
            self.about = McpClient.greeting(message.get("params"))
            self.gate.agent = self.about.name
        if self.gate.restricted and method not in _OPEN:
            return self._judge(key, self._restricted(message, key, line))
        return self._forward(message, key, line)

    def _mimics(self, method: str, message: Json) -> None:
        """A method that the protocol does not have, and that a server may take for a call of a tool."""
        words = f"the method {method!r:.80} is none of the protocol's and could be taken for {CALL!r}"
        if "id" not in message:
            return self._report(f"{words}: it was not passed on")
        id_key(message["id"])
        return self._client(encode_message(error(message["id"], METHOD, f"Interlock did not pass this on: {words}")))

    def _notification(self, method: str, message: Json, line: bytes) -> None:
        if method == CALL:
            return self._report("a tools/call without an id was not passed on")
        params = message.get("params")
        if method == "notifications/cancelled" and type(params) is dict and "requestId" in params:
            judging = self._judging.pop(id_key(params["requestId"]), None)
            if judging is not None:  # the server has never heard of it
                judging.cancel()
                return None
            asked = self._asked.get(id_key(params["requestId"]))
            if asked is not None:
                asked.given_up = True
        return self._server(line)

    def _response(self, message: Json, line: bytes) -> None:
        own = self._own[self._client].pop(message["id"], None) if type(message.get("id")) is str else None
        if own is None:
            return self._server(line)
        if not own.done():
            own.set_result(message.get("result"))
        return None

    def _forward(self, message: Json, key: Key, line: bytes, notice: str = "") -> None:
        params = message.get("params")
        first = not (type(params) is dict and params.get("cursor"))
        if key[1] is not None:
            self._asked[key] = PendingRequest(message["id"], message["method"], self._loop.time(), first, notice)
        self._server(line)

    def _judge(self, key: Key, work: Coroutine[Any, Any, None]) -> None:
        self._judging[key] = self._begin(work)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _restricted(self, message: Json, key: Key, line: bytes) -> None:
        """What an untested server is not asked; its trust may be another by now."""
        await self.gate.standing(self.catalog.marks)
        self._judging.pop(key, None)
        if self.gate.trust != UNTESTED:
            return self._forward(message, key, line)
        words = f"Denied: it lists what it has, and nothing else is asked of it. {self.gate.note}".strip()
        return self._client(encode_message(error(message["id"], SERVER, words)))

    # a call

    async def _call(self, message: Json, key: Key) -> None:
        """The one way to the server for a call; whatever goes wrong on it is a denial."""
        id = message["id"]
        try:
            answer = await self._judged(message)
        except Exception as problem:
            self._report(f"a call could not be judged: {type(problem).__name__}")
            answer = denial(id, f"Denied: the call could not be judged ({type(problem).__name__}).")
        finally:
            judging = self._judging.pop(key, None)
        if judging is None:
            return  # cancelled by its client
        if type(answer) is str:
            self._forward(message, key, encode_message(message), answer)
        else:
            self._client(encode_message(answer))

    async def _judged(self, message: Json) -> Json | str:
        """What its client gets; for a call that goes on, what it is told beside. What goes on is what was judged: the message is
        changed in place."""
        id, params = message["id"], message.get("params")
        if type(id) not in (str, int, float):
            return error(id, INVALID, "a call needs an id")
        if type(params) is not dict or type(name := params.get("name")) is not str:
            return denial(id, "Denied: a call is an object with the name of a tool.")
        arguments = params.get("arguments")
        if arguments is not None and type(arguments) is not dict:
            return denial(id, "Denied: the arguments of a tool are an object.")
        params, ask, yes = take_answer(params)
        message["params"] = params
        client = self.about.calling(params)
        self.gate.agent = client.name
        if ask and yes is not None:
            await self.gate.answered(ask, yes)
        await self._know(name, params)

        async def judge() -> ProxyVerdict:
            return await self.gate.decide(name, arguments or {}, self.catalog.claims(name))

        verdict = await judge()
        if verdict.allowed:
            return verdict.words
        said = await self._holding.answer(verdict, judge, client, params, bool(ask))
        if said.forward:
            return said.words
        if said.result is not None:
            return {"jsonrpc": "2.0", "id": id, "result": said.result}
        return denial(id, said.words)

    async def _know(self, name: str, params: Mapping[str, Any]) -> None:
        """Asks the server what it lists, where the client never did; a tool that is not listed then is judged as one that destroys."""
        if self.catalog.stale or name not in self.catalog.tools:
            await self._list(carried_meta(params))
        if self._pinning is not None and not self._pinning.done():
            await asyncio.shield(self._pinning)

    async def _list(self, params: Json) -> None:
        cursor: Any = None
        for _ in range(_PAGES):
            more = {**params, **({"cursor": cursor} if cursor is not None else {})}
            try:
                result = await asyncio.wait_for(self._request(self._server, LIST, more), _LISTING)
            except TimeoutError:
                self._report("the server did not list its tools")
                break
            self.catalog.learn(result, cursor is None)
            cursor = result.get("nextCursor") if type(result) is dict else None
            if cursor is None:
                break
        return self._compare()

    def _compare(self) -> None:
        """Has what is listed compared with what was pinned, where that is not what was compared last."""
        if self.catalog.tools != self._compared:
            self._compared = dict(self.catalog.tools)
            self._pinning = self._begin(self._pin())

    async def _pin(self) -> None:
        changed = await self.gate.standing(self.catalog.marks)
        for name in sorted(changed - self.catalog.changed):
            self._report(f"the tool {name!r:.80} is not what it was when it was pinned")
        self.catalog.changed = changed

    # from the server

    def from_server(self, line: bytes) -> None:
        """Takes one line; what answers no question, and what nobody can read, goes no further."""
        try:
            message = parse_message(line)
            if type(message) is list:
                for one in message:
                    self._said(one, encode_message(one))
            else:
                self._said(message, line + b"\n")
        except AmbiguousMessage as problem:
            self._report(f"the server wrote a line that is not passed on: {problem}")

    def _said(self, message: Any, line: bytes) -> None:
        if type(message) is not dict:
            raise AmbiguousMessage("a message is an object")
        check_fields(message)
        if "method" in message:
            return self._wished(message, line)
        id = message.get("id")
        own = self._own[self._server].pop(id, None) if type(id) is str else None
        if own is not None:
            return own.set_result(message.get("result")) if not own.done() else None
        if id is None and "error" in message:
            return self._client(line)
        asked = self._asked.pop(id_key(id), None)
        if asked is None:
            return self._report(f"the server answered a question that it was not asked ({id!r:.60})")
        if asked.method == LIST:
            self.catalog.learn(message.get("result"), asked.first)
            if not self.catalog.stale:
                self._compare()
        return self._client(encode_message(with_notice(message, asked.notice)) if asked.notice else line)

    def _wished(self, message: Json, line: bytes) -> None:
        method = message["method"]
        if method == "notifications/tools/list_changed":
            self.catalog.stale = True
        if "id" in message and method != "ping" and self.gate.trust == UNTESTED:
            self._server(
                encode_message(error(message["id"], SERVER, "this server is untested: its client is not asked"))
            )
            return self._report(f"the server is untested, so that its {method!r:.60} was not passed on")
        return self._client(line)

    def ended(self, why: str) -> None:
        """The server is gone: whoever waits for it is told."""
        for asked in list(self._asked.values()):
            self._client(encode_message(error(asked.id, SERVER, why)))
        self._asked.clear()
        for own in self._own[self._server].values():
            if not own.done():
                own.set_result(None)

    def late(self, seconds: float) -> None:
        """Gives up what the server has not answered for so long, and tells both sides."""
        now = self._loop.time()
        for key, asked in [(key, one) for key, one in self._asked.items() if now - one.at > seconds]:
            del self._asked[key]
            if asked.given_up:
                continue
            self._report(f"the server did not answer {asked.method} within {seconds:g} s")
            gone = {"requestId": asked.id, "reason": "no answer in time"}
            self._server(encode_message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}))
            self._client(encode_message(error(asked.id, SERVER, f"the server did not answer within {seconds:g} s")))

    # questions of our own

    async def _request(self, send: Send, method: str, params: Json) -> Any:
        self._number += 1
        id = f"{self._prefix}{self._number}"
        waiting = self._own[send][id] = self._loop.create_future()
        try:
            send(encode_message({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            return await waiting
        finally:
            self._own[send].pop(id, None)

    async def _prompt(self, form: Json) -> Any:
        return await self._request(self._client, "elicitation/create", form)

    def _notify(self, method: str, params: Json) -> None:
        self._client(encode_message({"jsonrpc": "2.0", "method": method, "params": params}))

    def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
