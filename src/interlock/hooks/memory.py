"""State kept between hook calls, bounded: shared answers for one call announced twice, the last answer to each call until it ran, late answers."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import Generic, TypeVar

from msgspec import Struct, field

from interlock.agents import AgentCall, Event, HookVerdict
from interlock.analysis.display_text import short_id
from interlock.approvals import settle
from interlock.config.settings import SeparateSettings
from interlock.hooks.coverage import Coverage, Transcripts
from interlock.hooks.integrity import HookFiles
from interlock.hooks.provenance import SessionProvenance
from interlock.hooks.wrapping import FoundFolders, SentCall
from interlock.hooks.written_files import WrittenFiles
from interlock.journal.wrapping import Wrapper
from interlock.model import AgentRef, Kind, TicketState
from interlock.policy.effect_key import EffectKey
from interlock.runtime import put_bounded, put_newest
from interlock.runtime.state import State

MOST = 5_000
SECONDS = 60.0  # between two announcements of one call
ASKED_NEXT = HookVerdict("allow", "asked by the event that follows")  # this event cannot prompt, the next one can


class SharedAnswer(Struct):
    """The first announcement's, pending or final."""

    event: str
    unique: bool  # whether the call has an id of its own
    answer: asyncio.Future[HookVerdict]
    at: float


class SharedAnswers(Struct):
    """Answers by the pair's common id and the call's content; used on the event loop only."""

    calls: OrderedDict[Hashable, SharedAnswer] = field(default_factory=OrderedDict)

    async def answer(self, who: str, event: Event, judge: Callable[[], Awaitable[HookVerdict]]) -> HookVerdict:
        loop = asyncio.get_running_loop()
        key = who, event.session, event.pair, tuple(_content(call) for call in event.calls)
        known = self.calls.pop(key, None)
        if known is not None and (known.event != event.name or known.unique) and loop.time() - known.at < SECONDS:
            return await asyncio.shield(known.answer)  # the next announcement belongs to another call
        unique = any(call.id and call.id in event.pair for call in event.calls)
        shared = SharedAnswer(event.name, unique, loop.create_future(), loop.time())
        put_newest(self.calls, key, shared, MOST)
        try:
            verdict = await judge()
        except BaseException:
            shared.answer.set_result(HookVerdict("deny", "Denied: the call could not be judged."))
            raise
        shared.answer.set_result(verdict)
        if (verdict.word != "allow" or verdict is ASKED_NEXT) and self.calls.get(key) is shared:
            del self.calls[key]  # a denial is evaluated again: it may have been approved since
        return verdict


CallKey = tuple[str, ...]
SessionKey = tuple[str, str, str]  # principal, agent, session


def session_key(who: AgentRef) -> SessionKey:
    return who.principal, who.name, who.session


def call_keys(who: AgentRef, call: AgentCall) -> list[CallKey]:
    """Its id where it has one, and its content, as an agent may not send the id in every event."""
    session = session_key(who)
    content = (*session, *_content(call))
    return [(*session, call.id) if call.id else content, content]


def _content(call: AgentCall) -> tuple[str, str]:
    action = call.action
    return action.kind, action.text if action.kind is Kind.COMMAND else _ENCODER.encode(action.fields)


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "items") else str(value)  # type: ignore[call-overload]


_ENCODER = json.JSONEncoder(default=_plain, sort_keys=True)


MOST_AGENTS, MOST_TICKETS = 1_000, 50
_WORDS = {
    TicketState.APPROVED: "Ticket {id} is approved: run exactly `{title}` again, unchanged; it passes once, within {left} s.",
    TicketState.REJECTED: "Ticket {id} was rejected{why}: do not try `{title}` again, nor the same by other means.",
}


class LateAnswers(Struct):
    """Tickets that each agent was denied with, and those that changed since."""

    waiting: OrderedDict[SessionKey, OrderedDict[str, None]] = field(default_factory=OrderedDict)
    changed: set[str] = field(default_factory=set)

    def on_change(self, ticket: str) -> None:
        """Called by the store, in a thread of its own."""
        if not ticket.startswith("\0"):
            if len(self.changed) > 10_000:
                self.changed.clear()  # their agents hear of the next change
            self.changed.add(ticket)

    def remember(self, key: SessionKey, ticket: str) -> bool:
        """Whether the agent is denied with this ticket for the first time."""
        tickets = self.waiting.get(key, OrderedDict())
        put_newest(self.waiting, key, tickets, MOST_AGENTS)
        first = ticket not in tickets
        put_bounded(tickets, ticket, None, MOST_TICKETS)
        self.changed.discard(ticket)
        return first

    def due(self, key: SessionKey) -> list[str]:
        return [id for id in self.waiting.get(key, ()) if id in self.changed]

    def forget(self, key: SessionKey, ids: list[str]) -> None:
        for id in ids:
            self.waiting.get(key, OrderedDict()).pop(id, None)
            self.changed.discard(id)


def late_messages(state: State, ids: list[str]) -> tuple[str, list[str]]:
    """The messages, and the ids of the settled tickets; blocks."""
    now = state.clock.now()
    found = state.store.read(lambda tx: [tx.ticket(id) for id in ids])
    tickets = [settle(ticket, now) for ticket in found if ticket is not None]
    words = [
        _WORDS[ticket.state].format(
            id=short_id(ticket.id),
            title=ticket.title,
            why=f" ({ticket.decision_reason})" if ticket.decision_reason else "",
            left=max(0, int(ticket.expires_at - now)),
        )
        for ticket in tickets
        if ticket.state in _WORDS
    ]
    open_still = {ticket.id for ticket in tickets if ticket.open}
    return " ".join(words), [id for id in ids if id not in open_still]


V = TypeVar("V")


class Recent(Generic[V]):
    """A bounded map that drops its oldest entries; safe for threads."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key: Hashable, value: V) -> bool:
        """Whether the key is new."""
        with self._lock:
            new = key not in self._entries
            put_newest(self._entries, key, value, MOST)
        return new

    def get(self, key: Hashable) -> V | None:
        return self._entries.get(key)


class CallAnswer(StrEnum):
    PASSED = "passed"
    PROMPTED = "prompted"  # in the client's own prompt
    DEFERRED = "deferred"  # to the event that follows, which can prompt
    DENIED = "denied"


PASSED, PROMPTED, DEFERRED, DENIED = CallAnswer
# Leaving the prompt to another event takes no earlier answer back.
_STAYS = frozenset({(PASSED, DEFERRED), (PROMPTED, DEFERRED)})


class AnsweredCall(Struct, frozen=True):
    """An answer, its ticket, and for a call that passed the scripts read, the snapshot taken first and how it was rewritten."""

    answer: CallAnswer
    ticket: str = ""
    scripts: Mapping[str, str] = field(default_factory=dict)  # path -> hash
    snapshot: str = ""
    sent: SentCall | None = None


class AnsweredCalls:
    """Answers by the keys of their calls, the oldest forgotten first; safe for threads."""

    def __init__(self, most: int = MOST) -> None:
        self._calls: OrderedDict[CallKey, AnsweredCall] = OrderedDict()
        self._most = most
        self._lock = threading.Lock()

    def answer(self, keys: Sequence[CallKey], new: AnsweredCall) -> None:
        """A deferral does not replace a pass or a prompt."""
        with self._lock:
            for key in keys:
                old = self._calls.get(key)
                stays = old is not None and (old.answer, new.answer) in _STAYS
                put_newest(self._calls, key, old if stays else new, self._most)

    def get(self, keys: Sequence[CallKey]) -> AnsweredCall | None:
        """The answer under the first key that has one; a deferral only where nothing else is known."""
        found = [one for key in keys if (one := self._calls.get(key)) is not None]
        return next((one for one in found if one.answer is not DEFERRED), found[0] if found else None)

    def passed(self, key: CallKey) -> bool:
        found = self._calls.get(key)
        return found is not None and found.answer is PASSED

    def finish(self, keys: Sequence[CallKey], ran: bool) -> AnsweredCall | None:
        """Forgets a call that has come to its end and returns its answer; a denied call that did not run stays denied."""
        with self._lock:
            found = self.get(keys)
            if found is not None and found.answer is DENIED and not ran:
                return found
            for key in keys:
                self._calls.pop(key, None)
        return found

    def __len__(self) -> int:
        return len(self._calls)


class HookSession(Struct):
    """What hooks know about one session of an agent; used on the event loop only."""

    prompts: bool = False  # it sends the event that can prompt
    folder: str = ""  # where its last command ended, if the agent stays there
    options: frozenset[str] | None = None  # the agent's command line, once it was looked up
    looked_up: bool = False
    proved: set[bool] = field(default_factory=set)  # seen to run what it is sent: after a prompt, without one
    without_journal: bool = False  # its shell cannot use it
    too_large: tuple[EffectKey, ...] = ()  # effects that did not fit into it


class HookMemory(Struct):
    """What the hooks of one app share; parts without a lock are used on the event loop only."""

    coverage: Coverage = field(default_factory=Coverage)
    files: HookFiles = field(default_factory=HookFiles)
    shared: SharedAnswers = field(default_factory=SharedAnswers)
    late: LateAnswers = field(default_factory=LateAnswers)
    transcripts: Transcripts = field(default_factory=Transcripts)
    written: WrittenFiles = field(default_factory=WrittenFiles)
    provenance: SessionProvenance = field(default_factory=SessionProvenance)  # by session
    calls: AnsweredCalls = field(default_factory=AnsweredCalls)
    sessions: Recent[HookSession] = field(default_factory=Recent)
    alerted: Recent[bool] = field(default_factory=Recent)  # alerts raised before
    separate: SeparateSettings = field(default_factory=SeparateSettings)
    journal_checked_at: float = 0.0  # on the event loop's clock
    wrapper: Wrapper | None = None  # where calls run below the journal
    made_again: Recent[FoundFolders] = field(default_factory=Recent)  # by working directory
    wrapped_calls: Recent[str] = field(default_factory=Recent)  # id in the wrapped text -> session
    notes: list[Callable[[], None]] = field(default_factory=list)  # what to remember of a call once it is answered

    def settle(self) -> None:
        """Remembers what was noted: soon after each call came, and before anything of a later one is looked up."""
        while self.notes:
            self.notes.pop(0)()  # one that fails takes no other with it
        self.coverage.write()

    def session(self, who: AgentRef) -> HookSession:
        key = session_key(who)
        found = self.sessions.get(key) or HookSession()
        self.sessions.put(key, found)
        return found
