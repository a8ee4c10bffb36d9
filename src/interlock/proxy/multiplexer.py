"""`interlock proxy --config FILE.json`: many servers as one; tools are `server__tool`, and each server has its own gate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.model import TRUSTS
from interlock.proxy import SERVER_TABLES, plain_name
from interlock.proxy.messages import (
    CALL,
    CANCELLED,
    LIST,
    METHOD,
    NOT_PASSED,
    PARSE,
    AmbiguousMessage,
    Key,
    OwnRequests,
    check_fields,
    denial,
    encode_message,
    error,
    id_key,
    parse_message,
    response,
)
from interlock.proxy.running import (
    FAILED,
    ProxyOptions,
    ProxySettingError,
    ServerAddress,
    ServerConnection,
    Stdio,
    server_address,
    until_over,
)
from interlock.strict_json import list_in

BETWEEN = "__"
_PATIENCE = 30.0  # seconds for a server to initialize and to list its tools
_PAGES = 50
Json = dict[str, Any]


def servers_in_file(path: Path, trust: str) -> list[ServerAddress]:
    """Raises ProxySettingError for a file without servers, or with an invalid one."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise ProxySettingError(f"{path}: not JSON ({problem})") from None
    table = next((given[key] for key in SERVER_TABLES if isinstance(given, dict) and key in given), None)
    if not isinstance(table, dict) or not table:
        raise ProxySettingError(f"{path}: expected servers under mcpServers")
    return [_place(path, name, entry, trust) for name, entry in table.items()]


def _place(path: Path, name: str, entry: Any, trust: str) -> ServerAddress:
    if not isinstance(entry, Mapping) or not (entry.get("command") or entry.get("url")):
        raise ProxySettingError(f"{path}: {name}: expected a command or a url")
    said = entry.get("trust", trust)
    if ("trust" in entry or said) and (said not in TRUSTS or TRUSTS[said] > HIGHEST_CLAIM):
        raise ProxySettingError(f"{path}: {name}: trust {said!r:.40}: expected a level up to {HIGHEST_CLAIM.word}")
    command = [] if entry.get("url") else [str(entry["command"]), *map(str, entry.get("args") or ())]
    env, headers = ({str(k): str(v) for k, v in (entry.get(key) or {}).items()} for key in ("env", "headers"))
    short = plain_name(name).strip("._-").replace(BETWEEN, "_")
    return server_address(short, said, command, str(entry.get("url") or ""), (), env, headers)


async def relay_many(places: list[ServerAddress], setting: ProxyOptions) -> int:
    stdio = Stdio(setting.config.proxy.line_bytes)
    many = Multiplexer(stdio, places, setting)
    await many.start()
    if not many.live:
        return FAILED
    stdio.listen(many.from_client)
    return await until_over(stdio, list(many.lines.values()), many.watch())


class Multiplexer:
    def __init__(self, stdio: Stdio, places: list[ServerAddress], setting: ProxyOptions) -> None:
        self._stdio, self._numbers = stdio, count(1)
        names = [one.behind.name for one in places]
        self.lines = {
            name: ServerConnection(one, setting, partial(self._from_server, name)) for name, one in zip(names, places)
        }
        if len(self.lines) != len(places):
            raise ProxySettingError("two servers have the same name")
        self.live: set[str] = set()
        self._own = {name: OwnRequests(partial(self._pass, name), f"interlock-many-{name}") for name in self.lines}
        self._client_requests: dict[str, tuple[str, Any]] = {}  # requests of servers to the client: server, and its id
        self._calls: dict[Key, str] = {}  # the server of each call
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        await asyncio.gather(*map(self._start, self.lines))
        self._stdio.paced_servers += [self.lines[name].pace for name in self.live]

    async def _start(self, name: str) -> None:
        if await self.lines[name].start():
            self.live.add(name)

    async def watch(self) -> None:
        await asyncio.gather(*map(self._watch, list(self.live)))

    async def _watch(self, name: str) -> None:
        await self.lines[name].watch()
        self.live.discard(name)

    # from the client

    def from_client(self, line: bytes) -> None:
        """Routes one line to its server, whose gate checks it again."""
        try:
            message = parse_message(line)
            for one in message if type(message) is list and message else [message]:
                check_fields(one)
                self._message(one)
        except AmbiguousMessage as problem:
            self._stdio.send(error(None, PARSE, f"{NOT_PASSED}: {problem}"))

    def _message(self, message: Json) -> None:
        if "method" not in message:
            name, id = self._client_requests.pop(str(message.get("id")), ("", None))
            return self._to(name, {**message, "id": id}) if name in self.live else None
        method, params = message["method"], message.get("params")
        params = params if type(params) is dict else {}
        if "id" not in message:
            return self._notification(message, params)
        id_key(message["id"])
        if method == CALL:
            return self._call(message, params)
        work = {"initialize": self._initialize, LIST: self._tools, "ping": self._ping}.get(str(method))
        if work is None:
            words = f"a proxy of several servers offers tools only, not {str(method)[:80]}"
            return self._stdio.send(error(message["id"], METHOD, words))
        task = asyncio.create_task(self._reply(message["id"], work(params)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return None

    async def _reply(self, id: Any, work: Any) -> None:
        self._stdio.send(response(id, await work))

    def _call(self, message: Json, params: Json) -> None:
        given = params.get("name")
        name, between, tool = given.partition(BETWEEN) if type(given) is str else ("", "", "")
        if not between or name not in self.live:
            words = f"Denied: no running server has the tool {given!r:.100}."
            return self._stdio.send(denial(message["id"], words))
        self._calls[id_key(message["id"])] = name
        return self._to(name, {**message, "params": {**params, "name": tool}})

    def _notification(self, message: Json, params: Json) -> None:
        names = list(self.live)
        if message["method"] == CANCELLED and "requestId" in params:
            asked = self._calls.get(id_key(params["requestId"]))
            names = [name for name in names if name == asked]
        for name in names:
            self._to(name, message)

    def _to(self, name: str, message: Json) -> None:
        self._pass(name, encode_message(message))

    def _pass(self, name: str, line: bytes) -> None:
        self.lines[name].relay.from_client(line.rstrip())

    # from the servers

    def _from_server(self, name: str, line: bytes) -> None:
        message = json.loads(line)
        if "method" in message:
            if "id" in message:
                key = f"{name}:{next(self._numbers)}"
                self._client_requests[key], message["id"] = (name, message["id"]), key
            return self._stdio.send(encode_message(message))
        if self._own[name].answer(message):
            return None
        self._calls.pop(id_key(message.get("id")), None)
        return self._stdio.send(line)

    # answered for all servers

    async def _ping(self, params: Json) -> Json:
        return {}

    async def _initialize(self, params: Json) -> Json:
        names = sorted(self.live)
        results = await asyncio.gather(*(self._request(name, "initialize", params) for name in names))
        versions = [one["protocolVersion"] for one in results if type(one.get("protocolVersion")) is str]
        said = [f"{name}: {one['instructions']}" for name, one in zip(names, results) if one.get("instructions")]
        return {
            "protocolVersion": min(versions, default=str(params.get("protocolVersion", "2025-11-25"))),
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "interlock", "version": "1", "title": ", ".join(sorted(self.lines))},
            **({"instructions": "\n".join(said)} if said else {}),
        }

    async def _tools(self, params: Json) -> Json:
        params = {key: value for key, value in params.items() if key == "_meta"}
        found = await asyncio.gather(*(self._list_tools(name, params) for name in sorted(self.live)))
        return {"tools": list(chain.from_iterable(found))}

    async def _list_tools(self, name: str, params: Json) -> list[Json]:
        tools: list[Json] = []
        for _ in range(_PAGES):
            page = await self._request(name, LIST, params)
            listed = (one for one in list_in(page, "tools") if type(one) is dict)
            tools += ({**one, "name": f"{name}{BETWEEN}{one.get('name')}"} for one in listed)
            if not page.get("nextCursor"):
                break
            params = {**params, "cursor": page["nextCursor"]}
        return tools

    async def _request(self, name: str, method: str, params: Json) -> Json:
        """Empty where the server does not answer in time."""
        try:
            said = await asyncio.wait_for(self._own[name].ask(method, params), _PATIENCE)
        except TimeoutError:
            self.lines[name].report(f"it did not answer {method}")
            said = None
        return said if type(said) is dict else {}
