"""What has to be known of a language to read what is announced in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from interlock.core.read.prose.foreign_pieces import Pieces
from interlock.core.read.prose.languages.loans import NOUNS, ROLES, VERBS

Entry = tuple[str, str, tuple[str, ...]]  # (role, kind, traits); role: verb, look, make, noun, scope, never, asked…

# Roles of single words; verbs, nouns and scope words have kinds and traits besides.
_ROLES = (
    "look", "make", "do", "launch", "fetch", "never", "without", "weak", "because", "asked", "that", "means", "joints", "will", "was", "unless", "also", "trial",
    "past_trial", "outside", "personal",
)  # fmt: skip
_ASIDES = (
    "unless",
    "outside",
    "personal",
    "past_trial",
    "without",
    "weak",
    "that",
    "means",
)  # a word can be these besides something else
HEADS = ("verb", "look", "make", "do", "launch", "fetch")  # what can govern a clause


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language, in lower case and without accents; `word*` stands for everything that begins so."""

    code: str
    common: str  # words that tell the language
    verbs: Mapping[str, str]  # kind of act -> verbs
    nouns: Mapping[str, str]  # "kind trait" -> nouns
    scope: Mapping[str, str]  # trait -> words
    look: str  # verbs that only look
    make: str  # verbs that make something recoverable
    never: str  # denials
    asked: str  # words that begin a question or a condition
    joints: str  # words that join two acts
    without: str = ""  # denials of a thing rather than of an act
    because: str = ""  # words that begin a reason
    weak: str = ""  # denials of the next word alone
    that: str = ""  # words that begin what was said, thought or tested
    means: str = ""  # words before what something is done with
    quiet: str = ""  # words that mean nothing here, but have others inside them
    now: str = ""  # forms that end like a report and are none
    links: str = ""  # words between a thing and what it is for
    head: str = "first"  # which verb governs: first, last or any
    noun: str = "first"  # which noun is the object
    past: str = r"(?!)"  # how a reported or passive form ends, accents kept
    will: str = ""  # words with which a passive form announces
    was: str = ""  # words with which it reports
    unless: str = ""  # what may be missing without denying the act: a backup, a question
    do: str = ""  # verbs that leave it to the next word what is done
    launch: str = ""  # verbs that run a program
    fetch: str = ""  # verbs that download one
    also: str = ""  # what is named before was not all of it
    trial: str = ""  # nothing happens but a rehearsal
    past_trial: str = ""  # the rehearsal is over
    outside: str = ""  # where strangers read, or what nobody has vouched for
    personal: str = ""  # what makes data somebody's own
    empty: str = ""  # words that say nothing about what is done
    idioms: Mapping[str, str] = field(default_factory=dict)  # "role kind traits" -> a pattern over plain words
    pairs: Mapping[str, str] = field(
        default_factory=dict
    )  # kind or role -> "verb+particle", where the particle stands apart
    alone: Mapping[str, str] = field(default_factory=dict)  # "role kind" -> particles that need no verb
    clitic: str = ""  # pronouns that hang at the end of a verb
    plural: str = r"(?!)"  # how a noun ends that means many
    compound: bool = False  # the last part of a long word says what it is
    capitals: bool = False  # nouns begin with a capital letter
    spaced: bool = True  # words have spaces between them

    def entries(self) -> Iterator[tuple[str, Entry]]:
        """Every word with what it is."""
        for kind, words in self.verbs.items():
            yield from ((word, ("verb", kind, ())) for word in words.split())
        for name, words in self.nouns.items():
            kind, _, trait = name.partition(" ")
            yield from ((word, ("noun", kind, tuple(trait.split()))) for word in words.split())
        for trait, words in self.scope.items():
            yield from ((word, ("scope", "", (trait,))) for word in words.split())
        yield from ((word, ("quiet", "", ())) for word in self.quiet.split())
        for role in _ROLES:
            yield from ((word, (role, "", ())) for word in getattr(self, role).split())


def entry_of(name: str) -> Entry:
    """`verb grant admin`, `scope all`, `look`: what a name in a table stands for."""
    role, *rest = name.split()
    if role == "scope":
        return role, "", tuple(rest)
    return role, rest[0] if rest else "", tuple(rest[1:])


class Index:
    """A language's words, findable; an exact word outranks a stem, a longer stem a shorter one."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.exact: dict[str, list[Entry]] = {}
        self.stems: dict[str, list[tuple[str, Entry]]] = {}
        for word, entry in language.entries():
            if word.endswith("*"):
                self.stems.setdefault(word[:3], []).append((word[:-1], entry))
            else:
                self.exact.setdefault(word, []).append(entry)
        for stems in self.stems.values():
            stems.sort(key=lambda pair: -len(pair[0]))
        self.past, self.plural = re.compile(language.past), re.compile(language.plural)
        self.clitic = re.compile(language.clitic) if language.clitic else None
        self.idiom_entries = [entry_of(name) for name in language.idioms]
        self.idioms = _idioms(language)
        self.particles = _particles(language)
        self.alone = {word: entry_of(name) for name, words in language.alone.items() for word in words.split()}
        self.now, self.links = frozenset(language.now.split()), frozenset(language.links.split())
        self.empty = _empty(language)
        if not language.spaced:
            self.pieces = Pieces({*(word.rstrip("*") for word, _ in language.entries()), *loans()})

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
        return found + entries or loans().get(word, [])

    def find_whole(self, word: str) -> list[Entry]:
        """What a word is, pronouns at its end taken off and the last part of a compound considered."""
        entries = self.find(word)
        if not entries and self.clitic:
            bare = self.clitic.sub("", word)
            entries = self.find(bare) if bare != word else entries
        if self.language.compound:
            if not entries and "ge" in word[:6]:
                entries = self.find(word.replace("ge", "", 1))
            if len(word) > 7 and word not in self.exact:
                return self._compound(word, entries)
        return entries

    def _compound(self, word: str, entries: list[Entry]) -> list[Entry]:
        """The noun that the last part of a word is, with what its first part says about how much."""
        tail = self._tail(word, 5 if any(entry[0] in HEADS for entry in entries) else 4)
        return [entry for entry in entries if entry[0] in ("scope", "unless")] + tail if tail else entries

    def _tail(self, word: str, least: int) -> list[Entry]:
        """The noun at the end of a compound word; none when a stem explains all of it."""
        known = next(
            (stem for stem, entry in self.stems.get(word[:3], ()) if entry[0] == "noun" and word.startswith(stem)), ""
        )
        if len(word) - len(known) < 5:
            return []
        for at in range(max(3, len(known)), min(len(word) - least + 1, 24)):
            found = [entry for entry in self.find(word[at:]) if entry[0] == "noun"]
            if found:
                return found
        return []


@cache
def loans() -> dict[str, list[Entry]]:
    """Words of the trade that are the same in every language."""
    table: dict[str, list[Entry]] = {}
    for role, words in ROLES.items():
        for word in words.split():
            table[word] = [(role, "", ())]
    for names, role in ((NOUNS, "noun"), (VERBS, "verb")):
        for name, words in names.items():
            for word in words.split():
                table.setdefault(word, []).append(entry_of(f"{role} {name}"))
    return table


def _idioms(language: Language) -> re.Pattern[str] | None:
    if not language.idioms:
        return None
    edges = (r"(?<!\S)(?:", r")(?!\S)") if language.spaced else ("(?:", ")")
    named = (f"(?P<i{number}>{pattern})" for number, pattern in enumerate(language.idioms.values()))
    return re.compile(edges[0] + "|".join(named) + edges[1])


def _particles(language: Language) -> dict[str, list[tuple[str, Entry]]]:
    """A particle -> the stems of the verbs that it belongs to."""
    table: dict[str, list[tuple[str, Entry]]] = {}
    for name, pairs in language.pairs.items():
        for pair in pairs.split():
            stem, _, particle = pair.partition("+")
            table.setdefault(particle, []).append((stem, entry_of(name)))
    return table


def _empty(language: Language) -> re.Pattern[str]:
    """Matches a text in which no word says anything."""
    names = sorted(language.empty.split(), key=len, reverse=True)
    words = (
        "|".join(re.escape(name[:-1]) + r"\w*" if name.endswith("*") else re.escape(name) for name in names) or "(?!)"
    )
    if language.spaced:
        return re.compile(rf"\W*(?:(?:{words})(?:\W+|$))+$")
    return re.compile(rf"(?:(?:{words})|[\W\d])+$")
