"""The vocabulary of a language: what each word can be, found by its form, by its stem, or where it stands in a text without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated

from msgspec import Meta, Struct

from interlock.analysis.confusables import folded
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon.english import Regexes, Text

_LATIN = re.compile("[A-Za-z]")
_OWN = ("\ue000", *map(chr, range(0xE200, 0xE300)))  # marks, and what idioms were replaced by


class Pieces:
    """Words that are found where they stand, the longest first; one in Latin letters has to stand alone."""

    def __init__(self, names: Iterable[str]) -> None:
        self.begun: dict[str, tuple[str, ...]] = {}
        for name in sorted({*names, *_OWN}, key=len, reverse=True):
            self.begun[name[0]] = (*self.begun.get(name[0], ()), name)

    def at(self, text: str, place: int) -> str:
        for name in self.begun.get(text[place : place + 1], ()):
            end = place + len(name)
            inside = name.isascii() and _LATIN.search(text[place - 1 : place] + text[end : end + 1])
            if text.startswith(name, place) and not inside:
                return name
        return ""

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Where each word stands; none is inside another."""
        place = 0
        while place < len(text):
            name = self.at(text, place)
            if name:
                yield place, name
            place += len(name) or 1


Entry = tuple[str, str, tuple[str, ...]]  # (role, kind, traits); role: verb, look, make, noun, scope, never, asked…
Loans = Mapping[str, list[Entry]]

_ASIDES = frozenset("unless outside personal past_trial without weak that means".split())  # besides something else
HEADS = ("verb", "result", "look", "make", "do", "launch", "fetch")  # what can govern a clause
_Table = Mapping[str, str]
_Listed = Annotated[Mapping[str, Text], Meta(min_length=1)]


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a language, by the keys that `roles.toml` explains; in lower case and without accents, `word*` for all that begins so."""

    code: str
    verbs: _Listed
    nouns: _Listed
    scope: _Listed
    words: _Listed
    script: str = ""
    letters: str = "(?!)"
    head: str = "first"
    noun: str = "first"
    past: str = "(?!)"
    clitic: str = ""
    converb: str = "(?!)"
    plural: str = "(?!)"
    third: str = "(?:a|(?<!r)e)$"
    compound: bool = False
    capitals: bool = False
    spaced: bool = True
    accents: bool = False
    idioms: Mapping[str, Regexes] = {}
    pairs: Mapping[str, Text] = {}
    alone: Mapping[str, Text] = {}

    def listed(self, role: str) -> list[str]:
        return self.words.get(role, "").split()


def word_entries(roles: Iterable[str], words: _Table, *named: _Table) -> Iterator[tuple[str, Entry]]:
    """Every verb, noun, word of a role and word of a scope with what it is; `_` stands between words that are one only together."""
    for role, table in zip(("verb", "noun", "scope"), named, strict=True):
        for name, listed in table.items():
            yield from ((word, entry_of(f"{role} {name}")) for word in listed.split())
    for role in roles:
        yield from ((word, (role, "", ())) for word in words.get(role, "").split())


def entry_of(name: str) -> Entry:
    """`verb grant admin`, `scope all`, `look`: what a name in a table stands for."""
    role, *rest = name.split()
    if role == "scope":
        return role, "", tuple(rest)
    return role, rest[0] if rest else "", tuple(rest[1:])


class Vocabulary:
    """A language's words, findable; an exact word outranks a stem, a longer stem a shorter one."""

    def __init__(self, language: Language, loans: Loans, roles: Iterable[str]) -> None:
        self.language, self.loans = language, loans
        self.entries = [*word_entries(roles, language.words, language.verbs, language.nouns, language.scope)]
        self.exact: dict[str, list[Entry]] = {}
        self.stems: dict[str, list[tuple[str, Entry]]] = {}
        several: dict[str, list[Entry]] = {}
        for word, entry in self.entries:
            if "_" in word and language.spaced:
                several.setdefault(word, []).append(entry)
            elif word.endswith("*"):
                self.stems.setdefault(word[:3], []).append((word[:-1], entry))
            else:
                self.exact.setdefault(word, []).append(entry)
        for stems in self.stems.values():
            stems.sort(key=lambda pair: -len(pair[0]))
        self.several: dict[tuple[Entry, ...], list[str]] = {}  # words that are one only together
        for word, entries in several.items():
            self.several.setdefault(tuple(entries), []).append(word)
        self.particles: dict[str, list[tuple[str, Entry]]] = {}  # a particle -> the stems of its verbs
        for name, pairs in language.pairs.items():
            for stem, _, particle in (pair.partition("+") for pair in pairs.split()):
                self.particles.setdefault(particle, []).append((stem, entry_of(name)))
        self.alone = {word: entry_of(name) for name, words in language.alone.items() for word in words.split()}
        listed = map(language.listed, ("now", "links", "relatives", "by", "others"))
        self.now, self.links, self.relatives, self.by, self.others = map(frozenset, listed)
        self.past = lazy_regex(language.past)  # a form that reports or denies
        self.converb = lazy_regex(language.converb)  # an act that another one follows
        self.plural = lazy_regex(language.plural)  # a noun that means many
        self.third = lazy_regex(language.third)  # what somebody else does
        self.clitic = lazy_regex(language.clitic) if language.clitic else None  # what hangs at a word
        begin = r"(?<!\S)" if language.spaced else ""
        self.unchecked = lazy_regex(lambda: begin + self._unchecked())  # a review, a test or a copy is left out
        self.ships = lazy_regex(lambda: begin + _any(language.listed("ship")))  # puts something into force
        self.publishes = lazy_regex(lambda: begin + _any(language.listed("publish")))  # shows something to everybody
        empty = "|".join(map(_pattern, sorted(language.listed("empty"), key=len, reverse=True))) or "(?!)"
        within = r"\W*(?:(?:%s)(?:\W+|$))+$" if language.spaced else r"(?:(?:%s)|[\W\d])+$"
        self.empty = lazy_regex(within % empty)  # a text in which no word says anything

    def plain(self, text: str) -> str:
        """The text as the words of this language are written here."""
        return text.lower() if self.language.accents else folded(text)

    @cached_property
    def idiom_entries(self) -> list[tuple[Entry, ...]]:
        """What the idioms are, in the order of their groups in `idioms`."""
        return [*((entry_of(name),) for name in self.language.idioms), *self.several]

    @cached_property
    def idioms(self) -> re.Pattern[str] | None:
        """Matches an idiom; the number of its group says which."""
        if not self.idiom_entries:
            return None
        several = ("|".join(map(_pattern, sorted(words, key=len, reverse=True))) for words in self.several.values())
        patterns = [*map("|".join, self.language.idioms.values()), *several]
        edges = (r"(?<!\S)(?:", r")(?!\S)") if self.language.spaced else ("(?:", ")")
        named = (f"(?P<i{number}>{pattern})" for number, pattern in enumerate(patterns))
        return re.compile(edges[0] + "|".join(named) + edges[1])

    def _unchecked(self) -> str:
        language = self.language
        omit = [*language.listed("without"), *language.listed("omit"), *language.verbs["bypass"].split()]
        parts = [_any(omit), _any(language.listed("check"))]
        between = r"\S*(?: \S+){0,4} (?:\S{1,2}')?" if language.spaced else ".{0,8}?"
        missing = between.join(parts if language.head != "last" else reversed(parts))
        return rf"(?:{missing}(?: (?:zu|te) \S+)?|{_any(language.listed('unchecked'))})"

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces({*(word.rstrip("*") for word, _ in self.entries), *self.loans})

    def find(self, word: str) -> list[Entry]:
        """What a word is; several things at once are possible."""
        found = self.exact.get(word, [])
        if any(entry[0] not in _ASIDES for entry in found):
            return found
        longest = 0
        entries: list[Entry] = []
        for stem, entry in self.stems.get(word[:3], ()):
            if len(stem) < longest:
                break
            if word.startswith(stem):
                longest = len(stem)
                entries.append(entry)
        return found + entries or self.loans.get(word, [])

    def find_whole(self, word: str) -> list[Entry]:
        """What a word is, pronouns at its end taken off and the last part of a compound considered."""
        entries = self.find(word)
        if not entries and (clitic := self.clitic):
            bare = word
            for _ in range(_CLITICS):
                bare = clitic.sub("", bare, count=1)
                entries = entries or self.find(bare)
        if not entries and self.language.compound and "ge" in word[:6]:
            entries = self.find(word.replace("ge", "", 1))
        if not self.language.compound or len(word) < 8 or word in self.exact:
            return entries
        tail = self._tail(word, 5 if any(entry[0] in HEADS for entry in entries) else 4)
        owned = [_OWNED for entry in entries if entry[:2] == ("noun", "account")]
        return [*owned, *(entry for entry in entries if entry[0] in ("scope", "unless")), *tail] if tail else entries

    def _tail(self, word: str, least: int) -> list[Entry]:
        """The noun at the end of a compound word; none when a stem explains all of it."""
        begun = (stem for stem, entry in self.stems.get(word[:3], ()) if entry[0] == "noun")
        known = next(filter(word.startswith, begun), "")
        if len(word) - len(known) < 5:
            return []
        for at in range(max(3, len(known)), min(len(word) - least + 1, 24)):
            found = [entry for entry in self.find(word[at:]) if entry[0] == "noun"]
            if found:
                return found
        return []


_CLITICS = 3  # that can hang at one word
_OWNED: Entry = ("personal", "", ())  # `Kundenliste`


def _pattern(name: str) -> str:
    return re.escape(name).replace("_", " ").replace(r"\*", r"\w*")


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(_pattern(word).replace('w*', 'S*') for word in words) or '(?!)'})"
