"""What is typed into a page to confirm an act, or opened to carry it out -> the name of the act."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from interlock.core.read.lexicon import OBJECTS, split_name
from interlock.core.read.params import squash, truth

Reader = Callable[[str], None]
_ACTS = r"delet\w*|destr\w*|remov\w*|eras\w*|wip\w*|drop\w*|purg\w*|terminat\w*|deactivat\w*|transfer\w*|cancel\w*|clos(?:e|ing)|reset\w*|revok\w*"
_ASKS = re.compile(
    rf"\b(?:confirm|type|enter|re-?type|retype|repeat)\w*\b.{{0,80}}\b({_ACTS})|\b({_ACTS})\b.{{0,60}}\bconfirm|\bconfirm\w*[-_ ]?({_ACTS})|\b(delet\w*|destr\w*|remov\w*)[-_ ]?confirm",
    re.IGNORECASE,
)
_CONFIRMS = re.compile(r"confirm|verif|challenge|phrase|repeat|are you sure", re.IGNORECASE)
_ORDERS = re.compile(
    r"(?:sudo |yes,? |i want to |permanently |force )*(delete|destroy|remove|erase|wipe|drop|purge|terminate|deactivate|transfer|cancel|close|reset|revoke|ban|suspend|disable|block)\b(?: (?:my|this|the|our|all))?(?: [\w/.@ -]{0,80})?[.!]?",
    re.IGNORECASE,
)
_LABELS = frozenset(
    "element label name selector placeholder field fieldname elementdescription description ref target locator arialabel id title key".split()
)
_VALUES = frozenset("text value input content fill".split())
_TYPING = frozenset("keystrokes type fill input enter form fields set text keys write select submit".split())
_SEARCHES = re.compile(r"search|query|filter|find|title|subject|comment|message|body|description|note|commit", re.IGNORECASE)  # fmt: skip
_OPENS = frozenset("navigate goto open visit browse load go get fetch".split())
_STEMS = {
    "delet": "delete", "destr": "destroy", "remov": "remove", "eras": "erase", "wip": "wipe", "drop": "drop", "purg": "purge",
    "termin": "terminate", "deactiv": "deactivate", "transfer": "transfer", "cancel": "cancel", "clos": "close", "reset": "reset", "revok": "revoke",
}  # fmt: skip
_SURE = frozenset("confirm confirmed force yes sure wpnonce nonce csrf token authenticitytoken execute".split())
_TOLD = re.compile(r"\b(?:type|enter|fill(?: in)?|write|input)\s+[\"'“‘]([^\"'”’\n]{1,80})[\"'”’]\s+(?:in|into|to)\s+(.{1,120})", re.IGNORECASE)  # fmt: skip
_MOST = 50


def read_confirmation(words: tuple[str, ...], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads what a tool types or opens; True when that confirms or carries out an act."""
    url = next((keys[key] for key in ("url", "uri", "href", "page") if isinstance(keys.get(key), str)), "")
    if url and not _OPENS.isdisjoint(words) and (act := _opened(url)):
        reader(act)
        return True
    for key in ("action", "instruction", "instructions", "step"):
        told = _TOLD.search(keys[key][:500]) if isinstance(keys.get(key), str) else None
        if told and (act := _confirmed(told[2], told[1], "")):
            reader(act)
            return True
    if _TYPING.isdisjoint(words) and "fields" not in keys and "values" not in keys:
        return False
    on_page = _route(url) if url else ""
    for label, value in islice(_typed(keys), _MOST):
        act = _confirmed(label, value, on_page)
        if act:
            reader(act)
            return True
    return False


def _typed(keys: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every label with what is typed there."""
    label = " ".join(str(keys[key])[:200] for key in keys if key in _LABELS and isinstance(keys[key], str))
    for key in keys:
        value = keys[key]
        if key in _VALUES and isinstance(value, str):
            yield label, value
        elif key in ("fields", "values", "form", "inputs", "data", "formdata"):
            yield from _fields(value)


def _fields(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        yield from ((str(key)[:200], inner) for key, inner in islice(value.items(), _MOST) if isinstance(inner, str))
    for item in value[:_MOST] if isinstance(value, (list, tuple)) else ():
        if isinstance(item, Mapping):
            said = {squash(key): inner for key, inner in islice(item.items(), _MOST) if isinstance(inner, str)}
            label = " ".join(said[key][:200] for key in said if key in _LABELS)
            yield from ((label, said[key]) for key in said if key in _VALUES)


def _confirmed(label: str, value: str, on_page: str) -> str:
    """The act that this text confirms under this label; nothing for a search or a note."""
    if not value.strip() or len(value) > 200:
        return ""
    asked = _ASKS.search(label)
    if asked:
        return _named(next(filter(None, asked.groups())), f"{label} {value}")
    if _SEARCHES.search(label):
        return ""
    ordered = _ORDERS.fullmatch(value.strip())
    if ordered and (_CONFIRMS.search(label) or on_page):
        return on_page or _named(ordered[1], f"{value} {label}")
    return on_page if _CONFIRMS.search(label) else ""


def _named(verb: str, around: str) -> str:
    """`delete_project`: the verb, and the first thing that the words around it name."""
    base = next((word for stem, word in _STEMS.items() if verb.lower().startswith(stem)), verb.lower())
    said = (word for words in split_name(around[:300]) for word in words)
    thing = next((word for word in said if OBJECTS.get(word, "light") not in ("light", "safety")), "item")
    return f"{base}_{thing}"


def _route(url: str) -> str:
    """`/projects/42/delete` deletes a project; the name of that act, or nothing."""
    pieces = [piece.lower() for piece in _parts(url)[0].split("/") if piece]
    if not pieces or _ORDERS.fullmatch(pieces[-1]) is None:
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
    sure = any(key in _SURE and truth(value) is not False for key, value in query.items())
    if not sure:
        return ""
    verb = query.get("action", "")
    return _route(url) or (_named(verb, url) if _ORDERS.fullmatch(verb) else "")
