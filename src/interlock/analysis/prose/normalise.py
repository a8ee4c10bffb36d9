"""Text as written -> comparable text: undoes disguised spelling, drops claims addressed to the reviewer, reports lookalikes."""

from __future__ import annotations

import re
from functools import cache

from interlock.analysis.confusables import fold_confusables as unmasked
from interlock.analysis.confusables import is_invisible, narrow
from interlock.analysis.lexicon import nouns, scope, verb_forms, vocabulary
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.prose.clauses import may_say

_PATTERNS = Patterns("normalise")
_LISTS = WordLists("normalise")

_JOINED = re.compile(r"(?<![^\W_])[^\W\d_](?:([-._*|+~]| )[^\W\d_])(?:\1[^\W\d_]){2,}(?![^\W_])")
_APART = re.compile(r"([-._*|+~ ])[^\W\d_]\1[^\W\d_]\1")  # what stands inside every such word
_MIXED = re.compile(r"(?<![\w./@$-])(?=[\w@$!|-]{3,24}(?![\w./@-]))[A-Za-z@$][A-Za-z]*[0-9@$!|][\w@$!|]*")
_DISGUISES = re.compile(r"[0-9@$!|]")  # one of these is in every such word
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_OTHER_ONE = str.maketrans("1!|", "lll")
_BETWEEN = re.compile("[A-Za-z0-9]{2}")
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction of text
# An option of a command, and the particle of a sentence behind it: `git reset --hard로`.
_OPTION_END = re.compile(r"((?:^|\s)--?[A-Za-z][A-Za-z-]*)(?=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_SPEAKER_ENDS = re.compile(r"[:\]>]")
_SPACES = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")  # all but a single space
LIMIT = 20_000


@cache
def known_words() -> frozenset[str]:
    """The English words that somebody may want to disguise."""
    words = {*verb_forms(), *nouns(), *scope(), *_LISTS.links}
    return frozenset(word for word in words if " " not in word and (len(word) > 2 or word in _LISTS.links))


# The words of both lexicons, that of names and that of sentences.
_all_words = cache(lambda: (vocabulary() | known_words()) - _LISTS.other_alphabets)
# Pieces of which one is in every claim.
_claim_cues = cache(lambda: tuple(piece.replace("_", " ") for piece in _LISTS.claim_cues))


def normalise(text: str) -> tuple[str, bool]:
    """The text in plain letters, and whether characters hid in it or stood for others; longer text is cut."""
    text = text[:LIMIT]
    if text.isascii():
        return _spaced(text.replace("\x00", "")), False
    plain = narrow(text)[:LIMIT]
    unseen = [at for at, char in enumerate(plain) if is_invisible(char)]
    # between two letters, or what turns the direction of text; not those that join emoji
    hidden = any(plain[at] in _TURNING or _BETWEEN.match(plain[at - 1 : at] + plain[at + 1 : at + 2]) for at in unseen)
    shown = "".join(char for char in plain if not is_invisible(char))
    read = unmasked(shown, _all_words())
    return _spaced(_OPTION_END.sub(r"\1 ", _PATTERNS.edges.sub(" ", read))), hidden or read != shown


def _unleeted(match: re.Match[str]) -> str:
    word, known = match[0], known_words()
    for plain in (word.translate(_LEET), word.translate(_OTHER_ONE).translate(_LEET)):
        if plain != word and plain.isalpha() and plain.lower() in known:
            return plain
    return word


def _spaced(text: str) -> str:
    """The text with letters that were set apart put together, digits read as the letters they stand for, and one space between its words."""
    if _APART.search(text):
        text = _JOINED.sub(lambda match: "".join(filter(str.isalpha, match[0])), text)
    text = _MIXED.sub(_unleeted, text) if _DISGUISES.search(text) else text
    return text if text == " ".join(text.split()) else _SPACES.sub(" ", text).strip()


def without_claims(text: str) -> str:
    """The text without what it says about itself."""
    if _SPEAKER_ENDS.search(text):
        text = _PATTERNS.speakers.sub(" . ", text)
    # letters of other alphabets can be capitals of these
    if text.isascii() and not may_say(_claim_cues(), text.lower()):
        return text
    return _PATTERNS.claims.sub(
        lambda match: match[0] if _PATTERNS.denied.search(text[max(0, match.start() - 14) : match.start()]) else " . ",
        text,
    )
