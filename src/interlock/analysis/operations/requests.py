"""Requests, clicks, typed confirmations and page scripts among the parameters -> what they do on the web, and the secrets that go out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, unquote

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import names_production, objects, split_name, verbs, weak_verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.effects import RAISING, answer
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.params import MAX_TEXT, Entry, Keys, each, squash, text_at, truth
from interlock.analysis.places import is_secret

_PATTERNS = Patterns("requests")
_LISTS = WordLists("requests")
_MAPS = WordMaps("requests")
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


_IN_QUOTES = re.compile(r"[\"'\u2018\u201c]([^\"'\u2019\u201d\n]{3,60})[\"'\u2019\u201d]")
_QUOTED = re.compile(r"\"([^\"\\\n]{2,80})\"|'([^'\\\n]{2,80})'|`([^`\\\n]{2,80})`|name:\s*/([^/\\\n]{2,60})/")
_TAME = frozenset({"", "change", "read", "create"})  # kinds of verbs that a label may begin with
_MOST = 50
_LONG = 6  # words of a label that tell
_MOST_SCRIPT = 20_000


def read_click(verb: str, words: tuple[str, ...], keys: Keys, reader: Field) -> bool:
    """Reads the labels of what a tool clicks; True when one of them announces an act."""
    told = _orders(keys) if not _LISTS.actors.isdisjoint(words) else []
    presses = ("action" in keys or "type" in keys) and squash(text_at(keys, "action", "type")) in _LISTS.clicks
    if not told and _LISTS.clicks.isdisjoint((verb, *words)) and not presses:
        return False
    labels = [keys[key] for key in _LISTS.in_order("labels") if isinstance(keys.get(key), str)]
    return _labels([*told, *map(_quoted, labels)], reader)


def _orders(keys: Keys) -> list[str]:
    """act {"instruction": "click the Delete button and confirm"}: what is said behind each click."""
    texts = [keys[key][:500] for key in _LISTS.in_order("ordered_by") if isinstance(keys.get(key), str)]
    clicked = [part for text in texts if " " in text for part in _PATTERNS.told.split(text)[1:6]]
    return [_quoted(_PATTERNS.types.split(part)[0]) for part in clicked]


def _quoted(text: str) -> str:
    """The label itself, where a description quotes it: the red 'Remove member' button."""
    found = _IN_QUOTES.search(text[:300]) if "[" not in text and "(" not in text else None
    return found[1] if found else text


def read_page_script(text: str, reader: Field, out: Report) -> None:
    """Reports what a script in a page does with what the page holds for its user, and reads the labels that it clicks."""
    text = text[:_MOST_SCRIPT]
    if _PATTERNS.own.search(text) and _PATTERNS.away.search(text):
        out.effect("act_leak", "what the page holds for its user")
    if _PATTERNS.erases.search(text):
        out.effect("act_delete", "what the page has stored")
    if _PATTERNS.clicking.search(text):
        _labels([next(filter(None, found), "") for found in _QUOTED.findall(text)[:_MOST]], reader)


def _labels(texts: list[str], reader: Field) -> bool:
    found = [name for text in texts if (name := _announced(text))]
    for name in found:
        reader(name)
    return bool(found)


def _announced(text: str) -> str:
    """The act that a label announces; nothing for one that only names a place or a way back."""
    said = (word for words in split_name(text[:120]) for word in words)
    words = [word for word in said if word not in _LISTS.pieces and not word.isdigit()][:_LONG]
    while len(words) > 2 and words[0] in _LISTS.says_yes and verbs().get(words[1], "") not in _TAME:
        words = words[1:]  # confirm-close-account
    if not words or _PATTERNS.explains.match(text[:120]):
        return ""
    verb = next((word for word in words[:3] if verbs().get(word, "change") != "change"), words[0])
    weak = verb in weak_verbs()
    if (words == [verb] and verb in _LISTS.alone) or (weak and len(words) > 1 and words[-1] in _LISTS.places):
        return ""
    harms = verbs().get(verb, "") not in _TAME and not (weak and verb != words[0])
    return "_".join(words) if harms or words[0] in _LISTS.placing or _raises(words) else ""


def _raises(words: list[str]) -> bool:
    """Make repository public: a tame verb that its object raises."""
    acts = parse_name((tuple(words),))[1]
    return names_production(words) or any(answer(RAISING, act) for act in acts if act.kind != "read")


def read_confirmation(words: tuple[str, ...], keys: Keys, reader: Field) -> bool:
    """Reads what a tool types or opens; True when that confirms or carries out an act."""
    if _LISTS.telling.isdisjoint(keys) and _LISTS.typing.isdisjoint(words):
        return False
    act = next(filter(None, _confirmations(words, keys)), "")
    if act:
        reader(act)
    return bool(act)


def _confirmations(words: tuple[str, ...], keys: Keys) -> Iterator[str]:
    url = text_at(keys, "url", "uri", "href", "page")
    if url and not _LISTS.opens.isdisjoint(words):
        yield _opened(url)
    for key in ("action", "instruction", "instructions", "step"):
        if told := _PATTERNS.confirmed.search(keys[key][:500]) if isinstance(keys.get(key), str) else None:
            yield _confirmed(told[2], told[1], "")
    if not _LISTS.typing.isdisjoint(words) or "fields" in keys or "values" in keys:
        on_page = route_name(url)
        yield from (_confirmed(label, value, on_page) for label, value in islice(_typed(keys), _MOST))


def _typed(keys: Keys) -> Iterator[tuple[str, str]]:
    """Every label with what is typed there."""
    label = " ".join(keys[key][:200] for key in keys if key in _LISTS.field_labels and isinstance(keys[key], str))
    for key, value in keys.items():
        if key in _LISTS.values and isinstance(value, str):
            yield label, value
        elif key in _LISTS.forms and isinstance(value, Mapping):
            yield from ((str(name)[:200], item) for name, item in value.items() if isinstance(item, str))
        elif key in _LISTS.forms and isinstance(value, (list, tuple)):
            for item in value[:_MOST]:
                if isinstance(item, Mapping):
                    yield from _typed({squash(name): inner for name, inner in islice(item.items(), _MOST)})


def _confirmed(label: str, value: str, on_page: str) -> str:
    """The act that this text confirms under this label; nothing for a search or a note."""
    if not value.strip() or len(value) > 200:
        return ""
    if asked := _PATTERNS.asks.search(label):
        return _named(next(filter(None, asked.groups())), f"{label} {value}")
    if _PATTERNS.searches.search(label):
        return ""
    confirms = _PATTERNS.confirms.search(label) is not None
    ordered = _PATTERNS.orders.fullmatch(value.strip())
    if ordered and confirms:
        return on_page or _named(ordered[1], f"{value} {label}")
    return on_page if ordered or confirms else ""


def _named(verb: str, around: str) -> str:
    """`delete_project`: the verb, and the first thing that the words around it name."""
    base = next((word for stem, word in _MAPS.stems.items() if verb.lower().startswith(stem)), verb.lower())
    said = (word for words in split_name(around[:300]) for word in words)
    thing = next((word for word in said if objects().get(word, "light") not in ("light", "safety")), "item")
    return f"{base}_{thing}"


def _opened(url: str) -> str:
    """What an address does when it is opened: one that ends in a verb and says that it is sure."""
    query = {squash(key): value for key, value in parse_qsl(url[:2000].partition("?")[2], keep_blank_values=True)}
    if not any(key in _LISTS.sure and truth(value) is not False for key, value in query.items()):
        return ""
    verb = query.get("action", "")
    return route_name(url) or (_named(verb, url) if _PATTERNS.orders.fullmatch(verb) else "")
