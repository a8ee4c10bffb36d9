"""A foreign sentence -> its language, by its script or its common words, and the roles that each of its words can have."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from itertools import accumulate

from msgspec import Struct

from interlock.analysis.confusables import folded
from interlock.analysis.lexicon import nouns, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists, telling_files, vocabularies
from interlock.analysis.lexicon.vocabulary import HEADS, Entry, Vocabulary
from interlock.analysis.prose.embedded import MARK

_PATTERNS = Patterns("foreign_words")
_LISTS = WordLists("foreign_words")

_NAMING = frozenset({"code", "letter"})
_MARKED: list[Entry] = [("mark", "", ())]
_PRONOUN = 4  # letters of the longest one that hangs on a verb
_LONGEST_NAME = 200
_FIRST = 0xE200  # private characters stand for idioms where words have no spaces between them

# -- the language

LONGEST = 4_000
_MOST_WORDS = 60
_SETTLED = 3  # what an idiom adds
_SMALL = 4  # letters


def book_of(sentence: str) -> Vocabulary | None:
    """The words of the language that a sentence is in; none for English."""
    books, plain = vocabularies(), sentence.isascii()
    written = () if plain else ((code, book.language.script) for code, book in books.items())
    other = [code for code, script in written if script and re.search(script, sentence)]
    if len(other) == 1:
        return books[other[0]]
    words, english = _PATTERNS.word.findall(folded(sentence[:LONGEST]))[:_MOST_WORDS], 0
    scores = dict.fromkeys(other or _latin(), 0)
    for word in words:
        in_english, votes = _weights(word)
        english += in_english
        for code, weight in votes:
            if code in scores:
                scores[code] += weight
    for code in () if plain else scores:
        scores[code] += 2 * bool(re.search(books[code].language.letters, sentence))
    most = max(scores.values())
    if not other and most + _SETTLED <= english:
        return None
    near = [code for code in scores if most and scores[code] >= most - 2]
    for code in near if len(near) > 1 else ():  # told apart by their idioms
        if (idioms := books[code].idioms) and idioms.search(" ".join(words)):
            scores[code] += _SETTLED
    best = max(scores, key=scores.__getitem__)
    return books[best] if other or scores[best] > english else None


@lru_cache(maxsize=8192)
def _weights(word: str) -> tuple[int, list[tuple[str, int]]]:
    """How much a word speaks for English, and for each of the other languages."""
    codes, shared = _common().get(word, ()), word in _LISTS.shared
    votes = [(code, 1 if shared or len(codes) > 1 else 2) for code in codes]
    for code, book in vocabularies().items():
        stems = (entry for stem, entry in book.stems.get(word[:3], ()) if word.startswith(stem))
        whole = book.exact.get(word, ())
        if entry := next(iter(whole or stems), None):
            votes.append((code, 2 if entry[0] in HEADS and not (whole and shared) else 1))
    if word in _LISTS.only_english:
        return 3 if word == "the" else 2, votes
    if word in verb_forms():
        return 1 if len(word) < _SMALL and codes else 2, votes  # `del`, `do`
    return int(shared or word in _LISTS.english or word in nouns()), votes


_latin = cache(lambda: [code for code, book in vocabularies().items() if not book.language.script])


@cache
def _common() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for code, book in vocabularies().items():
        for word in {word for role in ("common", "empty", "asked", "never") for word in book.language.listed(role)}:
            table[word] = (*table.get(word, ()), code)
    return table


# -- its words


class ForeignWord(Struct):
    text: str
    entries: list[Entry]
    past: bool = False
    start: int = 0  # in characters, where words have no spaces between them
    after: str = ""  # what follows it there

    def has(self, *roles: str) -> bool:
        return bool(self.entries) and any(entry[0] in roles for entry in self.entries)

    def kind(self, role: str) -> str:
        return next((entry[1] for entry in self.entries if entry[0] == role), "")


def some(words: Iterable[ForeignWord], *roles: str) -> bool:
    return any(entry[0] in roles for word in words for entry in word.entries)


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
    def nouns(self) -> list[tuple[int, Entry]]:
        return [(at, entry) for at, word in enumerate(self.words) for entry in word.entries if entry[0] == "noun"]

    @property
    def named(self) -> set[str]:
        return {entry[1] for _, entry in self.nouns}


def words_of(text: str, book: Vocabulary) -> list[ForeignWord]:
    """The words that are known here, idioms and separated verbs put together."""
    tokens = text.split(" ")
    for at, token in enumerate(tokens):
        name = "" if token.isalpha() else token.strip("\"'`“”«»,;:!?()").rstrip(".").lower()
        if name and not name.isalpha() and len(name) <= _LONGEST_NAME:  # the word that a telling file is read as
            tokens[at] = next((word for word, pattern in telling_files() if pattern.search(name)), token)
    plain = " ".join(tokens)
    found = _spaced(plain, book) if book.language.spaced else _unspaced(plain, book)
    for number, name in _PATTERNS.number.findall(text.lower()) if any(map(str.isdigit, text)) else ():
        if int(re.sub(r"\D", "", number)) < 2:
            continue
        pieces = (entry for _, piece in book.pieces.find(name) for entry in book.find(piece))
        known = book.find_whole(book.plain(name)) if book.language.spaced else pieces
        if any(entry[0] == "noun" and entry[1] != "money" for entry in known):
            found.append(ForeignWord("", [("scope", "", ("bulk",))]))  # `20 000 clientes`
    return found


def _spaced(text: str, book: Vocabulary) -> list[ForeignWord]:
    found: list[ForeignWord] = []
    before = ""
    for token in _PATTERNS.token.findall(text):
        written = token.lower()
        plain = book.plain(written.replace("zähl", "zaehl")).replace("’", "'")  # what is counted is not paid
        entries = _known(plain, book)
        noun = book.language.capitals and found and token[0].isupper()
        if noun or (book.language.compound and plain.endswith("ingen")):
            entries = [entry for entry in entries if entry[0] not in _LISTS.shields]
        reports = before not in _LISTS.articles and entries is not book.loans.get(plain) and plain not in book.now
        found.append(ForeignWord(plain, entries, reports and bool(book.past.search(written))))
        before = plain
    found = _with_idioms(found, book)
    for at, word in enumerate(found):
        for stem, entry in book.particles.get(word.text, ()):
            near = [one for one in found[max(0, at - 12) : at] if one.has(*HEADS) or not one.has("noun")]
            forms = [one for one in near if " " not in one.text and fnmatchcase(one.text, stem)]
            if forms:  # `schalte … ab`: the nearest verb becomes what both mean together; not `Schreibrechte`
                forms[-1].entries, forms[-1].past, word.entries = [entry], False, []
                break
    for thing, link, word in zip(found, found[1:], found[2:], strict=False):
        if link.text in book.links and thing.kind("noun") in _NAMING:  # `plan para eliminar`, `botón de borrar`
            word.entries = [entry for entry in word.entries if entry[0] != "verb"]
    return found


def _known(plain: str, book: Vocabulary) -> list[Entry]:
    """What a word can be, without the article before its apostrophe; of one with a hyphen, the last noun or the first verb: `apaga-los`."""
    if plain == MARK:
        return _MARKED
    if "-" in plain and plain not in book.exact:
        parts = list(map(book.find_whole, plain.split("-")))
        scope = [entry for entries in parts for entry in entries if entry[0] in ("scope", "outside")]
        whole = parts[-1] if parts[-1] and parts[-1][0][0] == "noun" else book.find(plain)
        tied = parts[0] if len(parts) == 2 and len(plain.partition("-")[2]) <= _PRONOUN else []
        if entries := scope + whole if whole else tied or scope:
            return entries
    entries = book.find_whole(plain)
    return book.find_whole(plain.partition("'")[2]) if not entries and "'" in plain[:5] else entries


def _with_idioms(words: list[ForeignWord], book: Vocabulary) -> list[ForeignWord]:
    """The words with every idiom as one word, which keeps what the words inside it name and how much of it."""
    if not book.idioms:
        return words
    starts = list(accumulate((len(word.text) + 1 for word in words), initial=0))
    found: list[ForeignWord] = []
    done = 0
    for match in book.idioms.finditer(" ".join(word.text for word in words)):
        first, last = bisect_left(starts, match.start()), bisect_left(starts, match.end())
        entries = book.idiom_entries[int((match.lastgroup or "i0")[1:])]
        kept = ("scope",) if entries[0][1] in _NAMING else ("noun", "scope")
        inside = [entry for word in words[first:last] for entry in word.entries if entry[0] in kept]
        found += [*words[done:first], ForeignWord(match[0], [*entries, *inside])]
        done = last
    return found + words[done:]


def _unspaced(text: str, book: Vocabulary) -> list[ForeignWord]:
    text = _PATTERNS.path.sub(" ", text)
    if book.idioms:
        text = book.idioms.sub(lambda match: _as_character(match, book), text)
    found = []
    for place, name in book.pieces.find(text):
        number = ord(name[0]) - _FIRST
        idiom = 0 <= number < len(book.idiom_entries)
        entries = list(book.idiom_entries[number]) if idiom else _MARKED if name == MARK else book.find(name)
        end = place + len(name)
        word = ForeignWord(name, entries, False, place, text[end : end + 16])
        if word.has("joints") and name.endswith("て") and word.after[:1] in ("い", "も"):
            word.entries = [("asked", "", ())] if word.after[0] == "も" else []  # `していません`, `しても問題ないか`
        if word.has("verb") and not idiom:
            thing = book.find(book.pieces.at(word.after, 0))  # `削除ボタン`, `删除按钮`: the act is the name of a thing
            if word.after[:1] in _LISTS.agents or any(one[0] == "noun" and one[1] in _NAMING for one in thing):
                word.entries = [entry for entry in entries if entry[0] != "verb"]
        found.append(word)
    return found


def _as_character(match: re.Match[str], book: Vocabulary) -> str:
    """An idiom as one character, with the words inside it that name something behind it."""
    inside = (piece for _, piece in book.pieces.find(match[0]))
    kept = [piece for piece in inside if any(entry[0] in ("noun", "scope") for entry in book.find(piece))]
    return chr(_FIRST + int((match.lastgroup or "i0")[1:])) + " ".join(kept)
