"""Parses operation names into verbs and objects, and recognises operation names among the words of a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.lexicon import deed_nouns, object_kind, objects, reaches, split_name, verbs, weak_verbs
from interlock.analysis.lexicon.load import Patterns, WordLists

_PATTERNS = Patterns("names")
_LISTS = WordLists("names")

Words = tuple[str, ...]
_how = cache(
    lambda: {"safe", "soft", "auto"}.union(word for word, how in reaches().items() if how not in ("all", "staging"))
)


class NamedAct(Struct, frozen=True, cache_hash=True):
    """One clause of a name: a verb of some kind, and the noun phrase that it acts on."""

    kind: str = ""  # of verb, in the lexicon's words; empty when no verb is known
    verb: str = ""
    phrase: Words = ()  # the words of the object
    object: str = ""  # its kind
    noun: str = ""  # its head
    beside: Words = ()  # what stands behind a preposition
    at: int = 0  # which word of the whole name the verb is
    owner: Words = ()  # what stands before the verb, the name of a server or of a product among it


@lru_cache(maxsize=4096)
def parse_name(segments: tuple[Words, ...]) -> tuple[Words, tuple[NamedAct, ...]]:
    """The words of a name that matter, and the acts they announce, first one first."""
    own = _without_server(segments)
    if not own:
        return (), ()
    front, last = tuple(chain(*own[:-1])), own[-1]
    said = last
    if front and (_head(last) < 0 or (last[0] in _LISTS.go and len(last) == 1)):
        if last[-1] in verbs() and _how().issuperset(last[:-1]) and _head(front + last) < 0:
            said = last[-1:]  # payroll.run, refunds.bulkIssue
        else:
            front, last = (), front + last
            said = last
    acts: list[NamedAct] = []
    at = len(front) + len(last) - len(said)
    for clause in _clauses(said):
        act = _act(clause, front, at)
        if not acts or act.kind == "grant" or (act.kind and act.kind not in _LISTS.mutes):
            acts.append(act)
        at += len(clause) + 1
    # in backup_and_delete_users both verbs have the same object
    owner = next((act for act in reversed(acts) if act.object), acts[-1])
    return front + last, tuple(
        act if act.object else replace(act, phrase=owner.phrase, object=owner.object, noun=owner.noun) for act in acts
    )


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
    found: list[Words] = []
    start = 0
    for position, word in enumerate(words[:-1]):
        if word in _LISTS.joints and position > start and words[position + 1] in verbs():
            found.append(words[start:position])
            start = position + 1
    return [*found, words[start:]]


def _head(words: Words) -> int:
    """Which word of a clause is its verb; -1 for none."""
    kinds, nouns = verbs(), objects()
    weak = [position for position, word in enumerate(words) if word in kinds]
    strong = [position for position in weak if words[position] not in weak_verbs()]
    leads, ends = weak[:1] == [0], strong[-1:] == [len(words) - 1]
    if leads and len(words) == 2 and words[1] in nouns and kinds.get(words[1]) == "read":
        return 0  # mute_monitor
    if len(words) > 3 and strong and strong[0] and words[0] in nouns and words[1] in nouns and words[1] not in kinds:
        return strong[0]  # log_group_set_retention
    if leads:  # but for order_cancel and backup_delete: the first word is a noun here
        return strong[-1] if ends and strong[0] and len(words) <= 4 else 0
    if strong:
        at = strong[0]
        reads = words[at] in nouns and kinds[words[at]] == "read"
        if reads and kinds.get(words[at - 1], "read") not in _LISTS.mutes:
            return at - 1  # datadog_mute_monitor
        return strong[-1] if reads and ends else at  # health_check_disable
    if words[-1] in nouns and kinds.get(words[-1]) in _LISTS.mutes:
        weak.pop()  # ack_message sends no message
    return next(iter(weak), -1)


def _act(words: Words, front: Words, at: int) -> NamedAct:
    head = _head(words)
    if head < 0:
        return NamedAct("", "", words, *object_kind(words), (), at, front)
    verb, before = words[head], words[:head]
    phrase, beside = _phrase(words[head + 1 :])
    owner = (*front, *before)
    last = tuple(word for word in owner if word not in _how())[-1:]  # refunds.bulkIssue issues refunds
    if carried := _carried(verb, phrase or last, before, beside, at + head):
        return replace(carried, owner=owner)
    what, noun = object_kind(phrase)
    if (not what and not noun) or noun in _LISTS.loose:  # issueDelete, zone.delete, payroll.submit_run
        phrase = (*(before or front), *phrase)  # the object stands before its verb
        what, noun = object_kind(phrase)
    elif not what and before and len(phrase) == 1 and phrase[0] in verbs():
        what, noun = object_kind(before)
    return NamedAct(verbs()[verb], verb, phrase, what, noun, beside, at + head, owner)


def _phrase(words: Words) -> tuple[Words, Words]:
    for position, word in enumerate(words):
        if word in _LISTS.prepositions and (position or word not in ("by", "if", "of")):
            return words[:position], words[position + (word != "without") :]
    return words, ()


def _carried(verb: str, phrase: Words, before: Words, beside: Words, at: int) -> NamedAct | None:
    """process_refund, schedule_key_deletion: a verb that only carries the deed which its noun names."""
    if verb not in _LISTS.carriers or not phrase:
        return None
    pays = verb in _LISTS.only_money
    job = phrase[-1] in _LISTS.jobs or (phrase[-1] in _LISTS.asked and not pays)
    core = phrase[:-1] if job and len(phrase) > 1 else phrase
    if kind := deed_nouns().get(deed := core[-1]):
        rest = core[:-1] or beside or before
        what, noun = object_kind(rest)
        return None if pays and kind != "pay" else NamedAct(kind, deed, rest, what, noun or deed, beside, at)
    deed, *_ = core  # request_delete_account: the carried deed comes first
    kind = verbs().get(deed, "")
    if pays or len(core) < 2 or kind in ("", *_LISTS.mutes) or (deed in weak_verbs() and verb != "force"):
        return None
    what, noun = object_kind(core[1:])
    tests = verb in ("run", "execute", "do") and noun in _LISTS.tests
    return None if tests else NamedAct(kind, deed, core[1:], what, noun, beside, at)


_LONGEST = 100


@lru_cache(maxsize=4096)
def is_operation(word: str) -> bool:
    """True for a word that names an operation: by its shape, or by a verb and its object where the shape alone says little."""
    if len(word) > _LONGEST or (word.isalpha() and word.islower()):
        return False
    styled = _PATTERNS.styled.fullmatch(word) is not None
    return _PATTERNS.shaped.fullmatch(word) is not None or (styled and _announces(word, weak=False))


@lru_cache(maxsize=1024)
def may_be_operation(word: str) -> bool:
    """As `is_operation`, also for verbs that are as often nouns: where a sentence calls it, `reset-db` is one too."""
    if len(word) > _LONGEST:
        return False
    if is_operation(word) or (_PATTERNS.styled.fullmatch(word) and _announces(word, weak=True)):
        return True
    segments = split_name(word) if _PATTERNS.reversed.fullmatch(word) else ()
    if len(segments) < 2 or len(segments[-1]) != 1 or segments[-2][-1] not in objects():
        return False
    verb = segments[-1][0]  # behind the thing that it does harm
    return verbs().get(verb, "read") not in _LISTS.tame and verb not in weak_verbs()


@lru_cache(maxsize=1024)
def is_english(word: str) -> bool:
    """True for a name with an English verb: it speaks for no other language."""
    named = len(word) <= _LONGEST and (_PATTERNS.shaped.fullmatch(word) or _PATTERNS.styled.fullmatch(word))
    return bool(named) and any(act.kind for act in parse_name(split_name(word))[1])


@lru_cache(maxsize=1024)
def harms(word: str) -> bool:
    """True for a name that begins with a verb of harm, whatever it is done to: no table or column is called so."""
    words = _led(split_name(word))
    if len(words) < 2 or verbs().get(words[0], "read") in _LISTS.tame:
        return False
    return words[0] not in weak_verbs() or may_be_operation(word)


def _led(segments: Sequence[tuple[str, ...]]) -> list[str]:
    """The words of the last segment without those that only say how: `bulk`, `force`."""
    words = list(segments[-1]) if segments else []
    while len(words) > 1 and words[0] in _how() and words[1] in verbs():
        words = words[1:]
    return words


def _announces(word: str, weak: bool) -> bool:
    words = _led(split_name(word))
    if len(words) < 2 or words[0] not in verbs():
        return False
    weakly = words[0] in weak_verbs() and not weak
    if weakly and (verbs()[words[0]] in _LISTS.tame or object_kind(tuple(words[1:]))[0] not in _LISTS.grave):
        return False
    pascal = word[:1].isupper() and "_" not in word and "-" not in word
    about = any(other in objects() or reaches().get(other) == "all" for other in words[1:])
    return not (pascal and words[-1] in _LISTS.parts) and (about or (pascal and weak))
