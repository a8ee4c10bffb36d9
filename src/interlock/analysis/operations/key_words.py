"""The name of a parameter -> the meaning of a yes, a no or a value given under it."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from interlock.analysis.lexicon import object_kind, objects, split_name, verbs
from interlock.analysis.lexicon.lists import WordLists
from interlock.analysis.lexicon.load import english

_LISTS = WordLists("key_words")

STATES = frozenset(
    "enabled enable status state mode active value level isenabled on isactive setting newvalue to".split()
)
NAMES = frozenset(
    "key name setting parameter flag feature option property attribute variable settingname parametername featurename flagname configkey policy "
    "control check".split()
)


def _words(group: str) -> frozenset[str]:
    return english().parameters[group]


class Sense(Struct, frozen=True):
    """What a parameter's name says."""

    words: tuple[str, ...] = ()
    deletes: bool = False  # a yes deletes
    many: bool = False  # and more than one thing
    guards: bool = False  # a no switches a protection off
    lifts: bool = False  # a yes switches a protection off
    opens: bool = False  # a yes opens it to everybody
    forwards: bool = False  # where mail goes as well
    ends: str = ""  # a yes ends something: the verb for it


NOTHING = Sense()


@lru_cache(maxsize=4096)
def sense(key: str) -> Sense:
    """What a key says, from its words."""
    words = tuple(word for segment in split_name(key) for word in segment)
    if not words or len(words) > 8:
        return NOTHING
    own = frozenset(words)
    deletes = _deletes(words, own)
    lifts = _lifts(words, own)
    guards = not lifts and _guards(words, own)
    opens = not _words("public").isdisjoint(own) and own.isdisjoint(
        _words("closes") | _words("lifts") | {"key", "keys", "ip", "subnet", "url", "id", "name"}
    )
    forwards = any(word.startswith(("forward", "redirect", "autoforward")) for word in words) or "delegate" in own
    ends = "" if deletes else _ends(words)
    found = Sense(words, deletes, deletes and _is_many(words), guards, lifts, opens, forwards, ends)
    return found if deletes or guards or lifts or opens or forwards or ends else NOTHING


def _deletes(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if not own.isdisjoint(_words("spares")):
        return False
    for position, word in enumerate(words[:3]):
        rest = words[position + 1 :]
        if word in _words("erases"):
            return object_kind(rest)[0] != "light" if rest else word not in ("format", "scrub", "reformat")
        if word in _words("takes"):
            return bool(rest) and not _words("lost").isdisjoint(rest)
    return False


def _is_many(words: tuple[str, ...]) -> bool:
    return not _words("lost").isdisjoint(words) or any(objects().get(word, "") in _LISTS.stores for word in words)


def _guards(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if words[0] in ("disable", "prevent", "deny", "forbid") and not own.isdisjoint(_words("prevented")):
        return True
    if words[-1] in _words("not_switches") and words[-1] != "name":
        return False
    if not own.isdisjoint(_words("demands")):
        return not own.isdisjoint(_words("demanded"))
    if not own.isdisjoint(_words("closes")) and "public" in own:
        return True
    return not own.isdisjoint(_words("guards")) and own.isdisjoint({"name", "count", "log_level", "days"})


def _lifts(words: tuple[str, ...], own: frozenset[str]) -> bool:
    if words[0] in _words("lets"):
        return not own.isdisjoint(_words("let_in"))
    if words[0] in ("bypass", "dangerously", "insecure"):
        return True
    if words[0] in _words("lifts") or words[-1] in ("disabled", "off", "bypassed", "skipped"):
        return not own.isdisjoint(_words("lifted") | _words("guards"))
    return False


def _ends(words: tuple[str, ...]) -> str:
    """cancel_at_period_end, revoke_tokens, terminateInstances: a yes that ends something."""
    first = words[0]
    if first in _words("mild") and len(words) == 1:
        return ""
    return (
        first
        if (verbs().get(first, "") in _words("ending") or first in ("ban", "kick", "expel"))
        and first not in ("dismiss", "deny", "throttle", "timeout", "mute")
        else ""
    )
