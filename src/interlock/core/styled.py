"""Lines of styled text, and the sentences that every view of an action shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line; the style is a word, and the door knows what it looks like."""

    text: str
    style: str = ""


Line = tuple[Part, ...]


def undo_words(irreversible: bool, ways: Iterable[str]) -> str:
    """Whether ordinary means undo it, and what the rules advise: for what is elsewhere, from what its vendor keeps."""
    advice = list(dict.fromkeys(filter(None, ways)))
    if irreversible:  # the worst of it stands first, and the others often repeat it
        return "cannot be undone" + (f" by ordinary means. {advice[0]}" if advice else "")
    return "can be undone" + (f": {'; '.join(advice)}" if advice else "")


def inside(reason: str) -> str:
    """A reason as it reads in the middle of a sentence."""
    text = reason.rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
