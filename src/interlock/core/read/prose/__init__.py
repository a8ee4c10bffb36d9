"""A plain-word intent -> what it announces: commands and operations in it first, else the acts of its clauses."""

from __future__ import annotations

from interlock.core.read.facts import Report
from interlock.core.read.prose.normalise import LIMIT, normalise
from interlock.core.read.prose.reading import read_text

__all__ = ["read_prose"]


def read_prose(text: str, out: Report) -> None:
    """Reports everything that a sentence says would be done; at least one effect, whatever the text is."""
    out.step()
    if len(text) > LIMIT:
        out.unreadable("a description that is too long to read", "budget")
    plain, hidden = normalise(text)
    if hidden:
        out.unreadable("characters that look like others or hide", "syntax")
    read_text(plain, out)
