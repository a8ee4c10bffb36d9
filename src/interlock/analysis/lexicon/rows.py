"""Rows of conditions on the words around a verb or a name, from data: the first row that holds answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any

from interlock.analysis.lexicon.load import Patterns, WordLists, rows_of
from interlock.analysis.packs import only_keys

Condition = tuple[str, Callable[[Any], bool], bool]  # slot, what is asked of its words, and the answer that is needed
Row = tuple[list[Condition], str]
_NONE = "."  # stands for no word, and for the answer "nothing"
_ABSENT = "not_"


class Rows:
    """One table: a row maps slots to words of which one is there, with `not_` none, or with `~` to a pattern; `then` is its answer."""

    def __init__(self, table: str, keys: str, slots: str) -> None:
        self.table, self.keys, self.slots = table, tuple(keys.split()), slots.split()
        self.by_key: dict[tuple[str, ...], list[Row]] = {}

    def first(self, key: tuple[str, ...], words: Mapping[str, Collection[str]]) -> str | None:
        """The answer of the first row that holds for these keys and the words of the slots; None where no row does."""
        for conditions, answer in self.of(key):
            for slot, asked, needed in conditions:
                if asked(words[slot]) is not needed:
                    break
            else:
                return answer
        return None

    def of(self, key: tuple[str, ...]) -> list[Row]:
        """The rows that can hold for these keys."""
        rows = self.by_key.get(key)
        if rows is None:
            given = dict(zip(self.keys, key, strict=True))
            holds = [all(asked((given[slot],)) is needed for slot, asked, needed in keyed) for keyed, _ in self.rows]
            rows = self.by_key[key] = [row for (_, row), held in zip(self.rows, holds, strict=True) if held]
        return rows

    @cached_property
    def rows(self) -> list[tuple[list[Condition], Row]]:
        """What each row asks of the keys, and the rest of it; raises PackError for a slot that is not known."""
        found = []
        for row in rows_of(self.table):
            only_keys(f"rows of {self.table}", dict.fromkeys(map(_slot, row)), {*self.keys, *self.slots, "then"})
            asked = [_condition(name, value) for name, value in row.items() if name != "then"]
            keyed = [one for one in asked if one[0] in self.keys]
            rest = [one for one in asked if one[0] not in self.keys]
            found.append((keyed, (rest, row["then"].replace(_NONE, ""))))
        return found


def _slot(name: str) -> str:
    return name.removeprefix(_ABSENT)


def _condition(name: str, value: str) -> Condition:
    absent = name.startswith(_ABSENT)
    if value.startswith("~"):
        reader, _, pattern = value[1:].partition(".")
        search = getattr(Patterns(reader), pattern).search
        return _slot(name), lambda text: search(text) is None, absent
    return _slot(name), words_in(value).isdisjoint, absent


def words_in(value: str) -> frozenset[str]:
    """The words of a condition, `{reader.list}` standing for those of a list."""
    found: set[str] = set()
    for word in value.split():
        reader, _, name = word.strip("{}").partition(".") if word[0] == "{" else ("", "", "")
        found |= getattr(WordLists(reader), name) if name else {word}
    return frozenset("" if word == _NONE else word for word in found)
