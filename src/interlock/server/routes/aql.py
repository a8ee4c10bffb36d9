"""★ Routes for MCP-AQL: one call in, one envelope out; sessions end with their connection or after a while unused (ESL-13)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.approvals import confirmations
from interlock.error_codes import LoopProblem
from interlock.loop.executions import end_session
from interlock.loop.protocol import ENDPOINTS
from interlock.loop.protocol.envelope import ProtocolReply, refusal
from interlock.loop.protocol.gatekeeper import ANY
from interlock.loop.protocol.loop_surface import surface
from interlock.loop.protocol.surface import ProtocolCaller, Surface, call
from interlock.loop.protocol.tools import SurfaceSettingError, ToolNaming, list_tools
from interlock.loop.tightening import ADAPTER, INTERFACE, Connection, parse_tightening
from interlock.mcp import tool_preamble
from interlock.model import Json
from interlock.ports import Clock, StoreError
from interlock.runtime import put_newest
from interlock.web.callers import ApiCaller
from interlock.web.concurrency import changed_or_gone
from interlock.web.context import Context
from interlock.web.errors import HttpProblem, invalid_type, invalid_value, permission_denied, unknown_param
from interlock.web.guards import Scope, hung_up
from interlock.web.json_body import decode_json

LOG = logging.getLogger("interlock")
API = "/api/v1/aql"
HOLD = f"{API}/hold"
RESUME_SECONDS = 60.0  # in which clients can resume sessions of an earlier daemon
LIMIT = 8 * 1_048_576  # bytes of a body; its contents have their own limits, and escapes lengthen it
MOST_ADAPTERS = 100
MOST = 10_000  # sessions remembered
IDLE = 1_800.0  # seconds without a call that end a session without a lease
EVERY = 30.0  # seconds between two checks
_KEYS = frozenset("endpoint arguments session mode prefix policy safetyMode strict token ask approve adapters".split())
_SESSION = re.compile(r"mcp_[A-Za-z0-9_-]{16,64}")
Answer = tuple[int, dict[str, Any]]
Hot = Callable[[ApiCaller, bytes], Awaitable[Answer]]


class McpSession(NamedTuple):
    principal: str
    session: str


End = Callable[[McpSession], Awaitable[None]]


class ConnectionOptions(Struct, frozen=True):
    """None of them can weaken the policy."""

    naming: ToolNaming = field(default_factory=ToolNaming)
    strict: bool = False
    policy: str = ""  # the text of its own, stricter policy
    mode: str = ""
    adapters: tuple[str, ...] = ()  # served by the same MCP server
    isolation: str = ""  # of the caller, as the server determined it


class AqlApi:
    """Answers MCP-AQL calls on the event loop; the work runs in the pool."""

    def __init__(self, context: Context, resume_seconds: float = RESUME_SECONDS) -> None:
        self.context, self._resume_seconds = context, resume_seconds
        self.leases = Leases(self._end, context.state.clock)
        self._surfaces: dict[str, Surface] = {}
        self._orphans: asyncio.Task[None] | None = None
        self.hot: Mapping[str, Hot] = {
            API: self._one,
            f"{API}/tools": self._tools,
            f"{API}/end": self._end_one,
            f"{API}/ask": self._ask,
            f"{API}/elicited": self._accept,
        }

    def start(self) -> None:
        """Ends the sessions of an earlier daemon that no client resumes (ESL-13)."""
        if not self.context.state.shared and self._orphans is None:
            self._orphans = asyncio.get_running_loop().create_task(self._end_orphans())

    # what MCP servers of this process call, too

    async def answer(self, key: McpSession, endpoint: str, arguments: Any, options: ConnectionOptions) -> ProtocolReply:
        self.leases.touch(key)
        return await self.context.pool.run(self._call, key, endpoint, arguments, options)

    def tools(self, options: ConnectionOptions) -> list[dict[str, Any]]:
        mode = self.mode(options)
        return list_tools(self._surface(mode).operations, options.naming, tool_preamble(mode))

    async def question(self, key: McpSession, token: str) -> dict[str, str]:
        found = await self.context.pool.run(confirmations.question, self.context.state, *key, token)
        return {"ask": found[0], "message": found[1]} if found else {}

    async def accept_answer(self, key: McpSession, ask: str, approve: bool) -> bool:
        return await self.context.pool.run(confirmations.accept_answer, self.context.state, *key, ask, approve)

    # over HTTP

    async def _one(self, who: ApiCaller, body: bytes) -> Answer:
        given = _body(body)
        key, endpoint, options = _key(who, given), given.get("endpoint"), _options(given)
        if endpoint not in (*ENDPOINTS, ANY):
            raise invalid_value(f"endpoint: expected one of {', '.join((*ENDPOINTS, ANY))}")
        reply = await self.answer(key, endpoint, given.get("arguments"), replace(options, isolation=who.isolation))
        return 200, reply.wire

    async def _tools(self, who: ApiCaller, body: bytes) -> Answer:
        who.agent()
        options = _options(_body(body))
        return 200, {"tools": self.tools(options), "safetyLoop": self.mode(options)}

    async def _end_one(self, who: ApiCaller, body: bytes) -> Answer:
        await self.leases.finish(_key(who, _body(body)))
        return 200, {"ended": True}

    async def _ask(self, who: ApiCaller, body: bytes) -> Answer:
        given = _body(body)
        return 200, await self.question(self._holder(who, given), _text(given, "token"))

    async def _accept(self, who: ApiCaller, body: bytes) -> Answer:
        given = _body(body)
        key, approve = self._holder(who, given), given.get("approve") is True
        return 200, {"armed": await self.accept_answer(key, _text(given, "ask"), approve)}

    async def hold(self, who: ApiCaller, body: bytes, receive: Any) -> dict[str, Any] | None:
        """Keeps a session alive as long as this request lasts; None when the client disconnected."""
        key = _key(who, _body(body))
        waiters, name = self.context.waiters, f"\0lease:{key.session}"
        lease = self.leases.hold(key, who.pid if who.here else 0)
        stops, gone = waiters.add(name), asyncio.ensure_future(hung_up(receive))
        try:
            await changed_or_gone(stops, gone)
            if not gone.done():
                return {"held": False}  # the daemon stops; the client resumes at the next one
            await self.leases.let_go(key, lease)
            return None
        finally:
            gone.cancel()
            waiters.remove(name, stops)

    def stop(self) -> None:
        self.leases.stop()
        if self._orphans is not None:
            self._orphans.cancel()

    async def _end_orphans(self) -> None:
        await asyncio.sleep(self._resume_seconds)
        try:
            read = self.context.state.store.read
            found = await self.context.pool.run(read, lambda tx: tx.executions(live=True))
            for key in {McpSession(one.agent.principal, one.agent.session) for one in found}:
                if _SESSION.fullmatch(key.session) and not self.leases.lives(key):
                    await self._end(key)
        except StoreError as error:
            self.context.state.trouble(f"sessions of an earlier run could not be ended: {error}", "store")

    def _holder(self, who: ApiCaller, given: Json) -> McpSession:
        """Refuses any process but the one that holds the session over the unix socket."""
        key = _key(who, given)
        if not who.here or not self.leases.holds(key, who.pid):
            raise permission_denied("only the server which holds this session speaks for its user")
        return key

    def _call(self, key: McpSession, endpoint: str, arguments: Any, options: ConnectionOptions) -> ProtocolReply:
        try:
            tight = parse_tightening(self.context.state, options.policy, options.mode)
        except LoopProblem as problem:
            return refusal(problem, key.session)
        strict = options.strict or self.context.config.daemon.strict_introspection
        interface = f"{ADAPTER}{','.join(options.adapters)}" if options.adapters else INTERFACE
        caller = ProtocolCaller(*key, options.naming, strict, Connection(tight, interface, options.isolation))
        return call(self._surface(tight.mode or self.context.state.mode), endpoint, arguments, caller)

    def mode(self, options: ConnectionOptions) -> str:
        try:
            return parse_tightening(self.context.state, options.policy, options.mode).mode or self.context.state.mode
        except LoopProblem as problem:
            raise HttpProblem(problem.code, problem.message) from None

    def _surface(self, mode: str) -> Surface:
        if mode not in self._surfaces:
            self._surfaces[mode] = surface(self.context.state, self.context.version, mode)
        return self._surfaces[mode]

    async def _end(self, key: McpSession) -> None:
        self.context.state.elicitations.forget(key.session)
        await self.context.pool.run(end_session, self.context.state, *key)


def is_aql(scope: Scope) -> bool:
    return f"{scope['path']}/".startswith(f"{API}/")


def _body(body: bytes) -> dict[str, Any]:
    given = decode_json(body, floats=True)
    if type(given) is not dict:
        raise invalid_type("the body: expected an object")
    if not _KEYS.issuperset(given):
        raise unknown_param(given, _KEYS)
    return given


def _key(who: ApiCaller, given: Json) -> McpSession:
    principal, session = who.agent(), given.get("session")
    if type(session) is not str or not _SESSION.fullmatch(session):
        raise invalid_value("session: expected mcp_ and 16 to 64 of A-Z, a-z, 0-9, - and _")
    return McpSession(principal, session)


def _text(given: Json, key: str) -> str:
    value = given.get(key)
    if type(value) is not str or not 1 <= len(value) <= 200:
        raise invalid_value(f"{key}: expected a text of up to 200 characters")
    return value


def _options(given: Json) -> ConnectionOptions:
    texts = {key: given.get(key) or "" for key in ("mode", "prefix", "policy", "safetyMode")}
    if any(type(value) is not str for value in texts.values()):
        raise invalid_type("mode, prefix, policy and safetyMode are texts")
    adapters = given.get("adapters", [])
    if type(adapters) is not list or len(adapters) > MOST_ADAPTERS or any(type(one) is not str for one in adapters):
        raise invalid_type(f"adapters: expected a list of up to {MOST_ADAPTERS} names")
    try:
        naming = ToolNaming(texts["mode"] or "all", texts["prefix"])
    except SurfaceSettingError as error:
        raise invalid_value(str(error)) from None
    return ConnectionOptions(naming, given.get("strict") is True, texts["policy"], texts["safetyMode"], tuple(adapters))


class Lease(Struct, eq=False):
    pid: int = 0


class Leases(Struct):
    """Sessions in use, with and without a lease; used on the event loop only."""

    end: End
    clock: Clock
    held: dict[McpSession, Lease] = field(default_factory=dict)
    seen: OrderedDict[McpSession, float] = field(default_factory=OrderedDict)
    every: float = EVERY
    _checking: asyncio.Task[None] | None = None

    def touch(self, key: McpSession) -> None:
        put_newest(self.seen, key, self.clock.now(), MOST)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._end_idle())

    def hold(self, key: McpSession, pid: int) -> Lease:
        """Binds the session's life to this lease; refuses one that another process holds."""
        before = self.held.get(key)
        if before is not None and before.pid != pid:
            raise permission_denied("another process holds this session")
        lease = self.held[key] = Lease(pid)
        self.touch(key)
        return lease

    async def let_go(self, key: McpSession, lease: Lease) -> None:
        if self.held.get(key) is lease:
            await self.finish(key)

    def release(self, key: McpSession, lease: Lease) -> None:
        """Drops the lease; the session may still be used for a while."""
        if self.held.get(key) is lease:
            del self.held[key]
            self.touch(key)

    def lives(self, key: McpSession) -> bool:
        return key in self.held or key in self.seen

    def holds(self, key: McpSession, pid: int) -> bool:
        lease = self.held.get(key)
        return lease is not None and bool(pid) and lease.pid == pid

    async def finish(self, key: McpSession) -> None:
        self.held.pop(key, None)
        self.seen.pop(key, None)
        await self.end(key)

    def stop(self) -> None:
        """Stops the checks; sessions outlive the daemon where their clients resume them."""
        if self._checking is not None:
            with suppress(RuntimeError):  # its loop has ended
                self._checking.cancel()

    async def _end_idle(self) -> None:
        while self.seen:
            await asyncio.sleep(self.every)
            late = self.clock.now() - IDLE
            for key in [key for key, at in self.seen.items() if at < late and key not in self.held]:
                try:
                    await self.finish(key)
                except Exception as error:  # tried again at the session's next use
                    LOG.warning("a session could not be ended: %s", type(error).__name__)
