"""The HTTP request that an operation's parameters make, the effect that its path names, and the secrets that it sends out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import objects, split_name, verbs
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.params import MAX_TEXT, Entry, Keys, each, squash, text_at
from interlock.analysis.places import is_secret

_PATTERNS = Patterns("requests")
_LISTS = WordLists("requests")

Field = Callable[[str], None]
URL_KEYS = frozenset("url uri endpoint path route href requesturl apipath resource request".split())
_URL_ORDER = sorted(URL_KEYS, reverse=True)
_NESTED = ("init", "options", "requestinit", "config")
_METHOD = ("method", "httpmethod", "requestmethod", "httpverb", "verb")  # the most telling first
_VERSION = re.compile(r"v?\d+(?:\.\d+)*|api|admin|rest|[0-9a-f-]{16,}|\W.*", re.IGNORECASE)


def nested_request(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands in a parameter of its own, as `fetch(url, init)` has it."""
    return next((params[key] for key in _NESTED if isinstance(params.get(key), Mapping)), {})


def is_request(keys: Keys) -> bool:
    """True when the parameters name a method of HTTP."""
    keys = {**nested_request(keys), **keys}
    return any(isinstance(keys.get(key), str) and keys[key].strip().lower() in _LISTS.methods for key in _METHOD)


def read_request(words: Sequence[str], keys: Keys, field: Field, out: Report) -> bool:
    """Reads the request that the parameters make; True when they make one."""
    if URL_KEYS.isdisjoint(keys):
        return False
    keys = {**nested_request(keys), **keys}
    url, method = text_at(keys, *_URL_ORDER), text_at(keys, *_METHOD)
    asks = not _LISTS.asks.isdisjoint(words)
    if asks and url.partition(" ")[0].lower() in _LISTS.methods:
        method, _, url = url.partition(" ")  # "POST /orgs/1/suspend"
    if not method and asks:
        method = next((word for word in words if word in _LISTS.methods), "")
    if asks and not method and url.startswith(("/", "http")):
        return acting_path(url, field)
    if not url or (method or "").strip().lower() not in _LISTS.methods:
        return False
    body = next((keys[key] for key in _LISTS.body if keys.get(key) is not None), "")
    headers = keys.get("headers")
    lines = [f"{name}: {value}" for name, value in list(headers.items())[:100]] if isinstance(headers, Mapping) else []
    if method.strip().lower() in ("post", "put", "patch"):
        acting_path(url, field)
    if url.startswith("/"):
        url = f"https://api{url}"  # of a host that the tool knows
    from interlock.analysis.http import read_http

    read_http(method, url[:MAX_TEXT], body[:MAX_TEXT] if isinstance(body, str) else as_json(body), lines, out)
    return True


def acting_path(url: str, field: Field) -> bool:
    """Reads what a path does by its last part; True when that is a verb of harm."""
    name = route_name(url)
    if name:
        field(name)
    return bool(name)


def route_name(url: str) -> str:
    """/orgs/1/suspend suspends an organisation: the last part of a path as a name, with the noun before it; nothing for any other path."""
    path = url[:2000].split("?")[0].split("#")[0]
    path = path.split("://", 1)[-1].partition("/")[2] if "://" in path else path
    parts = [part for part in path.strip("/").split("/") if part and not _VERSION.fullmatch(part)]
    words = split_name(parts[-1])[-1:] if parts else ()
    if not words or verbs().get(words[0][0], "") not in _LISTS.acting:
        return ""
    nouns = [word for part in parts[:-1] for said in split_name(part) for word in said if word in objects()]
    return "_".join([*words[0], *(nouns[-1:] if len(words[0]) == 1 else ())]).removesuffix("s")


def as_json(value: object) -> str:
    """A value as text, as far as it can be."""
    try:
        return json.dumps(value, default=str)[:MAX_TEXT]
    except (TypeError, ValueError, RecursionError):
        return ""


_PLACEHOLDER = re.compile(r"[<*${%]|\b(?:xxx+|your|example|placeholder|redacted|changeme|dummy|todo|none|null|hidden)|^(?:\W|.{0,7}$)|^(.)\1+$", re.IGNORECASE)  # fmt: skip


_PRIVATE_KEY = re.compile(r"-----BEGIN[ +](?:[A-Z0-9]+[ +]){0,3}PRIVATE[ +]KEY")


def asks_with_key(url: str) -> bool:
    """True for an address that hands a private key to a server (R-27); a token may belong to the server that gets it."""
    return url[:4].lower() == "http" and _PRIVATE_KEY.search(unquote(url[:MAX_TEXT])) is not None


def sends_secret(verb: str, words: tuple[str, ...], keys: Keys, entries: list[Entry]) -> bool:
    """True when text or a file that goes out holds a secret."""
    url = text_at(keys, "url", "uri", "webhook", "webhookurl")
    signs_in = url != "" and _PATTERNS.sign_in.search(url[:500]) is not None
    if asks_with_key(url):
        return True
    leaves = url.startswith("http") and not signs_in
    if leaves and any(_is_secret(key, value) and squash(above) in _LISTS.bodies for key, _, value, _, above in entries):
        return True
    verb = "send" if leaves and verb in _LISTS.requests else verb
    if verb not in _LISTS.sends or (verb in _LISTS.puts and _LISTS.places_out.isdisjoint(words)):
        return False
    if "file" in words and verb in ("create", "add"):
        return False
    for key, _, value, depth, _ in entries:
        if _is_secret(key, value) and (
            (depth and not signs_in) or (verb in _LISTS.handed_in and _PATTERNS.secret.search(value[:500]))
        ):
            return True
        for item in each(value) if depth or key in _LISTS.carries else ():
            if not isinstance(item, str):
                continue
            file = len(item) <= 300 and not item.isidentifier() and is_secret(item)  # and not a sentence
            if file or _PATTERNS.secret.search(item[:50_000]):
                return True
    return False


_DATA_FILE = re.compile(
    r"/|\.(?:csv|tsv|xlsx?|sql|db|sqlite3?|jsonl?|parquet|zip|tar|t?gz|dump|pst|mbox|bak)$", re.IGNORECASE
)


def attaches_data(act_kind: str, words: tuple[str, ...], keys: Keys) -> bool:
    """True for a message, or a file in a place for messages, that data of this machine goes out with."""
    out = not _LISTS.messengers.isdisjoint(words) and "upload" in words
    if act_kind != "send" and not out:
        return False
    given = keys.get("attachments") or keys.get("attachment") or (keys.get("file") if out else None)
    named = [item.get("path") or item.get("filename") if isinstance(item, Mapping) else item for item in each(given)]
    return any(isinstance(name, str) and _DATA_FILE.search(name[-80:]) for name in named)


def _is_secret(key: str, value: object) -> bool:
    """`db_password: …`: true for a text that its name calls a secret, and that is not the place for one."""
    return (
        isinstance(value, str) and _PATTERNS.secret_key.search(key) is not None and not _PLACEHOLDER.search(value[:200])
    )
