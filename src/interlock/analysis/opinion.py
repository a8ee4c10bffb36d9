"""Scores how much the wording of an intent or a call resembles harm: decides about sentences together with their rules, and can raise calls."""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, combinations, islice, pairwise, repeat
from typing import Any
from zlib import crc32

from msgspec import Struct

from interlock.analysis.facts import Effect, Fact
from interlock.analysis.lexicon import nouns, scope, split_name, verb_forms
from interlock.analysis.operations.names import parse_name
from interlock.analysis.prose.foreign.words import book_of, words_of
from interlock.model import Action, Kind

BUCKETS = 1 << 18
HEADER = 24
LETTERS, WORDS = 1_000, 96  # the most that are looked at
_MASK = BUCKETS - 1
_MILLION = 1_000_000
_CJK = "\u3040-\u30ff\u3400-\u9fff"  # written without blanks: each character is a word
_TOKENS = re.compile(rf"[{_CJK}]|[^\W\d_{_CJK}]+(?:[-'’][^\W\d_{_CJK}]+)*|\d+|[?_/\"]")
_STEM = 5
_OPENING, _OPENING_CLASS = 0x5555, 0x3333
_PARAMS = 12  # of a call
_FEW = 5  # blanks
# How the effects of a text are marked: what its sentences announce, where nothing was announced, and where they only look, ask or deny.
_WORDED, _QUIET = frozenset({"worded", "worded_foreign"}), frozenset({"plain", "plain_foreign"})
HEARD = _QUIET | {"told", "told_foreign"}
_FOREIGN = frozenset({"worded_foreign", "plain_foreign", "told_foreign"})
_TAME = frozenset({"act_change", "act_read", "act_vague"})
_DEEPEST, _BEGIN, _PIECES = 4, 120, 16  # of parameters, of a text among them, and of its words
_VALUES = re.compile(r"[^\W\d_]+|\d+|[*/?]")


class WeightsError(ValueError):
    """Bytes that are not weights as the trainer writes them."""


class Weights(Struct, frozen=True):
    """What was learned: a bias and one small number for each bucket, to be multiplied by `unit`, and the lines between scores."""

    bias: int
    unit: float
    harm: float  # above it, a text announces harm
    sentence: float  # above it, one sentence of a text does, or a text whose verbs only look, ask or deny
    spare: float  # below it, a text with words of harm announces none
    calls: float  # above it, a call with its parameters does harm
    buckets: array[int]

    @classmethod
    def of(cls, data: bytes) -> Weights:
        """Weights from the bytes of their file; refuses any other size, and a unit of zero."""
        if len(data) != HEADER + BUCKETS:
            raise WeightsError(f"weights of {len(data)} bytes, expected {HEADER + BUCKETS}")
        numbers = (int.from_bytes(data[at : at + 4], "big", signed=True) for at in range(0, HEADER, 4))
        bias, unit, harm, sentence, spare, calls = numbers
        if unit <= 0:
            raise WeightsError(f"a unit of {unit} millionths, expected more than 0")
        lines = harm / _MILLION, sentence / _MILLION, spare / _MILLION, calls / _MILLION
        return cls(bias, unit / _MILLION, *lines, array("b", data[HEADER:]))


class Opinion(Struct, frozen=True):
    """Weights for English and the names of calls, and for the other languages."""

    english: Weights
    foreign: Weights

    def heard(self, facts: tuple[Fact, ...], action: Action) -> tuple[Fact, ...]:
        """The facts of an intent or a call, one more where its wording resembles harm, or another where only single words of it do.

        What is embedded in an intent is judged by its readers alone; on its own words the rules and this opinion decide together.
        """
        of_intent = action.kind is Kind.INTENT
        heard = [fact for fact in facts if isinstance(fact, Effect) and fact.traits & HEARD] if of_intent else []
        if heard and self._announces(heard):
            return (*facts, Effect("act_resembles", heard[0].target, span=heard[0].span))
        for fact in facts:
            if not isinstance(fact, Effect):
                continue
            traits = fact.traits
            if of_intent and not traits.isdisjoint(_WORDED):
                return self._without_spared(facts, action.text)
            if len(heard) != 1 and not traits.isdisjoint(_QUIET) and self._says_harm(fact):
                return (*facts, Effect("act_resembles", fact.target, span=fact.span))
            if "open_call" in traits and (
                score(fact.target, self.english) > self.english.sentence
                or ("outermost" in traits and not of_intent and self._resembles_call(action))
            ):
                return (*facts, Effect("act_resembles", fact.target, traits=frozenset({"call"}), span=fact.span))
        return facts

    def _announces(self, heard: Sequence[Effect]) -> bool:
        """True where all that a text says by itself announces harm; a few words are judged as the name of an operation is."""
        weights, foreign = self._weights(heard[0])
        text = " ".join(fact.target for fact in heard)
        quiet, short = heard[0].traits & _QUIET, _is_short(text, foreign)
        return bool(quiet or not short) and score(text, weights, foreign) > (
            weights.harm if quiet and not short else weights.sentence
        )

    def _without_spared(self, facts: tuple[Fact, ...], text: str) -> tuple[Fact, ...]:
        """The facts, or one other where words of harm stand in a text, and in a clause, that announce none: `in the story, the dragon wipes out a village`; never in production."""
        announced = [fact for fact in facts if isinstance(fact, Effect) and fact.traits & _WORDED]
        weights, foreign = self._weights(announced[0])
        if len(text) > LETTERS or _is_short(text, foreign) or any("production" in fact.traits for fact in announced):
            return facts
        tame = all(isinstance(fact, Effect) and (fact.traits & _WORDED or fact.verb in _TAME) for fact in facts)
        if not tame or score(text, weights, foreign) >= weights.spare:
            return facts
        clauses = [text[slice(*fact.span)] for fact in announced if fact.span]
        if any(score(clause, weights, foreign) >= weights.spare / 2 for clause in clauses):
            return facts
        return (Effect("act_unlike", announced[0].target, span=announced[0].span),)

    def _says_harm(self, sentence: Effect) -> bool:
        weights, foreign = self._weights(sentence)
        return score(sentence.target, weights, foreign) > weights.sentence

    def _weights(self, fact: Effect) -> tuple[Weights, bool]:
        foreign = not fact.traits.isdisjoint(_FOREIGN)
        return (self.foreign if foreign else self.english), foreign

    def _resembles_call(self, action: Action) -> bool:
        given, crude = action.params, str(action.fields.get("crude") or "")
        return bool(given) and score(wording(action.text, given, crude), self.english) > self.english.calls


def _is_short(text: str, foreign: bool) -> bool:
    """True for a text like the name of an operation, which is judged as one."""
    return not foreign and text.count(" ") < _FEW


def wording(name: str, params: Mapping[str, Any], crude: str = "") -> str:
    """A call in words: its category, its verb, the rest of its name, and its parameters with the begin of each value."""
    segments = split_name(name)
    verb = next((act.verb for act in parse_name(segments)[1] if act.verb), "")
    said = [f"is{crude}"] if crude else []
    said += (word for word in (verb, *chain(*segments)) if word and (word != verb or word not in said))
    _say(said, "", params, _DEEPEST)
    return " ".join(said)


def _say(said: list[str], key: str, value: object, depth: int) -> None:
    said += chain(*split_name(key)) if key else ()
    if isinstance(value, str):
        said += _VALUES.findall(value[:_BEGIN])[:_PIECES]
    elif isinstance(value, bool) or value is None:
        said.append(str(value).lower())
    elif isinstance(value, (int, float)):
        said.append("num" if value else "0")
    elif depth and len(said) < WORDS:
        held = (
            value.items()
            if isinstance(value, Mapping)
            else zip(repeat(""), value if isinstance(value, (list, tuple)) else ())
        )
        for name, inner in islice(held, _PARAMS):
            _say(said, str(name), inner, depth - 1)


def score(text: str, weights: Weights, foreign: bool = False) -> float:
    """How much the text resembles announced harm: above 0 rather yes, below 0 rather no."""
    found = features(text) | meanings(text) if foreign else features(text)
    return (sum(map(weights.buckets.__getitem__, found)) + weights.bias) * weights.unit


def features(text: str) -> set[int]:
    """The buckets of a text: its words and stems, alone, in twos and in threes, what the lexicon says of them, and how it begins."""
    hashes = [_hashes(word) for word in _TOKENS.findall(text[:LETTERS].lower())[:WORDS]]
    if not hashes:
        return set()
    whole, stems, places = zip(*hashes, strict=True)
    classes = [place for place in places if place]
    found = [*whole, *stems, *classes, *(stem ^ _OPENING for stem in stems[:2])]
    word, stem, place = hashes[0]
    first, before = place * 23, 0
    for other, following, its in hashes[1:]:
        found += (word * 3 ^ other * 31) >> 3, (stem * 5 ^ following * 31) >> 3, place * 11 ^ its * 13
        found.append((first ^ following * 29) >> 2)
        if before:
            found += (before * 7 ^ following * 31) >> 3, (before * 3 ^ stem * 5 ^ following * 7) >> 2
        before, word, stem, place = stem, other, following, its
    if classes:
        found += [one * 17 ^ other * 19 for one, other in pairwise(classes)]
        found.append(classes[0] ^ _OPENING_CLASS)
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
