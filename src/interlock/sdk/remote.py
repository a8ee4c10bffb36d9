"""Decides at a daemon, over its socket or at its address with a token; keeps nothing between calls, so threads and forks are safe."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import closing, suppress
from functools import partial
from http.client import HTTPException, HTTPResponse
from types import SimpleNamespace
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from interlock.client import (
    ApiError,
    DaemonClient,
    DaemonReply,
    NoDaemon,
    no_answer_reason,
    parse_reply,
    path_segment,
    refusal,
)
from interlock.client.connection import connect_checked
from interlock.config import Config
from interlock.model import Decision
from interlock.policy.registry import Pattern, PatternError
from interlock.records import Ticket
from interlock.sdk import CHANNEL, NAP, GateError, SignedInSession, is_answered, raise_gate_errors, seconds_until_change
from interlock.sdk.replies import (
    UnreadableReply,
    deny_lost,
    parse_decision,
    parse_ticket,
    parse_time,
    parse_undo_result,
)
from interlock.sdk.request import Body
from interlock.snapshots import UndoResult

T = TypeVar("T")
PATIENCE = 30.0  # seconds beside those that a poll takes
LONGEST = 50  # seconds of one poll
SILENCE = 30.0  # seconds that a daemon may be gone, to be started again
LONG = 120.0  # for what brings files back
NEWEST = "newest"  # instead of a snapshot's id
REGISTRY = "changing the daemon's registry"


class RemoteBackend(Struct, frozen=True):
    daemon: DaemonClient
    config: Config | None = None  # of this machine's journal

    @property
    def place(self) -> str:
        return self.daemon.place

    def evaluate(self, body: Body) -> Decision:
        """The daemon's decision; no answer is a denial."""
        try:
            decision = parse_decision(self.daemon.ask("POST", "/evaluate", body))
        except NoDaemon as error:
            return deny_lost(str(error))
        if decision.ticket is not None:
            with suppress(NoDaemon, ApiError, UnreadableReply):  # the answer has little of its ticket
                return replace(decision, ticket=parse_ticket(self.daemon.get(_path(decision.ticket.id))))
        return decision

    @raise_gate_errors()
    def wait(self, id: str, seconds: float) -> Ticket:
        async def ask(path: str, patience: float) -> DaemonReply:
            return self.daemon.ask("GET", path, None, patience)

        async def sleep(seconds: float) -> None:
            time.sleep(seconds)

        return complete(wait_for_answer(seconds, partial(_poll, ask, id), sleep))

    async def wait_async(self, id: str, seconds: float) -> Ticket:
        with raise_gate_errors():
            return await wait_for_answer(seconds, partial(_poll, partial(long_poll, self.daemon), id), asyncio.sleep)

    @raise_gate_errors()
    def executed(self, id: str, agent: str, outcome: str) -> Ticket:
        return parse_ticket(self.daemon.post(f"{_path(id)}/executed", {"outcome": outcome, "agent": agent}))

    @raise_gate_errors()
    def metrics(self) -> dict[str, Any]:
        return dict(self.daemon.get("/metrics"))

    @raise_gate_errors()
    def patterns(self) -> tuple[Pattern, ...]:
        try:
            return tuple(map(Pattern.of, self.daemon.get("/patterns")["patterns"]))
        except (PatternError, KeyError, TypeError) as error:
            raise GateError(f"the daemon's patterns cannot be read: {error}") from error

    @raise_gate_errors()
    def register(self, pattern: Pattern, session: SignedInSession | None) -> None:
        self._on_behalf(session, REGISTRY).post("/patterns", pattern.wire)

    @raise_gate_errors()
    def unregister(self, id: str, session: SignedInSession | None) -> Pattern:
        return Pattern.of(self._on_behalf(session, REGISTRY).call("DELETE", f"/patterns/{path_segment(id)}"))

    @raise_gate_errors()
    def undo(self, id: str, force: bool) -> UndoResult:
        path = f"/undo/{path_segment(id or NEWEST)}"
        return parse_undo_result(self.daemon.call("POST", path, {"force": force}, LONG))

    @raise_gate_errors()
    def sign_in(self, name: str, passphrase: str) -> SignedInSession:
        """Signs in without the agent's own token: an agent signs nobody in."""
        body = {"operator": name, "passphrase": passphrase, "channel": CHANNEL}
        made = self.daemon.on_behalf("").post("/session", body)
        return SignedInSession(str(made["operator"]), parse_time(made["expiresAt"]), str(made["token"]))

    @raise_gate_errors()
    def sign_out(self, session: SignedInSession) -> None:
        self._on_behalf(session, "signing out").call("DELETE", "/session")

    @raise_gate_errors()
    def approve(self, session: SignedInSession, id: str, reason: str) -> Ticket:
        return parse_ticket(self._on_behalf(session, "an approval").post(f"{_path(id)}/approve", {"reason": reason}))

    @raise_gate_errors()
    def reject(self, session: SignedInSession, id: str, reason: str) -> Ticket:
        return parse_ticket(self._on_behalf(session, "a rejection").post(f"{_path(id)}/reject", {"reason": reason}))

    def after_fork(self) -> RemoteBackend:
        return self

    def close(self) -> None:
        return None

    def _on_behalf(self, session: SignedInSession | None, purpose: str) -> DaemonClient:
        if isinstance(session, SignedInSession):
            return self.daemon.on_behalf(session.token)
        words = f"{purpose} takes an operator's session; sign in with gate.sign_in(name, passphrase)"
        raise GateError(words, "PERMISSION_DENIED")


def _path(id: str) -> str:
    return f"/tickets/{path_segment(id)}"


async def _poll(ask: Callable[[str, float], Awaitable[DaemonReply]], id: str, seconds: int) -> Ticket:
    answer = await ask(f"{_path(id)}/wait?seconds={seconds}", seconds + PATIENCE)
    if answer.status != 200:
        raise refusal(answer)
    return parse_ticket(answer.body)


async def wait_for_answer(
    seconds: float, poll: Callable[[int], Awaitable[Ticket]], sleep: Callable[[float], Awaitable[None]]
) -> Ticket:
    """The ticket once it is answered and has cooled, or as it stands after so many seconds.

    The daemon replies to `poll` when the ticket is decided, or after so many; raises NoDaemon when it was silent for too long.
    """
    heard = time.monotonic()
    end = heard + seconds
    while True:
        began = time.monotonic()
        asked = max(0, int(min(end - began, LONGEST)))
        try:
            ticket = await poll(asked)
        except NoDaemon:
            now = time.monotonic()
            if now - heard > SILENCE or now >= end:
                raise
            await sleep(min(NAP, end - now))
            continue
        heard = now = time.monotonic()
        if is_answered(ticket, time.time()) or now >= end:
            return ticket
        if now - began < max(1, asked) - 0.1:  # it came back early: the daemon stops, or the ticket only has to cool
            rest = NAP if ticket.open else seconds_until_change(ticket, time.time())
            await sleep(max(0.0, min(rest, end - now)))


def complete(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing on an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast(T, end.value)
    raise RuntimeError(f"{work} waits for an event loop")


_MOST_BYTES = 16 * 1024 * 1024


async def long_poll(daemon: DaemonClient, path: str, seconds: float) -> DaemonReply:
    """Raises NoDaemon; cancelling it closes the connection. httpx takes nine times as long."""
    parts, secure = urlsplit(daemon.url), daemon.url.startswith("https:")
    headers = {"Host": parts.netloc or "localhost", **daemon.headers()}
    lines = [f"GET {daemon.target(path)} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    try:
        async with asyncio.timeout(seconds):
            if daemon.url:
                port = parts.port or (443 if secure else 80)
                reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure or None)
            else:
                reader, writer = await connect_checked(
                    daemon.path, lambda sock: asyncio.open_unix_connection(sock=sock)
                )
            with closing(writer):
                writer.write("\r\n".join(lines).encode("latin-1"))
                await reader.readexactly(_MOST_BYTES)
    except asyncio.IncompleteReadError as whole:
        read = io.BytesIO(whole.partial)
        response = HTTPResponse(SimpleNamespace(makefile=lambda mode: read))  # type: ignore[arg-type]
    except TimeoutError:
        raise NoDaemon(f"the daemon on {daemon.place} did not answer within {seconds:g} s") from None
    except OSError as error:
        raise NoDaemon(no_answer_reason(daemon.place, error)) from None
    else:
        raise NoDaemon(f"what answers on {daemon.place} is no interlock daemon")
    try:
        response.begin()
        return DaemonReply(response.status, parse_reply(response.read(), daemon.place))
    except HTTPException as error:
        raise NoDaemon(no_answer_reason(daemon.place, error)) from None
