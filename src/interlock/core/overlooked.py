"""What could a person read past in a command? Harm inside a long text, and letters that only look like those of the alphabet."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

LONG = 240  # characters that are taken in at a glance
MOST = 5
_WIDTH = 200
_WORD = re.compile(r"[^\W\d_]+")
# Letters of other alphabets that look like Latin ones in most fonts.
_ALIKE = frozenset(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһӏԛԝʋ" "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορτυ" "օոսցհ"
    "ⅰⅴⅹⅼⅽⅾⅿ" "ɑɡɩıȷ"
)  # fmt: skip


def harm(text: str, findings: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The commands in a long text that do the worst of it, each by itself; nothing for a text that is read at a glance."""
    if len(text) <= LONG and text.count("\n") < 3:
        return ()
    known = [one for one in findings if isinstance(one, Mapping)]
    worst = max((int(one.get("level") or 0) for one in known), default=0)
    said = (str(one.get("subject") or "") for one in known if int(one.get("level") or 0) == worst)
    return tuple(_cut(one) for one in dict.fromkeys(filter(None, said)))[:MOST]


def _cut(words: str) -> str:
    return words if len(words) <= _WIDTH else f"{words[: _WIDTH - 1]}…"


def lookalikes(text: str) -> tuple[str, ...]:
    """Words with letters that look like Latin ones and are none, each with those letters by name."""
    if text.isascii():
        return ()
    found = (f"{word}: {_named(word)}" for word in dict.fromkeys(_WORD.findall(text)) if _strange(word))
    return tuple(one for _, one in zip(range(MOST), found, strict=False))


def _strange(word: str) -> bool:
    """Some letters only look Latin, and nothing in the word says that it is of another alphabet as a whole."""
    foreign = {letter for letter in word if not letter.isascii()}
    return bool(foreign & _ALIKE) and (foreign <= _ALIKE or any(letter.isascii() for letter in word))


def _named(word: str) -> str:
    letters = dict.fromkeys(letter for letter in word if letter in _ALIKE)
    return ", ".join(f"{one} is {unicodedata.name(one, '?').lower()} (U+{ord(one):04X})" for one in letters)
