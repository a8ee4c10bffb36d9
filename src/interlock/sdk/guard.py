"""★ Runs a function or a block only once the gate has allowed it, and reports the outcome; refuses functions that cannot be judged."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, cast

from interlock.model import Action, Level
from interlock.policy.decision import Decision
from interlock.sdk import Denied, GateError, NotAllowed, require_allowed
from interlock.sdk.replies import deny_lost
from interlock.sdk.request import ActionArguments, Unwritable, bind_params, copy_arguments, deny_call

if TYPE_CHECKING:
    from interlock.sdk.gate import Gate


LOG = logging.getLogger("interlock")
RAN = "ran"
LEVELS = tuple(level.word for level in Level)
P = ParamSpec("P")
T = TypeVar("T")
Otherwise = Callable[[NotAllowed], Any]


def ask_gate(gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None) -> Decision:
    """The decision; what is held is waited for, up to so many seconds, and asked about again."""
    decision = gate.evaluate(action, **asked)
    if not _waits(decision, wait):
        return decision
    try:
        ticket = gate.wait(decision, wait)
    except GateError as error:
        return undecidable(error)
    return gate.evaluate(action, **_retry_arguments(asked, ticket.id))


async def ask_gate_async(gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None) -> Decision:
    """The same on an event loop, which goes on meanwhile."""
    decision = await asyncio.to_thread(gate.evaluate, action, **asked)
    if decision.ticket is None or not _waits(decision, wait):
        return decision
    try:
        ticket = await gate._opened.backend().awaited(decision.ticket.id, wait)
    except GateError as error:
        return undecidable(error)
    return await asyncio.to_thread(gate.evaluate, action, **_retry_arguments(asked, ticket.id))


def undecidable(error: GateError) -> Decision:
    """Nothing is known, so nothing is allowed."""
    return deny_lost(str(error).removeprefix("the state cannot be known: "))


def _waits(decision: Decision, wait: float) -> bool:
    return decision.held and decision.ticket is not None and wait > 0


def _retry_arguments(asked: ActionArguments, id: str) -> ActionArguments:
    return cast(ActionArguments, {**asked, "pending_id": id})


def failure_outcome(error: BaseException) -> str:
    """What became of it, without the words of the error: they may hold what nobody should read."""
    return f"failed: {type(error).__name__}"


def report_outcome(gate: Gate, decision: Decision, outcome: str) -> None:
    """Puts on record what became of it; it has run, so that trouble here is only logged."""
    try:
        gate.executed(decision, outcome)
    except GateError as error:
        LOG.warning("what became of an allowed action is not on record: %s", error)


@contextmanager
def reporting_outcome(gate: Gate, decision: Decision) -> Iterator[Decision]:
    """A block that was allowed, and whose end is reported."""
    outcome = RAN
    try:
        yield decision
    except BaseException as error:
        outcome = failure_outcome(error)
        raise
    finally:
        report_outcome(gate, decision, outcome)


@asynccontextmanager
async def reporting_outcome_async(gate: Gate, decision: Decision) -> AsyncIterator[Decision]:
    """The same on an event loop."""
    outcome = RAN
    try:
        yield decision
    except BaseException as error:
        outcome = failure_outcome(error)
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(report_outcome, gate, decision, outcome))


@contextmanager
def guarded_block(gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None) -> Iterator[Decision]:
    """A block that is entered only when it is allowed; raises Held or Denied before its first line."""
    with reporting_outcome(gate, require_allowed(ask_gate(gate, wait, asked, action))) as decision:
        yield decision


@asynccontextmanager
async def guarded_block_async(
    gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None
) -> AsyncIterator[Decision]:
    """The same on an event loop."""
    async with reporting_outcome_async(
        gate, require_allowed(await ask_gate_async(gate, wait, asked, action))
    ) as decision:
        yield decision


class GuardTerms(TypedDict, total=False):
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
        what = inspect_callee(function, self.name, tuple(self.leave), self.resource, self.danger)
        made = _guard_coroutine if inspect.iscoroutinefunction(function) else _guard_function
        return cast("Callable[P, T]", functools.wraps(function)(made(self, function, what)))


def _guard_function(guard: Guard, function: Callable[..., Any], what: Callee) -> Callable[..., Any]:
    find = guard.gate
    if find is None:
        raise TypeError(f"{what.name} is not awaited, so that it would hold up the event loop; guard it with a Gate")

    def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, gate = what.call(given, named), _open(find)
            decision = require_allowed(ask_gate(gate, guard.wait, call.asked))
            what.unchanged(call, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        with reporting_outcome(gate, decision):
            return function(*call.given, **call.named)

    return guarded


def _guard_coroutine(guard: Guard, function: Callable[..., Any], what: Callee) -> Callable[..., Any]:
    async def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, gate = what.call(given, named), await _open_later(guard)
            decision = require_allowed(await ask_gate_async(gate, guard.wait, call.asked))
            what.unchanged(call, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        async with reporting_outcome_async(gate, decision):
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
        raise Denied(undecidable(error)) from error


async def _open_later(guard: Guard) -> Gate:
    if guard.later is None:
        return await asyncio.to_thread(_open, cast("Callable[[], Gate]", guard.gate))
    try:
        return await guard.later()
    except GateError as error:
        raise Denied(undecidable(error)) from error


Resource = Callable[..., str]
_SELF = "self"


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """One call: exactly what runs if it is allowed, and what the gate is asked."""

    given: tuple[Any, ...]
    named: Mapping[str, Any]
    asked: ActionArguments


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that can be guarded."""

    name: str
    signature: inspect.Signature
    defaults: Mapping[str, Any]  # as plain data
    left: frozenset[str]  # parameters that are not judged
    resource: Resource | None
    danger: str

    def call(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> GuardedCall:
        """The call with arguments of its own; raises Denied for what cannot be shown, TypeError for what does not fit."""
        binding = self.signature.bind(*given, **named)
        about = self.about(given, named)
        shown = dict(self.defaults)
        for name, value in binding.arguments.items():
            if name not in self.left:
                binding.arguments[name], shown[name] = self._own(name, value)
        try:
            asked: ActionArguments = {"operation": self.name, "params": bind_params(shown)}
        except Unwritable as error:
            raise deny_call(f"arguments of {self.name}: {error}.") from None
        if about is not None:
            asked["resource"] = about
        if self.danger:
            asked["danger"] = self.danger
        return GuardedCall(binding.args, binding.kwargs, asked)

    def about(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
        """What the call is done to; raises Denied where that is no text."""
        if self.resource is None:
            return None
        found = self.resource(*given, **named)
        if not isinstance(found, str) or not found.strip():
            raise deny_call(f"resource= of {self.name} gave {type(found).__name__} {found!r:.60}, expected a text.")
        return found

    def unchanged(self, call: GuardedCall, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Raises Denied where the call would now be done to something else than what was judged."""
        if self.resource is not None and self.about(given, named) != call.asked.get("resource"):
            raise deny_call(f"what {self.name} is done to is no longer what was judged.")

    def _own(self, name: str, value: Any) -> tuple[Any, Any]:
        try:
            return copy_arguments(value)
        except Unwritable as error:
            words = f"argument {name!r} of {self.name} cannot be shown to anybody: {error}"
            raise deny_call(f"{words}. Pass plain data, or name it in leave=.") from None


def inspect_callee(
    function: Callable[..., Any], name: str, leave: tuple[str, ...], resource: Resource | None, danger: str
) -> Callee:
    """Refuses, with TypeError, whatever would run at another time or on something else than the gate sees."""
    if isinstance(function, (staticmethod, classmethod, property)):
        kind = type(function).__name__
        raise TypeError(f"@{kind} goes above the guard: the guard takes the function itself")
    if inspect.isclass(function) or not inspect.isroutine(function):
        raise TypeError(f"a guard takes a function, got {function!r:.80}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{function.__name__} is a generator, which runs nothing when it is called; "
            "guard the function that it calls, or use `with gate.guarding(...)` inside it"
        )
    called = name or function.__name__
    if called == "<lambda>":
        raise TypeError("a lambda has no name to judge it by: say name=")
    try:
        signature = inspect.signature(function)
    except ValueError:
        raise TypeError(f"{called} does not say what its parameters are; wrap it in a function that does") from None
    _visible_params(function, called, signature, leave, resource)
    return Callee(
        called,
        signature,
        _defaults(signature, leave),
        frozenset(leave) | _ignored_self(signature, resource),
        resource,
        danger,
    )


def _visible_params(
    function: Callable[..., Any],
    name: str,
    signature: inspect.Signature,
    leave: tuple[str, ...],
    resource: Resource | None,
) -> None:
    unknown = [word for word in leave if word not in signature.parameters]
    if unknown:
        raise TypeError(
            f"leave={unknown[0]!r}: {name} has no such parameter; it has {', '.join(signature.parameters) or 'none'}"
        )
    owner = getattr(function, "__self__", None)
    bare = owner is not None and not isinstance(owner, (ModuleType, type))
    first = next(iter(signature.parameters), "")
    if resource is None and (bare or (first == _SELF and _SELF not in leave)):
        raise TypeError(
            f"{name} is a method: the gate does not see which object it acts on, and an approval for one would do for another. "
            f"Say resource=, a function of the same arguments that names it"
            + ("" if bare else ", or leave=('self',) where it makes no difference")
        )


def _ignored_self(signature: inspect.Signature, resource: Resource | None) -> frozenset[str]:
    """The object of a method is named by its resource."""
    first = next(iter(signature.parameters), "")
    return frozenset({_SELF}) if first == _SELF and resource is not None else frozenset()


def _defaults(signature: inspect.Signature, leave: tuple[str, ...]) -> dict[str, Any]:
    """What is not passed is shown too, where it can be; it belongs to the function, whoever calls it."""
    shown = {}
    for name, parameter in signature.parameters.items():
        if parameter.default is not parameter.empty and name not in leave:
            try:
                shown[name] = copy_arguments(parameter.default)[1]
            except Unwritable:
                continue
    return shown
