"""A text -> the words of each clause that announces something, verbs in base form, for matching against name patterns."""

from __future__ import annotations

import re

from interlock.analysis.lexicon import split_name
from interlock.analysis.lexicon.forms import verb_forms
from interlock.analysis.lexicon.load import WordLists
from interlock.analysis.operations.names import harms, may_be_operation
from interlock.analysis.prose.clauses import clauses, sentences, tokens
from interlock.analysis.prose.code_spans import calls_in
from interlock.analysis.prose.embedded import MARK, Lifted
from interlock.analysis.prose.english import read_clause
from interlock.analysis.prose.english.mood import is_not_run, is_question, without_question, without_refused
from interlock.analysis.prose.normalise import normalise, without_claims
from interlock.analysis.prose.operations import CALLED, NAMED, ends_with, lists_names, mentions

_LISTS = WordLists("announcements")

_WORD = re.compile(r"[^a-z0-9]+")
_FILE = re.compile(r"(?:[\w.~-]*/)*(?P<stem>[\w-]+)\.[A-Za-z]{1,5}")
_DASHED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_LONGEST = 4_000  # characters of a text that are matched


def announced_clauses(text: str) -> list[tuple[str, ...]]:
    """The words of every clause that announces something; a question and a denial announce nothing."""
    lifted = Lifted(without_claims(normalise(text[:_LONGEST])[0]))
    found = []
    for sentence in map(without_question, sentences(without_refused(lifted.text))):
        if is_question(sentence.lower()) or is_not_run(sentence.lower()):
            continue
        lists, before = lists_names(sentence.lower()), ""
        for clause in clauses(tokens(sentence)):
            named = mentions(clause, NAMED if lists else before)
            before = ends_with(clause, named)
            read = read_clause(clause, None, frozenset())
            if not read.denied:
                # operations that the clause calls in no way
                spoken_of = {one.at for one in named if one.role == NAMED or (read.shield and one.role != CALLED)}
                found.append(_words(clause, spoken_of, lifted))
    return [words for words in found if words]


def _words(clause: list[str], named: set[int], lifted: Lifted) -> tuple[str, ...]:
    words: list[str] = []
    for at, token in enumerate(clause):
        if at in named:
            continue
        if token.startswith(MARK):
            thing = lifted.of(token)
            if thing.kind == "json":
                words += [word for name, _ in calls_in(thing.text) for word in _split(name)]
            else:
                words += [] if thing.kind.startswith("quote") else _split(thing.text)
        else:
            known = verb_forms().get(token.lower())
            words += _WORD.split(known[0]) if known and known[1] in ("ing", "third", "base") else _split(token)
    words = [word for word in words if word]
    while words and words[0] in _LISTS.leads:
        words = words[1:]
    return tuple(words)


def _split(token: str) -> list[str]:
    """The words of a token; a file that is called like an operation is one word."""
    file = _FILE.fullmatch(token)
    if file and harms(file["stem"]):
        return ["".join(_WORD.split(token.lower()))]
    if may_be_operation(token) or _DASHED.fullmatch(token):
        return [word for segment in split_name(token) for word in segment]
    return _WORD.split(token.lower())
