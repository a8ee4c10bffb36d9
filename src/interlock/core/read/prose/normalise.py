"""Text as somebody wrote it -> text that can be compared, and whether something in it pretended to be something else."""

from __future__ import annotations

import re
import unicodedata

from interlock.core.read.confusables import folded as unmasked
from interlock.core.read.confusables import hides, narrow
from interlock.core.read.lexicon import VOCABULARY
from interlock.core.read.prose.disguise import known_words, undisguised

LIMIT = 20_000

# Where a command begins or ends in a text that has no spaces: `运行rm -rf x。`
_EDGES = re.compile(
    r"(?<=[!-~])(?=[。，、；：！？）」』])|(?<=[,;:!?)])(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])(?=[A-Za-z]{2,20}(?:[.][a-z0-9]{1,9})? )"
)
_SPACES = re.compile(r"[^\S\n ][^\S\n]*| [^\S\n]+")  # all but a single space


def normalise(text: str) -> tuple[str, bool]:
    """The text in plain letters, and whether characters hid in it or stood for others; longer text is cut."""
    text = text[:LIMIT]
    if text.isascii():
        return _spaced(text.replace("\x00", "")), False
    plain = narrow(text)[:LIMIT]
    shown = "".join(char for char in plain if not hides(char))
    hidden = any(_hides_in_a_word(plain, at) for at, char in enumerate(plain) if hides(char))
    read = unmasked(shown, _Words())
    return _spaced(_EDGES.sub(" ", read)), hidden or read != shown


class _Words:
    """The words of both lexicons, that of names and that of sentences."""

    def __contains__(self, word: object) -> bool:
        return word in VOCABULARY or word in known_words()


def _hides_in_a_word(text: str, at: int) -> bool:
    """True between two letters, and for marks that turn the direction of text; not for those that join emoji."""
    if text[at] in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069":
        return True
    return 0 < at < len(text) - 1 and text[at - 1].isascii() and text[at - 1].isalnum() and text[at + 1].isalnum()


def _spaced(text: str) -> str:
    """The text with what was set apart put together, and one space between its words."""
    text = undisguised(text)
    return text if text == " ".join(text.split()) else _SPACES.sub(" ", text).strip()


def folded(text: str) -> str:
    """Lower case, without accents."""
    lower = text.lower()
    if lower.isascii():
        return lower
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", lower.replace("ß", "ss").replace("ё", "е")):
        if not ("\u0300" <= char <= "\u036f" and kept and kept[-1].isascii()):
            kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))
