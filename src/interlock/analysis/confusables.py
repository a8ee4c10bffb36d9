"""Folds letters that imitate Latin ones and drops invisible characters, so that a word reads as it looks."""

from __future__ import annotations

import unicodedata
from collections.abc import Container

from interlock.analysis.lazy_regex import lazy_regex

_CYRILLIC = (
    "\u0430a\u0431b\u0432b\u0433r\u0435e\u0437e\u0456i\u0458j\u043ak\u043cm\u043dh\u043eo\u0440p\u0441c\u0442t\u0443y\u0445x"
    "\u0455s\u0501d\u051bq\u051dw\u04bbh\u0261g\u0475v\u0491r\u04cfl\u0454e\u0457i\u0451e\u045cr\u0471u\u04afy\u049bk"
    "\u0410A\u0412B\u0415E\u0417E\u0406I\u0408J\u041aK\u041cM\u041dH\u041eO\u0420P\u0421C\u0422T\u0423Y\u0425X\u0405S\u050cG\u051aQ\u051cW\u0474V\u04c0I"
    "\u0401E\u0407I\u04aeY"
)
_GREEK = (
    "\u03b1a\u03b2b\u03b3y\u03b5e\u03b7n\u03b9i\u03bak\u03bdv\u03bfo\u03c1p\u03c2s\u03c3o\u03c4t\u03c5u\u03c7x\u03c9w\u03f2c\u03f3j"
    "\u0391A\u0392B\u0395E\u0396Z\u0397H\u0399I\u039aK\u039cM\u039dN\u039fO\u03a1P\u03a4T\u03a5Y\u03a7X\u03f9C\u037fJ"
)
_ARMENIAN = "\u0561w\u0564n\u0566q\u0570h\u0575j\u0578n\u057du\u0578n\u0581g\u0584p\u0585o\u0578n\u057au\u0555O\u0548n\u054dU\u053cL\u0562b"
_CHEROKEE = (
    "\u13a0D\u13a1R\u13a2T\u13a5i\u13a9Y\u13aaA\u13abJ\u13acE\u13b3W\u13b7M\u13bbH\u13beO\u13c0G\u13c2h\u13c3Z\u13cfb\u13d2R\u13d4W\u13d5S\u13d9V\u13daS"
    "\u13deL\u13dfC\u13e2P\u13e6K\u13f3G\u13f4B"
)
_LISU = "\ua4d0B\ua4d1P\ua4d3D\ua4d4T\ua4d6G\ua4d7K\ua4d9J\ua4daC\ua4dcZ\ua4ddF\ua4dfM\ua4e0N\ua4e1L\ua4e2S\ua4e3R\ua4e6V\ua4e7H\ua4eaW\ua4ebX\ua4ecY\ua4eeA\ua4f0E\ua4f2I\ua4f3O\ua4f4U"
_LATIN = (
    "\u0251a\u1d00a\u0299b\u1d04c\u1d05d\u1d07e\ua730f\u0262g\u029ch\u026ai\u0269i\u0131i\u1d0aj\u1d0bk\u029fl\u1d0dm\u0274n\u1d0fo\u1d18p\u0280r\ua731s\u1d1bt"
    "\u1d1cu\u1d20v\u1d21w\u028fy\u1d22z\u0111d\u0127h\u0142l\u00f8o\u0167t\u0180b\u0192f\u0258e\u01dde\u0254c\u0265h\u026fm\u1d09i\u0279r\u0287t\u028cv\u028dw\u028ey\u1d11o"
    "\u0271m\u0272n\u0273n\u0288t\u0256d\u0257d\u0253b\u0260g\u0266h\u0199k\u01a5p\u01adt\u01b4y\u0225z\u0131i\u0237j"
)
_PAIRS = _CYRILLIC + _GREEK + _ARMENIAN + _CHEROKEE + _LISU + _LATIN
_LOOK_ALIKES: dict[int, str] = {
    **{ord(_PAIRS[at]): _PAIRS[at + 1] for at in range(0, len(_PAIRS), 2)},
    **{
        first + at: chr(97 + at) for first in (0x1F150, 0x1F170, 0x1F1E6) for at in range(26)
    },  # letters in boxes and discs
}
_HIDING = frozenset("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0\ufeff")
_UNSEEN = ("Cf", "Co", "Cn", "Cc")
_TOKEN = lazy_regex(r"[\w\U0001F150-\U0001F189\U0001F1E6-\U0001F1FF\u0300-\u036f-]+")
_PIECE = lazy_regex(r"[^\W\d_\u0300-\u036f](?:[^\W\d_]|[\u0300-\u036f])*|[\U0001F150-\U0001F189\U0001F1E6-\U0001F1FF]+")
_MARK = lazy_regex("[\u0300-\u036f\u0489]")
_DASH = lazy_regex(r"(?<=\w)[\u2010\u2011\u2012\u2212\ufe63](?=\w)")
_HUMP = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ENDING = lazy_regex(r"[A-Za-z]{2,}[\u0400-\u04ff]{1,3}")  # a Latin word with a Russian ending
_FOREIGN = frozenset(char for char in _LOOK_ALIKES if not unicodedata.name(chr(char), "").startswith("LATIN"))
_SHORTEST = 3  # letters of a word that is folded as a whole


def is_invisible(char: str) -> bool:
    """True for a character that takes no place of its own on a line."""
    return char in _HIDING or (char not in "\n\t" and unicodedata.category(char) in _UNSEEN)


def narrow(text: str) -> str:
    """The text with characters of one kind in one form: no full width, one hyphen."""
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
    return text if text.isascii() else _TOKEN.sub(lambda found: _token(found[0], words, name), text)


def _token(token: str, words: Container[str], name: bool) -> str:
    if token.isascii():
        return token
    name = name or "_" in token
    return _PIECE.sub(lambda found: _piece(found[0], words, name), token)


def _piece(piece: str, words: Container[str], name: bool) -> str:
    if piece.isascii():
        return piece
    bare = _MARK.sub("", piece)  # a mark that NFKC could not join to its letter belongs to no language's spelling
    look = bare.translate(_LOOK_ALIKES)
    if _is_known(look, words) or (_mixes(bare) and (name or not _ENDING.fullmatch(bare))):
        return look
    if name:
        without = _MARK.sub("", unicodedata.normalize("NFD", look))
        if _is_known(without, words):
            return without
    return bare if bare.isascii() else piece


def _is_known(word: str, words: Container[str]) -> bool:
    """True for one of the words, and for several of them with humps: `dropTable`."""
    if len(word) >= _SHORTEST and word.lower() in words:
        return True
    humps = _HUMP.findall(word) if word.isascii() else ()
    return len(humps) > 1 and all(hump.lower() in words for hump in humps)


def _mixes(word: str) -> bool:
    """True for a word with Latin letters and letters of another alphabet that look like Latin ones."""
    return any(char.isascii() for char in word) and any(ord(char) in _FOREIGN for char in word)


_SPELT = str.maketrans(
    {
        "ß": "ss",
        "ё": "е",
        "ı": "i",
        "ł": "l",
        "đ": "d",
        "ø": "o",
        "æ": "ae",
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ـ": None,
    }
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
