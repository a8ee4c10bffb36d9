"""★ MCP-AQL over HTTP, for the daemon's own MCP servers: one call in, one envelope out, and the sessions that they are made in."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.core.loop import LIVE
from interlock.doors.aql.envelope import AqlProblem, Reply, refused
from interlock.doors.aql.gatekeeper import ANY
from interlock.doors.aql.loop import DOOR, Connection, surface
from interlock.doors.aql.operations import ENDPOINTS
from interlock.doors.aql.surface import Caller, Surface, call
from interlock.doors.aql.tools import Naming, SettingError, listed
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem
from interlock.doors.http.guards import Scope
from interlock.doors.http.json_body import decoded
from interlock.doors.http.leases import Leases
from interlock.doors.http.who import Who
from interlock.doors.mcp.prompt import teach
from interlock.ports import StoreError
from interlock.service import unattested
from interlock.service.loop.executions import end_session
from interlock.service.loop.problem import LoopProblem
from interlock.service.loop.tightened import ADAPTER, tightened

API = "/api/v1/aql"
HOLD = f"{API}/hold"
RETURNING = 60.0  # seconds in which the sessions of an earlier daemon can be held again
LIMIT = 8 * 1_048_576  # bytes of a body: what it carries is measured by itself, and escapes make it longer
MOST_ADAPTERS = 100
_KEYS = frozenset("endpoint arguments session mode prefix policy safetyMode strict token ask approve adapters".split())
_SESSION = re.compile(r"mcp_[A-Za-z0-9_-]{16,64}")
Answer = tuple[int, dict[str, Any]]
Hot = Callable[[Who, bytes], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a connection wants to be answered; none of it can loosen anything."""

    naming: Naming = field(default_factory=Naming)
    strict: bool = False
    policy: str = ""  # the text of a policy of its own
    mode: str = ""
    adapters: tuple[str, ...] = ()  # that the same server serves
    strength: str = ""  # of the wall around whoever calls, which the door found out


class AqlDoor:
    """Answers calls, on the event loop; the work is done in the pool."""

    def __init__(self, context: Context, returning: float = RETURNING) -> None:
        self.context, self._returning = context, returning
        self.leases = Leases(self._end, context.state.clock)
        self._surfaces: dict[str, Surface] = {}
        self._orphans: asyncio.Task[None] | None = None
        self.hot: Mapping[str, Hot] = {
            API: self._one,
            f"{API}/tools": self._tools,
            f"{API}/end": self._ended,
            f"{API}/ask": self._ask,
            f"{API}/elicited": self._elicited,
        }

    def start(self) -> None:
        """Sessions of the daemon before this one: whoever still holds theirs says so, and the others have ended (ESL-13)."""
        if not self.context.state.shared and self._orphans is None:
            self._orphans = asyncio.get_running_loop().create_task(self._end_orphans())

    # what MCP servers of this process call, too

    async def answer(self, principal: str, session: str, endpoint: str, arguments: Any, wanted: Wanted) -> Reply:
        """The reply to one call."""
        self.leases.touch(principal, session)
        return await self.context.pool.run(self._called, principal, session, endpoint, arguments, wanted)

    def tools(self, wanted: Wanted) -> list[dict[str, Any]]:
        mode = self.mode(wanted)
        return listed(self._surface(mode).operations, wanted.naming, teach(mode))

    async def question(self, principal: str, session: str, token: str) -> tuple[str, str] | None:
        return await self.context.pool.run(unattested.question, self.context.state, principal, session, token)

    async def said(self, principal: str, session: str, ask: str, approve: bool) -> bool:
        return await self.context.pool.run(unattested.answered, self.context.state, principal, session, ask, approve)

    # over HTTP

    async def _one(self, who: Who, body: bytes) -> Answer:
        principal, given = who.agent(), _given(body)
        session, endpoint = _session(given), given.get("endpoint")
        if endpoint not in (*ENDPOINTS, ANY):
            raise Problem("VALIDATION_INVALID_VALUE", f"endpoint: expected one of {', '.join((*ENDPOINTS, ANY))}")
        reply = await self.answer(
            principal, session, endpoint, given.get("arguments"), replace(_wanted(given), strength=who.strength)
        )
        return 200, reply.wire

    async def _tools(self, who: Who, body: bytes) -> Answer:
        who.agent()
        wanted = _wanted(_given(body))
        return 200, {"tools": self.tools(wanted), "safetyLoop": self.mode(wanted)}

    async def _ended(self, who: Who, body: bytes) -> Answer:
        principal, session = who.agent(), _session(_given(body))
        await self.leases.ended(principal, session)
        return 200, {"ended": True}

    async def _ask(self, who: Who, body: bytes) -> Answer:
        given = _given(body)
        principal, session = self._holder(who, given)
        found = await self.question(principal, session, _text(given, "token"))
        return 200, {"ask": found[0], "message": found[1]} if found else {}

    async def _elicited(self, who: Who, body: bytes) -> Answer:
        given = _given(body)
        principal, session = self._holder(who, given)
        armed = await self.said(principal, session, _text(given, "ask"), given.get("approve") is True)
        return 200, {"armed": armed}

    async def hold(self, who: Who, body: bytes, receive: Any) -> dict[str, Any] | None:
        """Keeps a session for as long as this request lasts; None when whoever asked has gone."""
        principal, session = who.agent(), _session(_given(body))
        waiters, key = self.context.waiters, f"\0lease:{session}"
        lease = self.leases.hold(principal, session, who.pid if who.here else 0)
        stops = waiters.add(key)
        gone, stopped = asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(stops.wait())
        try:
            await asyncio.wait((gone, stopped), return_when=asyncio.FIRST_COMPLETED)
            if not gone.done():
                return {"held": False}  # the daemon stops; whoever held it asks the next one
            await self.leases.let_go(principal, session, lease)
            return None
        finally:
            gone.cancel()
            stopped.cancel()
            waiters.remove(key, stops)

    def stop(self) -> None:
        self.leases.stop()
        if self._orphans is not None:
            self._orphans.cancel()

    async def _end_orphans(self) -> None:
        await asyncio.sleep(self._returning)
        try:
            found = await self.context.read(lambda tx: [one for status in LIVE for one in tx.executions(status=status)])
            for principal, session in {(one.agent.principal, one.agent.session) for one in found}:
                if _SESSION.fullmatch(session) and not self.leases.lives(principal, session):
                    await self._end(principal, session)
        except StoreError as error:
            self.context.state.trouble(f"sessions of an earlier run could not be ended: {error}", "store")

    def _holder(self, who: Who, given: Mapping[str, Any]) -> tuple[str, str]:
        """Only the process that holds a session over the unix socket speaks for its user; a body alone proves nothing."""
        principal, session = who.agent(), _session(given)
        if not who.here or not self.leases.holds(principal, session, who.pid):
            raise Problem("PERMISSION_DENIED", "only the server which holds this session speaks for its user")
        return principal, session

    def _called(self, principal: str, session: str, endpoint: str, arguments: Any, wanted: Wanted) -> Reply:
        try:
            tight = tightened(self.context.state, wanted.policy, wanted.mode)
        except LoopProblem as problem:
            return refused(AqlProblem(problem.code, problem.message, problem.details), session)
        strict = wanted.strict or self.context.config.strict_introspection
        caller = Caller(principal, session, wanted.naming, strict, Connection(tight, _door(wanted), wanted.strength))
        return call(self._surface(tight.mode or self.context.state.mode), endpoint, arguments, caller)

    def mode(self, wanted: Wanted) -> str:
        """The mode that counts for a connection."""
        try:
            return tightened(self.context.state, wanted.policy, wanted.mode).mode or self.context.state.mode
        except LoopProblem as problem:
            raise Problem(problem.code, problem.message) from None

    def _surface(self, mode: str) -> Surface:
        found = self._surfaces.get(mode)
        if found is None:
            found = self._surfaces[mode] = surface(self.context.state, self.context.version, mode)
        return found

    async def _end(self, principal: str, session: str) -> None:
        self.context.state.elicited.forget(session)
        await self.context.pool.run(end_session, self.context.state, principal, session)


def failed(problem: Problem) -> dict[str, Any]:
    """What went wrong before anybody was asked, as an envelope: never a yes."""
    return refused(AqlProblem(problem.code, problem.words, problem.details)).wire


def is_aql(scope: Scope) -> bool:
    return str(scope["path"]) == API or str(scope["path"]).startswith(f"{API}/")


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _given(body: bytes) -> dict[str, Any]:
    given = decoded(body, floats=True)
    if type(given) is not dict:
        raise Problem("VALIDATION_INVALID_TYPE", "the body: expected an object")
    if not _KEYS.issuperset(given):
        unknown = sorted(set(given) - _KEYS)
        details = {"unknown_params": unknown[:10], "valid_params": sorted(_KEYS)}
        raise Problem("VALIDATION_UNKNOWN_PARAM", f"unknown parameter {unknown[0]!r:.80}", details=details)
    return given


def _session(given: Mapping[str, Any]) -> str:
    session = given.get("session")
    if type(session) is not str or not _SESSION.fullmatch(session):
        raise Problem("VALIDATION_INVALID_VALUE", "session: expected mcp_ and 16 to 64 of A-Z, a-z, 0-9, - and _")
    return session


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if type(value) is not str or not 1 <= len(value) <= 200:
        raise Problem("VALIDATION_INVALID_VALUE", f"{key}: expected a text of up to 200 characters")
    return value


def _door(wanted: Wanted) -> str:
    return f"{ADAPTER}{','.join(wanted.adapters)}" if wanted.adapters else DOOR


def _wanted(given: Mapping[str, Any]) -> Wanted:
    texts = {key: given.get(key) or "" for key in ("mode", "prefix", "policy", "safetyMode")}
    if any(type(value) is not str for value in texts.values()):
        raise Problem("VALIDATION_INVALID_TYPE", "mode, prefix, policy and safetyMode are texts")
    adapters = given.get("adapters", [])
    if type(adapters) is not list or len(adapters) > MOST_ADAPTERS or any(type(one) is not str for one in adapters):
        raise Problem("VALIDATION_INVALID_TYPE", f"adapters: expected a list of up to {MOST_ADAPTERS} names")
    try:
        naming = Naming(texts["mode"] or "all", texts["prefix"])
    except SettingError as error:
        raise Problem("VALIDATION_INVALID_VALUE", str(error)) from None
    return Wanted(naming, given.get("strict") is True, texts["policy"], texts["safetyMode"], tuple(adapters))
