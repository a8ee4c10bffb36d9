"""Scores how much an intent's wording resembles announced harm; a second opinion that can only raise the level."""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from itertools import combinations, pairwise
from zlib import crc32

from msgspec import Struct

from interlock.analysis.lexicon import nouns, scope, verb_forms
from interlock.analysis.prose.foreign.words import book_of, words_of

BUCKETS = 1 << 18
HEADER = 12
LETTERS, WORDS = 1_000, 96  # the most that are looked at
_MASK = BUCKETS - 1
_MILLION = 1_000_000
_CJK = "\u3040-\u30ff\u3400-\u9fff"  # written without blanks: each character is a word
_TOKENS = re.compile(rf"[{_CJK}]|[^\W\d_{_CJK}]+(?:[-'’][^\W\d_{_CJK}]+)*|\d+|[?_/\"]")
_STEM = 5
_OPENING, _OPENING_CLASS = 0x5555, 0x3333


class WeightsError(ValueError):
    """Bytes that are not weights as the trainer writes them."""


class Weights(Struct, frozen=True):
    """What was learned: a threshold, a bias and one small number for each bucket, all to be multiplied by `unit`."""

    bias: int
    unit: float
    threshold: float
    buckets: array[int]

    @classmethod
    def of(cls, data: bytes) -> Weights:
        """Weights from the bytes of their file; refuses any other size, and a unit of zero."""
        if len(data) != HEADER + BUCKETS:
            raise WeightsError(f"weights of {len(data)} bytes, expected {HEADER + BUCKETS}")
        bias, unit, threshold = (int.from_bytes(data[at : at + 4], "big", signed=True) for at in (0, 4, 8))
        if unit <= 0:
            raise WeightsError(f"a unit of {unit} millionths, expected more than 0")
        return cls(bias, unit / _MILLION, threshold / _MILLION, array("b", data[HEADER:]))


class IntentClassifier(Struct, frozen=True):
    """Weights for English, and for the other languages."""

    english: Weights
    foreign: Weights

    def resembles_harm(self, text: str, foreign: bool) -> bool:
        """True when the wording alone is reason to ask."""
        weights = self.foreign if foreign else self.english
        return score(text, weights, foreign) > weights.threshold


def score(text: str, weights: Weights, foreign: bool = False) -> float:
    """How much the text resembles announced harm: above 0 rather yes, below 0 rather no."""
    found = features(text) | meanings(text) if foreign else features(text)
    return (sum(map(weights.buckets.__getitem__, found)) + weights.bias) * weights.unit


def features(text: str) -> set[int]:
    """The buckets of a text: its words and stems, alone and in twos, what the lexicon says of them, and how it begins."""
    hashes = [_hashes(word) for word in _TOKENS.findall(text[:LETTERS].lower())[:WORDS]]
    whole, stems, places = map(list, zip(*hashes, strict=True)) if hashes else ([], [], [])
    classes = [place for place in places if place]
    found = whole + stems + classes
    found += [(one * 3 ^ other * 31) >> 3 for one, other in pairwise(whole)]
    found += [(one * 5 ^ other * 31) >> 3 for one, other in pairwise(stems)]
    found += [(one * 7 ^ other * 31) >> 3 for one, other in zip(stems, stems[2:], strict=False)]
    found += [one * 11 ^ other * 13 for one, other in pairwise(places)]
    found += [one * 17 ^ other * 19 for one, other in pairwise(classes)]
    found += [stem ^ _OPENING for stem in stems[:2]]
    found += [one ^ _OPENING_CLASS for one in classes[:1]]
    if places:
        first = places[0] * 23
        found += [(first ^ stem * 29) >> 2 for stem in stems[1:]]
    return {one & _MASK for one in found}


def meanings(text: str) -> set[int]:
    """The buckets of what the lexicon says of a text in any language, so that all languages teach one another."""
    text = text[:LETTERS]
    book = book_of(text)
    if book is None:
        meant = [_meant(word) for word in _TOKENS.findall(text.lower())[:WORDS]]
    else:
        meant = []
        for word in words_of(text, book)[:WORDS]:  # what a lexicon says, in words that are the same for every language
            names = {name for role, kind, traits in word.entries for name in (kind or role, *traits)} - {"scope"}
            meant.append(sorted(names | {"past"} if word.past else names))
    words = list(filter(None, meant))
    found = sorted(set().union(*words))
    pairs = [f"{one}&{other}" for one, other in combinations(found, 2)]
    follow = [f"{one}>{other}" for first, second in pairwise(words) for one in first for other in second]
    return {crc32(one.encode(), 11) & _MASK for one in (*found, *pairs, *follow)}


@lru_cache(maxsize=8192)
def _meant(word: str) -> list[str]:
    names = {scope()[word]} if word in scope() else set()
    if word in verb_forms():
        _, form, kind = verb_forms()[word]
        names |= {kind, "past"} if form == "past" else {kind}
    if word in nouns():
        thing, traits, _ = nouns()[word]
        names |= {thing, *traits}
    return sorted(names)


@lru_cache(maxsize=8192)
def _hashes(word: str) -> tuple[int, int, int]:
    """The numbers of a word, of its stem, and of what the English lexicon says of it: kind of verb, kind of thing, scope; 0 for nothing."""
    said = (verb_forms().get(word, ("", "", ""))[2], nouns().get(word, ("",))[0], scope().get(word, ""))
    known = word in verb_forms() or word in nouns() or word in scope()
    place = crc32("|".join(said).encode(), 9) if known else 0
    return crc32(word.encode()), crc32(word[:_STEM].encode(), 1), place
