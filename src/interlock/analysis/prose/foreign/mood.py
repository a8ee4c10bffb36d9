"""The mood of a foreign clause: asked, denied, rehearsed, reported, or left to somebody else."""

from __future__ import annotations

import re

from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.vocabulary import HEADS
from interlock.analysis.prose.foreign.words import ForeignClause, ForeignWord, some

_LISTS = WordLists("foreign_mood")
_PATTERNS = Patterns("foreign_mood")

_NEAR = 2  # characters
_TO = frozenset({"zu", "te"})
_APART = re.compile(
    r"て(?!い)|で(?!す)|[がを](?!(?:行|実|し|やら|す))|、"
)  # between a verb and a denial that is not its own
_IN_ORDER = frozenset({"um", "om"})


def denied(clause: ForeignClause, at: int) -> bool:
    """True when a denial belongs to this verb; missing backups and questions deny nothing."""
    words, last = clause.words, clause.head == "last"
    for place, word in enumerate(words):
        near = words[max(0, place - 2) : place] if last else words[place + 1 : place + 4]
        if word.has("never", "weak") and not some(near, "unless") and _reaches(clause, place, at):
            return True
    return False


def _reaches(clause: ForeignClause, place: int, at: int) -> bool:
    """True when the denial at one place is one of the verb at the other."""
    words, book = clause.words, clause.book
    if not book.language.spaced:
        return _reaches_unspaced(clause, place, at)
    if words[place].has("without"):  # `sin borrar nada`: without doing it, rather than doing it without something
        if place > at or some(words[place + 1 : at], *HEADS):
            return False
        return words[at - 1].text in _TO or "zu" in words[at].text[2:] if clause.head == "any" else at - place <= 3
    if place > at and some(words[place + 1 : place + 3], "do"):
        return True  # `il force push non lo faccio`
    if clause.head != "first":
        told_of = place > at and words[place - 1].text in book.relatives  # `sluit de accounts die niet betaald hebben`
        return not (told_of and some(words[place + 1 :], "was", *HEADS))
    return (place < at and at - place <= 4) or abs(at - place) == 1


def _reaches_unspaced(clause: ForeignClause, place: int, at: int) -> bool:
    no, verb = clause.words[place], clause.words[at]
    if clause.head == "last":
        between = verb.after[: max(0, no.start - verb.end)]
        return place > at and len(between) < 14 and not _APART.search(between)
    if place > at:
        return some(clause.words[place + 1 : place + 2], "do")
    return not no.has("weak") or verb.start - no.end <= _NEAR


def asks(words: list[ForeignWord], at: int, clause: ForeignClause) -> bool:
    """True when the words begin as a question or a condition."""
    language = clause.book.language
    last = min(3, at) if language.spaced else 3 if language.head == "last" else len(words)
    return any(word.has("asked") and (not at or not word.has("that", "will")) for at, word in enumerate(words[:last]))


def is_trial(clause: ForeignClause) -> bool:
    """`a dry run of it`; not `after the dry run`, nor `without one`."""
    return not clause.has("past_trial") and any(
        word.has("trial") and not some(clause.words[max(0, at - 2) : at], "never")
        for at, word in enumerate(clause.words)
    )


def is_passive(words: list[ForeignWord]) -> bool:
    """True for a past form that announces."""
    return some(words, "will") and not some(words, "was")


def was_done(clause: ForeignClause, at: int) -> bool:
    """`letzte Woche wurde der Knoten ersetzt`: a past form, or a word of the past in front of the verb, behind it where verbs stand last."""
    if clause.words[at].past and not is_passive(clause.words):
        return True
    return not clause.has("will") and some(clause.words[at:] if clause.head == "last" else clause.words[:at], "was")


def is_told_of(clause: ForeignClause) -> bool:
    """`DROP and TRUNCATE`, `that deleting asks first`, `MFA abzuschalten`: a clause that belongs to what was spoken of before it."""
    words = clause.words
    if len(words) == 1 or some(words[:2], "that"):
        return True
    if any(word.text in clause.book.relatives for word in words[:2]) and words[-1].has("verb", "will"):
        return True  # `die Funktion, die Benutzer löscht`
    return words[0].text not in _IN_ORDER and any(
        word.has("verb") and ((at and words[at - 1].text in _TO) or _PATTERNS.zu.match(word.text))
        for at, word in enumerate(words)
    )


_SOMEBODY_ELSE = ("同事", "同僚", "前任", "有人", "誰か", "某人")


def by_somebody(clause: ForeignClause) -> bool:
    """`jemand hat … gelöscht`, `wird vom DBA gelöscht`: what somebody else did or does, and not who speaks."""
    words, book, reported = clause.words, clause.book, clause.has("was") or any(word.past for word in clause.words)
    for at, word in enumerate(words):
        if word.text in book.by and any(
            other.text.rpartition("'")[2] in book.others for other in words[at + 1 : at + 4]
        ):
            return reported or clause.has("will")
    return any(word.text in _LISTS.somebody for word in words[:2]) or clause.raw.lstrip().startswith(_SOMEBODY_ELSE)


_HOLDS = ("block", "stop", "revoke", "lock")
_THIRD = {"de": ("t",), "nl": ("t",), "ru": ("ет", "ит", "ют")}
_ROMANCE = ("a", "e")


def guards(clause: ForeignClause, at: int) -> bool:
    """`der Branch-Schutz blockiert meinen Push`: a guard in front of the verb is who acts."""
    words, language, verb = clause.words, clause.book.language, clause.words[at]
    if not language.spaced or verb.past or not verb.has_kind(*_HOLDS) or verb.text.endswith("re"):
        return False
    third = verb.text.endswith(_THIRD.get(language.code, _ROMANCE))
    guard = any(word.kind("noun") in ("safety", "guard", "config") for word in words[:at])
    return third and guard and not any(word.text in _LISTS.speakers for word in words)
