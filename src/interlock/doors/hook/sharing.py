"""One call, announced twice: by two events, or by two copies of a hook. Its second announcement gets the first one's answer."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from interlock.agents.contract import Call, Event, Verdict

MOST = 5_000
SECONDS = 60.0  # between the two
DEFERRED = Verdict("allow", "asked by the event that follows")  # this event cannot ask, and the next one can


@dataclass(slots=True)
class Once:
    """The first announcement, and its answer when there is one."""

    event: str
    unique: bool  # whether the call has an id of its own
    answer: asyncio.Future[Verdict]
    at: float


@dataclass(slots=True)
class Shared:
    """By what the two have in common and what would run; used on the event loop alone."""

    calls: OrderedDict[str, Once] = field(default_factory=OrderedDict)

    async def answer(self, who: str, event: Event, judge: Callable[[], Awaitable[Verdict]]) -> Verdict:
        """The verdict; judged once for two announcements of one call."""
        if not event.pair:
            return await judge()
        loop, key = asyncio.get_running_loop(), _key(who, event)
        known = self.calls.pop(key, None)
        if known is not None and _other(known, event) and loop.time() - known.at < SECONDS:
            return await asyncio.shield(known.answer)  # and the next announcement is of another call
        made = Once(event.name, _unique(event), loop.create_future(), loop.time())
        self.calls[key] = made
        while len(self.calls) > MOST:
            self.calls.popitem(last=False)
        try:
            verdict = await judge()
        except BaseException:
            made.answer.set_result(Verdict("deny", "Denied: the call could not be judged."))
            raise
        made.answer.set_result(verdict)
        if (verdict.word != "allow" or verdict is DEFERRED) and self.calls.get(key) is made:
            del self.calls[key]  # a no is found out anew: somebody may have agreed since
        return verdict


def call_keys(who: str, word: str, session: str, call: Call) -> list[str]:
    """What stands for one call: its id where it has one, and what would run; an agent may not tell the id in every event."""
    acts = repr((who, word, session, *_acts(call)))
    return [repr((who, word, session, call.id)) if call.id else acts, acts]


def _key(who: str, event: Event) -> str:
    return repr((who, event.session, event.pair, [_acts(call) for call in event.calls]))


def _acts(call: Call) -> list[str]:
    """What would run; where, is not told by every event of a call."""
    return [call.action.kind.value, _ENCODER.encode(call.action.fields)]


def _plain(value: object) -> object:
    return dict(value) if hasattr(value, "items") else str(value)  # type: ignore[call-overload]


_ENCODER = json.JSONEncoder(default=_plain, sort_keys=True)


def _unique(event: Event) -> bool:
    return any(call.id and call.id in event.pair for call in event.calls)


def _other(known: Once, event: Event) -> bool:
    """Whether this is the other announcement, and not the same one of a call like it."""
    return known.event != event.name or known.unique
