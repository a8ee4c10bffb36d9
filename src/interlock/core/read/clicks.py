"""A click on something that bears a label, by a tool or by a script in a page -> the name that the label is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from interlock.core.read.lexicon import VERBS, WEAK, split_name
from interlock.core.read.params import squash

Reader = Callable[[str], None]
_CLICKS = frozenset("click press tap activate submit dblclick doubleclick leftclick touch select choose".split())
_LABELS = (
    "element", "label", "elementdescription", "elementname", "buttontext", "linktext", "button", "text", "name", "target", "selector", "arialabel",
    "description", "title", "locator", "xpath", "css", "node", "link", "item", "value",
)  # fmt: skip
_PIECES = frozenset(
    """button btn link icon menu item menuitem dropdown chip option checkbox the a an this that in on of dialog modal popup page tab toolbar row
    your my now yes ok i understand want to role name text has div span input type id class aria label data testid test contains sure please""".split()
)
_ALONE = frozenset(
    "cancel reset close stop clear remove block skip ignore lock hide mute disconnect force do run order book".split()
)
_CLICKING = re.compile(r"\.(?:click|submit|tap|dispatchEvent|requestSubmit|press)\s*\(")
_QUOTED = re.compile(r"\"([^\"\\\n]{2,80})\"|'([^'\\\n]{2,80})'|`([^`\\\n]{2,80})`|name:\s*/([^/\\\n]{2,60})/")
_LOOKS = frozenset({"read", "create"})
_MOST = 40
_LONG = 6  # words of a label that tell


def read_click(verb: str, words: tuple[str, ...], params: Mapping[str, Any], reader: Reader) -> bool:
    """Reads the labels of what a tool clicks; True when one of them announces an act."""
    action = next((value for key, value in list(params.items())[:50] if squash(key) in ("action", "type")), "")
    pressed = squash(action) in _CLICKS if isinstance(action, str) and action else False
    if not (pressed or verb in _CLICKS or not _CLICKS.isdisjoint(words)):
        return False
    keys = {squash(key): value for key, value in list(params.items())[:50]}
    return _labels([keys[key] for key in _LABELS if isinstance(keys.get(key), str)], reader)


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


def _label(text: str, reader: Reader) -> bool:
    words = [word for words in split_name(text[:120]) for word in words if word not in _PIECES]
    words = words[:_LONG]
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
