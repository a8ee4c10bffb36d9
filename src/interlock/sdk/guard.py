"""★ Runs a function or a block only once the gate has allowed it, and reports the outcome; refuses functions that cannot be judged."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, Unpack, cast, overload

from msgspec import Struct

from interlock.model import Action, Decision, Json, Level
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
Function = Callable[..., Any]


def ask_gate(gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None) -> Decision:
    """The decision; waits up to `wait` seconds for a held action, and asks again."""
    decision = gate.evaluate(action, **asked)
    if not decision.held or decision.ticket is None or wait <= 0:
        return decision
    try:
        gate.wait(decision.ticket, wait)
    except GateError as error:
        return deny_undecidable(error)
    return gate.evaluate(action, **(asked | {"pending_id": decision.ticket.id}))


async def ask_gate_async(gate: Gate, wait: float, asked: ActionArguments, action: Action | None = None) -> Decision:
    decision = await asyncio.to_thread(gate.evaluate, action, **asked)
    if not decision.held or decision.ticket is None or wait <= 0:
        return decision
    try:
        await gate._shared.backend().wait_async(decision.ticket.id, wait)
    except GateError as error:
        return deny_undecidable(error)
    return await asyncio.to_thread(gate.evaluate, action, **(asked | {"pending_id": decision.ticket.id}))


def deny_undecidable(error: GateError) -> Decision:
    return deny_lost(str(error).removeprefix("the state cannot be known: "))


def report_outcome(gate: Gate, decision: Decision, outcome: str) -> None:
    try:
        gate.executed(decision, outcome)
    except GateError as error:  # the action has run
        LOG.warning("the outcome of an allowed action is not on record: %s", error)


class OutcomeReport(Struct):
    """Runs an allowed block, with `with` or `async with`, and reports its outcome at its end."""

    gate: Gate
    decision: Decision
    outcome: str = RAN

    def __enter__(self) -> OutcomeReport:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        # Without the error's message, which may hold secrets.
        report_outcome(self.gate, self.decision, f"failed: {kind.__name__}" if kind is not None else self.outcome)

    async def __aenter__(self) -> OutcomeReport:
        return self

    async def __aexit__(self, *ended: Any) -> None:
        await asyncio.shield(asyncio.to_thread(self.__exit__, *ended))


class GuardTerms(TypedDict, total=False):
    name: str  # the operation's, where it is not the function's own
    wait: float  # seconds for a person to answer; without it a held action raises at once
    danger: str  # a level's name; it can only raise the requirement
    leave: tuple[str, ...]  # parameters that are not judged: connections, loggers
    resource: Resource | None  # of the same arguments: what the call acts on
    otherwise: Otherwise | None  # what is returned in place of raising Held or Denied


class Guard(Struct, frozen=True):
    """Makes a function ask first: an operation by its name, with its arguments as params; raises as `Gate.check` does.

    The function keeps its name, signature and type.
    """

    gate: Callable[[], Gate] | None  # None where only coroutines can be guarded
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

    @overload
    def __call__(self, function: Callable[P, T], /, **terms: Unpack[GuardTerms]) -> Callable[P, T]: ...

    @overload
    def __call__(self, /, **terms: Unpack[GuardTerms]) -> Guard: ...

    def __call__(
        self, function: Callable[P, T] | None = None, /, **terms: Unpack[GuardTerms]
    ) -> Callable[P, T] | Guard:
        guard = Guard(self.gate, self.later, **terms) if terms else self
        if function is None:
            return guard
        what = inspect_callee(function, guard)
        made = _guard_coroutine if inspect.iscoroutinefunction(function) else _guard_function
        return cast("Callable[P, T]", functools.wraps(function)(made(function, what)))


def _guard_function(function: Function, what: Callee) -> Function:
    guard, find = what.guard, what.guard.gate
    if find is None:
        raise TypeError(f"{what.name} is not awaited, so that it would hold up the event loop; guard it with a Gate")

    def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, request = what.call(given, named)
            with _denying():
                gate = find()
            decision = require_allowed(ask_gate(gate, guard.wait, request))
            what.require_unchanged(request, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        with OutcomeReport(gate, decision):
            return function(*call.args, **call.kwargs)

    return guarded


def _guard_coroutine(function: Function, what: Callee) -> Function:
    guard = what.guard

    async def guarded(*given: Any, **named: Any) -> Any:
        try:
            call, request = what.call(given, named)
            with _denying():
                find = guard.later or partial(asyncio.to_thread, cast("Callable[[], Gate]", guard.gate))
                gate = await find()
            decision = require_allowed(await ask_gate_async(gate, guard.wait, request))
            what.require_unchanged(request, given, named)
        except NotAllowed as no:
            return _instead(guard, no)
        async with OutcomeReport(gate, decision):
            return await function(*call.args, **call.kwargs)

    return guarded


def _instead(guard: Guard, no: NotAllowed) -> Any:
    if guard.otherwise is None:
        raise no
    return guard.otherwise(no)


@contextmanager
def _denying() -> Iterator[None]:
    """A gate that cannot be opened denies."""
    try:
        yield
    except GateError as error:
        raise Denied(deny_undecidable(error)) from error


Resource = Callable[..., str]
_SELF = "self"


class Callee(Struct, frozen=True):
    name: str
    signature: inspect.Signature
    defaults: Json  # as plain data
    left: frozenset[str]  # parameters that are not judged
    guard: Guard

    def call(self, given: tuple[Any, ...], named: Json) -> tuple[inspect.BoundArguments, ActionArguments]:
        """Private copies of the arguments, and the request; raises Denied for one that cannot be shown."""
        binding = self.signature.bind(*given, **named)
        resource = self.find_resource(given, named)
        shown = dict(self.defaults)
        for name, value in binding.arguments.items():
            if name not in self.left:
                try:
                    binding.arguments[name], shown[name] = copy_arguments(value)
                except Unwritable as error:
                    words = f"argument {name!r} of {self.name} cannot be shown to anybody: {error}"
                    raise deny_call(f"{words}. Pass plain data, or name it in leave=.") from None
        try:
            params = bind_params(shown)
        except Unwritable as error:
            raise deny_call(f"arguments of {self.name}: {error}.") from None
        danger = self.guard.danger or None
        return binding, {"operation": self.name, "params": params, "resource": resource, "danger": danger}

    def find_resource(self, given: tuple[Any, ...], named: Json) -> str | None:
        if self.guard.resource is None:
            return None
        found = self.guard.resource(*given, **named)
        if not isinstance(found, str) or not found.strip():
            raise deny_call(f"resource= of {self.name} gave {type(found).__name__} {found!r:.60}, expected a text.")
        return found

    def require_unchanged(self, judged: ActionArguments, given: tuple[Any, ...], named: Json) -> None:
        """Raises Denied where the call would now act on another resource than the judged one."""
        if self.find_resource(given, named) != judged.get("resource"):
            raise deny_call(f"what {self.name} is done to is no longer what was judged.")


def inspect_callee(function: Function, guard: Guard) -> Callee:
    """Refuses, with TypeError, a function that would run later or act on something unseen."""
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
    called = guard.name or function.__name__
    if called == "<lambda>":
        raise TypeError("a lambda has no name to judge it by: say name=")
    try:
        signature = inspect.signature(function)
    except ValueError:
        raise TypeError(f"{called} does not say what its parameters are; wrap it in a function that does") from None
    _require_visible(function, called, signature, guard)
    left = frozenset((*guard.leave, _SELF) if guard.resource is not None and _takes_self(signature) else guard.leave)
    return Callee(called, signature, _defaults(signature, guard.leave), left, guard)


def _takes_self(signature: inspect.Signature) -> bool:
    return next(iter(signature.parameters), "") == _SELF


def _require_visible(function: Function, name: str, signature: inspect.Signature, guard: Guard) -> None:
    unknown = [word for word in guard.leave if word not in signature.parameters]
    if unknown:
        known = ", ".join(signature.parameters) or "none"
        raise TypeError(f"leave={unknown[0]!r}: {name} has no such parameter; it has {known}")
    owner = getattr(function, "__self__", None)
    bare = owner is not None and not isinstance(owner, (ModuleType, type))
    if guard.resource is None and (bare or (_takes_self(signature) and _SELF not in guard.leave)):
        raise TypeError(
            f"{name} is a method: the gate does not see which object it acts on, and an approval for one would do for another. "
            f"Say resource=, a function of the same arguments that names it"
            + ("" if bare else ", or leave=('self',) where it makes no difference")
        )


def _defaults(signature: inspect.Signature, leave: tuple[str, ...]) -> dict[str, Any]:
    """As plain data, which is shown too; skips those that cannot be."""
    shown = {}
    for name, parameter in signature.parameters.items():
        if parameter.default is not parameter.empty and name not in leave:
            with suppress(Unwritable):
                shown[name] = copy_arguments(parameter.default)[1]
    return shown
