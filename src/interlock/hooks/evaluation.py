"""★ Turns a hook's event into a verdict: one evaluation for each call, the worst wins, a held call waits as long as its agent does."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.agents import AgentCall, AgentDialect, Event, HookVerdict, RewrittenCall
from interlock.analysis.assess import Judgement
from interlock.analysis.read import BudgetSpent, FileReader
from interlock.analysis.targets.provenance import NOTHING_CREATED
from interlock.approvals import settle
from interlock.approvals.answers import abandon
from interlock.approvals.decision_text import NOT_YET, notice, prompt_reason, waiting_line
from interlock.engine.evaluate import evaluate, quick
from interlock.hooks.memory import (
    ASKED_NEXT,
    DEFERRED,
    DENIED,
    PASSED,
    PROMPTED,
    AnsweredCall,
    CallAnswer,
    HookMemory,
    call_keys,
    late_messages,
    session_key,
)
from interlock.hooks.provenance import may_change_provenance
from interlock.hooks.wrapping import SentCall, changed_keys, leave_out_made_again, wrap_call
from interlock.hooks.written_files import names_program, written_contents
from interlock.identity.agent_detection import words_above
from interlock.identity.isolation import JAILED
from interlock.model import Action, AgentRef, Decision, Kind
from interlock.policy.effect_key import nearest
from interlock.policy.impact import RELIEF_PREFIX
from interlock.ports import Access
from interlock.runtime import AT_ONCE, Request
from interlock.web.concurrency import changed_or_gone, seconds_until_due
from interlock.web.context import Context
from interlock.web.errors import HttpProblem

INTERFACE = "hook"
SHORT = 4_096  # characters; longer text is not analysed on the event loop
TWICE = "Denied: this event has the same call twice, and one approval covers only one of them. Make them one after the other."
AGAIN = 4  # evaluations of a held call


class CallScripts(Struct):
    """Remembers the texts of the scripts that one call reads."""

    hooks: HookMemory
    session: str
    read: FileReader | None  # with the rights of the agent's user
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


class HookCall(Struct, frozen=True):
    """One hook that waits for its answer, with the access of the agent's user."""

    agent: AgentDialect
    event: Event
    who: AgentRef
    until: float  # on the event loop's clock
    hung_up: Callable[[], Awaitable[None]]  # completes when the client disconnects
    access: Access  # to the files of the agent's user
    isolation: str = ""
    hook_files: tuple[str, ...] = ()  # settings files that run the hook
    here: bool = False  # sent by the hook client, which is on this machine
    pid: int = 0  # of the process that asks, where it is known
    rewrite: RewrittenCall | None = None  # its only call, below the journal
    journaled: bool = False  # the call is known to run as rewritten

    def request(self, call: AgentCall, access: Access) -> Request:
        return Request(
            call.action, self.who, INTERFACE, digest_fields=call.judged, access=access, strength=self.isolation,
            hook_files=self.hook_files, local=self.here, may_prompt=self.event.asks or bool(self.event.pair),
            journaled=self.journaled,
        )  # fmt: skip


DecidedCall = tuple[AgentCall, Decision, CallScripts]


class HookEvaluation:
    def __init__(self, context: Context, hooks: HookMemory) -> None:
        self.context, self.state, self.pool, self.hooks = context, context.state, context.pool, hooks

    async def verdict(self, hook: HookCall) -> HookVerdict:
        """A call announced twice is judged once."""
        event = hook.event
        if event.problem:
            return HookVerdict("deny")  # the dialect adds the problem's message
        if event.kind == "permission" and all(
            self.hooks.calls.passed(call_keys(hook.who, call)[1]) for call in event.calls
        ):
            return HookVerdict("allow")  # allowed a moment ago; the client still asks its user
        if event.pair:
            if event.asks:
                self.hooks.session(hook.who).prompts = True
            verdict = await self.hooks.shared.answer(hook.who.principal, event, lambda: self._judge(hook))
        else:
            verdict = await self._judge(hook)
        due = self.hooks.late.due(session_key(hook.who)) if self.hooks.late.changed else []
        return await self._with_late_answers(hook, verdict, due) if due and verdict.word != "ask" else verdict

    async def _judge(self, hook: HookCall) -> HookVerdict:
        for call in hook.event.calls:
            if name := loop_name(call):
                self.state.declarations.linked(hook.who.principal, hook.who.session, name)
        if hook.isolation == JAILED or self.hooks.wrapper is not None:
            hook = await self._below_journal(hook)
        found = await self._decide(hook)
        if hook.rewrite is not None and any(
            decision.assessment is not None and decision.assessment.flags.escalates_privileges
            for _, decision, _ in found  # in a script
        ):
            hook = replace(hook, rewrite=None, journaled=False)
            found = await self._decide(hook)
        held = [(call, decision) for call, decision, _ in found if not decision.allowed]
        if held and all(may_prompt(decision) for _, decision in held):
            if hook.event.asks:
                denied = await self._allow(hook, [one for one in found if one[1].allowed])
                if denied is not None:
                    return denied
                self._answer(hook, held, PROMPTED)
                return HookVerdict("ask", " ".join(prompt_reason(decision) for _, decision in held))
            if hook.event.pair and self.hooks.session(hook.who).prompts:
                self._answer(hook, held, DEFERRED)  # a call that runs without the event that follows is a bypass
                return ASKED_NEXT
        return await self._resolve_held(hook, found)

    async def _resolve_held(self, hook: HookCall, found: list[DecidedCall]) -> HookVerdict:
        """Waits, unless another call of the event is denied."""
        agreed: list[DecidedCall] = []
        if len(found) > 1:
            found = sorted(found, key=lambda one: one[1].allowed or one[1].held)
        for call, decision, scripts in found:
            if not decision.allowed:
                decision = await self._wait_for_answer(hook, call, decision, scripts)
            if not decision.allowed:
                return self._deny(hook, call, decision)
            agreed.append((call, decision, scripts))
        denied = await self._allow(hook, agreed)
        news = _notices(agreed)
        if denied is None and hook.rewrite is not None:
            self.hooks.wrapped_calls.put(hook.rewrite.id, hook.who.session)
            front = self.hooks.wrapper.front if self.hooks.wrapper is not None else ""
            cwd = hook.event.calls[0].action.cwd
            await self.pool.run(leave_out_made_again, self.hooks.made_again, front, hook.rewrite.id, cwd)
        return denied or HookVerdict("allow", context=news, notice=news, rewrite=hook.rewrite)

    async def _allow(self, hook: HookCall, agreed: list[DecidedCall]) -> HookVerdict | None:
        """Spends the approvals of an event whose calls all pass; denies where one was spent meanwhile or would cover two calls."""
        spent = [one.ticket.id for _, one, _ in agreed if one.unspent and one.ticket is not None]
        if spent and len(set(spent)) < len(spent):
            return HookVerdict("deny", TWICE)
        for at, (call, decision, scripts) in enumerate(agreed):
            if decision.unspent:
                decision = await self.pool.run(self._evaluate, hook, call, scripts, True)
                agreed[at] = call, decision, scripts
            if not decision.allowed:
                return self._deny(hook, call, decision)
            self.hooks.notes.append(partial(self._note_pass, hook, call, decision, scripts))
            if may_change_provenance(call.action):
                judged = await self._read(call.action)
                self.hooks.provenance.expect(hook.who, call_keys(hook.who, call)[0], call.action, judged)
            if decision.ticket is not None:
                self.hooks.late.forget(session_key(hook.who), [decision.ticket.id])
        return None

    def _note_pass(self, hook: HookCall, call: AgentCall, decision: Decision, scripts: CallScripts) -> None:
        ticket, new = decision.ticket.id if decision.ticket else "", hook.rewrite
        sent = SentCall(call.action.text, new.id, new.asked) if new is not None else None
        answer = AnsweredCall(PASSED, ticket, scripts.hashes, decision.kept, sent)
        self.hooks.calls.answer(call_keys(hook.who, call), answer)

    async def _below_journal(self, hook: HookCall) -> HookCall:
        """With its calls below the journal where that can be: the one around its jail, or one for its only call."""
        if hook.isolation == JAILED:
            return replace(hook, journaled=await self._is_in_journal(hook))
        wrapper, event = self.hooks.wrapper, hook.event
        own = hook.who.principal == f"uid:{os.getuid()}"
        if wrapper is None or not own or event.kind != "before" or len(event.calls) != 1 or not hook.pid:
            return hook
        session, call = self.hooks.session(hook.who), event.calls[0]
        if hook.agent.rewrites is None or session.without_journal:
            return hook
        if not session.looked_up:
            session.options, session.looked_up = words_above(hook.pid), True
        if session.options is None or await self._did_not_fit(hook, call):
            return hook
        judged = await self._read(call.action)
        new = wrap_call(hook.agent, event, judged, session.options, wrapper)
        runs = new is not None and new.asked in session.proved
        return replace(hook, rewrite=new, journaled=runs)

    async def _is_in_journal(self, hook: HookCall) -> bool:
        """Whether the journal around a jail keeps what all calls of this event change.

        Only commands: what a tool of the agent itself changes belongs to no call there, and ends with the session.
        """
        jail, calls = self.state.jails.jail_of(hook.pid), hook.event.calls
        if jail is None or not jail.journal or any(call.action.kind is not Kind.COMMAND for call in calls):
            return False
        return not any([await self._did_not_fit(hook, call) for call in calls])

    async def _did_not_fit(self, hook: HookCall, call: AgentCall) -> bool:
        """Whether the journal refused an effect of this call in the same session."""
        large = self.hooks.session(hook.who).too_large
        return bool(large) and nearest(large, changed_keys(call.action, await self._read(call.action))) is not None

    async def _read(self, action: Action) -> Judgement:
        """Without its scripts; in the pool where that takes long."""
        reader = self.state.reader
        try:
            if len(action.text) <= SHORT:
                return reader.read(action, None, AT_ONCE)[0]
        except BudgetSpent:
            pass
        return (await self.pool.run(reader.read, action))[0]

    def _deny(self, hook: HookCall, call: AgentCall, decision: Decision) -> HookVerdict:
        reason, news, ticket = decision.reason, "", decision.ticket
        if decision.held and ticket is not None:
            reason = f"{reason} {NOT_YET}"
            if self.hooks.late.remember(session_key(hook.who), ticket.id):
                news = waiting_line(ticket)
        if call.id:
            self._answer(hook, [(call, decision)], DENIED)
        return HookVerdict("deny", reason, notice=news)

    def _answer(self, hook: HookCall, held: list[tuple[AgentCall, Decision]], answer: CallAnswer) -> None:
        """Other than a pass; under each call's own key."""
        for call, decision in held:
            ticket = decision.ticket.id if decision.ticket else ""
            self.hooks.calls.answer(call_keys(hook.who, call)[:1], AnsweredCall(answer, ticket))

    async def _decide(self, hook: HookCall) -> list[DecidedCall]:
        """Ordinary calls at once, on the event loop."""
        found = []
        for call in hook.event.calls:
            scripts, decision = CallScripts(self.hooks, hook.who.session, hook.access.read), None
            if self._everyday(hook, call):
                access = self.context.projects.at_once(hook.who.principal, hook.access)
                decision = quick(self.state, hook.request(call, access))
            if decision is None:
                decision = await self.pool.run(self._evaluate, hook, call, scripts)
            found.append((call, decision, scripts))
        return found

    def _everyday(self, hook: HookCall, call: AgentCall) -> bool:
        """Short, writing nothing, in a session that has written nothing dangerous."""
        text = call.action.text
        if hook.who.session in self.hooks.written.dangerous_sessions or len(text) > SHORT:
            return False
        if call.action.kind is Kind.COMMAND:
            return not (_redirects(text) and names_program(text))
        small = all(not isinstance(value, str) or len(value) <= SHORT for value in call.input.values())
        return small and next(written_contents(call.action, None), None) is None

    def _evaluate(self, hook: HookCall, call: AgentCall, scripts: CallScripts, spend: bool = False) -> Decision:
        """In the pool, with the files that the call writes or inherits; a single call spends its approval at once."""
        state, session, written = self.state, hook.who.session, self.hooks.written
        spend = spend or len(hook.event.calls) == 1
        provenance = NOTHING_CREATED
        if self.hooks.provenance.sessions:
            provenance = self.hooks.provenance.of(hook.who, state.clock.now())
        access = replace(hook.access, read=scripts)
        request = replace(hook.request(call, access), spend=spend, provenance=provenance)
        if session in written.dangerous_sessions:
            request = replace(request, written=written.dangerous(session))
        decision = evaluate(state, request)
        if _may_write(call.action) and (decision.allowed or decision.held):
            written.remember(session, call.action, state.rules, hook.access.read)
        return decision

    async def _wait_for_answer(
        self, hook: HookCall, call: AgentCall, decision: Decision, scripts: CallScripts
    ) -> Decision:
        """Within the agent's limit, without occupying a thread."""
        gone: asyncio.Future[None] = asyncio.ensure_future(hook.hung_up())
        try:
            for _ in range(AGAIN):
                if not decision.held or decision.ticket is None:
                    return decision
                id, waiters = decision.ticket.id, self.context.waiters
                if not await self._wait_until_settled(hook, id, gone):
                    if gone.done() and not waiters.closed and not waiters.waits(id):
                        await self.pool.run(abandon, self.state, id)  # the call was cancelled
                    return decision
                decision = await self.pool.run(self._evaluate, hook, call, scripts)
            return decision
        finally:
            gone.cancel()

    async def _wait_until_settled(self, hook: HookCall, id: str, gone: asyncio.Future[None]) -> bool:
        """Whether it was, before the client disconnected or the time was up."""
        loop, waiters = asyncio.get_running_loop(), self.context.waiters
        try:
            event = waiters.add(id)
        except HttpProblem:  # too many wait
            return False
        try:
            while True:
                event.clear()
                ticket = await self.pool.run(self.state.store.read, lambda tx: tx.ticket(id))
                now, left = self.state.clock.now(), hook.until - loop.time()
                if gone.done() or waiters.closed or ticket is None:
                    return False
                settled = not settle(ticket, now).open
                if settled or left <= 0:
                    return settled
                await changed_or_gone(event, gone, min(left, seconds_until_due(ticket, now)))
        finally:
            waiters.remove(id, event)

    async def _with_late_answers(self, hook: HookCall, verdict: HookVerdict, due: list[str]) -> HookVerdict:
        words, over = await self.pool.run(late_messages, self.state, due)
        self.hooks.late.forget(session_key(hook.who), over)
        if words and verdict.word == "allow":
            return replace(verdict, context=f"{verdict.context} {words}".strip())
        return replace(verdict, reason=f"{verdict.reason} {words}") if words else verdict


def _may_write(action: Action) -> bool:
    return action.kind is Kind.TOOL or (action.kind is Kind.COMMAND and _redirects(action.text))


def _redirects(text: str) -> bool:
    return ">" in text or "tee" in text


def _notices(agreed: list[DecidedCall]) -> str:
    """About calls that passed without a prompt: a snapshot was taken, or nothing would be lost."""
    return " ".join(
        notice(one.kept) if one.kept else one.reason
        for _, one, _ in agreed
        if one.kept or any(factor.startswith(RELIEF_PREFIX) for factor in one.weighed)
    )


def may_prompt(decision: Decision) -> bool:
    """Whether the agent's own prompt suffices: any user may confirm, and can judge it; never by a ticket for another text."""
    ticket = decision.ticket
    if ticket is None or decision.outcome != "confirm" or not decision.promptable or not decision.token:
        return False
    return ticket.requirement.is_plain_confirm(ticket.level)


_TOOL = "mcp_aql"  # in the name of every loop tool, whatever prefix the client adds
_OPERATIONS = frozenset({"execute_agent", "record_execution_step", "continue_execution"})
_LONGEST = 200


def loop_name(call: AgentCall) -> str:
    """The element's name; empty for every other call."""
    if _TOOL not in call.tool or call.input.get("operation") not in _OPERATIONS:
        return ""
    params = call.input.get("params")
    name = (params if isinstance(params, Mapping) else call.input).get("element_name")
    return name[:_LONGEST] if isinstance(name, str) else ""
