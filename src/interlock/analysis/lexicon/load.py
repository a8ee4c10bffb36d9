"""The shipped vocabularies, one file a language, and the English words, patterns and rows of conditions that each reader asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from interlock.analysis.confusables import folded
from interlock.analysis.lexicon.english import English, Regexes, Text, build_parts, build_phrases, decode, joined, known
from interlock.analysis.lexicon.vocabulary import Entry, Language, Vocabulary, entry_of, word_entries
from interlock.analysis.packs import Pack, PackError, load_packs, only_keys

_SHIPPED = Path(__file__).parent
_ENGLISH = frozenset("kind idiom clauses lists payloads is_thing roles".split())  # tables of no other language
_LOANS = frozenset({"files", "nouns", "scope", "verbs", "words"})
_OF_PATTERNS = ("files", "idioms")  # tables whose entries are no words
_Tables = Mapping[str, Mapping[str, Text | Mapping[str, Text]]]
_Borrowed = Mapping[str, Mapping[str, Text | Regexes]]


def _pack(name: str, check: Callable[[Pack], object]) -> Pack:
    """One file of English, refused as `check` does."""

    def checked(packs: Sequence[Pack]) -> Sequence[Pack]:
        check(packs[0])
        return packs

    return load_packs(_SHIPPED, checked, f"{name}.toml")[0]


def _check_words(pack: Pack) -> None:
    for reader, lists in decode("words", pack, _Tables).items():
        for name, given in lists.items():
            words = (given if isinstance(given, str) else " ".join(given.values())).split()
            if len(words) != len(set(words)):
                raise PackError(f"{reader}: {name} has a word twice")


class _Parts(dict[str, str]):
    """Parts of patterns, and `reader.name` for the words of a reader's list; raises KeyError for any other."""

    def __missing__(self, name: str) -> str:
        reader, _, listed = name.partition(".")
        self[name] = found = f"(?:{'|'.join(map(re.escape, word_lists()[reader][listed].split()))})"
        return found


def _check_patterns(pack: Pack) -> None:
    parts = _Parts(build_parts(_idioms()) | build_parts(pack))
    for reader, patterns in pack.items():
        for name, alternatives in patterns.items() if reader != "lists" else ():
            joined(f"{reader}: {name}", alternatives, parts)


def rows_of(table: str) -> Sequence[Mapping[str, str]]:
    rows: Sequence[Mapping[str, str]] = _rows()[table]
    return rows


@cache
def loans() -> dict[str, list[Entry]]:
    table: dict[str, list[Entry]] = {}
    pack = _loanwords()
    for word, entry in word_entries(roles(), pack["words"], pack["verbs"], pack["nouns"], pack["scope"]):
        table.setdefault(word, []).append(entry)
    return table


# The files of English: words with the effects of verbs, phrases, and by reader the lists, maps, patterns and rows.
english = cache(lambda: English(_pack("english", English)))
_idioms = cache(lambda: _pack("english_idioms", lambda pack: build_phrases(pack, english())))
_phrases = cache(lambda: build_phrases(_idioms(), english()))
phrases = cache(lambda: _phrases()[0])  # that announce an effect without a single telling verb
harmless_phrases = cache(lambda: _phrases()[1])  # in which a word of harm has none
word_lists = cache(lambda: _pack("english_lists", _check_words))
word_maps = cache(lambda: _pack("english_maps", _check_words))
pattern_lists = cache(lambda: _pack("english_patterns", _check_patterns))
pattern_parts = cache(lambda: _Parts(build_parts(_idioms()) | build_parts(pattern_lists())))  # what a pattern may name
_rows = cache(lambda: _pack("english_rows", dict))
_roles = cache(lambda: _pack("roles", dict))  # what a vocabulary may list
roles = cache(lambda: tuple(_roles()["roles"]))
# The other languages by their codes, the words that they share, and the names of files with the word that each is read as.
_packs = cache(lambda: load_packs(_SHIPPED, check_packs))
vocabularies = cache(
    lambda: {one["code"]: Vocabulary(Language(**one), loans(), roles()) for one in _packs() if "code" in one}
)
_loanwords = cache(lambda: next(pack for pack in _packs() if "files" in pack))
telling_files = cache(lambda: [(word, re.compile("|".join(found))) for word, found in _loanwords()["files"].items()])


def check_packs(packs: Sequence[Pack]) -> Sequence[Pack]:
    """The packs with all words in plain letters; raises PackError where one is wrong or a code is used twice."""
    codes = [pack["code"] for pack in packs if "code" in pack]
    if len(set(codes)) < len(codes):
        raise PackError(f"two languages have the code {max(codes, key=codes.count)!r}")
    return [(_language if "code" in pack else _borrowed)(pack) for pack in packs if _ENGLISH.isdisjoint(pack)]


def _language(pack: Pack) -> Pack:
    where = f"language {pack['code']}"
    language: Language = decode(where, pack, Language)
    only_keys(f"{where}: words", language.words, (*roles(), *_roles()["lists"]))
    for name in (*language.idioms, *language.alone):
        known(f"{where}: {name!r}", entry_of(name)[0], ("verb", "noun", "scope", "skip", *roles()))
    vocabulary = Vocabulary(language, {}, roles())
    try:
        _ = vocabulary.idioms, vocabulary.empty.pattern
        for name in "past plural third clitic converb script letters".split():
            re.compile(getattr(language, name))
    except re.error as error:
        raise PackError(f"{where}: {error.pattern!r:.80}: {error}") from None
    return pack if language.accents or not language.spaced else _in_plain_letters(pack)


def _borrowed(pack: Pack) -> Pack:
    only_keys("loanwords", pack, _LOANS)
    only_keys("loanwords: words", pack["words"], roles())
    return _in_plain_letters(decode("loanwords", pack, _Borrowed))


def _in_plain_letters(pack: Pack) -> Pack:
    tables = {key for key, value in pack.items() if isinstance(value, Mapping) and key not in _OF_PATTERNS}
    return {**pack, **{key: {name: folded(words) for name, words in pack[key].items()} for key in tables}}


class WordLists:
    """The lists of one reader as attributes; `in_order` gives a list as it stands in the data, the most telling first."""

    def __init__(self, reader: str) -> None:
        self.reader = reader
        self.in_order = cache(lambda name: tuple(word_lists()[reader][name].split()))

    def __getattr__(self, name: str) -> frozenset[str]:
        found = self.__dict__[name] = frozenset(word_lists()[self.reader][name].split())
        return found


class WordMaps:
    """The maps of one reader as attributes, each from a word to what it stands for."""

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> Mapping[str, str]:
        table = word_maps()[self.reader][name]
        found = self.__dict__[name] = {word: key for key, words in table.items() for word in words.split()}
        return found


class Patterns:
    """The patterns of one reader as attributes."""

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def __getattr__(self, name: str) -> re.Pattern[str]:
        given = joined(f"{self.reader}: {name}", pattern_lists()[self.reader][name], pattern_parts())
        found = self.__dict__[name] = re.compile(given)
        return found


# -- rows

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
        for conditions, answer in self.by_key.get(key) or self.of(key):
            for slot, asked, needed in conditions:
                if asked(words[slot]) is not needed:
                    break
            else:
                return answer
        return None

    def of(self, key: tuple[Key, ...]) -> list[Row]:
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
