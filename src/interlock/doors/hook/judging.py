"""★ A hook's event -> the verdict: one evaluation for each call, the worst wins, and a held call waits as long as its agent does."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from interlock.agents import Agent, Event, Verdict
from interlock.agents.contract import Call
from interlock.core.decide import Judgement
from interlock.core.decision import Decision
from interlock.core.guarded import Resolve
from interlock.core.loss import RELIEF
from interlock.core.model import Action, AgentRef, Kind, TicketState
from interlock.core.read import BudgetSpent
from interlock.core.read.facts import Fact
from interlock.core.ticket import settled
from interlock.doors.hook.asking import fits, may_ask
from interlock.doors.hook.eyes import Keep, Look
from interlock.doors.hook.late import told
from interlock.doors.hook.loop_calls import loop_name
from interlock.doors.hook.made import worth
from interlock.doors.hook.memory import Hooks, Passed
from interlock.doors.hook.projects import Find
from interlock.doors.hook.sharing import DEFERRED, call_keys
from interlock.doors.hook.written import Files, contents
from interlock.doors.http.context import Context
from interlock.doors.http.errors import Problem
from interlock.doors.http.waiting import until_time_moves_it
from interlock.service.callers import left
from interlock.service.evaluate import evaluate, quick
from interlock.service.reading import AT_ONCE
from interlock.service.request import Request
from interlock.service.words import face_to_face, notice, waiting_line

DOOR = "hook"
SHORT = 4_096  # characters; what is longer is not read on the event loop
PENDING = (TicketState.COOLING, TicketState.WAITING)
NOT_YET = "Nobody has answered yet, and silence is not consent: do not try the same by other means."
TWICE = (
    "Denied: the same call stands here twice, and one approval is good for one of them. Make them one after the other."
)
AGAIN = 4  # evaluations of one held call


class _Elsewhere(Exception):
    """A script has to be read, which the event loop does not do."""


@dataclass(slots=True)
class Scripts:
    """Reads scripts for one call, and remembers what was read."""

    hooks: Hooks
    session: str
    read: Files | None  # as whoever asks could read them
    texts: dict[str, str] = field(default_factory=dict)

    def __call__(self, path: str) -> str | None:
        text = self.read(path) if self.read is not None else None
        if text is None:
            text = self.hooks.written.text(self.session, path)
        if text is not None:
            self.texts[path] = text
        return text

    @property
    def hashes(self) -> dict[str, str]:
        return {path: hashed(text) for path, text in self.texts.items()}


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _not_here(path: str) -> str | None:
    raise _Elsewhere(path)


@dataclass(frozen=True, slots=True)
class Asking:
    """One hook that waits for its answer."""

    agent: Agent
    event: Event
    who: AgentRef
    until: float  # of the event loop's clock
    hung_up: Callable[[], Awaitable[None]]  # ends when nobody listens any more
    read: Files | None  # the scripts that it would run, with its own user's eyes
    strength: str = ""
    look: Look | None = None  # at what it would destroy, with the same eyes
    keeper: Keep | None = None  # of what it would destroy, with its own user's hands
    resolve: Resolve | None = None  # says where its paths lead
    hooked: tuple[str, ...] = ()  # settings files that call the hook
    project: Find | None = None  # the project files of its folder, with the same eyes
    here: bool = False  # asked by the client, which is on this machine

    @property
    def key(self) -> tuple[str, str, str]:
        return self.who.principal, self.agent.word, self.who.session

    def request(self, call: Call, files: Files | None) -> Request:
        return Request(
            call.action, self.who, DOOR, judged=call.judged, files=files, strength=self.strength, look=self.look,
            keeper=self.keeper, resolve=self.resolve, hooked=self.hooked, project=self.project, here=self.here,
            asks=partial(fits, cwd=call.action.cwd) if self.event.asks or self.event.pair else None,
        )  # fmt: skip

    def call_key(self, call: Call) -> str:
        return self.call_keys(call)[0]

    def call_keys(self, call: Call) -> list[str]:
        return call_keys(self.who.principal, self.agent.word, self.who.session, call)


class Judging:
    """Everything that is asked before a call runs."""

    def __init__(self, context: Context, hooks: Hooks) -> None:
        self.context, self.hooks = context, hooks

    async def verdict(self, asking: Asking) -> Verdict:
        """May it run? One call that is announced twice is judged once."""
        event = asking.event
        if event.problem:
            return Verdict("deny")  # in the words of the problem
        if event.kind == "permission" and all(asking.call_keys(call)[1] in self.hooks.passed for call in event.calls):
            return Verdict("allow")  # let through a moment ago; the client asks its user as it always does
        if event.pair and event.asks:
            self.hooks.second.put(f"{asking.who.principal}/{event.session}", True)
        verdict = await self.hooks.shared.answer(asking.who.principal, event, lambda: self._judged(asking))
        return await self._with_news(asking, verdict)

    async def _judged(self, asking: Asking) -> Verdict:
        for call in asking.event.calls:
            self.context.state.declared.linked(asking.who.principal, asking.who.session, loop_name(call))
        found = [(call, *await self._decided(asking, call)) for call in asking.event.calls]
        held = [(call, decision) for call, decision, _ in found if not decision.allowed]
        if held and all(may_ask(decision, call.action) for call, decision in held):
            if asking.event.asks:
                passing = [one for one in found if one[1].allowed]
                return await self._let_through(asking, passing) or self._asks(asking, held)
            if asking.event.pair and f"{asking.who.principal}/{asking.event.session}" in self.hooks.second:
                return self._deferred(asking, held)
        return await self._answered(asking, found)

    async def _answered(self, asking: Asking, found: list[tuple[Call, Decision, Scripts]]) -> Verdict:
        """What people say to the held ones, as long as there is time and nothing else in the event is hopeless."""
        agreed: list[tuple[Call, Decision, Scripts]] = []
        for call, decision, scripts in sorted(found, key=lambda one: one[1].allowed or one[1].held):
            if not decision.allowed:
                decision = await self._hold(asking, call, decision, scripts)
            if not decision.allowed:
                return self._denied(asking, call, decision)
            agreed.append((call, decision, scripts))
        denied = await self._let_through(asking, agreed)
        told = _noticed(agreed)
        return denied or Verdict("allow", context=told, notice=told)

    async def _let_through(self, asking: Asking, agreed: list[tuple[Call, Decision, Scripts]]) -> Verdict | None:
        """Everything in the event passes, so approvals are spent now; a denial where one of them was used, or is good for one call of two."""
        spent = [one.ticket.id for _, one, _ in agreed if one.unspent and one.ticket is not None]
        if len(set(spent)) < len(spent):
            return Verdict("deny", TWICE)
        for at, (call, decision, scripts) in enumerate(agreed):
            if decision.unspent:
                decision = await self.context.pool.run(self._evaluated, asking, call, scripts, True)
                agreed[at] = call, decision, scripts
            if not decision.allowed:
                return self._denied(asking, call, decision)
            ticket = decision.ticket.id if decision.ticket else ""
            level = int(decision.assessment.level) if decision.assessment else 0
            keys, passed = asking.call_keys(call), Passed(ticket, level, scripts.hashes, decision.kept)
            for key in keys:
                self.hooks.passed.put(key, passed)
            self.hooks.denied.take(*keys)
            if worth(call.action):
                facts = await self._facts(call.action)
                self.hooks.made.let_through(asking.who, asking.agent.word, keys[0], call.action, facts)
            self.hooks.late.forget(asking.key, [ticket] if ticket else [])
        return None

    async def _facts(self, action: Action) -> tuple[Fact, ...]:
        """What a call would do; in the pool where that takes long to read."""
        reader = self.context.state.reader
        try:
            judgement, _ = reader.read(action, None, AT_ONCE)
        except BudgetSpent:
            judgement, _ = await self.context.pool.run(reader.read, action)
        return judgement.facts

    def _deferred(self, asking: Asking, held: list[tuple[Call, Decision]]) -> Verdict:
        """This event cannot ask, and the one that follows can; a call that runs without that one is a bypass."""
        for call, decision in held:
            self.hooks.deferred.put(asking.call_key(call), decision.ticket.id if decision.ticket else "")
        return DEFERRED

    def _asks(self, asking: Asking, held: list[tuple[Call, Decision]]) -> Verdict:
        for call, decision in held:
            assert decision.ticket is not None
            self.hooks.asked.put(asking.call_key(call), decision.ticket.id)
        return Verdict("ask", " ".join(face_to_face(decision) for _, decision in held))

    def _denied(self, asking: Asking, call: Call, decision: Decision) -> Verdict:
        waits, told = decision.held and decision.ticket is not None, ""
        if waits and decision.ticket is not None:
            if self.hooks.late.sent_away(asking.key, decision.ticket.id):
                told = waiting_line(decision.ticket)
        if call.id:
            self.hooks.denied.put(asking.call_key(call), decision.ticket.id if decision.ticket else "")
        return Verdict("deny", f"{decision.reason} {NOT_YET}" if waits else decision.reason, notice=told)

    async def _decided(self, asking: Asking, call: Call) -> tuple[Decision, Scripts]:
        """One evaluation; everyday work is answered at once, on the event loop."""
        scripts = Scripts(self.hooks, asking.who.session, asking.read)
        if self._everyday(asking, call):
            known = self.context.projects.known(asking.who.principal) if asking.project else None
            at_once = quick(self.context.state, replace(asking.request(call, _not_here), project=known))
            if at_once is not None:
                return at_once, scripts
        return await self.context.pool.run(self._evaluated, asking, call, scripts), scripts

    def _everyday(self, asking: Asking, call: Call) -> bool:
        """A short call that writes nothing, of a session that has written nothing of note."""
        if asking.who.session in self.hooks.written.noted or len(call.action.text) > SHORT:
            return False
        if call.action.kind is Kind.COMMAND:
            return True
        small = all(not isinstance(value, str) or len(value) <= SHORT for value in call.input.values())
        return small and next(contents(call.action, None), None) is None

    def _evaluated(self, asking: Asking, call: Call, scripts: Scripts, spend: bool = False) -> Decision:
        """In the pool: the whole evaluation, and what the call writes or inherits; a call alone spends its approval at once."""
        state, session = self.context.state, asking.who.session

        def inherits(own: Judgement) -> Judgement | None:
            return self.hooks.written.inherited(session, call.action, own, scripts.texts)

        spend = spend or len(asking.event.calls) == 1
        made = self.hooks.made.of(asking.who, asking.agent.word, state.clock.now())
        request = replace(asking.request(call, scripts), inherits=inherits, spend=spend, made=made)
        decision = evaluate(state, request)
        if call.action.kind is Kind.TOOL and (decision.allowed or decision.held):
            self.hooks.written.remember(session, call.action, state.rules, asking.read)
        return decision

    async def _hold(self, asking: Asking, call: Call, decision: Decision, scripts: Scripts) -> Decision:
        """Waits for the answer within the agent's limit; nobody's thread is held meanwhile."""
        gone: asyncio.Future[None] = asyncio.ensure_future(asking.hung_up())
        try:
            for _ in range(AGAIN):
                if not decision.held or decision.ticket is None:
                    return decision
                id = decision.ticket.id
                if not await self._settled(asking, id, gone):
                    if gone.done() and not self.context.waiters.closed and not self.context.waiters.waits(id):
                        await self.context.pool.run(left, self.context.state, id)  # the call was broken off
                    return decision
                decision = await self.context.pool.run(self._evaluated, asking, call, scripts)
            return decision
        finally:
            gone.cancel()

    async def _settled(self, asking: Asking, id: str, gone: asyncio.Future[None]) -> bool:
        """Whether the ticket was answered, or has cooled off, while somebody still listens."""
        loop = asyncio.get_running_loop()
        try:
            event = self.context.waiters.add(id)
        except Problem:  # too many wait
            return False
        try:
            while True:
                event.clear()
                ticket = await self.context.read(lambda tx: tx.ticket(id))
                now, left = self.context.state.clock.now(), asking.until - loop.time()
                if gone.done() or self.context.waiters.closed or ticket is None:
                    return False
                if settled(ticket, now).state not in PENDING:
                    return True
                if left <= 0:
                    return False
                await _first(event, gone, min(left, until_time_moves_it(ticket, now)))
        finally:
            self.context.waiters.remove(id, event)

    async def _with_news(self, asking: Asking, verdict: Verdict) -> Verdict:
        """The verdict, and what became of tickets that the agent was sent away with."""
        due = self.hooks.late.due(asking.key)
        if not due or verdict.word == "ask":
            return verdict
        words, over = await self.context.pool.run(told, self.context.state, due)
        self.hooks.late.forget(asking.key, over)
        if not words:
            return verdict
        if verdict.word == "allow":
            return replace(verdict, context=" ".join(filter(None, (verdict.context, words))))
        return Verdict("deny", f"{verdict.reason} {words}", notice=verdict.notice)


def _noticed(agreed: list[tuple[Call, Decision, Scripts]]) -> str:
    """What the agent is told of what would have been asked: that it was kept first, or why nothing would be lost."""
    relieved = [one for _, one, _ in agreed if one.kept or any(factor.startswith(RELIEF) for factor in one.weighed)]
    return " ".join(notice(one.kept) if one.kept else one.reason for one in relieved)


async def _first(event: asyncio.Event, gone: asyncio.Future[None], seconds: float) -> None:
    changed = asyncio.ensure_future(event.wait())
    waited: set[asyncio.Future[Any]] = {changed, gone}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        changed.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await changed
