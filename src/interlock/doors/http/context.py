"""What every part of the HTTP door works with."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.requests import Request

from interlock.config import Config
from interlock.core.audit_verify import Verdict
from interlock.core.separate import SeparateSettings
from interlock.doors.hook.eyes import hands, sight
from interlock.doors.hook.projects import Projects
from interlock.doors.http.errors import Problem
from interlock.doors.http.guards import Buckets, Places
from interlock.doors.http.peers import Peers
from interlock.doors.http.pool import Pool
from interlock.doors.http.waiting import Waiters
from interlock.doors.http.who import Credentials, Who
from interlock.keeper.asking import keepers_of
from interlock.keeper.warm import WarmKeeper
from interlock.looker.warm import WarmLooker
from interlock.service.proving import proved
from interlock.service.state import State
from interlock.terminal.agents import agent_above
from interlock.terminal.place import Place, place_of

if TYPE_CHECKING:
    from interlock.doors.hook.memory import Hooks

WHO = "interlock.who"
FOR_PEOPLE = 2_000  # milliseconds of a look that a person waits for
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
    peers: Peers
    hooks: Hooks
    waiters: Waiters = field(default_factory=Waiters)
    signing_in: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SIGN_INS))
    proving: threading.Lock = field(default_factory=threading.Lock)  # the whole record: one at a time
    started: float = 0.0
    port: int = 0  # that people's browsers reach; known once it listens
    look: WarmLooker | None = None  # at targets, as this daemon's user
    keeper: WarmKeeper | None = None  # of what actions would change, as the same user
    projects: Projects = field(default_factory=lambda: Projects(SeparateSettings()))
    agent_above: Callable[[int], str | None] = agent_above  # why a peer process looks like an agent's
    place_of: Callable[[int, float | None], Place | None] = place_of  # the terminal that a peer process is at

    @classmethod
    def of(cls, state: State, config: Config, version: str, hooks: Hooks) -> Context:
        pool, peers = Pool(config.workers), Peers(config)
        # A daemon with a user of its own can neither read nor write what its agents change: root's helper becomes theirs.
        keeper = WarmKeeper(config.snapshots, config.folder) if not config.separate.on else None
        state.keeper = keeper
        state.keepers = keepers_of(config.separate.looker, {f"uid:{uid}": uid for uid in peers.agents})
        look = WarmLooker() if config.looker.look else None
        if look is not None and not config.separate.on and not state.shared:  # plans run here, as the same user
            state.plans.look = lambda question: look({**question, "ms": FOR_PEOPLE})
        state.plans.inspect = lambda principal: sight(principal, config.separate, state.plans.look or look)
        state.plans.snapshot = lambda principal: hands(principal, keeper, state.keepers)
        return cls(
            state,
            config,
            version,
            pool,
            Credentials(state, pool),
            Buckets(config.limits.requests_per_minute, state.clock),
            Places(config.host, peers, config.console.public_url),
            peers,
            hooks,
            started=state.clock.now(),
            look=look,
            keeper=keeper,
            projects=Projects(config.separate),
        )

    @property
    def address(self) -> str:
        """Where people reach the console."""
        return self.config.console.public_url or f"http://localhost:{self.port or self.config.port}"

    async def read(self, work: Callable[..., Any]) -> Any:
        """What the store says."""
        return await self.pool.run(self.state.store.read, work)


def who_asks(request: Request) -> Who:
    """The caller, as the front of the door found it."""
    found: Who = request.scope[WHO]
    return found


PATIENCE = 5  # seconds after which to ask for a verdict again


def proved_once(context: Context) -> Verdict:
    """The verdict on the record as it is now; refuses while another is being worked out, for each reads everything."""
    if not context.proving.acquire(blocking=False):
        words = "the whole record is being verified already; ask again in a moment"
        raise Problem(
            "RATE_LIMIT_EXCEEDED", words, details={"retry_after_seconds": PATIENCE}, retry_after=str(PATIENCE)
        )
    try:
        context.state.recorder.flush()
        return proved(context.state)
    finally:
        context.proving.release()
