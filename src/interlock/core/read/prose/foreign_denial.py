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


_SOMEBODY = frozenset("jemand quelqu'un alguien qualcuno alguem iemand кто-то ктото".split())
_COLLEAGUES = frozenset(
    "kollege kollegin vorganger praktikant collegue predecesseur stagiaire colega predecesor becario collega predecessore stagista antecessor"
    " estagiario voorganger stagiair коллега предшественник стажер".split()
)
_BEFORE = frozenset("gestern hier ayer ieri ontem gisteren вчера".split())
_SOMEBODY_ELSE = ("同事", "同僚", "前任", "有人", "誰か", "某人")


def by_somebody(words: list[Word], raw: str) -> bool:
    """`jemand hat … gelöscht`: what somebody else did or does, and not who speaks."""
    if any(word.text in _COLLEAGUES for word in words[:3]) and not any(word.has(*HEADS) for word in words[:2]):
        return any(word.past or word.has("was") or word.text in _BEFORE for word in words)
    return any(word.text in _SOMEBODY for word in words[:2]) or raw.lstrip().startswith(_SOMEBODY_ELSE)


_SPEAKERS = frozenset("ich wir je j'ai nous yo nosotros io noi eu nos ik wij we я мы".split())
_HOLDS = ("block", "stop", "revoke", "lock")
_THIRD = {"de": ("t",), "nl": ("t",), "ru": ("ет", "ит", "ют")}
_ROMANCE = ("a", "e")


def guards(words: list[Word], at: int, book: Index) -> bool:
    """`der Branch-Schutz blockiert meinen Push`: a guard in front of the verb is who acts."""
    if not book.language.spaced or words[at].past or not words[at].has_kind(*_HOLDS):
        return False
    verb = words[at].text
    if verb.endswith("re") or not verb.endswith(_THIRD.get(book.language.code, _ROMANCE)):
        return False
    return any(word.kind("noun") in ("safety", "guard", "config") for word in words[:at]) and not any(
        word.text in _SPEAKERS for word in words
    )
