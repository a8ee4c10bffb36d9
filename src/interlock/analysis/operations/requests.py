"""Requests, clicks, typed confirmations and page scripts among the parameters -> what they do on the web, and the secrets that go out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any
from urllib.parse import parse_qsl, unquote

from interlock.analysis.facts import Report
from interlock.analysis.http import read_http
from interlock.analysis.lexicon import names_production, objects, split_name, verbs, weak_verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.effects import RAISING, answer
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.params import MAX_TEXT, Entry, Keys, each, parsed, short_keys, squash, truth
from interlock.analysis.places import is_secret

_PATTERNS = Patterns("requests")
_LISTS = WordLists("requests")
_MAPS = WordMaps("requests")
Field = Callable[[str, Mapping[str, Any]], None]  # gets the name of an operation, and its parameters
URL_KEYS = frozenset("url uri endpoint path route href requesturl apipath resource request".split())
_URL_ORDER = sorted(URL_KEYS, reverse=True)


def with_nested(keys: Keys) -> Keys:
    """The parameters of a request, also where they stand in one of their own: `fetch(url, init)`."""
    held = keys.mappings("init", "options", "requestinit", "config")
    return Keys({**short_keys(held[0]), **keys}) if held else keys


def is_request(keys: Keys) -> bool:
    given = with_nested(keys).texts(_LISTS.in_order("method"))
    return any(method.strip().lower() in _LISTS.methods for method in given)


def read_request(words: Sequence[str], keys: Keys, field: Field, out: Report) -> bool:
    if URL_KEYS.isdisjoint(keys):
        return False
    keys = with_nested(keys)
    bodies = [keys[key] for key in _LISTS.in_order("body") if keys.get(key) is not None]
    url, method = keys.text(*_URL_ORDER), keys.text(*_LISTS.in_order("method"))
    if not _LISTS.asks.isdisjoint(words):
        if url.partition(" ")[0].lower() in _LISTS.methods:
            method, _, url = url.partition(" ")  # "POST /orgs/1/suspend"
        method = method or next((word for word in words if word in _LISTS.methods), "")
        method = method or ("post" if bodies else "")
        if not method and url.startswith(("/", "http")):
            return read_acts([route_name(url)], field)
    method = method.strip().lower()
    answers = url.startswith("/") and not _LISTS.stubs.isdisjoint(words)  # a route of a mock server asks nobody
    if answers or not url or method not in _LISTS.methods:
        return False
    headers = (islice(given.items(), 100) for given in keys.mappings("headers"))
    if method in ("post", "put", "patch"):
        read_acts([route_name(url)], field)
    if url.startswith("/"):
        url = f"https://api{url}"  # of a host that the tool knows
    lines = [f"{name}: {value}" for name, value in chain(*headers)]
    for body in bodies or [""]:  # which of several is sent, only the tool knows
        held = {"patch": held} if isinstance(held := parsed(body), list) else held
        if method in _MAPS.makes and isinstance(held, Mapping) and (nouns := _nouns(*_route(url))):
            field("_".join((_MAPS.makes[method], *nouns[-3:])), held)  # PATCH /users/1 {"blocked": true}
        read_http(method, url[:MAX_TEXT], body[:MAX_TEXT] if isinstance(body, str) else as_json(body), lines, out)
    return True


def read_acts(names: Iterable[str], field: Field) -> bool:
    """Reads the acts that are announced, a name that is empty announcing none; True when there was one."""
    found = list(filter(None, names))
    for name in found:
        field(name, {})
    return bool(found)


def route_name(url: str) -> str:
    """/orgs/1/suspend suspends an organisation: the last part of a path as a name, with the noun before it; nothing for any other path."""
    parts = _route(url)
    words = split_name(parts[-1])[-1:] if parts else ()
    if not words or verbs().get(words[0][0], "") not in _LISTS.acting:
        return ""
    nouns = _nouns(*parts[:-1])
    return "_".join([*words[0], *(nouns[-1:] if len(words[0]) == 1 else ())]).removesuffix("s")


def _route(url: str) -> list[str]:
    path = url[:2000].split("?")[0].split("#")[0]
    path = path.split("://", 1)[-1].partition("/")[2] if "://" in path else path
    return [part for part in path.strip("/").split("/") if part and not _PATTERNS.version.fullmatch(part)]


def _nouns(*parts: str) -> list[str]:
    """The nouns of a route, without those of what only names one of a collection: /buckets/scans."""
    named = [[word for word in chain(*split_name(part)) if word in objects()] for part in parts]
    return list(chain(*(named[:-1] if len(parts) % 2 == 0 and any(named[:-1]) else named)))


def as_json(value: object) -> str:
    try:
        return json.dumps(value, default=str)[:MAX_TEXT]
    except (TypeError, ValueError, RecursionError):
        return ""


def asks_with_key(url: str) -> bool:
    """True for an address that hands a private key to a server (R-27); a token may belong to the server that gets it."""
    return url[:4].lower() == "http" and _PATTERNS.private_key.search(unquote(url[:MAX_TEXT])) is not None


def sends_secret(verb: str, words: tuple[str, ...], keys: Keys, entries: list[Entry]) -> bool:
    url = keys.text("url", "uri", "webhook", "webhookurl")
    if asks_with_key(url):
        return True
    if not url and verb not in _LISTS.sends:
        return False
    signs_in = url != "" and _PATTERNS.sign_in.search(url[:500]) is not None
    leaves = url.startswith("http") and not signs_in
    for key, _, value, _, above in entries if leaves else ():
        if (_is_secret(key, value) and squash(above) in _LISTS.bodies) or any(map(is_secret, _named_files(value))):
            return True
    verb = "send" if leaves and verb in _LISTS.requests else verb
    stays = verb in _LISTS.puts and _LISTS.places_out.isdisjoint(words)
    if verb not in _LISTS.sends or stays or ("file" in words and verb in ("create", "add")):
        return False
    handed_in = verb in _LISTS.handed_in
    for key, _, value, depth, _ in entries:
        inside = depth and not signs_in
        if _is_secret(key, value) and (inside or (handed_in and _PATTERNS.secret.search(value[:500]))):
            return True
        for item in each(value) if depth or key in _LISTS.carries or key.endswith(("file", "path")) else ():
            text = item if isinstance(item, str) else ""
            named = 0 < len(text) <= 300 and not text.isidentifier()  # and not a sentence
            file = named and (is_secret(text) or (" " not in text and _PATTERNS.secret_file.search(text)))
            if file or _PATTERNS.secret.search(text[:50_000]):
                return True
    return False


def _named_files(value: object) -> list[str]:
    """The files that a text stands for: `@.env` as curl takes it, `${file:~/.ssh/id_rsa}`, `file:///etc/passwd`."""
    found = _PATTERNS.named_file.findall(value[:_MOST_SCRIPT]) if isinstance(value, str) and value[:1] in "@$f{" else []
    return [path for one in found for path in one if path]


def attaches_data(act_kind: str, words: tuple[str, ...], keys: Keys) -> bool:
    """True for a message, or a file in a place for messages, that data of this machine goes out with."""
    out = not _LISTS.messengers.isdisjoint(words) and "upload" in words
    given = keys.get("attachments") or keys.get("attachment") or (keys.get("file") if out else None)
    named = [item.get("path") or item.get("filename") if isinstance(item, Mapping) else item for item in each(given)]
    sent = act_kind == "send" or out
    return sent and any(isinstance(name, str) and _PATTERNS.data_file.search(name[-80:]) for name in named)


def _is_secret(key: str, value: Any) -> bool:
    """`db_password: …`: true for a text that its name calls a secret, and that is not the place for one."""
    named = isinstance(value, str) and _PATTERNS.secret_key.search(key) is not None
    return named and not _PATTERNS.placeholder.search(value[:200])


_TAME = frozenset({"", "change", "read", "create"})  # kinds of verbs that a label may begin with
_LONG = 6  # words of a label that tell
_MOST_SCRIPT = 20_000


def clicked(verb: str, words: tuple[str, ...], keys: Keys) -> list[str]:
    """The acts that the labels of what a tool clicks announce, empty ones among them."""
    labels = []
    if not _LISTS.actors.isdisjoint(words):  # act {"instruction": "click the Delete button and confirm"}
        texts = (text[:500] for text in keys.texts(_LISTS.in_order("ordered_by")))
        labels = [_PATTERNS.types.split(part)[0] for text in texts for part in _PATTERNS.told.split(text)[1:6]]
    presses = ("action" in keys or "type" in keys) and squash(keys.text("action", "type")) in _LISTS.clicks
    if not labels and _LISTS.clicks.isdisjoint((verb, *words)) and not presses:
        return []
    return [_announced(text) for text in (*labels, *keys.texts(_LISTS.in_order("labels")))]


def read_page_script(text: str, field: Field, out: Report) -> None:
    """Reports what a script in a page does with what the page holds for its user, and reads the labels that it clicks."""
    text = text[:_MOST_SCRIPT]
    if _PATTERNS.own.search(text) and _PATTERNS.away.search(text):
        out.effect("act_leak", "what the page holds for its user")
    if _PATTERNS.erases.search(text):
        out.effect("act_delete", "what the page has stored")
    if _PATTERNS.clicking.search(text):
        read_acts([_announced("".join(found)) for found in _PATTERNS.quoted.findall(text)], field)


def _announced(text: str) -> str:
    """The act that a label announces; nothing for one that only names a place or a way back."""
    if "[" not in text and "(" not in text and (label := _PATTERNS.in_quotes.search(text[:300])):
        text = label[1]  # the red 'Remove member' button
    said = chain(*split_name(text[:120]))
    words = [word for word in said if word not in _LISTS.pieces and not word.isdigit()][:_LONG]
    kinds = verbs()
    while len(words) > 2 and words[0] in _LISTS.says_yes and kinds.get(words[1], "") not in _TAME:
        words = words[1:]  # confirm-close-account
    if not words or _PATTERNS.explains.match(text[:120]):
        return ""
    verb = next((word for word in words[:3] if kinds.get(word, "change") != "change"), words[0])
    weak = verb in weak_verbs()
    if (words == [verb] and verb in _LISTS.alone) or (weak and len(words) > 1 and words[-1] in _LISTS.places):
        return ""
    if kinds.get(verb, "") in _TAME or (weak and verb != words[0]):  # but for `make repository public`
        raised = any(answer(RAISING, act) for act in parse_name((tuple(words),))[1] if act.kind != "read")
        return "_".join(words) if words[0] in _LISTS.placing or names_production(words) or raised else ""
    return "_".join(words)


def confirmations(words: tuple[str, ...], keys: Keys) -> Iterator[str]:
    """The acts that a tool confirms or carries out by what it types or opens, empty ones among them."""
    if _LISTS.telling.isdisjoint(keys) and _LISTS.typing.isdisjoint(words):
        return
    url = keys.text("url", "uri", "href", "page")
    if url and not _LISTS.opens.isdisjoint(words):  # one that ends in a verb and says that it is sure
        query = {squash(key): value for key, value in parse_qsl(url[:2000].partition("?")[2], keep_blank_values=True)}
        verb = query.get("action", "")
        if any(key in _LISTS.sure and truth(value) is not False for key, value in query.items()):
            yield route_name(url) or (_named(verb, url) if _PATTERNS.orders.fullmatch(verb) else "")
    for text in keys.texts(("action", "instruction", "instructions", "step")):
        if told := _PATTERNS.confirmed.search(text[:500]):
            yield _confirmed(told[2], told[1], "")
    if not _LISTS.typing.isdisjoint(words) or "fields" in keys or "values" in keys:
        on_page = route_name(url)
        yield from (_confirmed(label, value, on_page) for label, value in _typed(keys))


def _typed(keys: Keys) -> Iterator[tuple[str, str]]:
    label = " ".join(text[:200] for text in keys.texts(filter(_LISTS.field_labels.__contains__, keys)))
    for key, value in keys.items():
        if key in _LISTS.values and isinstance(value, str):
            yield label, value
        elif key in _LISTS.forms and isinstance(value, Mapping):
            yield from ((str(name)[:200], item) for name, item in value.items() if isinstance(item, str))
        elif key in _LISTS.forms and isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, Mapping):
                    yield from _typed(short_keys(item))


def _confirmed(label: str, value: str, on_page: str) -> str:
    """The act that this text confirms under this label; nothing for a search or a note."""
    if not value.strip() or len(value) > 200:
        return ""
    if asked := _PATTERNS.asks.search(label):
        return _named(next(filter(None, asked.groups())), f"{label} {value}")
    if _PATTERNS.searches.search(label):
        return ""
    confirms, ordered = _PATTERNS.confirms.search(label), _PATTERNS.orders.fullmatch(value.strip())
    if ordered and confirms:
        return on_page or _named(ordered[1], f"{value} {label}")
    return on_page if ordered or confirms else ""


def _named(verb: str, around: str) -> str:
    """`delete_project`: the verb, and the first thing that the words around it name."""
    base = next((word for stem, word in _MAPS.stems.items() if verb.lower().startswith(stem)), verb.lower())
    said = chain(*split_name(around[:300]))
    return f"{base}_{next((word for word in said if objects().get(word, 'light') not in ('light', 'safety')), 'item')}"
