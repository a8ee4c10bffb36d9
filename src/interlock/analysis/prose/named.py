"""Finds the operations that a clause calls by their names, with their targets, and the files that it names, with what is done to them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from interlock.analysis.lexicon import form_of, split_name
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists
from interlock.analysis.operations.names import harms, is_operation, may_be_operation
from interlock.analysis.prose.clauses import (
    AROUND,
    NOTHING,
    Around,
    Tokens,
    classes,
    clauses,
    framed,
    is_denied,
    tokens,
)
from interlock.analysis.prose.english import EnglishClause

_PATTERNS = Patterns("operations")
_LISTS = WordLists("operations")


class Mention(Struct, frozen=True):
    """An operation that a clause names: called, only named, or open where the words around it do not tell."""

    at: int
    name: str
    role: str  # called, named or open
    given: dict[str, str]  # what it is said to work on

    @property
    def harmless(self) -> bool:
        """True for the name of a harm that is only spoken of."""
        return self.role == NAMED and harms(self.name)


CALLED, NAMED, OPEN = "called", "named", "open"
_ROLES = Rows("operation_role", "last how", f"{AROUND} lead said judged")


def named_clauses(sentence: str, low: str) -> Iterator[tuple[Tokens, list[Mention], bool]]:
    """The clauses of a sentence, each with the operations that it names, and whether the one in front ended with one only named."""
    # `the tools of the server: x, y`
    listed = _PATTERNS.listed.match(low) if ":" in low else None
    lists = listed is not None and _LISTS.calls.isdisjoint(listed["head"].split())
    ended = ""
    for words in clauses(tokens(sentence)):
        named = mentions(words, NAMED if lists else ended)
        yield words, named, ended == NAMED
        ended = named[-1].role if named and named[-1].at == len(words) - 1 else ""


def mentions(words: Tokens, before: str = "") -> list[Mention]:
    """Every operation that a clause names; `before` is the role of the name that the clause in front ended with."""
    low: Tokens = []
    found: list[Mention] = []
    for at, word in enumerate(words):
        if word in _LISTS.inside:
            found.append(Mention(at, word, NAMED, {}))
        elif not (word.isalpha() and word.islower()) and may_be_operation(word):
            low = low or [word.lower() for word in words]
            last = found[-1].role if found and found[-1].at == at - 2 and low[at - 1] in _LISTS.joints else ""
            path = _PATTERNS.given.match(" ".join(words[at + 1 : at + 8]))  # `on project/config.json`
            given = {"path": next(filter(None, path.groups()))} if path else {}
            found.append(Mention(at, word, _role(words, low, at, last if at else before), given))
    return found


def _role(words: Tokens, low: Tokens, at: int, last: str) -> str:
    """Whether a name is called, only named, or open; `last` is the role of the one that it is joined to."""
    front = next((place for place in range(at - 1, -1, -1) if low[place] not in _LISTS.skipped), -1)
    lead = next((place for place, word in enumerate(low) if word not in _LISTS.leads), 0)
    how = last if last == CALLED else "" if last else _how(words, low, at, front)
    given = {"lead": low[lead : lead + 1] if lead < at else (), "said": classes(low[front]) if front >= 0 else ()}
    given["judged"] = low[at + 2 : at + 4]
    denied = is_denied(low, at, near=3, far=5)
    return NAMED if denied else _ROLES.first((last, how), Around(low, at, given)) or OPEN


def _how(words: Tokens, low: Tokens, at: int, front: int) -> str:
    """How a clause calls an operation: by a word in front, as in `use the x tool`, or by its place at the start; empty for not."""
    if front >= 0 and low[front] in ("with", "by"):
        called = not front or not (low[front - 1] in _LISTS.refers or form_of(low[front - 1]) == "past")
    else:
        called = _PATTERNS.called.match(framed(low, at)) is not None
    if called:
        return "called"
    if not _LISTS.leads.issuperset(low[:at]) or split_name(words[at])[-1][-1] in _LISTS.settings:
        return ""  # `purge_interval = 60`
    alone = at + 1 == len(words) or low[at + 1] in _LISTS.called_on
    return "first" if is_operation(words[at]) or alone or "." in words[at] or ":" in words[at] else ""


# -- files ------------------------------------------------------------------------------------------------

_MOST = 20
_EFFECTS = Rows("file_effect", "shield verb", "text clause path reach head before")
_PLACES = {"home": "~", "root": "/", "here": "."}


def file_effects(words: Tokens, clause: EnglishClause) -> list[tuple[str, ...]]:
    """What the clause does to the files that it names; only where verb and path are plain."""
    text, found = clause.text, []
    if clause.denied or not _PATTERNS.places.search(text):
        return []
    verb, reach = (clause.acts[0].verb, clause.acts[0].traits) if clause.acts else ("", NOTHING)
    if not clause.shield and verb in _LISTS.destroys and _PATTERNS.killers.search(text):
        if directory := _PATTERNS.directories.search(text):
            return [("delete", _PLACES[directory.lastgroup or "here"], "recursive")]
        if _PATTERNS.no_files.search(text):
            return []
        folder = _PATTERNS.named_folder.search(text)
        if folder and folder[1] not in _LISTS.no_names:
            return [("delete", folder[1], "recursive")]
    acts = next((at for at, word in enumerate(words) if form_of(word) == "third"), 0)  # not `prune.py deletes …`
    for at, path in [(at, word) for at, word in enumerate(words) if at >= acts and _is_path(word)][:_MOST]:
        given = {"text": text, "clause": text, "path": path.replace("\\", "/"), "reach": reach, "head": (clause.head,)}
        said = _EFFECTS.first((clause.shield, verb), given | {"before": (words[at - 1].lower(),)}) or ""
        found += [(effect, path, *traits) for effect, *traits in map(str.split, said.split(", ") if said else ())]
    return found


def _is_path(word: str) -> bool:
    """True for a path and the name of a file; not for a version, a host, or owner/repository."""
    if word.isalpha() or len(word) > 300 or _PATTERNS.path.match(word):
        return not word.isalpha() and len(word) <= 300
    if len(word) > 120 or not _PATTERNS.file.match(word):
        return False
    return not _PATTERNS.no_file.fullmatch(word) or _PATTERNS.in_folder.fullmatch(word) is not None
