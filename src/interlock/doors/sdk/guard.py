"""★ Nothing runs before the gate has allowed it: a function that asks first, a block that asks first, and what became of it."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, cast

from interlock.core.decision import Decision
from interlock.core.model import Action, Level
from interlock.doors.sdk.asking import Asked
from interlock.doors.sdk.callee import Callee, Resource, callee
from interlock.doors.sdk.errors import Denied, GateError, NotAllowed, allowed
from interlock.doors.sdk.reading import lost

if TYPE_CHECKING:
    from interlock.doors.sdk.gate import Gate

LOG = logging.getLogger("interlock")
RAN = "ran"
LEVELS = tuple(level.word for level in Level)
P = ParamSpec("P")
T = TypeVar("T")
Otherwise = Callable[[NotAllowed], Any]


def answered(gate: Gate, wait: float, asked: Asked, action: Action | None = None) -> Decision:
    """The decision; what is held is waited for, up to so many seconds, and asked about again."""
    decision = gate.evaluate(action, **asked)
    if not _waits(decision, wait):
        return decision
    try:
        ticket = gate.wait(decision, wait)
    except GateError as error:
        return unknown(error)
    return gate.evaluate(action, **_again(asked, ticket.id))


async def answered_later(gate: Gate, wait: float, asked: Asked, action: Action | None = None) -> Decision:
    """The same on an event loop, which goes on meanwhile."""
    decision = await asyncio.to_thread(gate.evaluate, action, **asked)
    if decision.ticket is None or not _waits(decision, wait):
        return decision
    try:
        ticket = await gate._opened.backend().awaited(decision.ticket.id, wait)
    except GateError as error:
        return unknown(error)
    return await asyncio.to_thread(gate.evaluate, action, **_again(asked, ticket.id))


def unknown(error: GateError) -> Decision:
    """Nothing is known, so nothing is allowed."""
    return lost(str(error).removeprefix("the state cannot be known: "))


def _waits(decision: Decision, wait: float) -> bool:
    return decision.held and decision.ticket is not None and wait > 0


def _again(asked: Asked, id: str) -> Asked:
    return cast(Asked, {**asked, "pending_id": id})


def failed(error: BaseException) -> str:
    """What became of it, without the words of the error: they may hold what nobody should read."""
    return f"failed: {type(error).__name__}"


def reported(gate: Gate, decision: Decision, outcome: str) -> None:
    """Puts on record what became of it; it has run, so that trouble here is only logged."""
    try:
        gate.executed(decision, outcome)
    except GateError as error:
        LOG.warning("what became of an allowed action is not on record: %s", error)


@contextmanager
def ending(gate: Gate, decision: Decision) -> Iterator[Decision]:
    """A block that was allowed, and whose end is reported."""
    outcome = RAN
    try:
        yield decision
    except BaseException as error:
        outcome = failed(error)
        raise
    finally:
        reported(gate, decision, outcome)


@asynccontextmanager
async def ending_later(gate: Gate, decision: Decision) -> AsyncIterator[Decision]:
    """The same on an event loop."""
    outcome = RAN
    try:
        yield decision
    except BaseException as error:
        outcome = failed(error)
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(reported, gate, decision, outcome))


@contextmanager
def during(gate: Gate, wait: float, asked: Asked, action: Action | None = None) -> Iterator[Decision]:
    """A block that is entered only when it is allowed; raises Held or Denied before its first line."""
    with ending(gate, allowed(answered(gate, wait, asked, action))) as decision:
        yield decision


@asynccontextmanager
async def during_later(gate: Gate, wait: float, asked: Asked, action: Action | None = None) -> AsyncIterator[Decision]:
    """The same on an event loop."""
    async with ending_later(gate, allowed(await answered_later(gate, wait, asked, action))) as decision:
        yield decision


class Terms(TypedDict, total=False):
    """What may be said of a function that is guarded."""

    name: str  # the operation's, where it is not the function's own
    wait: float  # seconds for a person to answer; without it what is held is not waited for
    danger: str  # a level's name; it can only raise what is asked for
    leave: tuple[str, ...]  # parameters that are not judged: connections, loggers
    resource: Resource | None  # of the same arguments: what this call is done to
    otherwise: Otherwise | None  # what is returned in place of raising Held or Denied


@dataclass(frozen=True, slots=True)
class Guard:
    """What makes a function ask first; it keeps its name, its signature and its type."""

    gate: Callable[[], Gate] | None  # None where only what is awaited can be guarded
    later: Callable[[], Awaitable[Gate]] | None = None
    name: str = ""
    wait: float = 0.0
    danger: str = ""
    leave: tuple[str, ...] = ()
    resource: Resource | None = None
    otherwise: Otherwise | None = None

    def __post_init__(self) -> None:
        if self.danger and self.danger not in LEVELS:
            raise ValueError(f"danger={self.danger!r}: expected one of {', '.join(LEVELS)}")
        if isinstance(self.leave, str):
            raise TypeError(f"leave={self.leave!r}: expected names, as in leave=({self.leave!r},)")

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        what = callee(function, self.name, tuple(self.leave), self.resource, self.danger)
        made = _awaited if inspect.iscoroutinefunction(function) else _called
        return cast("Callable[P, T]", functools.wraps(function)(made(self, function, what)))


def _called(guard: Guard, function: Callable[..., Any], what: Callee) -> Callable[..., Any]:
    find = guard.gate
    if find is None:
        raise TypeError(f"{what.name} is not awaited, so that it would hold up the event loop; guard it with a Gate")

    def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, gate = what.call(given, named), _open(find)
            decision = allowed(answered(gate, guard.wait, call.asked))
            what.unchanged(call, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        with ending(gate, decision):
            return function(*call.given, **call.named)

    return guarded


def _awaited(guard: Guard, function: Callable[..., Any], what: Callee) -> Callable[..., Any]:
    async def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, gate = what.call(given, named), await _open_later(guard)
            decision = allowed(await answered_later(gate, guard.wait, call.asked))
            what.unchanged(call, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        async with ending_later(gate, decision):
            return await function(*call.given, **call.named)

    return guarded


def _instead(guard: Guard, no: NotAllowed) -> Any:
    if guard.otherwise is None:
        raise no
    return guard.otherwise(no)


def _open(find: Callable[[], Gate]) -> Gate:
    try:
        return find()
    except GateError as error:
        raise Denied(unknown(error)) from error


async def _open_later(guard: Guard) -> Gate:
    if guard.later is None:
        return await asyncio.to_thread(_open, cast("Callable[[], Gate]", guard.gate))
    try:
        return await guard.later()
    except GateError as error:
        raise Denied(unknown(error)) from error
