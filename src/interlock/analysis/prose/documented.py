"""Recognises text that only describes a command: `DROP TABLE removes the table`, `rm -rf deletes without asking`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from interlock.analysis.lexicon.forms import nouns, verb_forms
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.names import is_operation
from interlock.analysis.programs.load import program_set
from interlock.analysis.prose.commands import programs

_PATTERNS = Patterns("documented")
_LISTS = WordLists("documented")

_WORD = re.compile(r"[^\W\d_][\w']*")
_REACH, _MOST = 80, 40  # letters in front of a verb that are looked at; verbs of one text


@cache
def _says() -> frozenset[str]:
    """The forms in which somebody says what a thing does."""
    return (
        _LISTS.does
        | _LISTS.is_words
        | {form for form, (_, name, _) in verb_forms().items() if name == "third" and form not in nouns()}
    )


def documented_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where such a saying begins and ends, and the command that it is about."""
    says = _says()
    if text.isascii() and says.isdisjoint(text.split()):
        return
    words = [match for match in _WORD.finditer(text) if match[0] in says]
    done = 0
    for match in words[:_MOST]:
        if match.start() < done:
            continue
        found = _subject(text, match.start())
        if (
            found is None
            or (match[0] in program_set("said_subcommands") and not found[1].isupper())
            or not _is_said(text, match, found[2])
        ):
            continue
        done = _end(text, match.end())
        yield found[0], done, found[1]
    if not text.isascii():
        yield from ((match.start(), match.end(), match[0].split("会")[0]) for match in _PATTERNS.cjk.finditer(text))


def _subject(text: str, at: int) -> tuple[int, str, bool] | None:
    """Where the command begins that stands in front of a verb, its words, and whether an explanation was announced."""
    start = max(0, at - _REACH)
    for cut in _PATTERNS.clause.finditer(text, start, at):
        start = cut.end()
    words = [(match.start(), match[0].strip("`'\"“”‘’«»„,")) for match in re.finditer(r"\S+", text[start:at])]
    while words and (words[-1][1].lower() in _LISTS.adverbs or not words[-1][1]):
        words.pop()
    explains = _PATTERNS.explains.search(text[max(0, start - 60) : start]) is not None
    for number in range(min(len(words), 8)):
        names = [word for _, word in words[number:]]
        if _is_command(names, explains):
            return start + words[number][0], " ".join(names), explains
        if names[0].lower() not in _LISTS.leads:
            return None
    return None


def _is_command(words: list[str], explains: bool) -> bool:
    """True for the name of a command or a statement without anything that it is aimed at."""
    article = words[0].lower() in _LISTS.articles and words[0]
    bare = words[bool(article) :]
    named = bool(bare) and bare[-1].lower() in _LISTS.named
    bare = [word.removesuffix("'s") for word in bare[:-1]] if named else bare
    if not bare:
        return False
    if explains and len(bare) > 1 and _is_bare(bare[:-1], named):
        return True
    if (
        article in ("a", "an", "A", "An")
        and bare[-1].lower() in _LISTS.acts
        and _LISTS.kinds.issuperset(word.lower() for word in bare[:-1])
    ):
        return True
    return _is_bare(bare, named)


def _is_bare(words: list[str], named: bool) -> bool:
    first, rest = words[0], words[1:]
    if not rest and is_operation(first):
        return True
    if first in _LISTS.statements:
        return all(word in _LISTS.objects for word in rest)
    if named and all(word[:1] == "-" for word in words):
        return True  # `the --force flag`
    program = first.lower()
    if program not in programs() or not (first.islower() or named):
        return False
    return all(
        word[:1] == "-" or word in program_set("said_subcommands") or word in program_set("said_nouns") for word in rest
    )


def _is_said(text: str, verb: re.Match[str], explains: bool) -> bool:
    """False for `is run next` and for what happens to one's own things: that is announced."""
    after = text[verb.end() : verb.end() + _REACH]
    if verb[0] in _LISTS.is_words and (_PATTERNS.announces.match(after) or not after.strip(" .!")):
        return False
    return explains or not _PATTERNS.mine.search(text[verb.end() : _end(text, verb.end())])


def _end(text: str, at: int) -> int:
    end = _PATTERNS.predicate.search(text, at)
    return end.start() if end else len(text)
