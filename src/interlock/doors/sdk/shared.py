"""`interlock.guard`: the gate of a program that has made none, opened when something is first called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import ParamSpec, TypeVar, Unpack, overload

from interlock.doors.sdk.gate import Gate
from interlock.doors.sdk.guard import Guard, Terms

P = ParamSpec("P")
T = TypeVar("T")
_OPENING = threading.Lock()


def shared() -> Gate:
    """The program's own gate; raises GateError where nobody can decide, and tries again the next time."""
    with _OPENING:
        return _opened()


@cache
def _opened() -> Gate:
    return Gate()


@overload
def guard(function: Callable[P, T], /, **terms: Unpack[Terms]) -> Callable[P, T]: ...


@overload
def guard(**terms: Unpack[Terms]) -> Guard: ...


def guard(function: Callable[P, T] | None = None, /, **terms: Unpack[Terms]) -> Callable[P, T] | Guard:
    """As Gate.guard, by the daemon where one answers, else by this process, with the user's own configuration."""
    made = Guard(shared, **terms)
    return made if function is None else made(function)
