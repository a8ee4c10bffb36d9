"""Admits requests by Host, Origin, size, rate and the user at the socket; refuses the rest before they are read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
from collections.abc import Iterable
from typing import Any

from interlock.config import Config
from interlock.ports import Clock
from interlock.runtime import put_bounded
from interlock.times import iso
from interlock.web.errors import HttpProblem, permission_denied, rate_limited, too_large, unauthenticated
from interlock.web.sockets import CannotServe

Scope = dict[str, Any]
PATIENCE = 30.0  # seconds for a body
ARRIVED = "interlock.arrived"  # in the scope of a request whose body is complete: nothing has to be waited for
OPENED_BY = "interlock.opened_by"  # in a TCP connection's state: the uid that opened it on this machine, or None
_HERE = ("localhost", "127.0.0.1", "[::1]")
# Headers of proxies. Under a local host name, outsiders would reach the interface for local agents.
_FORWARDED = frozenset(b"x-forwarded-for x-real-ip cf-connecting-ip true-client-ip tailscale-user-login".split())

_AGENT_TOKEN = b"bearer agt_"
_OTHER_ORIGIN = "requests from other origins are not answered"


class HostNames:
    """Against DNS rebinding."""

    def __init__(
        self, host: str, peers: AllowedUsers | None = None, public_url: str = "", agent_hosts: Iterable[str] = ()
    ) -> None:
        self._peers = peers
        self._agent_hosts = frozenset(name.lower().encode() for name in agent_hosts)
        self._public_url = public_url.lower().encode()
        self._public = self._public_url.partition(b"://")[2]
        self._names = {*_HERE, f"[{host}]" if ":" in host else host}
        self._known: dict[int, frozenset[bytes]] = {}

    def check(self, scope: Scope, host: bytes | None, origin: bytes | None) -> None:
        """Refuses a foreign Host or Origin, and browsers on the unix socket."""
        if over_socket(scope):
            if origin is not None:
                raise permission_denied("a browser has no business on this socket")
            if self._peers is not None:
                self._peers.check(str(scope["client"][0]), str((scope.get("server") or ("",))[0]), str(scope["path"]))
            return
        if self.public(scope):
            self._check_public(scope, origin)
            return
        if host is not None and host.lower() in self._agent_hosts:
            _check_remote_agent(scope, origin)
            return
        server = scope.get("server")
        ours = self._ours(int(server[1])) if server and server[1] is not None else frozenset()
        if host is None or host.lower() not in ours:
            raise permission_denied("the Host header does not name this daemon")
        if origin is not None and origin.lower().removeprefix(b"http://") not in ours:
            raise permission_denied(_OTHER_ORIGIN)
        if self._public and any(name in _FORWARDED for name, _ in scope["headers"]):
            raise permission_denied("a proxy in front of this daemon does not pass the Host header on")

    def public(self, scope: Scope) -> bool:
        """Whether the request used the public host name, under which no agent is served."""
        if not self._public or over_socket(scope):
            return False
        return any(name == b"host" and value.lower() == self._public for name, value in scope["headers"])

    def _check_public(self, scope: Scope, origin: bytes | None) -> None:
        path = str(scope["path"])
        if path not in ("/", "/console") and not path.startswith("/console/"):
            raise HttpProblem("NOT_FOUND_OPERATION", "there is no such page", 404)
        if origin is not None and origin.lower() != self._public_url:
            raise permission_denied(_OTHER_ORIGIN)

    def _ours(self, port: int) -> frozenset[bytes]:
        if port not in self._known:
            ends = (f":{port}", "") if port == 80 else (f":{port}",)
            self._known[port] = frozenset(f"{name}{end}".encode() for name in self._names for end in ends)
        return self._known[port]


def _check_remote_agent(scope: Scope, origin: bytes | None) -> None:
    """Refuses browsers, and everybody without an agent's token: through a proxy the kernel would name the proxy's user."""
    if origin is not None:
        raise permission_denied(_OTHER_ORIGIN)
    token = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    if not token.lower().startswith(_AGENT_TOKEN) and scope["path"] != "/healthz":
        raise unauthenticated("agents on other machines send a token: `interlock agents add NAME` makes one")


def over_socket(scope: Scope) -> bool:
    """Whether the peer is on the unix socket, by the address that `protocol.PeerProtocol` sets; no TCP peer has one like it."""
    client = scope.get("client")
    return client is not None and str(client[0]).startswith("uid:")


async def read_body(receive: Any, length: bytes | None, limit: int, arrived: bool = False) -> bytes:
    """Refuses an over-long body before reading it all, and one that takes too long unless it has arrived."""
    if length is not None and (not length.isdigit() or len(length) > 15 or int(length) > limit):
        raise _too_large(limit)
    if arrived:
        return await _whole(receive, limit)
    try:
        async with asyncio.timeout(PATIENCE):
            return await _whole(receive, limit)
    except TimeoutError:
        words = f"the body did not arrive within {PATIENCE:g} s"
        raise HttpProblem("VALIDATION_INVALID_VALUE", words, 408, connection="close") from None


async def _whole(receive: Any, limit: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise _too_large(limit)
        if not message.get("more_body"):
            return b"".join(parts)


def check_type(given: bytes | None) -> None:
    """Refuses what a foreign web page could make a browser send."""
    kind = (given or b"").partition(b";")[0].strip().lower()
    if kind == b"application/json" or (kind.startswith(b"application/") and kind.endswith(b"+json")):
        return
    got = f", not as {kind.decode('latin-1')[:60]!r}" if kind else ""
    words = f"the body has to be sent as JSON{got}: add the header Content-Type: application/json"
    details = {"param_name": "Content-Type", "expected_type": "application/json"}
    raise HttpProblem("VALIDATION_INVALID_TYPE", words, details=details)


async def hung_up(receive: Any) -> None:
    with contextlib.suppress(Exception):
        while (await receive())["type"] != "http.disconnect":
            pass


class ClientGone(Exception):
    """The client disconnected before its request was complete."""


def _too_large(limit: int) -> HttpProblem:
    return too_large(f"the body is larger than {limit} bytes", "request_size", limit, "bytes", connection="close")


class Buckets:
    """Limits requests per minute and principal; used on the event loop only."""

    MOST = 10_000  # principals remembered

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._limit, self._clock = per_minute, clock
        self._left: dict[str, tuple[float, float]] = {}  # principal -> tokens, when

    def take(self, principal: str, count: int = 1) -> None:
        now = self._clock.now()
        left, at = self._left.get(principal, (float(self._limit), now))
        if now > at:
            left = min(float(self._limit), left + (now - at) * self._limit / 60)
        if left < count and left < self._limit:
            seconds = max(1, int((min(count, self._limit) - left) * 60 / self._limit + 0.999))
            self._left[principal] = (left, now)
            words = f"too many requests: {self._limit} a minute are allowed; try again in {seconds} s"
            raise rate_limited(words, seconds, self._limit, resets_at=iso(now + seconds))
        put_bounded(self._left, principal, (left - count, now), self.MOST)


_SIGN_IN_PATHS = ("/api/v1/session", "/api/v1/session/resume", "/api/v1/operators/first")


class AllowedUsers:
    """The uids that may use each socket; checks nothing without [separate], as the socket is then its owner's only."""

    def __init__(self, config: Config) -> None:
        self._on, self._agents_place = config.separate.on, str(config.agents_socket)
        ours = {0, os.getuid()}
        self.agents = frozenset(uids(config.separate.users))
        self._may_ask, self._may_answer = self.agents | ours, ours | set(uids(config.separate.operators))
        if self._on and os.getuid() in self.agents | {0}:
            raise CannotServe("separate: the daemon's own user cannot be root, nor one whose agents it guards")

    def check(self, client: str, place: str, path: str) -> None:
        """Refuses other users on this socket, and sign-ins on the agents' socket."""
        if not self._on:
            return
        if place == self._agents_place:
            self.check_agent(client)
            if path in _SIGN_IN_PATHS and _uid(client) in self.agents:
                raise permission_denied("nobody signs in where agents ask; operators have a socket of their own")
        elif _uid(client) not in self._may_answer:
            raise permission_denied(f"this socket is for operators; agents ask on {self._agents_place}")

    def check_agent(self, principal: str) -> None:
        if self._on and principal.startswith("uid:") and _uid(principal) not in self._may_ask:
            words = f"this daemon guards other users' agents, not those of {principal}; `interlock install --system --for NAME`"
            raise permission_denied(words)


def uids(names: Iterable[str]) -> list[int]:
    found = []
    for name in names:
        try:
            found.append(pwd.getpwnam(name).pw_uid)
        except KeyError:
            raise CannotServe(f"separate: there is no user {name!r}") from None
    return found


def _uid(client: str) -> int:
    number = client.removeprefix("uid:")
    return int(number) if number.isdigit() else -1
