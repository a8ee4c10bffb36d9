"""Rows of conditions on words, from data: the first row that holds answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, cached_property
from typing import Any

from interlock.analysis.lexicon.english import known
from interlock.analysis.lexicon.load import Patterns, WordLists, rows_of
from interlock.analysis.packs import PackError, only_keys

Condition = tuple[str, Callable[[Any], bool], bool]  # slot, what is asked of its words, and the answer that is needed
Row = tuple[list[Condition], str]
Key = str | frozenset[str]
_NONE = "."  # stands for no word, and for the answer "nothing"
_ABSENT = "not_"


class Rows:
    """One table: a row maps slots to words of which one is there, with `not_` none, or with `~` to a pattern; `then` is its answer.

    Where `answers` are given, an answer begins with one of these, and each row has an example that it holds for, and one that it spares.
    """

    def __init__(self, table: str, keys: str, slots: str, answers: Collection[str] = ()) -> None:
        self.table, self.keys, self.slots, self.answers = table, tuple(keys.split()), slots.split(), answers
        self.by_key: dict[tuple[Key, ...], list[Row]] = {}
        self.words_of = cache(self._words_of)

    def first(self, key: tuple[Key, ...], words: Mapping[str, Collection[str]]) -> str | None:
        """The answer of the first row that holds for these keys and the words of the slots; None where no row does."""
        for conditions, answer in self.of(key):
            for slot, asked, needed in conditions:
                if asked(words[slot]) is not needed:
                    break
            else:
                return answer
        return None

    def of(self, key: tuple[Key, ...]) -> list[Row]:
        """The rows that can hold for these keys."""
        rows = self.by_key.get(key)
        if rows is None:
            given = {slot: (one,) if isinstance(one, str) else one for slot, one in zip(self.keys, key, strict=True)}
            holds = [all(asked(given[slot]) is needed for slot, asked, needed in keyed) for keyed, _ in self.rows]
            rows = self.by_key[key] = [row for (_, row), held in zip(self.rows, holds, strict=True) if held]
        return rows

    @cached_property
    def rows(self) -> list[tuple[list[Condition], Row]]:
        """What each row asks of the keys, and the rest of it."""
        return self.read(rows_of(self.table))

    def read(self, given: Iterable[Mapping[str, str]]) -> list[tuple[list[Condition], Row]]:
        """The rows of the data; raises PackError for a slot or an answer that is not known, and for one without words or examples."""
        found = []
        beside = {"then", "match", "spare"} if self.answers else {"then"}
        for number, row in enumerate(given, 1):
            where = f"row {number} of {self.table}"
            only_keys(where, {name.removeprefix(_ABSENT): 0 for name in row}, {*self.keys, *self.slots, *beside})
            if not all(map(row.get, beside)) or row.keys() <= beside:
                raise PackError(f"{where}: expected conditions and {' and '.join(sorted(beside))}")
            answer = row["then"].replace(_NONE, "")
            if self.answers:
                known(where, answer.split()[0], self.answers)
            asked = [_condition(where, name, value) for name, value in row.items() if name not in beside]
            keyed = [one for one in asked if one[0] in self.keys]
            found.append((keyed, ([one for one in asked if one[0] not in self.keys], answer)))
        return found

    def _words_of(self, *slots: str) -> frozenset[str]:
        """Every word that some row asks for in one of these slots."""
        return frozenset().union(*(words_in(row[slot]) for row in rows_of(self.table) for slot in slots if slot in row))


def _condition(where: str, name: str, value: str) -> Condition:
    slot, absent = name.removeprefix(_ABSENT), name.startswith(_ABSENT)
    if value.startswith("~"):
        reader, _, pattern = value[1:].partition(".")
        search = getattr(Patterns(reader), pattern).search
        return slot, lambda text: search(text) is None, absent
    if not (words := words_in(value)):
        raise PackError(f"{where}: no words for {name!r}")
    return slot, words.isdisjoint, absent


def words_in(value: str) -> frozenset[str]:
    """The words of a condition, `{reader.list}` standing for those of a list."""
    found: set[str] = set()
    for word in value.split():
        reader, _, name = word.strip("{}").partition(".") if word[0] == "{" else ("", "", "")
        found |= getattr(WordLists(reader), name) if name else {word}
    return frozenset("" if word == _NONE else word for word in found)
