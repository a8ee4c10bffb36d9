"""A text -> what it says will be done, clause by clause, verbs in their base form: what patterns of names are matched with."""

from __future__ import annotations

import re

from interlock.core.read.prose.claims import without_claims
from interlock.core.read.prose.clauses import clauses, sentences, tokens
from interlock.core.read.prose.embedded import MARK, Lifted
from interlock.core.read.prose.english import read_clause
from interlock.core.read.prose.english_verbs import verb_forms
from interlock.core.read.prose.normalise import normalise
from interlock.core.read.prose.reading import is_told

_WORD = re.compile(r"[^a-z0-9]+")
_LONGEST = 4_000  # characters of a text that are matched
_LEADS = frozenset(
    "i i'm i'll we we're we'll am are is will shall going to about let me us now next then first finally also just please so"
    " ok okay step calling call running run executing execute using use via invoking invoke and by with the operation tool"
    " function command shell".split()
)


def asserted(text: str) -> list[tuple[str, ...]]:
    """The words of every clause that announces something; a question and a denial announce nothing."""
    lifted = Lifted(without_claims(normalise(text[:_LONGEST])[0]))
    found = []
    for sentence in sentences(lifted.text):
        if not is_told(sentence.lower()):
            continue
        for clause in clauses(tokens(sentence)):
            if not read_clause(clause, None, frozenset()).denied:
                found.append(_words(clause, lifted))
    return [words for words in found if words]


def _words(clause: list[str], lifted: Lifted) -> tuple[str, ...]:
    words: list[str] = []
    for token in clause:
        if token.startswith(MARK):
            thing = lifted.of(token)
            words += [] if thing.kind.startswith("quote") else _WORD.split(thing.text.lower())
            continue
        low = token.lower()
        known = verb_forms().get(low)
        words += _WORD.split(known[0]) if known and known[1] in ("ing", "third", "base") else _WORD.split(low)
    words = [word for word in words if word]
    while words and words[0] in _LEADS:
        words = words[1:]
    return tuple(words)
