"""What a service answered -> the data of a success, or an error of the registry; of bounded size, and without our secret."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from interlock.core.excerpt import visible
from interlock.core.redact import redact_text
from interlock.core.times import iso
from interlock.doors.adapter.auth import SignedIn
from interlock.doors.adapter.failing import Failure

MOST_BYTES = 10 * 1024 * 1024  # EP-11
DEPTH = 100  # of an answer; a deeper one comes as text
EXCERPT = 200  # characters of a service's own words
_DECODED = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # window bits
_WORDS = ("message", "error_description", "detail", "title", "error", "reason", "errors")


class TooLarge(Exception):
    """An answer that is longer than anybody wants to read."""


@dataclass(frozen=True, slots=True)
class Received:
    """An answer, read to its end."""

    status: int
    headers: Mapping[str, str]  # by lower-case name
    body: bytes = field(repr=False)


def decoded(body: bytes, encoding: str, most: int) -> bytes:
    """The body as it was before it was compressed; never longer than `most`."""
    bits = _DECODED.get(encoding.strip().lower())
    if bits is None:
        raise Failure("INTERNAL_ERROR", "The service compressed its answer in a way nobody asked for")
    unpacker = zlib.decompressobj(bits)
    try:
        text = unpacker.decompress(body, most + 1)
    except zlib.error:
        raise Failure("INTERNAL_ERROR", "The answer of the service cannot be unpacked") from None
    if len(text) > most:
        raise TooLarge
    return text


def too_large(most: int) -> Failure:
    details = {"limit_type": "response_size", "limit_value": most, "unit": "bytes"}
    return Failure("VALIDATION_PAYLOAD_TOO_LARGE", f"The answer of the service is longer than {most} bytes", details)


def data_of(received: Received, signed: SignedIn) -> Any:
    """The data of a success: JSON as it is, text beside its type, anything else by its size."""
    if not received.body.strip():
        return {"http_status": received.status}
    kind = received.headers.get("content-type", "").partition(";")[0].strip().lower()
    found, value = _json(received.body)
    if found:
        return signed.cleaned(value)
    try:
        text = received.body.decode("utf-8")
    except UnicodeDecodeError:
        return {"http_status": received.status, "content_type": kind, "size_bytes": len(received.body)}
    return {"http_status": received.status, "content_type": kind, "text": signed.cleaned(text)}


def refused(received: Received, signed: SignedIn, resource: str, id: str = "") -> Failure:
    """The registry's word for a status that is no success."""
    status, said = received.status, _words(received, signed)
    details: dict[str, Any] = {"http_status": status, "upstream_error": said or None}
    if status in (404, 410):
        known = {"resource_type": resource, "resource_id": id or None, "http_status": status}
        return Failure("NOT_FOUND_RESOURCE", f"The service knows no such '{resource}'", known)
    if status in (401, 403):
        why = "the service wants another sign-in" if status == 401 else "the service refused"
        return Failure("PERMISSION_DENIED", "The service refused this", {"reason": why, "http_status": status})
    if status == 429:
        return Failure("RATE_LIMIT_EXCEEDED", "The service answers no more for now", limit_details(received))
    if status in (400, 409, 422):
        words = f"The service cannot use these parameters (status {status})"
        return Failure("VALIDATION_INVALID_VALUE", words, details)
    if 300 <= status < 400:
        return Failure("INTERNAL_ERROR", "The service pointed elsewhere, and nobody follows", {"http_status": status})
    return Failure("INTERNAL_ERROR", f"The service failed (status {status})", details)


def limit_details(received: Received) -> dict[str, Any]:
    seconds = retry_after(received)
    return {"remaining": 0, "retry_after_seconds": seconds, "resets_at": iso(time.time() + seconds)}


def retry_after(received: Received) -> int:
    """How long a service asks to be left alone; a minute where it does not say."""
    value = received.headers.get("retry-after", "").strip()
    if value.isdigit() and len(value) < 8:
        return max(1, int(value))
    try:
        return max(1, int(parsedate_to_datetime(value).timestamp() - time.time()) + 1)
    except (ValueError, TypeError, OverflowError):
        return 60


def _json(body: bytes) -> tuple[bool, Any]:
    """The value of a body that is JSON, whole and not too deep."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        return False, None
    if _depth(value) > DEPTH:
        return False, None
    return True, _whole(value) if b"\\u" in body else value


def _depth(value: Any) -> int:
    waiting, deepest = [(value, 1)], 0
    while waiting:
        item, depth = waiting.pop()
        deepest = max(deepest, depth)
        if isinstance(item, dict | list) and depth <= DEPTH:
            waiting += [(inner, depth + 1) for inner in (item.values() if isinstance(item, dict) else item)]
    return deepest


def _whole(value: Any) -> Any:
    """Without halves of characters, which no answer of ours could carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _words(received: Received, signed: SignedIn) -> str:
    """What the service says went wrong, short, visible and without secrets."""
    found, value = _json(received.body)
    text = _message(value, 3) if found else ""
    return visible(redact_text(signed.cleaned(text)[: EXCERPT * 4]))[:EXCERPT]


def _message(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list) and value:
        return _message(value[0], depth - 1)
    if depth and isinstance(value, dict):
        return next((said for key in _WORDS if (said := _message(value.get(key), depth - 1))), "")
    return ""
