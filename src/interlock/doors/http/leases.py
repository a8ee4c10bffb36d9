"""Which MCP sessions live, and when do they end? With the connection that holds them, or after a while without a call (ESL-13)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from interlock.doors.http.errors import Problem
from interlock.ports import Clock

LOG = logging.getLogger("interlock")
IDLE = 1_800.0  # seconds without a call, for a session that nobody holds
EVERY = 30.0  # seconds between two looks
MOST = 10_000  # sessions that are remembered

Key = tuple[str, str]  # principal, session
End = Callable[[str, str], Awaitable[None]]


@dataclass(eq=False, slots=True)
class Lease:
    """One connection that holds a session, and the process behind it."""

    pid: int = 0


@dataclass(slots=True)
class Leases:
    """Used on the event loop alone."""

    end: End
    clock: Clock
    held: dict[Key, Lease] = field(default_factory=dict)
    seen: dict[Key, float] = field(default_factory=dict)
    every: float = EVERY
    _looking: asyncio.Task[None] | None = None

    def touch(self, principal: str, session: str) -> None:
        """The session was used."""
        key = (principal, session)
        self.seen.pop(key, None)
        self.seen[key] = self.clock.now()
        if len(self.seen) > MOST:
            self.seen.pop(next(iter(self.seen)))
        if self._looking is None or self._looking.done():
            self._looking = asyncio.get_running_loop().create_task(self._look())

    def hold(self, principal: str, session: str, pid: int) -> Lease:
        """From now on the session lives as long as this lease; refuses one that another process holds."""
        before = self.held.get((principal, session))
        if before is not None and before.pid != pid:
            raise Problem("PERMISSION_DENIED", "another process holds this session")
        lease = Lease(pid)
        self.held[(principal, session)] = lease
        self.touch(principal, session)
        return lease

    async def let_go(self, principal: str, session: str, lease: Lease) -> None:
        """The connection has ended, and the session with it."""
        if self.held.get((principal, session)) is lease:
            await self.ended(principal, session)

    def release(self, principal: str, session: str, lease: Lease) -> None:
        """Nobody holds it any more, and it may still be used for a while."""
        if self.held.get((principal, session)) is lease:
            del self.held[(principal, session)]
            self.touch(principal, session)

    def lives(self, principal: str, session: str) -> bool:
        return (principal, session) in self.held or (principal, session) in self.seen

    def holds(self, principal: str, session: str, pid: int) -> bool:
        """Whether this very process holds the session."""
        lease = self.held.get((principal, session))
        return lease is not None and bool(pid) and lease.pid == pid

    async def ended(self, principal: str, session: str) -> None:
        self.held.pop((principal, session), None)
        self.seen.pop((principal, session), None)
        await self.end(principal, session)

    def stop(self) -> None:
        """The daemon stops; sessions outlive it as far as their connections do."""
        if self._looking is not None:
            with suppress(RuntimeError):  # its loop has ended before
                self._looking.cancel()

    async def _look(self) -> None:
        while self.seen:
            await asyncio.sleep(self.every)
            late = self.clock.now() - IDLE
            for key in [key for key, at in self.seen.items() if at < late and key not in self.held]:
                try:
                    await self.ended(*key)
                except Exception as error:  # a store that is away now is asked again when the session is
                    LOG.warning("a session could not be ended: %s", type(error).__name__)
