"""English words of sentences: the inflected forms of verbs and their kinds, nouns and their kinds, words of scope."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from interlock.analysis.lexicon.english import VOWELS, Noun, plural
from interlock.analysis.lexicon.load import WordLists, WordMaps, english

_LISTS = WordLists("verbs")
_MAPS = WordMaps("verbs")

BASE, THIRD, ING, PAST = "base", "third", "ing", "past"


def forms(verb: str) -> dict[str, str]:
    """Every form of a verb, and which one it is; a base that is also a past form counts as base."""
    found = dict.fromkeys(_pasts(verb), PAST)
    found |= dict.fromkeys(_gerunds(verb), ING)
    found |= {verb + "es" if verb.endswith("o") else plural(verb): THIRD, verb: BASE}
    return found


def _gerunds(verb: str) -> set[str]:
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return {verb[:-1] + "ing"}
    return {verb + "ing", *([verb + verb[-1] + "ing"] if _doubles(verb) else [])}


def _pasts(verb: str) -> set[str]:
    if verb in _irregular():
        return _irregular()[verb]
    if verb.endswith("e"):
        return {verb + "d"}
    if verb.endswith("y") and verb[-2:-1] not in VOWELS:
        return {verb[:-1] + "ied"}
    return {verb + "ed", *([verb + verb[-1] + "ed"] if _doubles(verb) else [])}


@cache
def _irregular() -> dict[str, set[str]]:
    """Verbs -> their past forms, where no rule makes them."""
    found: dict[str, set[str]] = {}
    for past, verb in _MAPS.pasts.items():
        found.setdefault(verb, set()).add(past)
    return found


def _doubles(verb: str) -> bool:
    return len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in VOWELS and verb[-3] not in VOWELS


Forms = dict[str, tuple[str, str, str]]


def verb_forms() -> Forms:
    """Every written form -> the verb, the form, and its kind; harm outranks doing, and both outrank looking."""
    return _forms()[0]


def form_of(word: str) -> str:
    """Which form of a verb a word is; empty for no verb."""
    known = verb_forms().get(word) or verb_forms().get(word.lower())
    return known[1] if known else ""


def opening_forms() -> Forms:
    """Forms that are nearly always something else, but for the begin of a clause with an article behind them: `audit the code`."""
    return _forms()[1]


def is_opening(low: list[str], at: int) -> bool:
    """True for such a form where it is a verb."""
    return (
        low[at] in opening_forms()
        and at + 1 < len(low)
        and low[at + 1] in _LISTS.articles
        and (not at or low[at - 1] in _LISTS.leads)
    )


@cache
def _forms() -> tuple[Forms, Forms]:
    table: dict[str, tuple[str, str, str]] = {}
    groups = [("do", list(english().phrasals)), *english().said.items()]
    for kind, words in groups:
        for verb in words:
            for form, name in forms(verb).items():
                table[form] = (verb, name, kind)
    taken = {form: table.pop(form) for form in _LISTS.not_verbs if form in table}
    return table, {form: entry for form, entry in taken.items() if entry[1] == BASE}


@cache
def nominals() -> Mapping[str, str]:
    """Nouns made of verbs -> the kind of verb in a sentence: "the deletion of", "a full wipe"."""
    kinds = english().kinds
    return {noun: kinds[kind].sentence for noun, kind in english().said_nouns.items()}


def sense(verb: str, kind: str) -> str:
    """The kind of a verb, or of a noun that names a deed, in the table of effects."""
    return english().senses.get(verb) or english().said_nouns.get(verb) or kind


def nouns() -> Mapping[str, Noun]:
    """Every noun, singular and plural -> its kind, its traits, and whether it is many."""
    return english().nouns


@cache
def last_words() -> frozenset[str]:
    """The words with which the nouns end that have several."""
    return frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun)


def scope() -> Mapping[str, str]:
    """Every word of scope -> how much it says: all, bulk, production, permanent…"""
    return english().scope
