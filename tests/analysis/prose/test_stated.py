"""Sentences that only say something of harm are spared, and their twins that announce it are not."""

from __future__ import annotations

from prose_stated import STATED

from cases import each
from interlock import assess
from interlock.model import Level, intent


@each(("kind", "text"), [(kind, text) for kind, (spared, _) in STATED.items() for text in spared])
def test_what_is_only_stated_asks_nobody(kind: str, text: str) -> None:
    found = assess(intent(text))
    assert found.level < Level.DESTRUCTIVE, (kind, found.findings)


@each(("kind", "text"), [(kind, text) for kind, (_, announced) in STATED.items() for text in announced])
def test_the_same_words_are_asked_about_where_harm_is_announced(kind: str, text: str) -> None:
    assert assess(intent(text)).level >= Level.DESTRUCTIVE, kind
