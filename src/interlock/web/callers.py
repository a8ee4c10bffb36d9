"""Authenticates callers: a token or the kernel proves an agent, a session an operator; a name in a body proves nothing."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from interlock.identity.agents import agent_of
from interlock.identity.isolation import isolation_of
from interlock.identity.sessions import OperatorSession
from interlock.ports import StoreError
from interlock.records import AgentRow
from interlock.redaction import hash_token
from interlock.runtime.state import State
from interlock.web.concurrency import Pool
from interlock.web.errors import permission_denied, unauthenticated
from interlock.web.guards import Scope, over_socket

MOST_TOKENS = 10_000  # remembered
OPERATORS_ONLY = (
    "this is for operators: POST /api/v1/session with your name and passphrase gives a token to send as"
    " Authorization: Bearer; in a terminal, `interlock` commands ask for the passphrase themselves"
)


class ApiCaller(Struct, frozen=True):
    """One caller: an agent has a principal, an operator a session; nobody has neither."""

    principal: str = ""
    name: str = ""  # of the token's agent
    session: OperatorSession | None = None
    token: str = ""
    pid: int = 0  # of a peer on the unix socket
    here: bool = False  # on the unix socket
    isolation: str = ""  # of its process, as far as the kernel tells

    @property
    def key(self) -> str:
        return f"operator:{self.session.operator}" if self.session else self.principal or "anybody"

    def operator(self) -> OperatorSession:
        """Refuses agents and nobody."""
        if self.session is not None:
            return self.session
        if not self.principal:
            raise unauthenticated()
        raise permission_denied(OPERATORS_ONLY)

    def agent(self) -> str:
        """Refuses operators and nobody."""
        if self.principal:
            return self.principal
        if self.session is None:
            raise unauthenticated()
        raise permission_denied("this is for agents: an operator's session does not act")

    def known(self) -> ApiCaller:
        if not self.principal and self.session is None:
            raise unauthenticated()
        return self


NOBODY = ApiCaller()


class Credentials:
    """Authenticates requests; known tokens are cached until any agent changes, at any replica."""

    def __init__(self, state: State, pool: Pool) -> None:
        self._state, self._pool = state, pool
        self._agents: dict[str, AgentRow] = {}  # by the token's fingerprint
        self._version = state.agents_version

    def forget(self) -> None:
        self._state.agents_version = object()

    async def who(self, scope: Scope, authorization: bytes | None) -> ApiCaller:
        """Refuses a wrong credential, even where none is required."""
        here = over_socket(scope)
        if authorization is None:
            return self._peer(*scope["client"]) if here else NOBODY
        kind, _, token = authorization.decode("latin-1").partition(" ")
        token = token.strip()
        if kind.lower() == "bearer" and token.startswith("agt_"):
            mark = hash_token(token)
            row = self._known(mark) or await self._agent(mark, token)
            if row is not None:
                peer = self._peer(*scope["client"]) if here else NOBODY
                return replace(peer, principal=row.principal, name=row.name)
        elif kind.lower() == "bearer" and token.startswith("ses_"):
            if not self._state.fresh():  # an operator disabled at another replica is refused here, too
                with suppress(StoreError):  # the cache has to do then, as any change meets the store again
                    await self._pool.run(self._state.catch_up)
            session = self._state.sessions.session(token, self._state.clock.now())
            if session is not None:
                return ApiCaller(session=session, token=token, here=here)
        raise unauthenticated("this credential is not valid, or not any more")

    def _peer(self, principal: str, pid: int) -> ApiCaller:
        return ApiCaller(principal, pid=pid, here=True, isolation=isolation_of(self._state, principal, pid))

    def _known(self, mark: str) -> AgentRow | None:
        if self._version is not self._state.agents_version:
            self._agents, self._version = {}, self._state.agents_version
        return self._agents.get(mark) if self._state.fresh() else None

    async def _agent(self, mark: str, token: str) -> AgentRow | None:
        version = self._state.agents_version
        row = await self._pool.run(agent_of, self._state, token)
        current = version is self._version is self._state.agents_version
        if row is not None and current and len(self._agents) < MOST_TOKENS:
            self._agents[mark] = row
        return row
