"""Folds letters that imitate Latin ones and drops invisible characters, so that a word reads as it looks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping
from functools import cache

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.packs import own_words


@cache
def _look_alikes() -> Mapping[int, str]:
    """Look-alikes by their code, letters in boxes and discs among them."""
    boxed = {first + at: chr(97 + at) for first in (0x1F150, 0x1F170, 0x1F1E6) for at in range(26)}
    plain_letters = own_words("analysis/confusables.toml").table("letters")
    return {ord(letter): look for letter, look in plain_letters.items()} | boxed


_HIDING = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0\ufeff")
_UNSEEN = ("Cf", "Co", "Cn", "Cc")
_TOKEN = lazy_regex(r"[\w\U0001F150-\U0001F189\U0001F1E6-\U0001F1FF\u0300-\u036f-]+")
_PIECE = lazy_regex(r"[^\W\d_\u0300-\u036f](?:[^\W\d_]|[\u0300-\u036f])*|[\U0001F150-\U0001F189\U0001F1E6-\U0001F1FF]+")
_MARK = lazy_regex("[\u0300-\u036f\u0489]")
_DASH = lazy_regex(r"(?<=\w)[\u2010\u2011\u2012\u2212\ufe63](?=\w)")
_HUMP = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENDING = lazy_regex(r"[A-Za-z]{2,}[\u0400-\u04ff]{1,3}")  # a Latin word with a Russian ending
_SHORTEST = 3  # letters of a word that is folded as a whole


def is_invisible(char: str) -> bool:
    return char in _HIDING or (char not in "\n\t" and unicodedata.category(char) in _UNSEEN)


def narrow(text: str) -> str:
    """No full width, one hyphen."""
    return _DASH.sub("-", unicodedata.normalize("NFKC", text))


def plain(text: str, words: Container[str]) -> str:
    """A name as it looks: full width narrowed, hidden characters and needless accents gone, other alphabets in Latin letters."""
    if text.isascii():
        return text
    return fold_confusables("".join(char for char in narrow(text) if not is_invisible(char)), words, name=True)


def fold_confusables(text: str, words: Container[str], name: bool = False) -> str:
    """The text with look-alike letters in Latin ones, where a word mixes alphabets or all of it looks like one of `words`.

    Text in another language stays: `SQLом` is a Russian ending, `таблица` looks like no English word. In a name, accents go too
    where that makes one of `words` of it.
    """
    if text.isascii():
        return text

    def folded_token(token: re.Match[str]) -> str:
        return _PIECE.sub(lambda found: _piece(found[0], words, name or "_" in token[0]), token[0])

    return _TOKEN.sub(folded_token, text)


def _piece(piece: str, words: Container[str], name: bool) -> str:
    if piece.isascii():
        return piece
    bare = _MARK.sub("", piece)  # a mark that NFKC could not join to its letter belongs to no language's spelling
    look = bare.translate(_look_alikes())
    if _is_known(look, words) or (_mixes(bare) and (name or not _ENDING.fullmatch(bare))):
        return look
    if name:
        without = _MARK.sub("", unicodedata.normalize("NFD", look))
        if _is_known(without, words):
            return without
    return bare if bare.isascii() else piece


def _is_known(word: str, words: Container[str]) -> bool:
    """True for one of the words, and for several of them with humps: `dropTable`."""
    humps = _HUMP.findall(word) if word.isascii() else ()
    whole = len(word) >= _SHORTEST and word.lower() in words
    return whole or (len(humps) > 1 and all(hump.lower() in words for hump in humps))


def _mixes(word: str) -> bool:
    return any(char.isascii() for char in word) and any(
        ord(char) in _look_alikes() and not unicodedata.name(char, "").startswith("LATIN") for char in word
    )


_SPELT = str.maketrans(
    {"ß": "ss", "ё": "е", "ı": "i", "ł": "l", "đ": "d", "ø": "o", "æ": "ae", "ى": "ي", "ـ": None}
    | dict.fromkeys("أإآٱ", "ا")
    | dict.fromkeys(map(chr, range(0x064B, 0x0653)))
)


def folded(text: str) -> str:
    """Lower case, without accents and what else writers leave out."""
    lower = text.lower()
    if lower.isascii():
        return lower
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", lower.translate(_SPELT)):
        if not ("\u0300" <= char <= "\u036f" and kept and kept[-1].isascii()):
            kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))
