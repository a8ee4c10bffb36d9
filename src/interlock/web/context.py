"""The objects that every route works with, built once for an app."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends
from starlette.requests import Request

from interlock.audit.proof import verify_chains
from interlock.audit.verify import AuditVerdict
from interlock.config import Config
from interlock.identity.agent_detection import agent_above, place_of
from interlock.identity.sessions import OperatorSession
from interlock.impact.files import ProjectFileCache
from interlock.impact.user_access import user_access
from interlock.impact.warm_child import WarmInspector
from interlock.journal import ID as JOURNAL_ID
from interlock.journal.undo import JournalUndo
from interlock.ports import Access
from interlock.runtime import put_bounded
from interlock.runtime.state import State
from interlock.snapshots.client import WarmSnapshotter, clients_by_principal
from interlock.web.callers import ApiCaller, Credentials
from interlock.web.concurrency import Pool, Waiters
from interlock.web.errors import rate_limited
from interlock.web.guards import AllowedUsers, Buckets, HostNames

if TYPE_CHECKING:
    from interlock.hooks.memory import HookMemory

CALLER = "interlock.who"
FOR_PEOPLE = 2_000  # milliseconds for an inspection that an operator waits for
MOST_ACCESS = 1_000  # principals remembered
SIGN_INS = 2  # passphrases checked at a time: the hash is slow, and other requests need threads too


class Context:
    def __init__(self, state: State, config: Config, version: str, hooks: HookMemory) -> None:
        self.state, self.config, self.version, self.hooks = state, config, version, hooks
        self.pool, self.peers, self.waiters = Pool(config.daemon.workers), AllowedUsers(config), Waiters()
        self.credentials = Credentials(state, self.pool)
        self.buckets = Buckets(config.limits.requests_per_minute, state.clock)
        self.places = HostNames(config.daemon.host, self.peers, config.console.public_url, config.daemon.agent_hosts)
        self.signing_in = asyncio.Semaphore(SIGN_INS)
        self.proving = threading.Lock()  # one verification of the record at a time
        self.started, self.port = state.clock.now(), 0  # for browsers; known once the daemon listens
        self.projects = ProjectFileCache()
        self.agent_above = agent_above  # why a peer process counts as an agent's
        self.place_of = place_of  # the terminal of a peer process
        self._access: dict[tuple[str, bool], Access] = {}
        # A daemon with a user of its own cannot access its agents' files: root's helper does.
        self.snapshotter = None if config.separate.on else WarmSnapshotter(config.snapshots, config.folder)
        state.snapshots.taker = self.snapshotter
        users = {f"uid:{uid}": uid for uid in self.peers.agents}
        state.snapshots.takers = takers = clients_by_principal(config.separate.inspector, users)
        self.inspect = inspect = WarmInspector() if config.impact.inspect else None
        if inspect is not None and not config.separate.on and not state.shared:  # plans run here, as the same user
            state.plans.look = lambda question: inspect({**question, "ms": FOR_PEOPLE})
        state.plans.access = lambda principal: user_access(
            principal, config.separate, self.projects, state.plans.look or inspect, self.snapshotter, takers
        )

    def access(self, principal: str, here: bool) -> Access:
        """The access of a user who is on this machine or has a helper; `here` says so for other names."""
        found = self._access.get((principal, here))
        if found is None:
            own = self.projects, self.inspect, self.snapshotter, self.state.snapshots.takers
            found = user_access(principal, self.config.separate, *own, here)
            put_bounded(self._access, (principal, here), found, MOST_ACCESS)
        return found

    def journal(self, id: str = "", principal: str = "") -> JournalUndo | None:
        """The journals of this process's user, where they are the caller's own or an operator's to see; None for the id of a snapshot."""
        own = not self.config.separate.on and principal in ("", f"uid:{os.getuid()}")
        return JournalUndo(self.config) if own and (not id or JOURNAL_ID.fullmatch(id)) else None

    @property
    def address(self) -> str:
        return self.config.console.public_url or f"http://localhost:{self.port or self.config.daemon.port}"


async def _caller(request: Request) -> ApiCaller:
    """Authenticated by `DaemonApp`, in a role that the route is for."""
    found: ApiCaller = request.scope[CALLER]
    return found


async def _context(request: Request) -> Context:
    found: Context = request.app.state.context
    return found


# The parameters that a route may have.
Who = Annotated[ApiCaller, Depends(_caller)]
TheContext = Annotated[Context, Depends(_context)]


async def _operator(who: Who) -> OperatorSession:
    return who.operator()


async def _state(context: TheContext) -> State:
    return context.state


By = Annotated[OperatorSession, Depends(_operator)]
TheState = Annotated[State, Depends(_state)]
PATIENCE = 5  # seconds before a retry


def verify_record_once(context: Context) -> AuditVerdict:
    if not context.proving.acquire(blocking=False):
        raise rate_limited("the whole record is being verified already; ask again in a moment", PATIENCE)
    try:
        context.state.recorder.flush()
        return verify_chains(context.state)
    finally:
        context.proving.release()
