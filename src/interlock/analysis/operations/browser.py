"""Clicks, typed confirmations and page scripts of browser tools -> the operation that they carry out in the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import objects, split_name, verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps, english
from interlock.analysis.operations.params import squash, truth

_PATTERNS = Patterns("browser")
_LISTS = WordLists("browser")
_MAPS = WordMaps("browser")

Reader = Callable[[str], None]
_ORDERED_BY = ("instruction", "instructions", "step", "goal", "action", "intent")
_IN_QUOTES = re.compile(r"[\"'\u2018\u201c]([^\"'\u2019\u201d\n]{3,60})[\"'\u2019\u201d]")
_QUOTED = re.compile(r"\"([^\"\\\n]{2,80})\"|'([^'\\\n]{2,80})'|`([^`\\\n]{2,80})`|name:\s*/([^/\\\n]{2,60})/")
_LOOKS = frozenset({"read", "create"})
_MOST = 40
_LONG = 6  # words of a label that tell


def read_click(verb: str, words: tuple[str, ...], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads the labels of what a tool clicks; True when one of them announces an act."""
    told = _orders(words, keys)
    if not (told or verb in _LISTS.clicks or not _LISTS.clicks.isdisjoint(words) or _presses(keys)):
        return False
    labels = [
        keys[key] for key in _LISTS.in_order("labels") if isinstance(keys.get(key), str) and key not in _ORDERED_BY
    ]
    return _labels([*told, *map(_quoted, labels)], reader)


def _orders(words: tuple[str, ...], keys: Mapping[str, Any]) -> list[str]:
    """act {"instruction": "click the Delete button and confirm"}: what is said behind each click."""
    if _LISTS.acting.isdisjoint(words):
        return []
    found = []
    for key in _ORDERED_BY:
        value = keys.get(key)
        if isinstance(value, str) and " " in value and _PATTERNS.told.search(value[:500]):
            found += [_quoted(_PATTERNS.types.split(part)[0]) for part in _PATTERNS.told.split(value[:500])[1:6]]
    return found


def _quoted(text: str) -> str:
    """The label itself, where a description quotes it: the red 'Remove member' button."""
    found = _IN_QUOTES.search(text[:300]) if "[" not in text and "(" not in text else None
    return found[1] if found else text


def _presses(keys: Mapping[str, Any]) -> bool:
    """True when a parameter says that what is done is a click."""
    if "action" not in keys and "type" not in keys:
        return False
    action = next((keys[key] for key in keys if key in ("action", "type")), "")
    return isinstance(action, str) and squash(action) in _LISTS.clicks


def read_script(text: str, reader: Reader) -> bool:
    """Reads the labels in a script that clicks; True when one of them announces an act."""
    if not _PATTERNS.clicking.search(text[:20_000]):
        return False
    labels = [next(filter(None, found), "") for found in _QUOTED.findall(text[:20_000])[:_MOST]]
    return _labels(labels, reader)


def _labels(texts: list[str], reader: Reader) -> bool:
    found = False
    for text in texts:
        found = _label(text, reader) or found
    return found


def _label(text: str, reader: Reader) -> bool:
    if _PATTERNS.explains.match(text[:120]):
        return False
    words = [word for words in split_name(text[:120]) for word in words if word not in _LISTS.pieces]
    words = [word for word in words if not word.isdigit()][:_LONG]
    while len(words) > 2 and words[0] in _LISTS.says_yes and verbs().get(words[1], "change") not in ("change", *_LOOKS):
        words = words[1:]  # confirm-close-account
    if not words:
        return False
    verb = next((word for word in words[:3] if verbs().get(word, "change") not in ("change", "")), words[0])
    placed = words[0] == "place" or words[0] in ("confirm", "complete", "submit", "checkout")
    if len(words) == 1 and verb in _LISTS.alone:
        return False
    if not placed and (
        verbs().get(verb, "") in ("", "change", *_LOOKS) or (verb in english().weak and words.index(verb) > 0)
    ):
        return False
    if verb in english().weak and len(words) > 1 and words[-1] in _LISTS.places:
        return False
    reader("_".join(words))
    return True


_MOST_TYPED = 50


def read_confirmation(words: tuple[str, ...], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads what a tool types or opens; True when that confirms or carries out an act."""
    if _LISTS.telling.isdisjoint(keys) and _LISTS.typing.isdisjoint(words):
        return False
    url = next((keys[key] for key in ("url", "uri", "href", "page") if isinstance(keys.get(key), str)), "")
    if url and not _LISTS.opens.isdisjoint(words) and (act := _opened(url)):
        reader(act)
        return True
    for key in ("action", "instruction", "instructions", "step"):
        told = _PATTERNS.confirmed.search(keys[key][:500]) if isinstance(keys.get(key), str) else None
        if told and (act := _confirmed(told[2], told[1], "")):
            reader(act)
            return True
    if _LISTS.typing.isdisjoint(words) and "fields" not in keys and "values" not in keys:
        return False
    on_page = _route(url) if url else ""
    for label, value in islice(_typed(keys), _MOST_TYPED):
        act = _confirmed(label, value, on_page)
        if act:
            reader(act)
            return True
    return False


def _typed(keys: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every label with what is typed there."""
    label = " ".join(str(keys[key])[:200] for key in keys if key in _LISTS.field_labels and isinstance(keys[key], str))
    for key in keys:
        value = keys[key]
        if key in _LISTS.values and isinstance(value, str):
            yield label, value
        elif key in ("fields", "values", "form", "inputs", "data", "formdata"):
            yield from _fields(value)


def _fields(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield from (
            (str(key)[:200], inner) for key, inner in islice(value.items(), _MOST_TYPED) if isinstance(inner, str)
        )
    for item in value[:_MOST_TYPED] if isinstance(value, (list, tuple)) else ():
        if isinstance(item, Mapping):
            said = {squash(key): inner for key, inner in islice(item.items(), _MOST_TYPED) if isinstance(inner, str)}
            label = " ".join(said[key][:200] for key in said if key in _LISTS.field_labels)
            yield from ((label, said[key]) for key in said if key in _LISTS.values)


def _confirmed(label: str, value: str, on_page: str) -> str:
    """The act that this text confirms under this label; nothing for a search or a note."""
    if not value.strip() or len(value) > 200:
        return ""
    asked = _PATTERNS.asks.search(label)
    if asked:
        return _named(next(filter(None, asked.groups())), f"{label} {value}")
    if _PATTERNS.searches.search(label):
        return ""
    ordered = _PATTERNS.orders.fullmatch(value.strip())
    if ordered and (_PATTERNS.confirms.search(label) or on_page):
        return on_page or _named(ordered[1], f"{value} {label}")
    return on_page if _PATTERNS.confirms.search(label) else ""


def _named(verb: str, around: str) -> str:
    """`delete_project`: the verb, and the first thing that the words around it name."""
    base = next((word for stem, word in _MAPS.stems.items() if verb.lower().startswith(stem)), verb.lower())
    said = (word for words in split_name(around[:300]) for word in words)
    thing = next((word for word in said if objects().get(word, "light") not in ("light", "safety")), "item")
    return f"{base}_{thing}"


def _route(url: str) -> str:
    """`/projects/42/delete` deletes a project; the name of that act, or nothing."""
    pieces = [piece.lower() for piece in _parts(url)[0].split("/") if piece]
    if not pieces or _PATTERNS.orders.fullmatch(pieces[-1]) is None:
        return ""
    return _named(pieces[-1], " ".join(reversed(pieces[:-1])) or "item")


def _parts(url: str) -> tuple[str, str]:
    """The path and the query of an address; nothing of what is none."""
    try:
        found = urlsplit(url[:2000])
    except ValueError:
        return "", ""
    return found.path, found.query


def _opened(url: str) -> str:
    """What an address does when it is opened: one that ends in a verb and says that it is sure."""
    query = {squash(key): value for key, value in parse_qsl(_parts(url)[1], keep_blank_values=True)}
    sure = any(key in _LISTS.sure and truth(value) is not False for key, value in query.items())
    if not sure:
        return ""
    verb = query.get("action", "")
    return _route(url) or (_named(verb, url) if _PATTERNS.orders.fullmatch(verb) else "")


_MOST_SCRIPT = 20_000


def read_page_script(text: str, out: Report) -> None:
    """Reports what a script in a page does with what the page holds for its user."""
    text = text[:_MOST_SCRIPT]
    if _PATTERNS.own.search(text) and _PATTERNS.away.search(text):
        out.effect("act_leak", "what the page holds for its user")
    if _PATTERNS.erases.search(text):
        out.effect("act_delete", "what the page has stored")
