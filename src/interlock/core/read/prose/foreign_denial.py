"""A clause in another language -> whether what it names is denied or only put off."""

from __future__ import annotations

import re

from interlock.core.read.prose.foreign_words import Word
from interlock.core.read.prose.language import HEADS, Index

_NEAR = 2  # characters
_TO = frozenset({"zu", "te"})
_APART = re.compile(r"て|で(?!す)|[がを](?!(?:行|実|し|やら|す))|、")  # between a verb and a denial that is not its own


def denied(words: list[Word], at: int, book: Index) -> bool:
    """True when a denial belongs to this verb; missing backups and questions deny nothing."""
    for place, word in enumerate(words):
        if not word.has("never", "weak"):
            continue
        near = words[place + 1 : place + 4] if book.language.head != "last" else words[max(0, place - 2) : place]
        if any(other.has("unless") for other in near):
            continue
        if _reaches(words, place, at, book):
            return True
    return False


def _reaches(words: list[Word], place: int, at: int, book: Index) -> bool:
    """True when the denial at one place is one of the verb at the other."""
    if not book.language.spaced:
        return _reaches_unspaced(words, place, at, book)
    if words[place].has("without"):
        return _goes_without(words, place, at, book)
    if book.language.head != "first":
        return True
    return (place < at and at - place <= 4) or abs(at - place) == 1


def _goes_without(words: list[Word], place: int, at: int, book: Index) -> bool:
    """`ohne etwas zu löschen`, `sin borrar nada`: without doing it, rather than doing it without something."""
    if place > at or any(word.has(*HEADS) for word in words[place + 1 : at]):
        return False
    if book.language.head == "any":
        return words[at - 1].text in _TO or "zu" in words[at].text[2:]
    return at - place <= 3


def _reaches_unspaced(words: list[Word], place: int, at: int, book: Index) -> bool:
    if book.language.head == "last":
        between = words[at].after[: max(0, words[place].start - words[at].end)]
        return place > at and len(between) < 14 and not _APART.search(between)
    if place > at:
        return False
    if words[place].has("weak"):
        return words[at].start - words[place].end <= _NEAR
    return True


def withheld(words: list[Word], book: Index) -> bool:
    """`sin ejecutarlo`, `noch nicht ausführen`, `暂不执行`: a clause that only says that nothing is run yet."""
    runs = next((at for at, word in enumerate(words) if word.has("launch", "do", "send")), -1)
    if runs < 0 or any(word.has("noun", "verb", "look", "make", "mark") for word in words):
        return False
    return denied(words, runs, book)
