"""English nouns: the kind of thing that each names, and how much is at stake."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from interlock.analysis.lexicon.english import Noun
from interlock.analysis.lexicon.load import english

# Adjectives and owners in front of a noun that make it a thing nobody would miss.
THROWAWAY = frozenset(
    "temporary temp tmp scratch throwaway dummy cache mock sample cached stale_cache build generated compiled intermediate test".split()
)


def nouns() -> Mapping[str, Noun]:
    """Every noun, singular and plural -> its kind, its traits, and whether it is many."""
    return english().nouns


@cache
def last_words() -> frozenset[str]:
    """The words with which the nouns end that have several."""
    return frozenset(noun.rpartition(" ")[2] for noun in nouns() if " " in noun)
