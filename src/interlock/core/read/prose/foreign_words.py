"""A piece of a sentence in another language -> its words, each with what it can be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from interlock.core.read.prose.language import Entry, Index
from interlock.core.read.prose.normalise import folded

WORD = re.compile(r"(?<![\w./-])[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w/])")
_NUMBER = re.compile(r"(?<![\w.#-])(\d[\d., \u00a0]{0,12})\s*((?:[^\W\d_]|-){1,30})")
_ARTICLES = frozenset({"el", "un", "del", "al"})  # `el borrado` is an act, `ha borrado` a report
_FIRST = 0xE200  # private characters stand for idioms where words have no spaces between them


@dataclass(slots=True)
class Word:
    """A word of a clause with what it can be."""

    text: str
    entries: list[Entry]
    past: bool = False

    def has(self, *roles: str) -> bool:
        return any(entry[0] in roles for entry in self.entries)

    def kind(self, role: str) -> str:
        return next((entry[1] for entry in self.entries if entry[0] == role), "")


def words_of(text: str, book: Index) -> list[Word]:
    """The words that are known here, idioms and separated verbs put together."""
    if not book.language.spaced:
        return _unspaced(text, book)
    found = []
    before = ""
    for written in WORD.findall(text.lower()):
        plain = folded(written).replace("’", "'")
        bare = plain.partition("'")[2] if "'" in plain[:5] else plain
        entries = book.find_whole(plain) or (book.find_whole(bare) if bare != plain else [])
        if not entries and "-" in plain:
            entries = _hyphened(plain, book)
        found.append(Word(plain, entries, bool(book.past.search(written)) and before not in _ARTICLES))
        before = plain
    found = _with_idioms(found, book)
    _join_particles(found, book)
    _mark_many(text, found, book)
    return found


def _hyphened(word: str, book: Index) -> list[Entry]:
    """`support-postfach`, `apaga-los`: the parts of a word with a hyphen, the last noun or the first verb."""
    parts = [book.find_whole(part) for part in word.split("-")]
    scope = [entry for entries in parts for entry in entries if entry[0] == "scope"]
    if parts[-1] and parts[-1][0][0] == "noun":
        return scope + parts[-1]
    return parts[0] or scope


def _unspaced(text: str, book: Index) -> list[Word]:
    if book.idioms:
        text = book.idioms.sub(
            lambda match: chr(_FIRST + int((match.lastgroup or "i0")[1:])) + _names(match[0], book), text
        )
    found = []
    for match in book.pieces.finditer(text):
        number = ord(match[0][0]) - _FIRST
        idiom = 0 <= number < len(book.idiom_entries)
        found.append(Word(match[0], [book.idiom_entries[number]] if idiom else book.find(match[0])))
    _mark_many(text, found, book)
    return found


def _named(entries: list[Entry]) -> list[Entry]:
    """What an idiom keeps of the words inside it: what they name, and how much of it."""
    return [entry for entry in entries if entry[0] in ("noun", "scope")]


def _names(text: str, book: Index) -> str:
    return " ".join(piece for piece in book.pieces.findall(text) if _named(book.find(piece)))


def _with_idioms(words: list[Word], book: Index) -> list[Word]:
    """The words with every idiom as one word."""
    if not book.idioms or not words:
        return words
    found: list[Word] = []
    text = " ".join(word.text for word in words)
    at = place = 0  # in words, in characters
    for match in book.idioms.finditer(text):
        while place < match.start():
            found.append(words[at])
            place += len(words[at].text) + 1
            at += 1
        idiom = Word(match[0], [book.idiom_entries[int((match.lastgroup or "i0")[1:])]])
        found.append(idiom)
        while at < len(words) and place < match.end():
            idiom.entries += _named(words[at].entries)
            place += len(words[at].text) + 1
            at += 1
    return found + words[at:]


def _join_particles(words: list[Word], book: Index) -> None:
    """`schalte … ab`: the nearest verb before a particle becomes what both mean together."""
    for at, word in enumerate(words):
        for stem, entry in book.particles.get(word.text, ()):
            verb = next((other for other in reversed(words[max(0, at - 12) : at]) if _matches(other.text, stem)), None)
            if verb is not None:
                verb.entries, verb.past, word.entries = [entry], False, []
                break


def _matches(text: str, stem: str) -> bool:
    return text.startswith(stem[:-1]) if stem.endswith("*") else text == stem


def _mark_many(text: str, words: list[Word], book: Index) -> None:
    """`20 000 clientes`: a number before a noun means many."""
    for number, name in _NUMBER.findall(text.lower()) if any(map(str.isdigit, text)) else ():
        if int(re.sub(r"\D", "", number)) < 2:
            continue
        plain = folded(name)
        known = (
            book.find_whole(plain)
            if book.language.spaced
            else [entry for piece in book.pieces.findall(name) for entry in book.find(piece)]
        )
        if any(entry[0] == "noun" and entry[1] != "money" for entry in known):
            words.append(Word("", [("scope", "", ("bulk",))]))
