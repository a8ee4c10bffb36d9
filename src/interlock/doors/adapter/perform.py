"""★ One request to a service and back: on its own host, in bounded time and size, again only where that is safe."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin

import httpx

from interlock.doors.adapter.answering import MOST_BYTES, Received, TooLarge, data_of, decoded, refused, too_large
from interlock.doors.adapter.auth import SignedIn
from interlock.doors.adapter.calls import Call, Sent, Service, merged, not_an_operation
from interlock.doors.adapter.failing import Failure
from interlock.doors.adapter.quiet import Quiet

RETRIES = (0.2, 0.8)  # seconds before each further try of a read
REDIRECTS = 3
_AGAIN = frozenset({502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})
_READS = frozenset({"GET", "HEAD"})
Before = Callable[[], Awaitable[None]]  # asked before every request; raises Failure where there may be none


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an operation."""

    data: Any
    headers: Mapping[str, str] = field(default_factory=dict)


async def _at_once() -> None:
    return None


class Performer:
    """Performs the operations of services; one pool of connections for all of them."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, most_bytes: int = MOST_BYTES, proxy: str | None = None
    ) -> None:
        self._environ, self._most = environ, most_bytes
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._quiet = Quiet()
        # Nothing of the environment chooses where a request goes or who it is signed as: no .netrc, no proxy variables.
        self._client = httpx.AsyncClient(follow_redirects=False, trust_env=False, proxy=proxy, timeout=None)
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no call knows of the one before

    async def close(self) -> None:
        await self._client.aclose()

    async def perform(self, service: Service, name: str, params: Mapping[str, Any], before: Before = _at_once) -> Done:
        """The data of a success; raises Failure for everything else."""
        call = service.calls.get(name)
        if call is None:
            raise not_an_operation(name)
        signed = service.auth.sign_in(self._environ)
        try:
            async with asyncio.timeout(service.timeout), self._turn(service):
                received = await self._performed(service, call, params, signed, before)
        except TimeoutError:
            raise self._late(service, call) from None
        if not 200 <= received.status < 300:
            raise refused(received, signed, *call.resource(params))
        return Done(data_of(received, signed), received.headers)

    def _turn(self, service: Service) -> AbstractAsyncContextManager[object]:
        """One of the requests that a service takes at a time."""
        if not service.together:
            return nullcontext()
        return self._turns.setdefault(f"{service.name} {service.together}", asyncio.Semaphore(service.together))

    async def _performed(
        self, service: Service, call: Call, params: Mapping[str, Any], signed: SignedIn, before: Before
    ) -> Received:
        sent = service.sent(call, params)
        if call.merges:
            sent = await self._whole(service, call, params, signed, before, sent)
        reads = call.operation.category == "read" and sent.method in _READS
        for pause in (*RETRIES, None) if reads else (None,):
            try:
                received = await self._once(service, sent, signed, before)
            except httpx.TransportError as error:
                if pause is None:
                    raise _unreachable(call, error) from None
            else:
                if pause is None or received.status not in _AGAIN:
                    return received
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _whole(
        self, service: Service, call: Call, params: Mapping[str, Any], signed: SignedIn, before: Before, sent: Sent
    ) -> Sent:
        """EP-14 over PUT: what is there, with the input merged into it, unless somebody changed it in between."""
        read = Sent("GET", sent.url, None, {"Accept": "application/json", **service.headers})
        try:
            there = await self._once(service, read, signed, before)
        except httpx.TransportError as error:
            raise _unreachable(call, error) from None
        if not 200 <= there.status < 300:
            raise refused(there, signed, *call.resource(params))
        found = data_of(there, SignedIn())
        if not isinstance(found, dict):
            raise Failure("INTERNAL_ERROR", "The service shows no table to merge the input into")
        whole = service.sent_body(call, params, merged(found, service.fields(call, params)))
        mark = there.headers.get("etag", "")
        unchanged = {"If-Match": mark} if mark.startswith('"') else {}  # a weak mark promises nothing
        return Sent(whole.method, whole.url, whole.body, {**whole.headers, **unchanged})

    async def _once(self, service: Service, sent: Sent, signed: SignedIn, before: Before) -> Received:
        """One request; a read is followed where the service moved it, on the same host only."""
        url = sent.url
        for _ in range(REDIRECTS + 1):
            if not at_home(url, service.base_url):
                raise Failure("PERMISSION_DENIED", "The service pointed to another host; nothing was sent there")
            self._quiet.check(service.name)
            await before()
            received = await self._exchanged(sent, url, signed)
            self._quiet.heard(service.name, service.limits, received)
            target = received.headers.get("location", "")
            if sent.method not in _READS or received.status not in _MOVED or not target:
                return received
            url = urljoin(url, target)
        raise Failure("INTERNAL_ERROR", "The service sent the request in circles")

    async def _exchanged(self, sent: Sent, url: str, signed: SignedIn) -> Received:
        headers = {"User-Agent": "interlock-adapter", "Accept-Encoding": "identity", **sent.headers, **signed.headers}
        try:
            async with self._client.stream(sent.method, url, content=sent.body, headers=headers) as response:
                found = {name.lower(): value for name, value in response.headers.items()}
                body = await self._read(response, found.get("content-encoding", ""))
                return Received(response.status_code, found, body)
        except TooLarge:
            raise too_large(self._most) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise Failure("INTERNAL_ERROR", "The address of the service cannot be used") from None

    async def _read(self, response: httpx.Response, encoding: str) -> bytes:
        said = response.headers.get("content-length", "")
        if said.isdigit() and int(said) > self._most:
            raise TooLarge
        pieces, size = [], 0
        async for piece in response.aiter_raw():
            size += len(piece)
            if size > self._most:
                raise TooLarge
            pieces.append(piece)
        body = b"".join(pieces)
        return decoded(body, encoding, self._most) if encoding not in ("", "identity") and body else body

    def _late(self, service: Service, call: Call) -> Failure:
        words = f"The service did not answer within {service.timeout:g} s"
        if call.template.method not in _READS:
            words += "; nobody knows whether it was done"
        return Failure("INTERNAL_ERROR", words)


def at_home(url: str, base: str) -> bool:
    """Whether an address is on the service's own host, as the very library reads it that would go there."""
    try:
        found, home = httpx.URL(url), httpx.URL(base)
    except httpx.InvalidURL:
        return False
    return (found.scheme, found.host, found.port, found.userinfo) == (home.scheme, home.host, home.port, b"")


def _unreachable(call: Call, error: httpx.TransportError) -> Failure:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return Failure("INTERNAL_ERROR", "The service cannot be reached; nothing was sent")
    words = "The service broke off"
    if call.template.method not in _READS:
        words += "; nobody knows whether it was done"
    return Failure("INTERNAL_ERROR", words)
