"""Turns a service's response into data or a registry error, bounded and without our secret, and honours its rate limits (RL-01)."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from msgspec import Struct

from interlock.adapters.quota import ApiLimit
from interlock.analysis.display_text import visible
from interlock.mcp.adapters import AdapterFailure
from interlock.mcp.adapters.auth import AuthHeaders
from interlock.model import Confidential
from interlock.redaction import redact_text
from interlock.times import iso

MOST_BYTES = 10 * 1024 * 1024  # EP-11
DEPTH = 100  # of a response; a deeper one is returned as text
EXCERPT = 200  # characters of a service's own message
_DECODED = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # window bits
_WORDS = ("message", "error_description", "detail", "title", "error", "reason", "errors")


class ResponseTooLarge(Exception):
    """A response above the size limit."""


class ServiceResponse(Confidential, Struct, frozen=True):
    """A response, read completely."""

    HIDDEN = ("body",)

    status: int
    headers: Mapping[str, str]  # by lower-case name
    body: bytes


def decompress(body: bytes, encoding: str, most: int) -> bytes:
    """The decompressed body; refuses one longer than `most`."""
    bits = _DECODED.get(encoding.strip().lower())
    if bits is None:
        raise AdapterFailure("INTERNAL_ERROR", "The service used an unsupported compression")
    unpacker = zlib.decompressobj(bits)
    try:
        text = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise AdapterFailure("INTERNAL_ERROR", "The response of the service cannot be decompressed") from None
    if len(text) > most:
        raise ResponseTooLarge
    return text


def too_large(most: int) -> AdapterFailure:
    details = {"limit_type": "response_size", "limit_value": most, "unit": "bytes"}
    return AdapterFailure(
        "VALIDATION_PAYLOAD_TOO_LARGE", f"The answer of the service is longer than {most} bytes", details
    )


def response_data(received: ServiceResponse, signed: AuthHeaders) -> Any:
    """The data of a success: JSON as is, text with its type, only the size of anything else."""
    if not received.body.strip():
        return {"http_status": received.status}
    kind = received.headers.get("content-type", "").partition(";")[0].strip().lower()
    found, value = _json(received.body)
    if found:
        return signed.redact(value)
    try:
        text = received.body.decode("utf-8")
    except UnicodeDecodeError:
        return {"http_status": received.status, "content_type": kind, "size_bytes": len(received.body)}
    return {"http_status": received.status, "content_type": kind, "text": signed.redact(text)}


def response_failure(received: ServiceResponse, signed: AuthHeaders, resource: str, id: str = "") -> AdapterFailure:
    """The registry's error for a status other than success."""
    status, text = received.status, _words(received, signed)
    details: dict[str, Any] = {"http_status": status, "upstream_error": text or None}
    if status in (404, 410):
        known = {"resource_type": resource, "resource_id": id or None, "http_status": status}
        return AdapterFailure("NOT_FOUND_RESOURCE", f"The service knows no such '{resource}'", known)
    if status in (401, 403):
        why = "the service wants another sign-in" if status == 401 else "the service refused"
        return AdapterFailure("PERMISSION_DENIED", "The service refused this", {"reason": why, "http_status": status})
    if status == 429:
        return AdapterFailure("RATE_LIMIT_EXCEEDED", "The service's rate limit is reached", limit_details(received))
    if status in (400, 409, 422):
        words = f"The service cannot use these parameters (status {status})"
        return AdapterFailure("VALIDATION_INVALID_VALUE", words, details)
    if 300 <= status < 400:
        return AdapterFailure(
            "INTERNAL_ERROR", "The service redirected the request, which is not followed", {"http_status": status}
        )
    return AdapterFailure("INTERNAL_ERROR", f"The service failed (status {status})", details)


def limit_details(received: ServiceResponse) -> dict[str, Any]:
    seconds = retry_after(received)
    return {"remaining": 0, "retry_after_seconds": seconds, "resets_at": iso(time.time() + seconds)}


def retry_after(received: ServiceResponse) -> int:
    """The seconds that a service asks to wait; a minute where it names none."""
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
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        return False, None
    if _depth(value) > DEPTH:
        return False, None
    return True, _without_surrogates(value) if b"\\u" in body else value


def _depth(value: Any) -> int:
    waiting, deepest = [(value, 1)], 0
    while waiting:
        item, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(item, dict | list) and depth <= DEPTH:
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _without_surrogates(value: Any) -> Any:
    """Replaces lone surrogates, which cannot be encoded."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in value] if isinstance(value, list) else value


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _words(received: ServiceResponse, signed: AuthHeaders) -> str:
    """The service's own error message, short, printable and without secrets."""
    found, value = _json(received.body)
    text = _message(value, 3) if found else ""
    return visible(redact_text(signed.redact(text)[: EXCERPT * 4]))[:EXCERPT]


def _message(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list) and value:
        return _message(value[0], depth - 1)
    if depth and isinstance(value, dict):
        return next((text for key in _WORDS if (text := _message(value.get(key), depth - 1))), "")
    return ""


MOST = 86_400.0  # seconds; a longer pause is cut to this
_EPOCH = 1_000_000_000  # a larger number is a date, a smaller one seconds from now


class RateLimitPauses:
    """Pauses per service: until when nothing is sent, and the limit that was reached."""

    def __init__(self) -> None:
        self._until: dict[str, tuple[float, dict[str, Any]]] = {}

    def check(self, service: str) -> None:
        """Raises AdapterFailure while the service is paused."""
        until, details = self._until.get(service, (0.0, {}))
        wait = until - time.time()
        if wait <= 0:
            return
        limit = {**details, "remaining": 0, "resets_at": iso(until), "retry_after_seconds": math.ceil(wait)}
        raise AdapterFailure("RATE_LIMIT_EXCEEDED", "The service's rate limit is reached; nothing was sent", limit)

    def note(self, service: str, limits: Iterable[ApiLimit], received: ServiceResponse) -> None:
        """Starts a pause where a response reports too many requests, or none remaining."""
        now = time.time()
        if received.status == 429:
            self._pause(service, now + retry_after(received), {})
        for limit in limits:
            left = received.headers.get(limit.remaining_header.lower(), "") if limit.remaining_header else ""
            if limit.scope == "global" and left.strip() == "0":
                until = _reset(received.headers, limit, now)
                self._pause(service, until, {"limit": limit.limit, "window": limit.window})

    def _pause(self, service: str, until: float, details: dict[str, Any]) -> None:
        self._until[service] = (min(until, time.time() + MOST), details)


def _reset(headers: Mapping[str, str], limit: ApiLimit, now: float) -> float:
    text = headers.get(limit.reset_header.lower(), "").strip() if limit.reset_header else ""
    if not text.isdigit() or len(text) > 12:
        return now + 60
    return float(text) if int(text) > _EPOCH else now + int(text)
