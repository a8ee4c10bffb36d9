"""English words around verb and object: scope, denial, report, and which word can be what."""

from __future__ import annotations

from interlock.analysis.lexicon.load import Patterns, WordLists

LISTS = WordLists("english")
PATTERNS = Patterns("english")


NOT_NEGATIONS_CUES = ("no ", "not", "don", "never", "without", "wait to")


def may_say(cues: tuple[str, ...], text: str) -> bool:
    """False when none of the pieces is in the text of which one is in every wording of a pattern."""
    for cue in cues:  # noqa: SIM110 - a generator would cost more than what is saved by asking first
        if cue in text:
            return True
    return False
