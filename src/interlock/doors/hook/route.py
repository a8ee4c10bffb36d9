"""★ POST /api/v1/hook/{agent}: an agent's hook input in, exactly what its hook has to say out; whatever goes wrong is the agent's own no."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qs

from interlock.agents import Agent, Event, Reply, UnknownAgent, Verdict
from interlock.agents import agent as agent_of
from interlock.agents.contract import GATING, ROUTE
from interlock.core.model import AgentRef
from interlock.doors.hook import journal
from interlock.doors.hook.after import CHANGED, MALFORMED, alert, ended
from interlock.doors.hook.coverage import SEEN
from interlock.doors.hook.eyes import eyes, hands, sight, way
from interlock.doors.hook.judging import Asking, Judging
from interlock.doors.hook.memory import Hooks
from interlock.doors.hook.peer import Kernel
from interlock.doors.hook.sharing import call_keys
from interlock.doors.hook.watching import disabled
from interlock.doors.hook.wrapper import SPARE
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem
from interlock.doors.http.guards import Gone, Scope, check_type, over_socket, read_body
from interlock.doors.http.who import Who
from interlock.service.homes import home_for

LOG = logging.getLogger("interlock")
MOST_INPUT = 16 << 20  # bytes, as in the client
EARLY = 1.0  # seconds before its caller's deadline that an answer leaves
JOURNAL_SECONDS = 5.0  # between two looks for a journal
_CLIENT = b"interlock-limit"  # the header that the hook client sends
_HOME = b"interlock-home"  # HOME as the client's process has it
_HEADERS = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))
_NAME = 200


@dataclass(frozen=True, slots=True)
class _Question:
    """One request."""

    agent: Agent
    event: str
    framed: bool
    seconds: float  # that its caller waits


class HookDoor:
    """The bare route; `hooks` is what it remembers."""

    def __init__(self, context: Context, hooks: Hooks) -> None:
        self.context, self.hooks = context, hooks
        self._judging, self._kernel = Judging(context, hooks), Kernel()
        self._background: set[asyncio.Future[Any]] = set()

    def start(self) -> None:
        """With the event loop: what an earlier daemon knew, and what was decided without one."""
        self.hooks.coverage.folder = self.context.config.folder
        self.hooks.coverage.load()
        self.hooks.made.folder, self.hooks.made.key = (
            self.context.config.folder,
            self.context.state.installation.digest_key,
        )
        self.hooks.made.load()
        self.hooks.separate = self.context.config.separate
        self.context.state.store.listen(self.hooks.late.heard)
        self._later(self._take_journal())

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        try:
            asked = _question(scope, headers)
        except UnknownAgent as error:
            return await _send(send, Reply(str(error).encode() + b"\n"), False, 404)
        try:
            reply = await self._reply(asked, scope, headers, receive)
        except Gone:
            return None
        except Problem as problem:
            reply = asked.agent.broken(f"Denied: {problem.words}.")
        except Exception as error:
            LOG.error("a hook that could not be answered", exc_info=error)
            self.context.state.trouble(f"hook: {type(error).__name__}")
            reply = asked.agent.broken("Denied: the call could not be judged.")
        return await _send(send, reply, asked.framed)

    async def _reply(self, asked: _Question, scope: Scope, headers: dict[bytes, bytes], receive: Any) -> Reply:
        if scope["method"] != "POST":
            raise Problem("NOT_FOUND_OPERATION", "a hook is asked with POST", 405)
        self.context.places.check(scope, headers.get(b"host"), headers.get(b"origin"))
        body = await read_body(receive, headers.get(b"content-length"), MOST_INPUT)
        check_type(headers.get(b"content-type"))
        who = await self._who(scope, headers.get(b"authorization"))
        self.context.buckets.take(who.key)
        event = asked.agent.decode(body, asked.event)
        claimed = headers.get(_HOME, b"") if asked.framed else b""
        event = at_home(event, home_for(who.principal, os.fsdecode(claimed)))
        ref = AgentRef(who.agent(), asked.agent.word, event.session[:_NAME], event.parent[:_NAME])
        return asked.agent.encode(event, await self._verdict(asked, event, ref, who.strength, receive))

    async def _verdict(self, asked: _Question, event: Event, who: AgentRef, strength: str, receive: Any) -> Verdict:
        self._look(asked.agent, event, who)
        if event.problem:
            words = f"{asked.agent.title} sent hook input that cannot be judged: {event.problem}"
            self._alert(asked.agent, MALFORMED, words, who, quiet=True)
        if event.kind in GATING:
            self.hooks.coverage.before(asked.agent.word, who.principal, event)
            return await self._before(asked, event, who, strength, receive)
        if event.kind in ("after", "failed"):
            return await self._after(asked.agent, event, who)
        if event.kind == "config":
            return await self._configured(asked.agent, event, who)
        return Verdict("allow")

    async def _before(self, asked: _Question, event: Event, who: AgentRef, strength: str, receive: Any) -> Verdict:
        loop = asyncio.get_running_loop()
        most = min(asked.seconds - EARLY, float(self.context.config.hooks.wait_seconds))
        until, hung_up = loop.time() + most, partial(_hung_up, receive)
        separate = self.context.config.separate
        read, look = eyes(who.principal, separate), sight(who.principal, separate, self.context.look)
        keep = hands(who.principal, self.context.keeper, self.context.state.keepers)
        resolve, hooked = way(who.principal, separate, asked.framed), self.hooks.files.own
        project = self.context.projects.finder(who.principal)
        asking = Asking(
            asked.agent, event, who, until, hung_up, read, strength, look, keep, resolve, hooked, project, asked.framed
        )
        return await self._judging.verdict(asking)

    async def _after(self, agent: Agent, event: Event, who: AgentRef) -> Verdict:
        coverage = self.hooks.coverage
        if event.problem:
            return Verdict("allow")  # it has run; there is nothing to stop
        found = coverage.after(agent.word, who.principal, event)
        if found != SEEN and journal.waits(self.context.config.folder):
            await self._take_journal()
            found = coverage.after(agent.word, who.principal, event)
        coverage.counted(agent.word, event, found)
        work = self.context.pool.run(ended, self.context.state, self.hooks, agent, event, who, found)
        if found != SEEN or self._kept(agent, event, who):
            await work  # a block counts before the agent goes on, and what is there now is its doing
        else:
            self._later(work)
        return Verdict("allow")

    def _kept(self, agent: Agent, event: Event, who: AgentRef) -> bool:
        """Whether a snapshot was taken for one of these calls."""
        keys = (key for call in event.calls for key in call_keys(who.principal, agent.word, who.session, call))
        return any(passed.kept for passed in map(self.hooks.passed.get, keys) if passed is not None)

    async def _configured(self, agent: Agent, event: Event, who: AgentRef) -> Verdict:
        """An agent's own settings changed; what switches the hooks off is refused where the agent can be refused."""
        found = await self.context.pool.run(disabled, agent, who.principal, event.cwd)
        words = f"{agent.title}'s settings were changed" + (f": {found[0]}" if found else "")
        details = {"principal": who.principal, "agent": agent.word, "session": who.session}
        await self.context.pool.run(alert, self.context.state, CHANGED, words, details, quiet=not found)
        return (
            Verdict("deny", f"Denied: this switches Interlock's hooks off ({found[0]}).") if found else Verdict("allow")
        )

    def _look(self, agent: Agent, event: Event, who: AgentRef) -> None:
        """The hook files, and the journal now and then."""
        for words in self.hooks.files.look(agent, who.principal, event.cwd):
            self._alert(agent, CHANGED, words, who)
        now = asyncio.get_running_loop().time()
        if now - self.hooks.looked > JOURNAL_SECONDS:
            self.hooks.looked = now
            if journal.waits(self.context.config.folder):
                self._later(self._take_journal())

    def _alert(self, agent: Agent, kind: str, words: str, who: AgentRef, quiet: bool = False) -> None:
        details = {"principal": who.principal, "agent": agent.word, "session": who.session}
        once, key = (self.hooks, f"{who.principal} {agent.word} {who.session}") if quiet else (None, "")
        work = partial(alert, self.context.state, kind, words, details, quiet=quiet, once=once, key=key)
        self._later(self.context.pool.run(work))

    async def _take_journal(self) -> None:
        taken = await self.context.pool.run(journal.take, self.context.state, self.context.config.folder)
        self.hooks.coverage.journalled(taken)

    async def _who(self, scope: Scope, authorization: bytes | None) -> Who:
        """The kernel's word for whoever is there, on the socket or on loopback; or a token."""
        if authorization is None and not over_socket(scope) and scope.get("client") and scope.get("server"):
            uid = self._kernel.uid_of(tuple(scope["client"]), tuple(scope["server"]))
            if uid is not None:
                self.context.peers.check_agent(f"uid:{uid}")
                return Who(f"uid:{uid}")
        return (await self.context.credentials.who(scope, authorization)).known()

    def _later(self, work: Any) -> None:
        """Does it when the answer has left; what fails is said."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Future[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.context.state.trouble(f"hook: {task.exception()}")


def at_home(event: Event, home: str) -> Event:
    """The event, its calls judged with the home of the process that makes them."""
    calls = (replace(call, action=replace(call.action, home=home)) for call in event.calls)
    return replace(event, calls=tuple(calls)) if home and event.calls else event


def is_hook(scope: Scope) -> bool:
    return str(scope["path"]).startswith(ROUTE)


def _question(scope: Scope, headers: dict[bytes, bytes]) -> _Question:
    agent, framed = agent_of(str(scope["path"]).removeprefix(ROUTE)[:100]), _CLIENT in headers
    event = headers.get(b"interlock-event", b"").decode("latin-1") or _event(scope.get("query_string", b""))
    seconds = agent.limit_seconds - SPARE
    if framed:
        with contextlib.suppress(ValueError):
            seconds = min(seconds, int(headers[_CLIENT]) / 1000)
    return _Question(agent, event[:_NAME], framed, max(0.0, seconds))


@lru_cache(maxsize=256)
def _event(query: bytes) -> str:
    return (parse_qs(query.decode("latin-1")).get("event") or [""])[0]


async def _hung_up(receive: Any) -> None:
    """Ends when whoever waits is gone."""
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


async def _send(send: Any, reply: Reply, framed: bool, status: int = 200) -> None:
    """For the client, exit code and both streams; for an agent that posts, its own JSON."""
    body = reply.stdout + reply.stderr if framed else reply.stdout or b"{}"
    headers = [*_HEADERS, (b"content-length", b"%d" % len(body))]
    if framed:
        headers += [(b"interlock-exit", b"%d" % reply.exit), (b"interlock-stdout", b"%d" % len(reply.stdout))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
