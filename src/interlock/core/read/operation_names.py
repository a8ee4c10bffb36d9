"""A word of a text -> is it the name of an operation, in whichever style it is written?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from interlock.core.read.lexicon import (
    ALL_WORDS,
    BULK_WORDS,
    FORCE_WORDS,
    OBJECTS,
    PERMANENT_WORDS,
    VERBS,
    WEAK,
    object_kind,
    split_name,
)
from interlock.core.read.names import acts_of

_LONGEST = 100
# Shapes that only names have: drop_table, deleteUser, linear.issueDelete, mcp__github__delete-repo.
_SHAPED = re.compile(
    r"(?:[A-Za-z][a-z0-9]*(?:_{1,2}[a-z0-9]+)+|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+|[a-z]\w*\.[a-z]+[A-Z]\w+"
    r"|mcp__[A-Za-z0-9][\w.-]*__[A-Za-z0-9][\w.-]*)"
)
# Shapes that other words have as well: drop-table, DropTable, DROP_TABLE, Drop_Table, github.delete_repo, db:drop_table.
_STYLED = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+|[A-Z][a-z]{1,20}(?:[A-Z][a-z0-9]*)+"
    r"|[A-Za-z][\w-]*(?:[.:/][A-Za-z][\w-]*){0,3}[.:/](?:[A-Za-z]+(?:[_-][A-Za-z0-9]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z0-9]*)+)"
)
_REVERSED = re.compile(r"[A-Za-z]\w*(?:[.:][A-Za-z]\w*){1,3}")  # queue.purge, user:delete
_TAME = frozenset({"read", "create", "change", "restore", "send", "grant", "format"})
_GRAVE = frozenset(
    {"database", "schema", "table", "disk", "cluster", "volume", "bucket", "namespace", "repository", "project"}
)
_HOW = BULK_WORDS | FORCE_WORDS | PERMANENT_WORDS | {"safe", "soft", "auto"}
# Second halves of a Pascal name that make it a piece of a program.
_PARTS = frozenset(
    "button modal dialog component icon form page event error exception handler test request response command view zone"
    " controller action box down shadow menu link label field screen panel hook context provider spec listener args input output"
    " result type class flow helper util utils factory builder manager option options".split()
)


@lru_cache(maxsize=4096)
def is_operation(word: str) -> bool:
    """True for a word that names an operation: by its shape, or by a verb and its object where the shape alone says little."""
    if len(word) > _LONGEST or (word.isalpha() and word.islower()):
        return False
    if _SHAPED.fullmatch(word):
        return True
    return bool(_STYLED.fullmatch(word)) and _announces(word, weak=False)


@lru_cache(maxsize=1024)
def may_be_operation(word: str) -> bool:
    """As `is_operation`, also for verbs that are as often nouns: where a sentence calls it, `reset-db` is one too."""
    if is_operation(word) or len(word) > _LONGEST:
        return len(word) <= _LONGEST
    if _STYLED.fullmatch(word) and _announces(word, weak=True):
        return True
    return bool(_REVERSED.fullmatch(word)) and _acts_upon(split_name(word))


def _acts_upon(segments: Sequence[tuple[str, ...]]) -> bool:
    """True for a thing and, behind it, the verb that does it harm."""
    if len(segments) < 2 or len(segments[-1]) != 1:
        return False
    verb = segments[-1][0]
    return VERBS.get(verb, "read") not in _TAME and verb not in WEAK and segments[-2][-1] in OBJECTS


@lru_cache(maxsize=1024)
def is_english(word: str) -> bool:
    """True for a name with an English verb: it speaks for no other language."""
    if len(word) > _LONGEST or not (_SHAPED.fullmatch(word) or _STYLED.fullmatch(word)):
        return False
    return any(act.kind for act in acts_of(split_name(word))[1])


@lru_cache(maxsize=1024)
def harms(word: str) -> bool:
    """True for a name that begins with a verb of harm, whatever it is done to: no table or column is called so."""
    words = _led(split_name(word))
    return (
        len(words) > 1 and VERBS.get(words[0], "read") not in _TAME and (words[0] not in WEAK or may_be_operation(word))
    )


def _led(segments: Sequence[tuple[str, ...]]) -> list[str]:
    """The words of the last segment without those that only say how: `bulk`, `force`."""
    words = list(segments[-1]) if segments else []
    while len(words) > 1 and words[0] in _HOW and words[1] in VERBS:
        words = words[1:]
    return words


def _announces(word: str, weak: bool) -> bool:
    words = _led(split_name(word))
    if len(words) < 2 or words[0] not in VERBS:
        return False
    if words[0] in WEAK and not weak and (VERBS[words[0]] in _TAME or object_kind(tuple(words[1:]))[0] not in _GRAVE):
        return False
    pascal = word[:1].isupper() and "_" not in word and "-" not in word
    if pascal and words[-1] in _PARTS:
        return False
    return any(other in OBJECTS or other in ALL_WORDS for other in words[1:]) or (pascal and weak)
