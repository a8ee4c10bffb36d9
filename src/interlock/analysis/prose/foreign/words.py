"""A piece of a foreign sentence -> its words, each with the roles that it can have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from interlock.analysis.lexicon.load import WordLists, telling_files
from interlock.analysis.lexicon.vocabulary import HEADS, Entry, Vocabulary
from interlock.analysis.prose.embedded import MARK

_LISTS = WordLists("foreign_words")

_SIGNS = r"(?:[\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u064b-\u0652]+[^\W_]*)*"  # vowels written as marks
WORD = re.compile(rf"(?<![\w./-])[^\W\d_][^\W_]*{_SIGNS}(?:['’-][^\W_]+{_SIGNS})*(?![\w/])")
_TOKEN = re.compile(rf"{MARK}|{WORD.pattern}")
_PATH = re.compile(r"[A-Za-z0-9.~-]{0,60}[/_][A-Za-z0-9_./~-]{0,200}|(?<=[枝支チ] )[A-Za-z]+-[A-Za-z0-9-]{1,80}")
_PRONOUN = 4  # letters of the longest one that hangs on a verb
_NAMING = frozenset({"code", "letter"})
_BARE = re.compile(r"(?:r|re|en|n|ть|ия|a)$")  # how an act ends when it is only the name of a button
_AGENTS = frozenset("者器")
_NUMBER = re.compile(r"(?<![\w.#-])(\d[\d., \u00a0]{0,12})\s*((?:[^\W\d_]|-){1,30})")
_FIRST = 0xE200  # private characters stand for idioms where words have no spaces between them


class ForeignWord(Struct):
    """A word of a clause with what it can be."""

    text: str
    entries: list[Entry]
    past: bool = False
    start: int = 0  # in characters, where words have no spaces between them
    after: str = ""  # what follows it there

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def has(self, *roles: str) -> bool:
        return bool(self.entries) and any(entry[0] in roles for entry in self.entries)

    def has_kind(self, *kinds: str) -> bool:
        """True for a verb of one of these kinds."""
        return any(entry[0] == "verb" and entry[1] in kinds for entry in self.entries)

    def kind(self, role: str) -> str:
        return next((entry[1] for entry in self.entries if entry[0] == role), "")


def some(words: Iterable[ForeignWord], *roles: str) -> bool:
    """True when one of the words has one of the roles."""
    for word in words:
        for entry in word.entries:
            if entry[0] in roles:
                return True
    return False


class ForeignClause(Struct):
    """The words of a clause, the text they were found in, and its language."""

    words: list[ForeignWord]
    raw: str
    book: Vocabulary

    def has(self, *roles: str) -> bool:
        return some(self.words, *roles)

    @property
    def head(self) -> str:
        """Which verb governs: first, last or any."""
        return self.book.language.head

    @property
    def roles(self) -> set[str]:
        return {entry[0] for word in self.words for entry in word.entries}

    @property
    def nouns(self) -> list[tuple[int, Entry]]:
        """The nouns, each with its place."""
        return [(at, entry) for at, word in enumerate(self.words) for entry in word.entries if entry[0] == "noun"]

    @property
    def named(self) -> set[str]:
        """The kinds of the nouns."""
        return {entry[1] for _, entry in self.nouns}


def words_of(text: str, book: Vocabulary) -> list[ForeignWord]:
    """The words that are known here, idioms and separated verbs put together."""
    if not book.language.spaced:
        return _unspaced(text, book)
    found: list[ForeignWord] = []
    before = ""
    for token in _TOKEN.findall(with_files_as_words(text)):
        written = token.lower()
        plain = book.plain(written.replace("zähl", "zaehl")).replace("’", "'")  # what is counted is not paid
        entries = _known(plain, book)
        if (book.language.capitals and found and token[0].isupper()) or (
            book.language.compound and plain.endswith("ingen")
        ):
            entries = [entry for entry in entries if entry[0] not in _LISTS.shields]
        past = before not in _LISTS.articles and entries is not book.loans.get(plain) and _is_past(written, plain, book)
        found.append(ForeignWord(plain, entries, past))
        before = plain
    found = _with_idioms(found, book)
    _join_particles(found, book)
    for thing, link, word in zip(found, found[1:], found[2:], strict=False):
        if link.text in book.links and thing.kind("noun") in _NAMING:  # `plan para eliminar`, `botón de borrar`
            word.entries = [entry for entry in word.entries if entry[0] != "verb"]
    _mark_many(text, found, book)
    return found


def with_files_as_words(text: str) -> str:
    """The text with the names of telling files replaced by the word that they are read as."""
    return " ".join(token if token.isalpha() else _file_word(token) for token in text.split(" "))


def _file_word(token: str) -> str:
    name = token.strip("\"'`“”«»,;:!?()").rstrip(".").lower()
    if not name or len(name) > _LONGEST_NAME or name.isalpha():
        return token
    return next((word for word, pattern in telling_files() if pattern.search(name)), token)


_LONGEST_NAME = 200
_MARKED: list[Entry] = [("mark", "", ())]


def _known(plain: str, book: Vocabulary) -> list[Entry]:
    """What a word can be, also without the article before its apostrophe."""
    if plain == MARK:
        return _MARKED
    if "-" in plain and plain not in book.exact:
        entries = _hyphened(plain, book)
        if entries:
            return entries
    entries = book.find_whole(plain)
    return book.find_whole(plain.partition("'")[2]) if not entries and "'" in plain[:5] else entries


def _is_past(written: str, plain: str, book: Vocabulary) -> bool:
    return plain not in book.now and bool(book.past.search(written))


def _hyphened(word: str, book: Vocabulary) -> list[Entry]:
    """`support-postfach`, `apaga-los`: the parts of a word with a hyphen, the last noun or the first verb."""
    pieces = word.split("-")
    parts = [book.find_whole(part) for part in pieces]
    scope = [entry for entries in parts for entry in entries if entry[0] in ("scope", "outside")]
    if parts[-1] and parts[-1][0][0] == "noun":
        return scope + parts[-1]
    whole = book.find(word)
    if whole:
        return scope + whole
    return parts[0] if len(pieces) == 2 and len(pieces[1]) <= _PRONOUN and parts[0] else scope


def _unspaced(text: str, book: Vocabulary) -> list[ForeignWord]:
    text = _PATH.sub(" ", with_files_as_words(text))
    if book.idioms:
        text = book.idioms.sub(
            lambda match: chr(_FIRST + int((match.lastgroup or "i0")[1:])) + _names(match[0], book), text
        )
    found = []
    for place, name in book.pieces.find(text):
        number = ord(name[0]) - _FIRST
        idiom = 0 <= number < len(book.idiom_entries)
        entries = list(book.idiom_entries[number]) if idiom else _MARKED if name == MARK else book.find(name)
        end = place + len(name)
        word = ForeignWord(name, entries, False, place, text[end : end + 16])
        if word.has("joints") and name.endswith("て") and word.after[:1] in ("い", "も"):
            word.entries = [("asked", "", ())] if word.after[0] == "も" else []  # `していません`, `しても問題ないか`
        if word.has("verb") and not idiom and (word.after[:1] in _AGENTS or _names_a_thing(word.after, book)):
            word.entries = [entry for entry in entries if entry[0] != "verb"]
        found.append(word)
    _mark_many(text, found, book)
    return found


def _names_a_thing(after: str, book: Vocabulary) -> bool:
    """`削除ボタン`, `删除按钮`: what follows at once says that the act is the name of a thing."""
    thing = book.pieces.at(after, 0)
    return bool(thing) and any(entry[0] == "noun" and entry[1] in _NAMING for entry in book.find(thing))


def _named(entries: list[Entry]) -> list[Entry]:
    """What an idiom keeps of the words inside it: what they name, and how much of it."""
    return [entry for entry in entries if entry[0] in ("noun", "scope")]


def _names(text: str, book: Vocabulary) -> str:
    return " ".join(piece for _, piece in book.pieces.find(text) if _named(book.find(piece)))


def _with_idioms(words: list[ForeignWord], book: Vocabulary) -> list[ForeignWord]:
    """The words with every idiom as one word."""
    if not book.idioms or not words:
        return words
    found: list[ForeignWord] = []
    text = " ".join(word.text for word in words)
    at = place = 0  # in words, in characters
    for match in book.idioms.finditer(text):
        while place < match.start():
            found.append(words[at])
            place += len(words[at].text) + 1
            at += 1
        idiom = ForeignWord(match[0], list(book.idiom_entries[int((match.lastgroup or "i0")[1:])]))
        found.append(idiom)
        while at < len(words) and place < match.end():
            idiom.entries += _named(words[at].entries)
            place += len(words[at].text) + 1
            at += 1
    return found + words[at:]


def _join_particles(words: list[ForeignWord], book: Vocabulary) -> None:
    """`schalte … ab`: the nearest verb before a particle becomes what both mean together."""
    for at, word in enumerate(words):
        for stem, entry in book.particles.get(word.text, ()):
            verb = next((other for other in reversed(words[max(0, at - 12) : at]) if _joins(other, stem)), None)
            if verb is not None:
                verb.entries, verb.past, word.entries = [entry], False, []
                break


def _joins(word: ForeignWord, stem: str) -> bool:
    """True for a form of the verb; `Schreibrechte` is none of `schreiben`."""
    if not (word.text.startswith(stem[:-1]) if stem.endswith("*") else word.text == stem):
        return False
    return not word.has("noun") or word.has(*HEADS)


def _mark_many(text: str, words: list[ForeignWord], book: Vocabulary) -> None:
    """`20 000 clientes`: a number before a noun means many."""
    for number, name in _NUMBER.findall(text.lower()) if any(map(str.isdigit, text)) else ():
        if int(re.sub(r"\D", "", number)) < 2:
            continue
        plain = book.plain(name)
        known = (
            book.find_whole(plain)
            if book.language.spaced
            else [entry for _, piece in book.pieces.find(name) for entry in book.find(piece)]
        )
        if any(entry[0] == "noun" and entry[1] != "money" for entry in known):
            words.append(ForeignWord("", [("scope", "", ("bulk",))]))
