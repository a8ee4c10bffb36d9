"""English words and patterns of the readers of names and sentences, from data; each is loaded when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.analysis.lexicon.idioms import joined
from interlock.analysis.lexicon.load import pattern_lists, pattern_parts, word_lists, word_maps


class WordLists:
    """The lists of one reader as attributes; raises AttributeError for one that is not in the data."""

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> frozenset[str]:
        words = word_lists()[self.reader].get(name)
        if words is None:
            raise AttributeError(f"no list {name!r} of {self.reader}")
        found = frozenset(words.split())
        setattr(self, name, found)
        return found

    def in_order(self, name: str) -> tuple[str, ...]:
        """The words of a list as they stand in the data, the most telling first."""
        return tuple(word_lists()[self.reader][name].split())


class WordMaps:
    """The maps of one reader as attributes, each from a word to what it stands for; raises AttributeError for one that is not in the data."""

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> Mapping[str, str]:
        table = word_maps()[self.reader].get(name)
        if table is None:
            raise AttributeError(f"no map {name!r} of {self.reader}")
        found = {word: meaning for meaning, words in table.items() for word in words.split()}
        setattr(self, name, found)
        return found


class Patterns:
    """The patterns of one reader as attributes; raises AttributeError for one that is not in the data."""

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> re.Pattern[str]:
        alternatives = pattern_lists()[self.reader].get(name)
        if alternatives is None:
            raise AttributeError(f"no pattern {name!r} of {self.reader}")
        found = re.compile(joined(f"{self.reader}: {name}", alternatives, pattern_parts()))
        setattr(self, name, found)
        return found
