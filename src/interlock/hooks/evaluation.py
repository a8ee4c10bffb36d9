"""★ Turns a hook's event into a verdict: one evaluation for each call, the worst wins, a held call waits as long as its agent does."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import posixpath
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from interlock.agents import AgentCall, AgentDialect, Event, HookVerdict
from interlock.analysis.assess import Judgement
from interlock.analysis.facts import Fact
from interlock.analysis.read import BudgetSpent
from interlock.approvals import settle
from interlock.approvals.answers import abandon
from interlock.approvals.confirmations import confirm_suffices
from interlock.approvals.decision_text import notice, prompt_reason, waiting_line
from interlock.engine.evaluate import evaluate, quick
from interlock.hooks.memory import DEFERRED, AllowedCall, HookMemory, call_keys, late_messages
from interlock.hooks.provenance import may_change_provenance
from interlock.hooks.written_files import Files, written_contents
from interlock.impact.user_access import FindProjectFiles, Inspect, TakeSnapshot
from interlock.model import Action, AgentRef, Assessment, Kind, TicketState
from interlock.policy.decision import Decision
from interlock.policy.effect_key import EffectKey, parse
from interlock.policy.impact import RELIEF_PREFIX
from interlock.policy.real_paths import Resolve
from interlock.runtime import Request
from interlock.runtime.action_reader import AT_ONCE
from interlock.web.concurrency import seconds_until_due
from interlock.web.context import Context
from interlock.web.errors import HttpProblem

INTERFACE = "hook"
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
class CallScripts:
    """Reads scripts for one call, and remembers what was read."""

    hooks: HookMemory
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
        return {path: content_hash(text) for path, text in self.texts.items()}


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _not_here(path: str) -> str | None:
    raise _Elsewhere(path)


@dataclass(frozen=True, slots=True)
class HookCall:
    """One hook that waits for its answer."""

    agent: AgentDialect
    event: Event
    who: AgentRef
    until: float  # of the event loop's clock
    hung_up: Callable[[], Awaitable[None]]  # ends when nobody listens any more
    read: Files | None  # the scripts that it would run, with its own user's eyes
    strength: str = ""
    look: Inspect | None = None  # at what it would destroy, with the same eyes
    keeper: TakeSnapshot | None = None  # of what it would destroy, with its own user's hands
    resolve: Resolve | None = None  # says where its paths lead
    hooked: tuple[str, ...] = ()  # settings files that call the hook
    project: FindProjectFiles | None = None  # the project files of its folder, with the same eyes
    here: bool = False  # asked by the client, which is on this machine

    @property
    def key(self) -> tuple[str, str, str]:
        return self.who.principal, self.agent.word, self.who.session

    def request(self, call: AgentCall, files: Files | None) -> Request:
        return Request(
            call.action, self.who, INTERFACE, digest_fields=call.judged, files=files, strength=self.strength, inspect_impact=self.look,
            take_snapshot=self.keeper, resolve=self.resolve, hook_files=self.hooked, project=self.project, local=self.here,
            may_prompt=partial(fits_prompt, cwd=call.action.cwd) if self.event.asks or self.event.pair else None,
        )  # fmt: skip

    def call_key(self, call: AgentCall) -> str:
        return self.call_keys(call)[0]

    def call_keys(self, call: AgentCall) -> list[str]:
        return call_keys(self.who.principal, self.agent.word, self.who.session, call)


class HookEvaluation:
    """Everything that is asked before a call runs."""

    def __init__(self, context: Context, hooks: HookMemory) -> None:
        self.context, self.hooks = context, hooks

    async def verdict(self, asking: HookCall) -> HookVerdict:
        """May it run? One call that is announced twice is judged once."""
        event = asking.event
        if event.problem:
            return HookVerdict("deny")  # in the words of the problem
        if event.kind == "permission" and all(asking.call_keys(call)[1] in self.hooks.passed for call in event.calls):
            return HookVerdict("allow")  # let through a moment ago; the client asks its user as it always does
        if event.pair and event.asks:
            self.hooks.second.put(f"{asking.who.principal}/{event.session}", True)
        verdict = await self.hooks.shared.answer(asking.who.principal, event, lambda: self._judged(asking))
        return await self._with_news(asking, verdict)

    async def _judged(self, asking: HookCall) -> HookVerdict:
        for call in asking.event.calls:
            self.context.state.declarations.linked(asking.who.principal, asking.who.session, loop_name(call))
        found = [(call, *await self._decided(asking, call)) for call in asking.event.calls]
        held = [(call, decision) for call, decision, _ in found if not decision.allowed]
        if held and all(may_prompt(decision, call.action) for call, decision in held):
            if asking.event.asks:
                passing = [one for one in found if one[1].allowed]
                return await self._let_through(asking, passing) or self._asks(asking, held)
            if asking.event.pair and f"{asking.who.principal}/{asking.event.session}" in self.hooks.second:
                return self._deferred(asking, held)
        return await self._answered(asking, found)

    async def _answered(self, asking: HookCall, found: list[tuple[AgentCall, Decision, CallScripts]]) -> HookVerdict:
        """What people say to the held ones, as long as there is time and nothing else in the event is hopeless."""
        agreed: list[tuple[AgentCall, Decision, CallScripts]] = []
        for call, decision, scripts in sorted(found, key=lambda one: one[1].allowed or one[1].held):
            if not decision.allowed:
                decision = await self._hold(asking, call, decision, scripts)
            if not decision.allowed:
                return self._denied(asking, call, decision)
            agreed.append((call, decision, scripts))
        denied = await self._let_through(asking, agreed)
        news = _noticed(agreed)
        return denied or HookVerdict("allow", context=news, notice=news)

    async def _let_through(
        self, asking: HookCall, agreed: list[tuple[AgentCall, Decision, CallScripts]]
    ) -> HookVerdict | None:
        """Everything in the event passes, so approvals are spent now; a denial where one of them was used, or is good for one call of two."""
        spent = [one.ticket.id for _, one, _ in agreed if one.unspent and one.ticket is not None]
        if len(set(spent)) < len(spent):
            return HookVerdict("deny", TWICE)
        for at, (call, decision, scripts) in enumerate(agreed):
            if decision.unspent:
                decision = await self.context.pool.run(self._evaluated, asking, call, scripts, True)
                agreed[at] = call, decision, scripts
            if not decision.allowed:
                return self._denied(asking, call, decision)
            ticket = decision.ticket.id if decision.ticket else ""
            level = int(decision.assessment.level) if decision.assessment else 0
            keys, passed = asking.call_keys(call), AllowedCall(ticket, level, scripts.hashes, decision.kept)
            for key in keys:
                self.hooks.passed.put(key, passed)
            self.hooks.denied.take(*keys)
            if may_change_provenance(call.action):
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

    def _deferred(self, asking: HookCall, held: list[tuple[AgentCall, Decision]]) -> HookVerdict:
        """This event cannot ask, and the one that follows can; a call that runs without that one is a bypass."""
        for call, decision in held:
            self.hooks.deferred.put(asking.call_key(call), decision.ticket.id if decision.ticket else "")
        return DEFERRED

    def _asks(self, asking: HookCall, held: list[tuple[AgentCall, Decision]]) -> HookVerdict:
        for call, decision in held:
            assert decision.ticket is not None
            self.hooks.asked.put(asking.call_key(call), decision.ticket.id)
        return HookVerdict("ask", " ".join(prompt_reason(decision) for _, decision in held))

    def _denied(self, asking: HookCall, call: AgentCall, decision: Decision) -> HookVerdict:
        waits, news = decision.held and decision.ticket is not None, ""
        if waits and decision.ticket is not None:
            if self.hooks.late.sent_away(asking.key, decision.ticket.id):
                news = waiting_line(decision.ticket)
        if call.id:
            self.hooks.denied.put(asking.call_key(call), decision.ticket.id if decision.ticket else "")
        return HookVerdict("deny", f"{decision.reason} {NOT_YET}" if waits else decision.reason, notice=news)

    async def _decided(self, asking: HookCall, call: AgentCall) -> tuple[Decision, CallScripts]:
        """One evaluation; everyday work is answered at once, on the event loop."""
        scripts = CallScripts(self.hooks, asking.who.session, asking.read)
        if self._everyday(asking, call):
            known = self.context.projects.known(asking.who.principal) if asking.project else None
            at_once = quick(self.context.state, replace(asking.request(call, _not_here), project=known))
            if at_once is not None:
                return at_once, scripts
        return await self.context.pool.run(self._evaluated, asking, call, scripts), scripts

    def _everyday(self, asking: HookCall, call: AgentCall) -> bool:
        """A short call that writes nothing, of a session that has written nothing of note."""
        if asking.who.session in self.hooks.written.noted or len(call.action.text) > SHORT:
            return False
        if call.action.kind is Kind.COMMAND:
            return True
        small = all(not isinstance(value, str) or len(value) <= SHORT for value in call.input.values())
        return small and next(written_contents(call.action, None), None) is None

    def _evaluated(self, asking: HookCall, call: AgentCall, scripts: CallScripts, spend: bool = False) -> Decision:
        """In the pool: the whole evaluation, and what the call writes or inherits; a call alone spends its approval at once."""
        state, session = self.context.state, asking.who.session

        def inherits(own: Judgement) -> Judgement | None:
            return self.hooks.written.inherited(session, call.action, own, scripts.texts)

        spend = spend or len(asking.event.calls) == 1
        made = self.hooks.made.of(asking.who, asking.agent.word, state.clock.now())
        request = replace(asking.request(call, scripts), inherits=inherits, spend=spend, provenance=made)
        decision = evaluate(state, request)
        if call.action.kind is Kind.TOOL and (decision.allowed or decision.held):
            self.hooks.written.remember(session, call.action, state.rules, asking.read)
        return decision

    async def _hold(self, asking: HookCall, call: AgentCall, decision: Decision, scripts: CallScripts) -> Decision:
        """Waits for the answer within the agent's limit; nobody's thread is held meanwhile."""
        gone: asyncio.Future[None] = asyncio.ensure_future(asking.hung_up())
        try:
            for _ in range(AGAIN):
                if not decision.held or decision.ticket is None:
                    return decision
                id = decision.ticket.id
                if not await self._settled(asking, id, gone):
                    if gone.done() and not self.context.waiters.closed and not self.context.waiters.waits(id):
                        await self.context.pool.run(abandon, self.context.state, id)  # the call was broken off
                    return decision
                decision = await self.context.pool.run(self._evaluated, asking, call, scripts)
            return decision
        finally:
            gone.cancel()

    async def _settled(self, asking: HookCall, id: str, gone: asyncio.Future[None]) -> bool:
        """Whether the ticket was answered, or has cooled off, while somebody still listens."""
        loop = asyncio.get_running_loop()
        try:
            event = self.context.waiters.add(id)
        except HttpProblem:  # too many wait
            return False
        try:
            while True:
                event.clear()
                ticket = await self.context.read(lambda tx: tx.ticket(id))
                now, abandon = self.context.state.clock.now(), asking.until - loop.time()
                if gone.done() or self.context.waiters.closed or ticket is None:
                    return False
                if settle(ticket, now).state not in PENDING:
                    return True
                if abandon <= 0:
                    return False
                await _first(event, gone, min(abandon, seconds_until_due(ticket, now)))
        finally:
            self.context.waiters.remove(id, event)

    async def _with_news(self, asking: HookCall, verdict: HookVerdict) -> HookVerdict:
        """The verdict, and what became of tickets that the agent was sent away with."""
        due = self.hooks.late.due(asking.key)
        if not due or verdict.word == "ask":
            return verdict
        words, over = await self.context.pool.run(late_messages, self.context.state, due)
        self.hooks.late.forget(asking.key, over)
        if not words:
            return verdict
        if verdict.word == "allow":
            return replace(verdict, context=" ".join(filter(None, (verdict.context, words))))
        return HookVerdict("deny", f"{verdict.reason} {words}", notice=verdict.notice)


def _noticed(agreed: list[tuple[AgentCall, Decision, CallScripts]]) -> str:
    """What the agent is told of what would have been asked: that it was kept first, or why nothing would be lost."""
    relieved = [
        one for _, one, _ in agreed if one.kept or any(factor.startswith(RELIEF_PREFIX) for factor in one.weighed)
    ]
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


_NEVER = ("unreadable", "self_protection", "unknown")
_LOCAL = "git."  # what these rules find is lost in the working copy; what they find at a remote is level 3


def may_prompt(decision: Decision, action: Action) -> bool:
    """Whether nobody in particular has to agree, and what would be lost can be seen from where the agent works."""
    ticket, assessment = decision.ticket, decision.assessment
    if decision.outcome != "confirm" or ticket is None or assessment is None or not confirm_suffices(ticket):
        return False
    if not decision.token:  # the ticket is for other words than these
        return False
    return fits_prompt(assessment, [parse(text) for text in ticket.effect_keys], action.cwd)


def fits_prompt(assessment: Assessment, keys: Sequence[EffectKey], cwd: str) -> bool:
    """Whether a user can see what a confirm is about: all of it was read, and what is lost for good lies in the agent's folder."""
    if any(word in finding.rule for finding in assessment.findings for word in _NEVER):
        return False
    local = all(finding.rule.startswith(_LOCAL) for finding in assessment.findings)
    return not assessment.irreversible or _inside(keys, cwd, local)


def _inside(keys: Sequence[EffectKey], cwd: str, local: bool) -> bool:
    """Whether everything that is lost for good lies below the agent's folder; `local` says so of what is no path."""
    return bool(keys) and all(_below(key.path, cwd) if key.path and not key.place else local for key in keys)


def _below(target: str, cwd: str) -> bool:
    return bool(cwd.strip("/")) and posixpath.normpath(target).startswith(posixpath.normpath(cwd) + "/")


_TOOL = "mcp_aql"  # in the name of every tool of the loop, whatever the client puts around it
_OPERATIONS = frozenset({"execute_agent", "record_execution_step", "continue_execution"})
_LONGEST = 200


def loop_name(call: AgentCall) -> str:
    """The name an execution runs under; empty for every other call."""
    if _TOOL not in call.tool or call.input.get("operation") not in _OPERATIONS:
        return ""
    params = call.input.get("params")
    given = params if isinstance(params, Mapping) else call.input
    name = given.get("element_name")
    return name[:_LONGEST] if isinstance(name, str) else ""
