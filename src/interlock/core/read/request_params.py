"""The parameters of an operation that calls an API -> the request it makes, and what its path announces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.core.read.facts import Report
from interlock.core.read.lexicon import OBJECTS, VERBS, split_name
from interlock.core.read.params import MAX_TEXT

Field = Callable[[str], None]
URL_KEYS = frozenset("url uri endpoint path route href requesturl apipath resource request".split())
_URL_ORDER = sorted(URL_KEYS, reverse=True)
_BODY = frozenset("body data payload json requestbody".split())
_NESTED = ("init", "options", "requestinit", "config")
_METHOD = ("method", "httpmethod", "requestmethod", "httpverb", "verb")  # the most telling first
_METHODS = frozenset("get head options post put patch delete".split())
_ASKS = frozenset("http https api rest request curl endpoint webhook".split())
_ACTING = frozenset("delete terminate stop revoke invalidate reset block account pay cancel override rollback".split())
_VERSION = re.compile(r"v?\d+(?:\.\d+)*|api|admin|rest|[0-9a-f-]{16,}|\W.*", re.IGNORECASE)


def nested_request(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands in a parameter of its own, as `fetch(url, init)` has it."""
    return next((params[key] for key in _NESTED if isinstance(params.get(key), Mapping)), {})


def is_request(keys: Mapping[str, Any]) -> bool:
    """True when the parameters name a method of HTTP."""
    keys = {**nested_request(keys), **keys}
    return any(isinstance(keys.get(key), str) and keys[key].strip().lower() in _METHODS for key in _METHOD)


def read_request(words: Sequence[str], keys: Mapping[str, Any], field: Field, out: Report) -> bool:
    """Reads the request that the parameters make; True when they make one."""
    if URL_KEYS.isdisjoint(keys):
        return False
    keys = {**nested_request(keys), **keys}
    url = next((keys[key] for key in _URL_ORDER if isinstance(keys.get(key), str) and keys[key].strip()), "")
    method = next((keys[key] for key in _METHOD if isinstance(keys.get(key), str)), "")
    asks = not _ASKS.isdisjoint(words)
    if asks and url.partition(" ")[0].lower() in _METHODS:
        method, _, url = url.partition(" ")  # "POST /orgs/1/suspend"
    if not method and asks:
        method = next((word for word in words if word in _METHODS), "")
    if asks and not method and url.startswith(("/", "http")):
        return acting_path(url, field)
    if not url or (method or "").strip().lower() not in _METHODS:
        return False
    body = next((keys[key] for key in _BODY if keys.get(key) is not None), "")
    headers = keys.get("headers")
    lines = [f"{name}: {value}" for name, value in list(headers.items())[:100]] if isinstance(headers, Mapping) else []
    if method.strip().lower() in ("post", "put", "patch"):
        acting_path(url, field)
    if url.startswith("/"):
        url = f"https://api{url}"  # of a host that the tool knows
    from interlock.core.read.http import read_http

    read_http(method, url[:MAX_TEXT], body[:MAX_TEXT] if isinstance(body, str) else as_json(body), lines, out)
    return True


def acting_path(url: str, field: Field) -> bool:
    """/orgs/1/suspend suspends an organisation: the last part of a path is read as a name, with the noun before it."""
    path = url[:2000].split("?")[0].split("#")[0]
    path = path.split("://", 1)[-1].partition("/")[2] if "://" in path else path
    parts = [part for part in path.strip("/").split("/") if part and not _VERSION.fullmatch(part)]
    words = split_name(parts[-1])[-1:] if parts else ()
    if not words or VERBS.get(words[0][0], "") not in _ACTING:
        return False
    nouns = [part for part in parts[:-1] if part.isalpha() and part.lower() in OBJECTS]
    field("_".join([*words[0], *(nouns[-1:] if len(words[0]) == 1 else ())]).removesuffix("s"))
    return True


def as_json(value: object) -> str:
    """A value as text, as far as it can be."""
    try:
        return json.dumps(value, default=str)[:MAX_TEXT]
    except (TypeError, ValueError, RecursionError):
        return ""
