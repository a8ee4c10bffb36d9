"""Clicks, typed confirmations and page scripts of browser tools -> the operation that they carry out in the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from urllib.parse import parse_qsl

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import names_production, objects, split_name, verbs, weak_verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.effects import RAISING, answer
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.params import Keys, squash, text_at, truth
from interlock.analysis.operations.requests import route_name

_PATTERNS = Patterns("browser")
_LISTS = WordLists("browser")
_MAPS = WordMaps("browser")

Reader = Callable[[str], None]
_IN_QUOTES = re.compile(r"[\"'\u2018\u201c]([^\"'\u2019\u201d\n]{3,60})[\"'\u2019\u201d]")
_QUOTED = re.compile(r"\"([^\"\\\n]{2,80})\"|'([^'\\\n]{2,80})'|`([^`\\\n]{2,80})`|name:\s*/([^/\\\n]{2,60})/")
_TAME = frozenset({"", "change", "read", "create"})  # kinds of verbs that a label may begin with
_MOST = 50
_LONG = 6  # words of a label that tell
_MOST_SCRIPT = 20_000


def read_click(verb: str, words: tuple[str, ...], keys: Keys, reader: Reader) -> bool:
    """Reads the labels of what a tool clicks; True when one of them announces an act."""
    told = _orders(keys) if not _LISTS.acting.isdisjoint(words) else []
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


def read_page_script(text: str, reader: Reader, out: Report) -> None:
    """Reports what a script in a page does with what the page holds for its user, and reads the labels that it clicks."""
    text = text[:_MOST_SCRIPT]
    if _PATTERNS.own.search(text) and _PATTERNS.away.search(text):
        out.effect("act_leak", "what the page holds for its user")
    if _PATTERNS.erases.search(text):
        out.effect("act_delete", "what the page has stored")
    if _PATTERNS.clicking.search(text):
        _labels([next(filter(None, found), "") for found in _QUOTED.findall(text)[:_MOST]], reader)


def _labels(texts: list[str], reader: Reader) -> bool:
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


def read_confirmation(words: tuple[str, ...], keys: Keys, reader: Reader) -> bool:
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
