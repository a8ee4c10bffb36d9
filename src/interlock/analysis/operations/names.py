"""Parses operation names into verbs and objects, and recognises operation names among the words of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from interlock.analysis.lexicon import (
    ALL_WORDS,
    BULK_WORDS,
    CONJUNCTIONS,
    FORCE_WORDS,
    PERMANENT_WORDS,
    PREPOSITIONS,
    deed_nouns,
    object_kind,
    objects,
    split_name,
    verb_kind,
    verbs,
    weak_verbs,
)
from interlock.analysis.lexicon.load import Patterns, WordLists

_PATTERNS = Patterns("names")
_LISTS = WordLists("names")

Words = tuple[str, ...]


class NamedAct(Struct, frozen=True):
    """One clause of a name: a verb of some kind, and the noun phrase that it acts on."""

    kind: str  # of verb, in the lexicon's words; empty when no verb is known
    verb: str
    phrase: Words  # the words of the object
    object: str  # its kind
    noun: str  # its head
    beside: Words = ()  # what stands behind a preposition
    at: int = 0  # which word of the whole name the verb is


@lru_cache(maxsize=4096)
def parse_name(segments: tuple[Words, ...]) -> tuple[Words, tuple[NamedAct, ...]]:
    """The words of a name that matter, and the acts they announce, first one first."""
    own = _without_server(segments)
    if not own:
        return (), ()
    last = own[-1]
    front = tuple(word for words in own[:-1] for word in words) if len(own) > 1 else ()
    if front and (_head(last) < 0 or (last[0] in _LISTS.go and len(last) == 1)):
        last, front = front + last, ()
    clauses = _clauses(last)
    acts: list[NamedAct] = []
    at = len(front)
    for number, clause in enumerate(clauses):
        act = _act(clause, front, at)
        if not number or act.kind == "grant" or (act.kind and act.kind not in _LISTS.mutes):
            acts.append(act)
        at += len(clause) + 1
    return front + last, tuple(_shared(acts))


def _without_server(segments: Sequence[Words]) -> Sequence[Words]:
    """mcp__server__tool says nothing by its first two parts; render_delete_service begins with a product that is a verb as well."""
    if len(segments) > 2 and segments[0] == ("mcp",):
        segments = segments[2:]
    elif segments and segments[0][0] == "mcp":
        segments = [segments[0][1:], *segments[1:]] if len(segments[0]) > 1 else segments[1:]
    first = segments[0] if segments else ()
    if len(first) > 2 and first[0] in _LISTS.vendors and verbs().get(first[1], "read") not in _LISTS.mutes:
        return [first[1:], *segments[1:]]
    return segments


def _clauses(words: Words) -> list[Words]:
    """find_and_delete is two clauses, terms_and_conditions is one."""
    if CONJUNCTIONS.isdisjoint(words):
        return [words]
    found: list[Words] = []
    start = 0
    for position, word in enumerate(words[:-1]):
        if word in CONJUNCTIONS and position > start and words[position + 1] in verbs():
            found.append(words[start:position])
            start = position + 1
    return [*found, words[start:]]


def _shared(acts: list[NamedAct]) -> list[NamedAct]:
    """In backup_and_delete_users both verbs have the same object."""
    if len(acts) < 2:
        return acts
    owner = next((act for act in reversed(acts) if act.object), acts[-1])
    return [
        act if act.object else NamedAct(act.kind, act.verb, owner.phrase, owner.object, owner.noun, act.beside, act.at)
        for act in acts
    ]


def _head(words: Words) -> int:
    """Which word of a clause is its verb; -1 for none."""
    first = words[0] if words else ""
    if first in verbs() and first not in weak_verbs():
        return 0
    strong = [position for position, word in enumerate(words) if word in verbs() and word not in weak_verbs()]
    if first in verbs() and len(words) == 2 and words[1] in objects() and verbs().get(words[1]) == "read":
        return 0  # mute_monitor
    if len(words) > 3 and strong and first in objects() and words[1] in objects() and words[1] not in verbs():
        return strong[0]  # log_group_set_retention
    if first in verbs():  # order_cancel and backup_delete: the first word is a noun here
        return strong[-1] if strong and strong[-1] == len(words) - 1 and len(words) <= 4 else 0
    if strong:
        at = strong[0]
        if (
            at
            and words[at] in objects()
            and verbs()[words[at]] == "read"
            and verbs().get(words[at - 1], "read") not in _LISTS.mutes
        ):
            return at - 1  # datadog_mute_monitor
        named = words[at] in objects() and verbs()[words[at]] == "read"
        return strong[-1] if named and strong[-1] == len(words) - 1 else at  # health_check_disable
    weak = (position for position, word in enumerate(words) if word in verbs())
    last = words[-1] if words else ""
    noun = last in objects() and verbs().get(last) in _LISTS.mutes  # ack_message sends no message
    return next((position for position in weak if not noun or position < len(words) - 1), -1)


def _act(words: Words, front: Words, at: int) -> NamedAct:
    head = _head(words)
    if head < 0:
        kind, noun = object_kind(words)
        return NamedAct("", "", words, kind, noun, (), at)
    verb = words[head]
    phrase, beside = _phrase(words[head + 1 :])
    act = _carried(verb, phrase or (words[:head] or front)[-1:], words[:head], beside, at + head)
    if act is not None:
        return act
    what, noun = object_kind(phrase)
    if not what and not noun:  # issueDelete, zone.delete: the object stands before its verb
        phrase = words[:head] or front
        what, noun = object_kind(phrase)
    elif not what and words[:head] and len(phrase) == 1 and phrase[0] in verbs():
        what, noun = object_kind(words[:head])
    return NamedAct(verb_kind(verb), verb, phrase, what, noun, beside, at + head)


def _phrase(words: Words) -> tuple[Words, Words]:
    if PREPOSITIONS.isdisjoint(words):
        return words, ()
    for position, word in enumerate(words):
        if word in PREPOSITIONS:
            if not position and word in ("by", "if", "of"):
                continue
            return words[:position], words[position + (word != "without") :]
    return words, ()


def _carried(verb: str, phrase: Words, before: Words, beside: Words, at: int) -> NamedAct | None:
    """process_refund, schedule_key_deletion: a verb that only carries the deed which its noun names."""
    if verb not in _LISTS.carriers or not phrase:
        return None
    job = phrase[-1] in _LISTS.jobs or (phrase[-1] in _LISTS.asked and verb not in _LISTS.only_money)
    core = phrase[:-1] if job and len(phrase) > 1 else phrase
    deed = core[-1]
    if deed not in deed_nouns():
        return _first_deed(verb, core, beside, at)
    if verb in _LISTS.only_money and deed_nouns()[deed] != "pay":
        return None
    rest = core[:-1] or beside or before
    kind, noun = object_kind(rest)
    return NamedAct(deed_nouns()[deed], deed, rest, kind, noun or deed, beside, at)


def _first_deed(verb: str, phrase: Words, beside: Words, at: int) -> NamedAct | None:
    """request_delete_account: the carried deed comes first."""
    kind = verb_kind(phrase[0])
    if (
        verb in _LISTS.only_money
        or (phrase[0] in weak_verbs() and verb != "force")
        or kind in ("", *_LISTS.mutes)
        or len(phrase) < 2
    ):
        return None
    what, noun = object_kind(phrase[1:])
    if verb in ("run", "execute", "do") and noun in ("test", "tests", "check", "checks", "suite"):
        return None
    return NamedAct(kind, phrase[0], phrase[1:], what, noun, beside, at)


_LONGEST = 100
_REVERSED = re.compile(r"[A-Za-z]\w*(?:[.:][A-Za-z]\w*){1,3}")  # queue.purge, user:delete
_HOW = BULK_WORDS | FORCE_WORDS | PERMANENT_WORDS | {"safe", "soft", "auto"}


@lru_cache(maxsize=4096)
def is_operation(word: str) -> bool:
    """True for a word that names an operation: by its shape, or by a verb and its object where the shape alone says little."""
    if len(word) > _LONGEST or (word.isalpha() and word.islower()):
        return False
    if _PATTERNS.shaped.fullmatch(word):
        return True
    return bool(_PATTERNS.styled.fullmatch(word)) and _announces(word, weak=False)


@lru_cache(maxsize=1024)
def may_be_operation(word: str) -> bool:
    """As `is_operation`, also for verbs that are as often nouns: where a sentence calls it, `reset-db` is one too."""
    if is_operation(word) or len(word) > _LONGEST:
        return len(word) <= _LONGEST
    if _PATTERNS.styled.fullmatch(word) and _announces(word, weak=True):
        return True
    segments = split_name(word) if _REVERSED.fullmatch(word) else ()
    if len(segments) < 2 or len(segments[-1]) != 1 or segments[-2][-1] not in objects():
        return False
    verb = segments[-1][0]  # behind the thing that it does harm
    return verbs().get(verb, "read") not in _LISTS.tame and verb not in weak_verbs()


@lru_cache(maxsize=1024)
def is_english(word: str) -> bool:
    """True for a name with an English verb: it speaks for no other language."""
    if len(word) > _LONGEST or not (_PATTERNS.shaped.fullmatch(word) or _PATTERNS.styled.fullmatch(word)):
        return False
    return any(act.kind for act in parse_name(split_name(word))[1])


@lru_cache(maxsize=1024)
def harms(word: str) -> bool:
    """True for a name that begins with a verb of harm, whatever it is done to: no table or column is called so."""
    words = _led(split_name(word))
    return (
        len(words) > 1
        and verbs().get(words[0], "read") not in _LISTS.tame
        and (words[0] not in weak_verbs() or may_be_operation(word))
    )


def _led(segments: Sequence[tuple[str, ...]]) -> list[str]:
    """The words of the last segment without those that only say how: `bulk`, `force`."""
    words = list(segments[-1]) if segments else []
    while len(words) > 1 and words[0] in _HOW and words[1] in verbs():
        words = words[1:]
    return words


def _announces(word: str, weak: bool) -> bool:
    words = _led(split_name(word))
    if len(words) < 2 or words[0] not in verbs():
        return False
    if (
        words[0] in weak_verbs()
        and not weak
        and (verbs()[words[0]] in _LISTS.tame or object_kind(tuple(words[1:]))[0] not in _LISTS.grave)
    ):
        return False
    pascal = word[:1].isupper() and "_" not in word and "-" not in word
    if pascal and words[-1] in _LISTS.parts:
        return False
    return any(other in objects() or other in ALL_WORDS for other in words[1:]) or (pascal and weak)
