"""The looks of the console: static files by their hash, headers, templates, and the words in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import Response

from interlock.analysis.display_text import visible
from interlock.model import Level
from interlock.policy.impact import size_words
from interlock.ports import Tx
from interlock.records import OPEN_STATES, TicketQuery
from interlock.times import iso

HOME = "/console"
STATIC = f"{HOME}/static/"
SAFE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no policy at all, a form's Origin is null
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
}
_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}


@cache
def contents() -> Mapping[str, tuple[bytes, str, str]]:
    found = {}
    root = files("interlock.console") / "static"
    for folder, name in ((root, ""), (root / "vendor", "vendor/")):
        for item in folder.iterdir():
            kind = _KINDS.get(item.name.rpartition(".")[2])
            if kind and item.is_file():
                data = item.read_bytes()
                found[f"{STATIC}{name}{item.name}"] = (data, kind, hashlib.sha256(data).hexdigest()[:16])
    return MappingProxyType(found)


def static_file(path: str, known: str | None) -> Response:
    found = contents().get(path)
    if found is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    data, kind, mark = found
    headers = {"cache-control": "public, max-age=31536000, immutable", "etag": f'"{mark}"'}
    return Response(status_code=304, headers=headers) if known == f'"{mark}"' else Response(data, 200, headers, kind)


_PAGES = "queue live undo ask agents grants audit figures try rules policy settings"
NAVIGATION = tuple((f"{HOME}/{page}", page.capitalize(), page) for page in _PAGES.split())
MOST_COUNTED = 100


def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("interlock.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": lambda text: _lines(str(text)),
        "iso": iso,
        "span": span_words,
        "level_word": lambda level: Level(int(level)).word,
        "pretty": lambda value: _lines(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True, default=str)),
        "size": size_words,
    }
    made.globals["static"] = lambda name: f"{STATIC}{name}?v={contents()[STATIC + name][2]}"
    made.globals["when"] = when
    return made


def when(at: float) -> str:
    """`2026-01-28 12:05:00`, in UTC; empty for a time that Interlock did not write."""
    try:
        return iso(at)[:19].replace("T", " ")
    except (ValueError, TypeError, OverflowError):
        return ""


def address(path: str, /, **query: object) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _lines(text: str) -> str:
    """Spells out invisible and control characters."""
    return "\n".join(visible(line) for line in text.split("\n"))


def waiting_count(tx: Tx) -> str:
    found = len(tx.tickets(TicketQuery(states=OPEN_STATES, limit=MOST_COUNTED)))
    return f"{MOST_COUNTED - 1}+" if found >= MOST_COUNTED else str(found or "")


def span_words(seconds: float) -> str:
    """A duration: `45 s`, `12 min`, `3 h`, `2 days`."""
    seconds = abs(seconds)
    for unit, length, until in (("s", 1, 90), ("min", 60, 5_400), ("h", 3_600, 129_600)):
        if seconds < until:
            return f"{max(1, round(seconds / length))} {unit}"
    return f"{round(seconds / 86_400)} days"
