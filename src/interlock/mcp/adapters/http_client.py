"""★ Performs one request: on the service's own host, in bounded time and size, retried only where that is safe."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin

import httpx
from msgspec import Struct, field

from interlock.mcp.adapters import AdapterFailure
from interlock.mcp.adapters.auth import AuthHeaders
from interlock.mcp.adapters.requests import OutgoingRequest, Service, ServiceCall, merge_fields, not_an_operation
from interlock.mcp.adapters.responses import (
    MOST_BYTES,
    RateLimitPauses,
    ResponseTooLarge,
    ServiceResponse,
    decompress,
    response_data,
    response_failure,
    too_large,
)

RETRIES = (0.2, 0.8)  # seconds before each further try of a read
REDIRECTS = 3
_AGAIN = frozenset({502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})
_READS = frozenset({"GET", "HEAD"})
Before = Callable[[], Awaitable[None]]  # called before every request; raises AdapterFailure to prevent it


class OperationResult(Struct, frozen=True):
    """The data and the headers of a successful operation."""

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
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._pauses = RateLimitPauses()
        # Nothing of the environment chooses where a request goes or who it is signed as: no .netrc, no proxy variables.
        self._client = httpx.AsyncClient(follow_redirects=False, trust_env=False, proxy=proxy, timeout=None)
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no cookies from earlier calls

    async def close(self) -> None:
        await self._client.aclose()

    async def perform(
        self, service: Service, name: str, params: Mapping[str, Any], before: Before = _at_once
    ) -> OperationResult:
        """The data of a success; raises AdapterFailure for everything else."""
        call = service.calls.get(name)
        if call is None:
            raise not_an_operation(name)
        signed = service.auth.sign_in(self._environ)
        try:
            async with asyncio.timeout(service.timeout), self._slot(service):
                received = await self._send(service, call, params, signed, before)
        except TimeoutError:
            raise self._timeout_failure(service, call) from None
        if not 200 <= received.status < 300:
            raise response_failure(received, signed, *call.resource(params))
        return OperationResult(response_data(received, signed), received.headers)

    def _slot(self, service: Service) -> AbstractAsyncContextManager[object]:
        """A slot among the concurrent requests that a service allows."""
        if not service.together:
            return nullcontext()
        return self._slots.setdefault(f"{service.name} {service.together}", asyncio.Semaphore(service.together))

    async def _send(
        self, service: Service, call: ServiceCall, params: Mapping[str, Any], signed: AuthHeaders, before: Before
    ) -> ServiceResponse:
        sent = service.request(call, params)
        if call.merges:
            sent = await self._merged_request(service, call, params, signed, before, sent)
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

    async def _merged_request(
        self,
        service: Service,
        call: ServiceCall,
        params: Mapping[str, Any],
        signed: AuthHeaders,
        before: Before,
        sent: OutgoingRequest,
    ) -> OutgoingRequest:
        """EP-14 over PUT: reads the resource and merges the input into it; `If-Match` refuses a change in between."""
        read = OutgoingRequest("GET", sent.url, None, {"Accept": "application/json", **service.headers})
        try:
            there = await self._once(service, read, signed, before)
        except httpx.TransportError as error:
            raise _unreachable(call, error) from None
        if not 200 <= there.status < 300:
            raise response_failure(there, signed, *call.resource(params))
        found = response_data(there, AuthHeaders())
        if not isinstance(found, dict):
            raise AdapterFailure("INTERNAL_ERROR", "The service returned no object to merge the input into")
        whole = service.request_with_body(call, params, merge_fields(found, service.fields(call, params)))
        mark = there.headers.get("etag", "")
        unchanged = {"If-Match": mark} if mark.startswith('"') else {}  # a weak tag proves nothing
        return OutgoingRequest(whole.method, whole.url, whole.body, {**whole.headers, **unchanged})

    async def _once(
        self, service: Service, sent: OutgoingRequest, signed: AuthHeaders, before: Before
    ) -> ServiceResponse:
        """Sends one request; follows redirects of a read, on the same host only."""
        url = sent.url
        for _ in range(REDIRECTS + 1):
            if not on_own_host(url, service.base_url):
                raise AdapterFailure("PERMISSION_DENIED", "The service pointed to another host; nothing was sent there")
            self._pauses.check(service.name)
            await before()
            received = await self._exchange(sent, url, signed)
            self._pauses.note(service.name, service.limits, received)
            target = received.headers.get("location", "")
            if sent.method not in _READS or received.status not in _MOVED or not target:
                return received
            url = urljoin(url, target)
        raise AdapterFailure("INTERNAL_ERROR", "The service redirected the request too often")

    async def _exchange(self, sent: OutgoingRequest, url: str, signed: AuthHeaders) -> ServiceResponse:
        headers = {"User-Agent": "interlock-adapter", "Accept-Encoding": "identity", **sent.headers, **signed.headers}
        try:
            async with self._client.stream(sent.method, url, content=sent.body, headers=headers) as response:
                found = {name.lower(): value for name, value in response.headers.items()}
                body = await self._read(response, found.get("content-encoding", ""))
                return ServiceResponse(response.status_code, found, body)
        except ResponseTooLarge:
            raise too_large(self._most) from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise AdapterFailure("INTERNAL_ERROR", "The URL of the service cannot be used") from None

    async def _read(self, response: httpx.Response, encoding: str) -> bytes:
        said = response.headers.get("content-length", "")
        if said.isdigit() and int(said) > self._most:
            raise ResponseTooLarge
        pieces, size = [], 0
        async for piece in response.aiter_raw():
            size += len(piece)
            if size > self._most:
                raise ResponseTooLarge
            pieces.append(piece)
        body = b"".join(pieces)
        return decompress(body, encoding, self._most) if encoding not in ("", "identity") and body else body

    def _timeout_failure(self, service: Service, call: ServiceCall) -> AdapterFailure:
        words = f"The service did not answer within {service.timeout:g} s"
        if call.template.method not in _READS:
            words += "; it is unknown whether it was done"
        return AdapterFailure("INTERNAL_ERROR", words)


def on_own_host(url: str, base: str) -> bool:
    """Whether a URL is on the service's own host, as parsed by the library that would connect."""
    try:
        found, home = httpx.URL(url), httpx.URL(base)
    except httpx.InvalidURL:
        return False
    return (found.scheme, found.host, found.port, found.userinfo) == (home.scheme, home.host, home.port, b"")


def _unreachable(call: ServiceCall, error: httpx.TransportError) -> AdapterFailure:
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return AdapterFailure("INTERNAL_ERROR", "The service cannot be reached; nothing was sent")
    words = "The service closed the connection"
    if call.template.method not in _READS:
        words += "; it is unknown whether it was done"
    return AdapterFailure("INTERNAL_ERROR", words)
