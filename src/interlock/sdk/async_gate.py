"""The gate for programs on an event loop: the same requests, awaited; waiting for a person holds no thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from msgspec import Struct

from interlock.model import Action, Decision
from interlock.records import Ticket
from interlock.sdk import GateError, require_allowed
from interlock.sdk.gate import ConfigSource, Folder, Gate, GateRegistry, ticket_id, timeout_seconds
from interlock.sdk.guard import Guard, OutcomeReport, ask_gate_async
from interlock.sdk.request import ActionArguments

P = ParamSpec("P")
T = TypeVar("T")
G = TypeVar("G")


def _threaded(method: Callable[Concatenate[G, P], T]) -> Callable[Concatenate[Any, P], Awaitable[T]]:
    """The opened object's method, run in one of the loop's threads."""

    async def awaited(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.to_thread(method, await self._opened(), *given, **named)

    awaited.__name__, awaited.__doc__ = method.__name__, method.__doc__
    return awaited


class AsyncGate:
    """A Gate whose methods are awaited. It opens with `async with`, or with the first request."""

    def __init__(
        self,
        config: ConfigSource = None,
        *,
        agent: str = "",
        session: str = "",
        policy: str | None = None,
        store: Folder = None,
        url: str | None = None,
        token: str | None = None,
    ) -> None:
        """Takes the arguments of Gate and opens nothing yet: opening reads files, and a constructor cannot be awaited."""
        self._open: Callable[[], Gate] = partial(
            Gate, config, agent=agent, session=session, policy=policy, store=store, url=url, token=token
        )
        self._made: Gate | None = None
        self._closed = False
        self._opening = asyncio.Lock()

    @classmethod
    def over(cls, gate: Gate) -> AsyncGate:
        """An AsyncGate over a gate that is open already; closing one closes the other."""
        made = cls()
        made._made = gate
        return made

    async def _opened(self) -> Gate:
        if self._closed:
            raise GateError("this gate is closed")
        if self._made is None:
            async with self._opening:
                if self._made is None:
                    self._made = await asyncio.to_thread(self._open)
        return self._made

    evaluate = _threaded(Gate.evaluate)
    executed = _threaded(Gate.executed)
    undo = _threaded(Gate.undo)
    run = _threaded(Gate.run)
    metrics = _threaded(Gate.metrics)
    sign_in = _threaded(Gate.sign_in)
    sign_out = _threaded(Gate.sign_out)
    approve = _threaded(Gate.approve)
    reject = _threaded(Gate.reject)

    async def check(
        self, action: Action | None = None, *, wait: float = 0.0, **asked: Unpack[ActionArguments]
    ) -> Decision:
        return require_allowed(await ask_gate_async(await self._opened(), wait, asked, action))

    @asynccontextmanager
    async def guarding(
        self, action: Action | None = None, *, wait: float = 0.0, **asked: Unpack[ActionArguments]
    ) -> AsyncIterator[Decision]:
        decision = await self.check(action, wait=wait, **asked)
        async with OutcomeReport(await self._opened(), decision):
            yield decision

    @property
    def guard(self) -> Guard:
        """As Gate.guard, for functions that are awaited; refuses the others, which would hold up the event loop."""
        return Guard(None, self._opened)

    async def wait(self, decision: Decision | Ticket | str, timeout: float | None = None) -> Ticket:
        """As Gate.wait; any number may wait at once, and none of them holds a thread."""
        gate = await self._opened()
        return await gate._shared.backend().wait_async(ticket_id(decision), timeout_seconds(timeout))

    async def for_agent(self, agent: str, session: str = "") -> AsyncGate:
        """A gate for another agent, over the same state; closing either closes both."""
        return AsyncGate.over((await self._opened()).for_agent(agent, session))

    @property
    def registry(self) -> AsyncRegistry:
        return AsyncRegistry(self)

    async def close(self) -> None:
        self._closed = True
        if self._made is not None:
            await asyncio.to_thread(self._made.close)

    async def __aenter__(self) -> AsyncGate:
        await self._opened()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()


class AsyncRegistry(Struct, frozen=True):
    _gate: AsyncGate

    async def _opened(self) -> GateRegistry:
        return (await self._gate._opened()).registry

    register = _threaded(GateRegistry.register)
    unregister = _threaded(GateRegistry.unregister)
    match = _threaded(GateRegistry.match)
    list = _threaded(GateRegistry.list)
