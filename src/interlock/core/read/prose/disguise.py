"""Words spelled to be overlooked -> the words that are meant: `d e l e t e`, `dr0p`, `b4ckups`."""

from __future__ import annotations

import re
from functools import cache

from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_scope import SCOPE
from interlock.core.read.prose.english_verbs import verb_forms

_JOINED = re.compile(r"(?<![^\W_])[^\W\d_](?:([-._*|+~]| )[^\W\d_])(?:\1[^\W\d_]){2,}(?![^\W_])")
_APART = re.compile(r"([-._*|+~ ])[^\W\d_]\1[^\W\d_]\1")  # what stands inside every such word
_MIXED = re.compile(r"(?<![\w./@$-])(?=[\w@$!|-]{3,24}(?![\w./@-]))[A-Za-z@$][A-Za-z]*[0-9@$!|][\w@$!|]*")
_DISGUISES = re.compile(r"[0-9@$!|]")  # one of these is in every such word
_LEET = str.maketrans("0134578@$!|", "oieastbasil")
_OTHER_ONE = str.maketrans("1!|", "lll")
_LINKS = frozenset("the a an of from in on to and with for my our your their then now this that it them".split())
_LONGEST = 60


def undisguised(text: str) -> str:
    """The text with letters that were set apart put together again, and digits that stand for letters read as such."""
    text = _JOINED.sub(_put_together, text) if _APART.search(text) else text
    return _MIXED.sub(_unleeted, text) if _DISGUISES.search(text) else text


def _put_together(match: re.Match[str]) -> str:
    word = "".join(char for char in match[0] if char.isalpha())
    return " ".join(_split(word)) if len(word) <= _LONGEST else word


def _split(word: str) -> list[str]:
    """`deleteallusers` as three words, when every piece of it is one that is known."""
    low, known = word.lower(), known_words()
    if low in known:
        return [word]
    best: list[list[int] | None] = [[]] + [None] * len(low)
    for end in range(1, len(low) + 1):
        for start in range(max(0, end - 16), end):
            before = best[start]
            if (
                before is not None
                and low[start:end] in known
                and (best[end] is None or len(before) + 1 < len(best[end] or []))
            ):
                best[end] = [*before, end]
    cuts = best[-1]
    return [word[start:end] for start, end in zip([0, *cuts], cuts, strict=False)] if cuts else [word]


def _unleeted(match: re.Match[str]) -> str:
    word, known = match[0], known_words()
    for plain in (word.translate(_LEET), word.translate(_OTHER_ONE).translate(_LEET)):
        if plain != word and plain.isalpha() and plain.lower() in known:
            return plain
    return word


@cache
def known_words() -> frozenset[str]:
    """The English words that somebody may want to disguise."""
    words = {*verb_forms(), *nouns(), *SCOPE, *_LINKS}
    return frozenset(word for word in words if " " not in word and (len(word) > 2 or word in _LINKS))
