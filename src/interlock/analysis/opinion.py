"""Scores how much the wording of an intent or an operation resembles harm; a second opinion that can only raise the level."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain, combinations, islice, pairwise
from typing import Any
from zlib import crc32

from msgspec import Struct

from interlock.analysis.facts import Effect, Fact
from interlock.analysis.lexicon import nouns, scope, split_name, verb_forms
from interlock.analysis.operations.names import parse_name
from interlock.analysis.prose.foreign.words import book_of, words_of
from interlock.model import Action, Kind

BUCKETS = 1 << 18
HEADER = 16
LETTERS, WORDS = 1_000, 96  # the most that are looked at
_MASK = BUCKETS - 1
_MILLION = 1_000_000
_CJK = "\u3040-\u30ff\u3400-\u9fff"  # written without blanks: each character is a word
_TOKENS = re.compile(rf"[{_CJK}]|[^\W\d_{_CJK}]+(?:[-'’][^\W\d_{_CJK}]+)*|\d+|[?_/\"]")
_STEM = 5
_OPENING, _OPENING_CLASS = 0x5555, 0x3333
_PARAMS = 12  # of a call
_PLAIN = re.compile(r"[\w./:@-]{1,40}")


class WeightsError(ValueError):
    """Bytes that are not weights as the trainer writes them."""


class Weights(Struct, frozen=True):
    """What was learned: a bias and one small number for each bucket, to be multiplied by `unit`, and the scores above which harm is meant."""

    bias: int
    unit: float
    threshold: float
    of_calls: float  # the threshold for operations with their parameters
    buckets: array[int]

    @classmethod
    def of(cls, data: bytes) -> Weights:
        """Weights from the bytes of their file; refuses any other size, and a unit of zero."""
        if len(data) != HEADER + BUCKETS:
            raise WeightsError(f"weights of {len(data)} bytes, expected {HEADER + BUCKETS}")
        numbers = (int.from_bytes(data[at : at + 4], "big", signed=True) for at in range(0, HEADER, 4))
        bias, unit, threshold, of_calls = numbers
        if unit <= 0:
            raise WeightsError(f"a unit of {unit} millionths, expected more than 0")
        return cls(bias, unit / _MILLION, threshold / _MILLION, of_calls / _MILLION, array("b", data[HEADER:]))


class Opinion(Struct, frozen=True):
    """Weights for English, and for the other languages."""

    english: Weights
    foreign: Weights

    def added_to(self, facts: tuple[Fact, ...], action: Action) -> tuple[Fact, ...]:
        """The facts of an intent or a call in which nothing harmful was read, and one more where its wording resembles harm."""
        for fact in facts:
            if not isinstance(fact, Effect):
                continue
            if fact.traits & {"plain", "plain_foreign"}:
                if self.resembles_harm(fact.target, "plain_foreign" in fact.traits):
                    return (*facts, Effect("act_resembles", fact.target, span=fact.span))
            elif "open_call" in fact.traits:
                alone = len(facts) == 1 and "outermost" in fact.traits and action.kind is not Kind.INTENT
                if self.resembles_harm(fact.target) or (alone and self._call_resembles_harm(action)):
                    return (*facts, Effect("act_resembles", fact.target, traits=frozenset({"call"}), span=fact.span))
        return facts

    def resembles_harm(self, text: str, foreign: bool = False) -> bool:
        """True when the wording alone is reason to ask."""
        weights = self.foreign if foreign else self.english
        return score(text, weights, foreign) > weights.threshold

    def _call_resembles_harm(self, action: Action) -> bool:
        given = action.params
        return bool(given) and score(wording(action.text, given), self.english) > self.english.of_calls


def wording(name: str, params: Mapping[str, Any]) -> str:
    """A call in words: its verb first, then the rest of its name, then its parameters, without numbers and what holds others."""
    segments = split_name(name)
    verb = next((act.verb for act in parse_name(segments)[1] if act.verb), "")
    said = (word for word in chain(*segments) if word != verb)
    given = (
        f"{key} {value}" if isinstance(value, bool) or _PLAIN.fullmatch(value) else key
        for key, value in islice(params.items(), _PARAMS)
        if isinstance(value, (str, bool))
    )
    return " ".join((verb, *said, *chain.from_iterable(chain.from_iterable(map(split_name, map(str, given)))))).strip()


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
