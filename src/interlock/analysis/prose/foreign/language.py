"""Detects the language of a sentence."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from interlock.analysis.confusables import folded
from interlock.analysis.lexicon.forms import nouns, verb_forms
from interlock.analysis.lexicon.load import WordLists, vocabularies
from interlock.analysis.lexicon.vocabulary import HEADS, Entry, Vocabulary
from interlock.analysis.prose.foreign.words import WORD

_LISTS = WordLists("foreign_language")

LONGEST = 4_000
# What only English has.
_ALONE = {"the": 3} | dict.fromkeys(
    "to and from with that this are by then our please not for your someone somebody yesterday never because they which should would could".split(),
    2,
)
Votes = list[tuple[str, int]]  # (language, how much)


def index(code: str) -> Vocabulary:
    """The words of one language."""
    return vocabularies()[code]


@cache
def _by_script() -> tuple[tuple[str, ...], tuple[tuple[re.Pattern[str], str], ...]]:
    """The languages in plain Latin letters, and the others with letters of which a sentence has one."""
    books = vocabularies().items()
    return (
        tuple(code for code, book in books if not book.language.script),
        tuple((re.compile(book.language.script), code) for code, book in books if book.language.script),
    )


@cache
def _letters() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(book.language.letters), code) for code, book in vocabularies().items())


@cache
def common() -> dict[str, tuple[str, ...]]:
    """Common words -> the languages that have them."""
    table: dict[str, tuple[str, ...]] = {}
    for code, book in vocabularies().items():
        for word in {word for role in ("common", "empty", "asked", "never") for word in book.language.listed(role)}:
            table[word] = (*table.get(word, ()), code)
    return table


def language_of(sentence: str) -> str:
    """The language by its script or by its common words and verbs; nothing for English."""
    codes, scripts = _by_script()
    other = [] if sentence.isascii() else [code for script, code in scripts if script.search(sentence)]
    if len(other) == 1:
        return other[0]
    words = WORD.findall(folded(sentence[:LONGEST]))[:60]
    scores = dict.fromkeys(other or codes, 0)
    english = 0
    for word in words:
        in_english, others = _weights(word)
        english += in_english
        for code, weight in others:
            if code in scores:
                scores[code] += weight
    if not sentence.isascii():
        for letters, code in _letters():
            if code in scores and letters.search(sentence):
                scores[code] += 2
    most = max(scores.values())
    if not other and most + _SETTLED <= english:
        return ""
    _settle(words, scores, most)
    best = max(scores, key=lambda code: scores[code])
    return best if other or scores[best] > english else ""


@lru_cache(maxsize=8192)
def _weights(word: str) -> tuple[int, Votes]:
    """How much a word speaks for English, and for each of the other languages."""
    english = _ALONE.get(word, 0)
    if not english and word in verb_forms():
        english = 1 if len(word) < _SMALL and word in common() else 2  # `del`, `do`
    elif not english and (word in _LISTS.english or word in _LISTS.shared or word in nouns()):
        english = 1
    whole, lengths, stems = _votes()
    votes, known = whole.get(word, _NOBODY)
    told: set[str] | None = None
    for length in lengths.get(word[:3], ()):
        for vote in stems.get(word[:length], ()):
            if told is None:
                told, votes = set(known), votes.copy()
            if vote[0] not in told:
                told.add(vote[0])
                votes.append(vote)
    return english, votes


_NOBODY: tuple[Votes, tuple[str, ...]] = ([], ())
_SMALL = 4  # letters


@cache
def _votes() -> tuple[dict[str, tuple[Votes, tuple[str, ...]]], dict[str, list[int]], dict[str, Votes]]:
    """Whole words -> the languages they speak for, and those that list them; three letters -> how long the stems are
    that begin so, longest first; stems -> the languages they speak for."""
    whole: dict[str, tuple[Votes, tuple[str, ...]]] = {
        word: ([(code, 2 if len(codes) == 1 and word not in _LISTS.shared else 1) for code in codes], ())
        for word, codes in common().items()
    }
    lengths: dict[str, set[int]] = {}
    begun: dict[str, Votes] = {}
    for code, book in vocabularies().items():
        for word, entries in book.exact.items():
            votes, known = whole.get(word, _NOBODY)
            whole[word] = ([*votes, (code, 1 if word in _LISTS.shared else _vote(entries[0]))], (*known, code))
        for start, stems in book.stems.items():
            lengths.setdefault(start, set()).update(len(stem) for stem, _ in stems)
            for stem, entry in stems:
                begun.setdefault(stem, []).append((code, _vote(entry)))
    return whole, {start: sorted(found, reverse=True) for start, found in lengths.items()}, begun


def _vote(entry: Entry) -> int:
    return 2 if entry[0] in HEADS else 1


_SETTLED = 3  # what an idiom adds


def _settle(words: list[str], scores: dict[str, int], most: int) -> None:
    """Languages that are near each other are told apart by their idioms."""
    near = [code for code in scores if most and scores[code] >= most - 2]
    text = " ".join(words)
    for code in near if len(near) > 1 else ():
        idioms = index(code).idioms
        if idioms and idioms.search(text):
            scores[code] += _SETTLED
