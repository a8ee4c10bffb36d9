"""★ Performs one request on the service's own host, bounded, retried only where that is safe (RL-01)."""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urljoin

import httpx
from msgspec import Struct
from msgspec.structs import replace

from interlock.adapters.quota import ApiLimit
from interlock.analysis.display_text import visible
from interlock.error_codes import LoopProblem
from interlock.mcp.adapters.requests import AuthHeaders, OutgoingRequest, Service, ServiceCall, merge_fields, on_texts
from interlock.model import NOTHING, Confidential
from interlock.redaction import redact_text
from interlock.strict_json import no_constant
from interlock.times import iso

MOST_BYTES = 10 * 1024 * 1024  # EP-11
DEPTH = 100  # of a response; a deeper one is returned as text
EXCERPT = 200  # characters of a service's own message
_DECODED = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # window bits
_WORDS = ("message", "error_description", "detail", "title", "error", "reason", "errors")


class ServiceResponse(Confidential, Struct, frozen=True):
    HIDDEN = ("body",)

    status: int
    headers: Mapping[str, str]
    body: bytes


def decompress(body: bytes, encoding: str, most: int) -> bytes:
    bits = _DECODED.get(encoding.strip().lower())
    if bits is None:
        raise _failed("The service used an unsupported compression")
    unpacker = zlib.decompressobj(bits)
    try:
        text = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise _failed("The response of the service cannot be decompressed") from None
    if len(text) > most:
        raise too_large(most)
    return text


def too_large(most: int) -> LoopProblem:
    details = {"limit_type": "response_size", "limit_value": most, "unit": "bytes"}
    words = f"The answer of the service is longer than {most} bytes"
    return LoopProblem("VALIDATION_PAYLOAD_TOO_LARGE", words, details)


def response_data(received: ServiceResponse, signed: AuthHeaders) -> Any:
    if not received.body.strip():
        return {"http_status": received.status}
    found, value = _json(received.body)
    if found:
        return signed.redact(value)
    kind = received.headers.get("content-type", "").partition(";")[0].strip().lower()
    known = {"http_status": received.status, "content_type": kind}
    try:
        return {**known, "text": signed.redact(received.body.decode())}
    except UnicodeDecodeError:
        return {**known, "size_bytes": len(received.body)}


def response_failure(received: ServiceResponse, signed: AuthHeaders, resource: str, id: str = "") -> LoopProblem:
    status, details = received.status, {"http_status": received.status}
    if status in (404, 410):
        known = {"resource_type": resource, **({"resource_id": id} if id else {}), **details}
        return LoopProblem("NOT_FOUND_RESOURCE", f"The service knows no such '{resource}'", known)
    if status in (401, 403):
        why = "the service wants another sign-in" if status == 401 else "the service refused"
        return LoopProblem("PERMISSION_DENIED", "The service refused this", {"reason": why, **details})
    if status == 429:
        seconds = retry_after(received)
        limit = {"remaining": 0, "retry_after_seconds": seconds, "resets_at": iso(time.time() + seconds)}
        return LoopProblem("RATE_LIMIT_EXCEEDED", "The service's rate limit is reached", limit)
    if 300 <= status < 400:
        return _failed("The service redirected the request, which is not followed", details)
    said = signed.redact(_message(_json(received.body)[1], 3))[: EXCERPT * 4]
    text = visible(redact_text(said))[:EXCERPT]  # short, printable and without secrets
    more = {**details, "upstream_error": text} if text else details
    if status in (400, 409, 422):
        words = f"The service cannot use these parameters (status {status})"
        return LoopProblem("VALIDATION_INVALID_VALUE", words, more)
    return _failed(f"The service failed (status {status})", more)


def retry_after(received: ServiceResponse) -> int:
    """A minute where the service names none."""
    value = received.headers.get("retry-after", "").strip()
    if value.isdigit() and len(value) < 8:
        return max(1, int(value))
    try:
        return max(1, int(parsedate_to_datetime(value).timestamp() - time.time()) + 1)
    except (ValueError, TypeError, OverflowError):
        return 60


def _json(body: bytes) -> tuple[bool, Any]:
    """Whether a body is JSON of bounded depth, and its value."""
    try:
        value = json.loads(body.decode(), parse_constant=no_constant)
    except (ValueError, RecursionError):
        return False, None
    if _is_deeper(value, DEPTH):
        return False, None
    # Lone surrogates cannot be encoded.
    return True, on_texts(value, lambda text: text.encode("utf-8", "replace").decode()) if b"\\u" in body else value


def _is_deeper(value: Any, most: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return most == 0 or any(_is_deeper(item, most - 1) for item in inner)


def _message(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    within = map(value.get, _WORDS) if isinstance(value, dict) else value[:1] if isinstance(value, list) else ()
    return next((text for one in within if depth and (text := _message(one, depth - 1))), "")


MOST = 86_400.0  # seconds; a longer pause is cut to this
_EPOCH = 1_000_000_000  # a larger number is a date, a smaller one seconds from now


class RateLimitPauses:
    """Pauses per service: until when nothing is sent, and the limit that was reached."""

    def __init__(self) -> None:
        self._until: dict[str, tuple[float, dict[str, Any]]] = {}

    def check(self, service: str) -> None:
        """Raises LoopProblem while the service is paused."""
        until, details = self._until.get(service, (0.0, {}))
        wait = until - time.time()
        if wait <= 0:
            return
        limit = {**details, "remaining": 0, "resets_at": iso(until), "retry_after_seconds": math.ceil(wait)}
        raise LoopProblem("RATE_LIMIT_EXCEEDED", "The service's rate limit is reached; nothing was sent", limit)

    def note(self, service: str, limits: Iterable[ApiLimit], received: ServiceResponse) -> None:
        """Starts a pause after too many requests, or where none remains."""
        now, pause = time.time(), (0.0, dict[str, Any]())
        if received.status == 429:
            pause = now + retry_after(received), {}
        for limit in limits:
            names = (limit.remaining_header, limit.reset_header)
            left, text = (received.headers.get(name, "").strip() for name in names)
            if limit.scope == "global" and left == "0":
                wait = int(text) if text.isdigit() and len(text) <= 12 else 60
                pause = wait if wait > _EPOCH else now + wait, {"limit": limit.limit, "window": limit.window}
        if pause[0]:
            self._until[service] = min(pause[0], now + MOST), pause[1]


RETRIES = (0.2, 0.8)  # seconds before each further try of a read
REDIRECTS = 3
_AGAIN = frozenset({502, 503, 504})
_MOVED = frozenset({301, 302, 303, 307, 308})
_READS = frozenset({"GET", "HEAD"})
Before = Callable[[], Awaitable[None]]  # called before every request; raises LoopProblem to prevent it


class Performer:
    """Performs the operations of services; one pool of connections for all of them."""

    def __init__(
        self, environ: Mapping[str, str] = os.environ, most_bytes: int = MOST_BYTES, proxy: str | None = None
    ) -> None:
        self._environ, self._most = environ, most_bytes
        self._slots: dict[str, asyncio.Semaphore] = {}
        self.pauses = RateLimitPauses()
        # Nothing of the environment chooses where a request goes or who it is signed as: no .netrc, no proxy variables.
        self._client = httpx.AsyncClient(follow_redirects=False, trust_env=False, proxy=proxy, timeout=None)
        self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # no cookies from earlier calls

    async def close(self) -> None:
        await self._client.aclose()

    async def perform(
        self, service: Service, name: str, params: Mapping[str, Any], before: Before | None = None
    ) -> Any:
        """The data of a success; raises LoopProblem for everything else."""
        call = service.calls[name]
        sending = _Sending(self, service, call, params, service.auth.sign_in(self._environ), before)
        most = service.together or sys.maxsize  # requests at a time
        try:
            async with (
                asyncio.timeout(service.timeout),
                self._slots.setdefault(f"{service.name} {most}", asyncio.Semaphore(most)),
            ):
                return sending.data(await sending.response())
        except TimeoutError:
            raise _unanswered(call, f"The service did not answer within {service.timeout:g} s") from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise _failed("The service cannot be reached; nothing was sent") from None
        except httpx.TransportError:
            raise _unanswered(call, "The service closed the connection") from None

    async def exchange(self, sent: OutgoingRequest, url: str, signed: AuthHeaders) -> ServiceResponse:
        headers = {"User-Agent": "interlock-adapter", "Accept-Encoding": "identity", **sent.headers, **signed.headers}
        try:
            async with self._client.stream(sent.method, url, content=sent.body, headers=headers) as response:
                return ServiceResponse(response.status_code, response.headers, await self._read(response))
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise _failed("The URL of the service cannot be used") from None

    async def _read(self, response: httpx.Response) -> bytes:
        body, encoding = bytearray(), response.headers.get("content-encoding", "")
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > self._most:
                raise too_large(self._most)
        plain = encoding in ("", "identity") or not body
        return bytes(body) if plain else decompress(bytes(body), encoding, self._most)


class _Sending(Struct, frozen=True):
    """One call, which may take several requests."""

    performer: Performer
    service: Service
    call: ServiceCall
    params: Mapping[str, Any]
    signed: AuthHeaders
    before: Before | None

    async def response(self) -> ServiceResponse:
        call = self.call
        sent = await self._merged_request() if call.merges else self.service.request(call, self.params)
        for pause in RETRIES if call.operation.category == "read" and sent.method in _READS else ():
            with suppress(httpx.TransportError):
                received = await self._once(sent)
                if received.status not in _AGAIN:
                    return received
            await asyncio.sleep(pause)
        return await self._once(sent)

    def data(self, received: ServiceResponse, signed: AuthHeaders | None = None) -> Any:
        if not 200 <= received.status < 300:
            raise response_failure(received, self.signed, *self.call.resource(self.params))
        return response_data(received, signed or self.signed)

    async def _merged_request(self) -> OutgoingRequest:
        """EP-14 over PUT: merges the input into the resource; `If-Match` refuses a change in between."""
        service, call, params = self.service, self.call, self.params
        there = await self._once(OutgoingRequest("GET", service.url(call, params), None, service.headers))
        found = self.data(there, AuthHeaders())
        if not isinstance(found, dict):
            raise _failed("The service returned no object to merge the input into")
        whole = service.request(call, params, merge_fields(found, service.fields(call, params)))
        mark = there.headers.get("etag", "")
        unchanged = {"If-Match": mark} if mark.startswith('"') else {}  # a weak tag proves nothing
        return replace(whole, headers={**whole.headers, **unchanged})

    async def _once(self, sent: OutgoingRequest) -> ServiceResponse:
        """Follows redirects of a read, on the same host only."""
        url, service, pauses = sent.url, self.service, self.performer.pauses
        for _ in range(REDIRECTS + 1):
            if not on_own_host(url, service.base_url):
                raise LoopProblem("PERMISSION_DENIED", "The service pointed to another host; nothing was sent there")
            pauses.check(service.name)
            if self.before is not None:
                await self.before()
            received = await self.performer.exchange(sent, url, self.signed)
            pauses.note(service.name, service.limits, received)
            target = received.headers.get("location", "")
            if sent.method not in _READS or received.status not in _MOVED or not target:
                return received
            url = urljoin(url, target)
        raise _failed("The service redirected the request too often")


def on_own_host(url: str, base: str) -> bool:
    """As parsed by the library that would connect."""
    try:
        found, home = httpx.URL(url), httpx.URL(base)
    except httpx.InvalidURL:
        return False
    return (found.scheme, found.host, found.port, found.userinfo) == (home.scheme, home.host, home.port, b"")


def _unanswered(call: ServiceCall, words: str) -> LoopProblem:
    return _failed(words + ("" if call.template.method in _READS else "; it is unknown whether it was done"))


def _failed(words: str, details: Mapping[str, Any] = NOTHING) -> LoopProblem:
    return LoopProblem("INTERNAL_ERROR", words, details)
