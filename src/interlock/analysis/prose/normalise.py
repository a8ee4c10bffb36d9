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

_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_OTHER_ONE = str.maketrans("1!|", "lll")
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction of text
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
    hidden = any(
        plain[at] in _TURNING or _PATTERNS.between.match(plain[at - 1 : at] + plain[at + 1 : at + 2]) for at in unseen
    )
    shown = "".join(char for char in plain if not is_invisible(char))
    read = unmasked(shown, _all_words())
    return _spaced(_PATTERNS.option_end.sub(r"\1 ", _PATTERNS.edges.sub(" ", read))), hidden or read != shown


def _unleeted(match: re.Match[str]) -> str:
    word, known = match[0], known_words()
    for plain in (word.translate(_LEET), word.translate(_OTHER_ONE).translate(_LEET)):
        if plain != word and plain.isalpha() and plain.lower() in known:
            return plain
    return word


def _spaced(text: str) -> str:
    """The text with letters that were set apart put together, digits read as the letters they stand for, and one space between its words."""
    if _PATTERNS.apart.search(text):
        text = _PATTERNS.joined.sub(lambda match: "".join(filter(str.isalpha, match[0])), text)
    text = _PATTERNS.mixed.sub(_unleeted, text) if _PATTERNS.disguises.search(text) else text
    return text if text == " ".join(text.split()) else _PATTERNS.spaces.sub(" ", text).strip()


def without_claims(text: str) -> str:
    """The text without what it says about itself."""
    if _PATTERNS.speaker_ends.search(text):
        text = _PATTERNS.speakers.sub(" . ", text)
    # letters of other alphabets can be capitals of these
    if text.isascii() and not may_say(_claim_cues(), text.lower()):
        return text
    return _PATTERNS.claims.sub(
        lambda match: match[0] if _PATTERNS.denied.search(text[max(0, match.start() - 14) : match.start()]) else " . ",
        text,
    )
