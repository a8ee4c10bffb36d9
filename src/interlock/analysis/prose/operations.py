"""Finds the names of operations that a clause calls, with their targets."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from interlock.analysis.lexicon import split_name
from interlock.analysis.lexicon.forms import form_of
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.lexicon.rows import Rows
from interlock.analysis.operations.names import harms, is_operation, may_be_operation
from interlock.analysis.prose.clauses import AROUND, Around, Tokens, classes, framed, is_denied

_PATTERNS = Patterns("operations")
_LISTS = WordLists("operations")


class Mention(Struct, frozen=True):
    """An operation that a clause names: called, only named, or open where the words around it do not tell."""

    at: int
    name: str
    role: str  # called, named or open
    given: dict[str, str]  # what it is said to work on


CALLED, NAMED, OPEN = "called", "named", "open"


def mentions(words: Tokens, before: str) -> list[Mention]:
    """Every operation that a clause names; `before` is the role of the name that the clause in front ended with."""
    low: Tokens = []
    found: list[Mention] = []
    for at, word in enumerate(words):
        if word in _LISTS.inside:
            found.append(Mention(at, word, NAMED, {}))
        elif not (word.isalpha() and word.islower()) and may_be_operation(word):
            low = low or [word.lower() for word in words]
            last = found[-1].role if found and found[-1].at == at - 2 and low[at - 1] in _LISTS.joints else ""
            found.append(Mention(at, word, _role(words, low, at, before if not at else last), _given(words[at + 1 :])))
    return found


def ends_with(words: Tokens, found: list[Mention]) -> str:
    """The role of the name that a clause ends with; empty where it ends with another word."""
    return found[-1].role if found and found[-1].at == len(words) - 1 else ""


def unnamed(sentence: str, found: Iterable[Mention]) -> str:
    """The sentence without the operations that it only names."""
    for mention in found:
        if mention.role == NAMED and harms(mention.name):
            sentence = sentence.replace(mention.name, "it")
    return sentence


def without_named(words: Tokens, found: list[Mention]) -> Tokens:
    """The words, with each operation that is only named as the piece of code it is here."""
    named = {mention.at for mention in found if mention.role == NAMED and harms(mention.name)}
    return ["function" if at in named else word for at, word in enumerate(words)] if named else words


def lists_names(low: str) -> bool:
    """`the tools of the server: x, y`: true for a sentence that lists operations and calls none."""
    listed = _PATTERNS.listed.match(low) if ":" in low else None
    return listed is not None and _LISTS.calls.isdisjoint(listed["head"].split())


_ROLES = Rows("operation_role", "last how", f"{AROUND} lead said judged")


def _role(words: Tokens, low: Tokens, at: int, last: str) -> str:
    """Whether a name is called, only named, or open; `last` is the role of the one that it is joined to."""
    how = last if last == CALLED else "" if last else _how(words, low, at)
    lead, front = next((place for place, word in enumerate(low) if word not in _LISTS.leads), 0), _front(low, at)
    given = {"lead": low[lead : lead + 1] if lead < at else (), "said": classes(low[front]) if front >= 0 else ()}
    given["judged"] = low[at + 2 : at + 4]
    denied = is_denied(low, at, near=3, far=5)
    return NAMED if denied else _ROLES.first((last, how), Around(low, at, given)) or OPEN


def _front(low: Tokens, at: int) -> int:
    """Where the word stands in front of a name that says something of it; -1 for none."""
    return next((place for place in range(at - 1, -1, -1) if low[place] not in _LISTS.skipped), -1)


def _how(words: Tokens, low: Tokens, at: int) -> str:
    """How a clause calls the operation that is named here: by a word in front, or by its place at the start; empty for not."""
    if _is_called(low, at):
        return "called"
    opens = all(one in _LISTS.leads for one in low[:at])
    if opens:
        alone = at + 1 == len(words) or low[at + 1] in _LISTS.called_on
        if split_name(words[at])[-1][-1] in _LISTS.settings:
            return ""  # `purge_interval = 60`
        return "first" if is_operation(words[at]) or alone or "." in words[at] or ":" in words[at] else ""
    return ""


def _is_called(low: Tokens, at: int) -> bool:
    """`call the operation x`, `use the x tool`, `the next action is x`; not `the function x lacks a test`."""
    front = _front(low, at)
    if low[front] in ("with", "by") and front >= 0:
        return not (front and (low[front - 1] in _LISTS.refers or form_of(low[front - 1]) == "past"))
    return _PATTERNS.called.match(framed(low, at)) is not None


def _given(words: Tokens) -> dict[str, str]:
    """`on project/config.json`: the path that an operation is said to work on."""
    found = _PATTERNS.given.match(" ".join(words[:7]))
    return {"path": next(filter(None, found.groups()))} if found else {}
