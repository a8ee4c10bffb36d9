"""A click on something that bears a label, by a tool or by a script in a page -> the name that the label is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.read.lexicon import VERBS, WEAK, split_name
from interlock.core.read.params import squash

Reader = Callable[[str], None]
_CLICKS = frozenset(
    "click press tap activate submit dblclick doubleclick leftclick touch select choose act clickelement mouseclick push hit".split()
)
_LABELS = (
    "element", "label", "elementdescription", "elementname", "buttontext", "linktext", "button", "text", "name", "target", "selector", "arialabel",
    "description", "title", "locator", "xpath", "css", "node", "link", "item", "value", "targetdescription", "accessibilityid", "testid", "elementid",
    "resourceid", "accessibilitylabel", "contentdescription", "instruction", "instructions", "step", "goal", "targettext", "control", "arialabelledby",
    "datatestid", "buttonid", "buttonname", "intent", "cssselector",
)  # fmt: skip
_PIECES = frozenset(
    """button btn link icon menu item menuitem dropdown chip option checkbox the a an this that in on of dialog modal popup page tab toolbar row
    your my now yes ok i understand want to role name text has div span input type id class aria label data testid test contains sure please
    click press tap hit push clicking red blue green big primary pane panel settings screen usd eur gbp final step""".split()
)
_SAYS_YES = frozenset("confirm complete submit proceed continue apply really finalize approve".split())
_ORDERED_BY = ("instruction", "instructions", "step", "goal", "action", "intent")
_TOLD = re.compile(r"\b(?:click|press|tap|hit|push|select|choose|activate)\b(?:\s+on)?", re.IGNORECASE)
_TYPES = re.compile(r"\b(?:type|enter|fill|write|paste|search)\b", re.IGNORECASE)
_IN_QUOTES = re.compile(r"[\"'\u2018\u201c]([^\"'\u2019\u201d\n]{3,60})[\"'\u2019\u201d]")
_ALONE = frozenset(
    "cancel reset close stop clear remove block skip ignore lock hide mute disconnect force do run order book".split()
)
_ACTING = frozenset("act perform do browser page ui stagehand agent computer step interact operator".split())
_CLICKING = re.compile(r"\.(?:click|submit|tap|dispatchEvent|requestSubmit|press)\s*\(")
_QUOTED = re.compile(r"\"([^\"\\\n]{2,80})\"|'([^'\\\n]{2,80})'|`([^`\\\n]{2,80})`|name:\s*/([^/\\\n]{2,60})/")
_LOOKS = frozenset({"read", "create"})
_MOST = 40
_LONG = 6  # words of a label that tell


def read_click(verb: str, words: tuple[str, ...], keys: Mapping[str, Any], reader: Reader) -> bool:
    """Reads the labels of what a tool clicks; True when one of them announces an act."""
    told = _orders(words, keys)
    if not (told or verb in _CLICKS or not _CLICKS.isdisjoint(words) or _presses(keys)):
        return False
    labels = [keys[key] for key in _LABELS if isinstance(keys.get(key), str) and key not in _ORDERED_BY]
    return _labels([*told, *map(_quoted, labels)], reader)


def _orders(words: tuple[str, ...], keys: Mapping[str, Any]) -> list[str]:
    """act {"instruction": "click the Delete button and confirm"}: what is said behind each click."""
    if _ACTING.isdisjoint(words):
        return []
    found = []
    for key in _ORDERED_BY:
        value = keys.get(key)
        if isinstance(value, str) and " " in value and _TOLD.search(value[:500]):
            found += [_quoted(_TYPES.split(part)[0]) for part in _TOLD.split(value[:500])[1:6]]
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
    return isinstance(action, str) and squash(action) in _CLICKS


def read_script(text: str, reader: Reader) -> bool:
    """Reads the labels in a script that clicks; True when one of them announces an act."""
    if not _CLICKING.search(text[:20_000]):
        return False
    labels = [next(filter(None, found), "") for found in _QUOTED.findall(text[:20_000])[:_MOST]]
    return _labels(labels, reader)


def _labels(texts: list[str], reader: Reader) -> bool:
    found = False
    for text in texts:
        found = _label(text, reader) or found
    return found


# What leads to a text about an act.
_EXPLAINS = re.compile(
    r"\s*(?:link\s*:?\s*)?[\"'“‘]?(?:how (?:to|do|can)|learn (?:more|how|about)|about|why|what (?:is|happens))\b|.*\((?:help|docs?|documentation|guide)\b[^)]*\)",
    re.IGNORECASE,
)


def _label(text: str, reader: Reader) -> bool:
    if _EXPLAINS.match(text[:120]):
        return False
    words = [word for words in split_name(text[:120]) for word in words if word not in _PIECES]
    words = [word for word in words if not word.isdigit()][:_LONG]
    while len(words) > 2 and words[0] in _SAYS_YES and VERBS.get(words[1], "change") not in ("change", *_LOOKS):
        words = words[1:]  # confirm-close-account
    if not words:
        return False
    verb = next((word for word in words[:3] if VERBS.get(word, "change") not in ("change", "")), words[0])
    placed = words[0] == "place" or words[0] in ("confirm", "complete", "submit", "checkout")
    if len(words) == 1 and verb in _ALONE:
        return False
    if not placed and (VERBS.get(verb, "") in ("", "change", *_LOOKS) or (verb in WEAK and words.index(verb) > 0)):
        return False
    if verb in WEAK and len(words) > 1 and words[-1] in _PLACES:
        return False
    reader("_".join(words))
    return True


_PLACES = frozenset(
    "policy policies history settings details folder section methods method status list help info overview options form terms faq".split()
)
