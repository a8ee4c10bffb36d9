"""What every part of the HTTP door works with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from interlock.config import Config
from interlock.doors.hook.memory import Hooks
from interlock.doors.http.guards import Buckets, Places
from interlock.doors.http.pool import Pool
from interlock.doors.http.waiting import Waiters
from interlock.doors.http.who import Credentials, Who
from interlock.service.state import State
from interlock.terminal.agents import agent_above

WHO = "interlock.who"
SIGN_INS = 2  # passphrases that are checked at a time: it is slow on purpose, and everybody else needs threads too


@dataclass(slots=True)
class Context:
    """Built once for an app; lives as long as it."""

    state: State
    config: Config
    version: str
    pool: Pool
    credentials: Credentials
    buckets: Buckets
    places: Places
    waiters: Waiters = field(default_factory=Waiters)
    signing_in: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SIGN_INS))
    started: float = 0.0
    hooks: Hooks = field(default_factory=Hooks)
    agent_above: Callable[[int], str | None] = agent_above  # why a peer process looks like an agent's

    @classmethod
    def of(cls, state: State, config: Config, version: str) -> Context:
        pool = Pool(config.workers)
        return cls(
            state,
            config,
            version,
            pool,
            Credentials(state, pool),
            Buckets(config.limits.requests_per_minute, state.clock),
            Places(config.host),
            started=state.clock.now(),
        )

    async def read(self, work: Callable[..., Any]) -> Any:
        """What the store says."""
        return await self.pool.run(self.state.store.read, work)


def who_asks(request: Request) -> Who:
    """The caller, as the front of the door found it."""
    found: Who = request.scope[WHO]
    return found
