"""Which functions can be guarded, and one call of such a function as an operation: what would run, and what is judged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from interlock.doors.sdk.arguments import Unwritable, bound, own, refused
from interlock.doors.sdk.asking import Asked

Resource = Callable[..., str]
_SELF = "self"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: exactly what runs if it is allowed, and what the gate is asked."""

    given: tuple[Any, ...]
    named: Mapping[str, Any]
    asked: Asked


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that can be guarded."""

    name: str
    signature: inspect.Signature
    defaults: Mapping[str, Any]  # as plain data
    left: frozenset[str]  # parameters that are not judged
    resource: Resource | None
    danger: str

    def call(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> Call:
        """The call with arguments of its own; raises Denied for what cannot be shown, TypeError for what does not fit."""
        binding = self.signature.bind(*given, **named)
        about = self.about(given, named)
        shown = dict(self.defaults)
        for name, value in binding.arguments.items():
            if name not in self.left:
                binding.arguments[name], shown[name] = self._own(name, value)
        try:
            asked: Asked = {"operation": self.name, "params": bound(shown)}
        except Unwritable as error:
            raise refused(f"arguments of {self.name}: {error}.") from None
        if about is not None:
            asked["resource"] = about
        if self.danger:
            asked["danger"] = self.danger
        return Call(binding.args, binding.kwargs, asked)

    def about(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
        """What the call is done to; raises Denied where that is no text."""
        if self.resource is None:
            return None
        found = self.resource(*given, **named)
        if not isinstance(found, str) or not found.strip():
            raise refused(f"resource= of {self.name} gave {type(found).__name__} {found!r:.60}, expected a text.")
        return found

    def unchanged(self, call: Call, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Raises Denied where the call would now be done to something else than what was judged."""
        if self.resource is not None and self.about(given, named) != call.asked.get("resource"):
            raise refused(f"what {self.name} is done to is no longer what was judged.")

    def _own(self, name: str, value: Any) -> tuple[Any, Any]:
        try:
            return own(value)
        except Unwritable as error:
            words = f"argument {name!r} of {self.name} cannot be shown to anybody: {error}"
            raise refused(f"{words}. Pass plain data, or name it in leave=.") from None


def callee(
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
    _seen(function, called, signature, leave, resource)
    return Callee(
        called, signature, _defaults(signature, leave), frozenset(leave) | _self(signature, resource), resource, danger
    )


def _seen(
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


def _self(signature: inspect.Signature, resource: Resource | None) -> frozenset[str]:
    """The object of a method is named by its resource."""
    first = next(iter(signature.parameters), "")
    return frozenset({_SELF}) if first == _SELF and resource is not None else frozenset()


def _defaults(signature: inspect.Signature, leave: tuple[str, ...]) -> dict[str, Any]:
    """What is not passed is shown too, where it can be; it belongs to the function, whoever calls it."""
    shown = {}
    for name, parameter in signature.parameters.items():
        if parameter.default is not parameter.empty and name not in leave:
            try:
                shown[name] = own(parameter.default)[1]
            except Unwritable:
                continue
    return shown
