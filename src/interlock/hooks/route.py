"""★ POST /api/v1/hook/{agent}: an agent's hook input in, its dialect out; whatever goes wrong is the agent's own denial."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.structs import replace

from interlock.agents import GATING, ROUTE, AgentCall, AgentDialect, Event, HookOutput, HookVerdict, UnknownAgent
from interlock.agents import agent as agent_of
from interlock.agents.hook_protocol import UNKNOWN
from interlock.agents.rewriting import with_originals
from interlock.analysis.facts import Command
from interlock.audit import journal
from interlock.hooks.coverage import CALLS, SEEN
from interlock.hooks.evaluation import HookCall, HookEvaluation
from interlock.hooks.integrity import disabling_settings, hook_paths
from interlock.hooks.memory import HookMemory, HookSession, call_keys, session_key
from interlock.hooks.outcomes import CHANGED, MALFORMED, REPLACED, alert, details_of, record_outcome
from interlock.hooks.wrapping import SentCall, changed_keys, failure_in
from interlock.identity import home_for
from interlock.install.client_build import SPARE
from interlock.journal import JournalError
from interlock.journal.wrapping import Wrapper, front_of, prepare_wrapping, take_mark
from interlock.model import AgentRef, command
from interlock.web.callers import ApiCaller
from interlock.web.context import Context
from interlock.web.errors import HttpProblem
from interlock.web.guards import ARRIVED, OPENED_BY, ClientGone, Scope, check_type, hung_up, read_body

LOG = logging.getLogger("interlock")
MOST_INPUT = 16 << 20  # bytes, as in the client
EARLY = 1.0  # seconds between an answer and its caller's deadline
CHECK_SECONDS = 0.05  # from a call until the files that install its hook are checked
JOURNAL_SECONDS = 5.0  # between two checks for a journal
_CLIENT = b"interlock-limit"  # header of the hook client
_HOME = b"interlock-home"  # HOME of the client's process
_HEADERS = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))
_NAME = 200
MOST_EFFECTS = 200  # of a session, that did not fit into the journal


class _HookRequest(Struct, frozen=True):
    agent: AgentDialect
    event: str
    framed: bool
    seconds: float  # that its caller waits


class HookApi:
    """Serves the hook route, outside FastAPI for speed."""

    def __init__(self, context: Context, hooks: HookMemory) -> None:
        self.context, self.state, self.pool, self.hooks = context, context.state, context.pool, hooks
        self._evaluation = HookEvaluation(context, hooks)
        self._unwrap = Wrapper(str(front_of(context.config))).original  # also where calls are wrapped no more
        self._background: set[asyncio.Future[Any]] = set()
        self._watched: dict[tuple[str, ...], AgentRef] = {}  # files to check, and whose call they were

    def start(self) -> None:
        """Loads an earlier daemon's knowledge and the journal of decisions without a daemon."""
        config, hooks = self.context.config, self.hooks
        hooks.coverage.folder = hooks.provenance.folder = config.folder
        hooks.coverage.load()
        hooks.provenance.key = self.state.installation.digest_key
        hooks.provenance.load()
        hooks.separate = config.separate
        self.state.store.listen(hooks.late.on_change)
        self._later(self._take_journal())
        if config.undo.wrap:
            self._later(self._prepare_wrapping())

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        try:
            event, limit = headers.get(b"interlock-event", b""), headers.get(_CLIENT)
            request = _parse_request(scope["path"], scope.get("query_string", b""), event, limit)
        except UnknownAgent as error:
            return await _send(send, HookOutput(str(error).encode() + b"\n"), False, 404)
        try:
            reply = await self._reply(request, scope, headers, receive)
        except ClientGone:
            return None
        except HttpProblem as problem:
            reply = request.agent.broken(f"Denied: {problem.words}.")
        except Exception as error:
            LOG.error("a hook that could not be answered", exc_info=error)
            self.state.trouble(f"hook: {type(error).__name__}")
            reply = request.agent.broken("Denied: the call could not be judged.")
        return await _send(send, reply, request.framed)

    async def _reply(
        self, request: _HookRequest, scope: Scope, headers: dict[bytes, bytes], receive: Any
    ) -> HookOutput:
        if scope["method"] != "POST":
            raise HttpProblem("NOT_FOUND_OPERATION", "a hook is asked with POST", 405)
        if self.hooks.notes:
            self.hooks.settle()
        self.context.places.check(scope, headers.get(b"host"), headers.get(b"origin"))
        body = await read_body(receive, headers.get(b"content-length"), MOST_INPUT, ARRIVED in scope)
        check_type(headers.get(b"content-type"))
        authorization = headers.get(b"authorization")
        known = self._loopback_peer(scope) if authorization is None else None
        who = known or (await self.context.credentials.who(scope, authorization)).known()
        self.context.buckets.take(who.key)
        event = request.agent.decode(body, request.event)
        claimed = headers.get(_HOME, b"") if request.framed else b""
        event = with_home(event, home_for(who.principal, os.fsdecode(claimed) if claimed else ""))
        event = with_originals(event, self._unwrap)
        ref = AgentRef(who.agent(), request.agent.word, event.session[:_NAME], event.parent[:_NAME])
        if request.agent.keeps_folder:
            event = await self._in_folder(event, self.hooks.session(ref))
        if event.kind in ("after", "failed"):
            self._note_journaled(request.agent, event, ref, body)
        return request.agent.encode(event, await self._verdict(request, event, ref, who, receive))

    async def _verdict(
        self, request: _HookRequest, event: Event, who: AgentRef, caller: ApiCaller, receive: Any
    ) -> HookVerdict:
        self._watch_files(request.agent, event, who)
        if event.problem:
            words = f"{request.agent.title} sent hook input that cannot be judged: {event.problem}"
            self._alert(MALFORMED, words, who, quiet=True)
        if event.kind in GATING:
            self.hooks.notes.append(partial(self.hooks.coverage.before, request.agent.word, who.principal, event))
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self.hooks.settle)  # while others decide, or once the connection is closed
            most = min(request.seconds - EARLY, float(self.context.config.hooks.wait_seconds))
            access = self.context.access(who.principal, request.framed)
            hook = HookCall(
                request.agent, event, who, loop.time() + most, partial(hung_up, receive), access,
                caller.isolation, self.hooks.files.own, request.framed, caller.pid,
            )  # fmt: skip
            return await self._evaluation.verdict(hook)
        if event.kind in ("after", "failed"):
            return await self._after(request.agent, event, who)
        if event.kind == "config":
            return await self._settings_changed(request.agent, event, who)
        return HookVerdict("allow")

    async def _after(self, agent: AgentDialect, event: Event, who: AgentRef) -> HookVerdict:
        coverage = self.hooks.coverage
        if event.problem:
            return HookVerdict("allow")  # it has run, and cannot be stopped
        found = coverage.after(agent.word, who.principal, event)
        if found != SEEN and journal.is_pending(self.context.config.folder):
            await self._take_journal()
            found = coverage.after(agent.word, who.principal, event)
        coverage.count(agent.word, event, CALLS, found)
        work = self.pool.run(record_outcome, self.state, self.hooks, agent, event, who, found)
        answered = (self.hooks.calls.get(call_keys(who, call)) for call in event.calls)
        if found != SEEN or any(one is not None and one.snapshot for one in answered):
            await work  # before the agent goes on: a block counts at once, and the files are still the call's result
        else:
            self._later(work)
        return HookVerdict("allow")

    async def _in_folder(self, event: Event, session: HookSession) -> Event:
        """With calls in the folder where the session's last command ended; remembers where a finished one did."""
        folder = session.folder or event.cwd
        calls = tuple(
            replace(one, action=replace(one.action, cwd=folder)) if one.action.cwd == event.cwd else one
            for one in event.calls
        )
        for call in calls if event.kind == "after" and event.outcome != UNKNOWN else ():
            if isinstance(text := call.input.get("command"), str):
                last = replace(command(f"{text}\npwd", call.action.cwd), home=call.action.home)
                judged, _ = await self.pool.run(self.state.reader.read, last)
                ends = next((one.cwd for one in reversed(judged.facts) if isinstance(one, Command)), "")
                arrived = ends and (not event.outcome or os.path.isdir(ends))
                session.folder = ends if arrived else call.action.cwd
        return replace(event, calls=calls)

    def _note_journaled(self, agent: AgentDialect, event: Event, who: AgentRef, body: bytes) -> None:
        """What the journal refused, and all calls of a session that cannot use it, are judged without it from now on."""
        said, session = failure_in(body), self.hooks.session(who)
        for call in event.calls:
            known = self.hooks.calls.get(call_keys(who, call))
            if known is not None and known.sent is not None:
                self._note_rewritten(agent, call, known.sent, who, said)
            if said == "refused":
                judged, _ = self.state.reader.read(call.action)
                session.too_large = (*session.too_large, *changed_keys(call.action, judged))[-MOST_EFFECTS:]

    def _note_rewritten(self, agent: AgentDialect, call: AgentCall, sent: SentCall, who: AgentRef, said: str) -> None:
        session = self.hooks.session(who)
        ran = self.hooks.wrapper is not None and take_mark(self.hooks.wrapper.front, sent.id)
        relied = sent.asked in session.proved
        if not ran or said == "unable" or call.action.text != sent.original:
            session.without_journal = True
        else:  # agents were seen to ignore the new input in one mode, or after a prompt, and not in others
            session.proved.add(sent.asked)
        if not ran and said != "unable":
            words = f"{agent.title} does not run calls as they were rewritten; they are judged without the journal"
            self._alert(REPLACED, words, who, quiet=not relied)

    async def _prepare_wrapping(self) -> None:
        try:
            self.hooks.wrapper = Wrapper(str(await self.pool.run(prepare_wrapping, self.context.config)))
        except JournalError as error:
            self.state.trouble(f"calls do not run below the journal: {error}")

    async def _settings_changed(self, agent: AgentDialect, event: Event, who: AgentRef) -> HookVerdict:
        found = await self.pool.run(disabling_settings, agent, who.principal, event.cwd)
        words = f"{agent.title}'s settings were changed" + (f": {found[0]}" if found else "")
        await self.pool.run(alert, self.state, CHANGED, words, details_of(who), quiet=not found)
        if found:
            return HookVerdict("deny", f"Denied: this switches Interlock's hooks off ({found[0]}).")
        return HookVerdict("allow")

    def _watch_files(self, agent: AgentDialect, event: Event, who: AgentRef) -> None:
        """Has the files that install the hooks checked soon after the answer: once for all calls of a moment."""
        paths = hook_paths(agent.word, who.principal, event.cwd)
        self.hooks.files.watch(paths)  # a call that changes them has not run yet
        if not self._watched:
            asyncio.get_running_loop().call_later(CHECK_SECONDS, self._check_files)
        self._watched[paths] = who

    def _check_files(self) -> None:
        watched, self._watched = self._watched, {}  # first: the next call has them checked again, whatever fails here
        self.hooks.settle()  # of calls that wait for a person, too
        for paths, who in watched.items():
            for words in self.hooks.files.changes(paths):
                self._alert(CHANGED, words, who)
        now = asyncio.get_running_loop().time()
        if now - self.hooks.journal_checked_at > JOURNAL_SECONDS:
            self.hooks.journal_checked_at = now
            if journal.is_pending(self.context.config.folder):
                self._later(self._take_journal())

    def _alert(self, kind: str, words: str, who: AgentRef, quiet: bool = False) -> None:
        once, key = (self.hooks, " ".join(session_key(who))) if quiet else (None, "")
        self._later(self.pool.run(alert, self.state, kind, words, details_of(who), quiet, once, key))

    async def _take_journal(self) -> None:
        taken = await self.pool.run(journal.take, self.state, self.context.config.folder)
        self.hooks.coverage.add_journal(taken)

    def _loopback_peer(self, scope: Scope) -> ApiCaller | None:
        """The user who opened a connection on loopback, as the kernel says."""
        uid = (scope.get("state") or {}).get(OPENED_BY)
        if uid is None:
            return None
        self.context.peers.check_agent(f"uid:{uid}")
        return ApiCaller(f"uid:{uid}")

    def _later(self, work: Any) -> None:
        """After the answer has left; a failure is reported."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Future[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.state.trouble(f"hook: {task.exception()}")


def with_home(event: Event, home: str) -> Event:
    calls = tuple([replace(one, action=replace(one.action, home=home)) for one in event.calls if home])
    return replace(event, calls=calls) if calls else event


def is_hook(scope: Scope) -> bool:
    return str(scope["path"]).startswith(ROUTE)


@lru_cache(maxsize=256)
def _parse_request(path: str, query: bytes, event: bytes, limit: bytes | None) -> _HookRequest:
    """Cached, as those of an agent are all alike."""
    agent = agent_of(path.removeprefix(ROUTE)[:100])
    name = event.decode("latin-1") or (parse_qs(query.decode("latin-1")).get("event") or [""])[0]
    seconds = agent.limit_seconds - SPARE
    if limit is not None:
        with contextlib.suppress(ValueError):
            seconds = min(seconds, int(limit) / 1000)
    return _HookRequest(agent, name[:_NAME], limit is not None, max(0.0, seconds))


async def _send(send: Any, reply: HookOutput, framed: bool, status: int = 200) -> None:
    """Exit code and both streams to the client, or its own JSON to an agent that posts."""
    body = reply.stdout + reply.stderr if framed else reply.stdout or b"{}"
    headers = [*_HEADERS, (b"content-length", b"%d" % len(body))]
    if framed:
        headers += [(b"interlock-exit", b"%d" % reply.exit), (b"interlock-stdout", b"%d" % len(reply.stdout))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
