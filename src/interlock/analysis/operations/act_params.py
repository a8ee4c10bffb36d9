"""Refines the effect of an operation whose name leaves it open by the operation's parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from interlock.analysis.lexicon import object_kind, objects, split_name
from interlock.analysis.lexicon.lists import Patterns, WordLists, WordMaps
from interlock.analysis.lexicon.load import english
from interlock.analysis.lexicon.named_effects import NamedAct
from interlock.analysis.operations.effects import CHANGE
from interlock.analysis.operations.params import pairs, squash, truth

_PATTERNS = Patterns("act_params")
_LISTS = WordLists("act_params")
_MAPS = WordMaps("act_params")

Deed = tuple[str, tuple[str, ...]]
_NAMED = frozenset({"key", "setting", "name"})
_KINDS = "kind type resourcetype resource objecttype object entity entitytype targettype scope".split()


def with_object(act: NamedAct, keys: Mapping[str, Any]) -> NamedAct:
    """Where the name has no object, the parameters may: {"kind": "deployment"}, {"table": "users"}."""
    if act.object or act.kind in ("read", "create") or not keys:
        return act
    entity = keys.get("entityid")
    if isinstance(entity, str) and (kind := _MAPS.entities.get(entity.partition(".")[0])):
        return NamedAct(act.kind, act.verb, act.phrase, kind, entity[:40], act.beside, act.at)
    for key in _KINDS:
        value = keys.get(key)
        if isinstance(value, str) and 0 < len(value) < 60:
            kind, noun = object_kind(tuple(word for words in split_name(value) for word in words))
            if kind:
                return NamedAct(act.kind, act.verb, act.phrase, kind, noun, act.beside, act.at)
    if act.phrase and act.phrase[-1] not in _LISTS.generic:
        return act
    for key in keys:
        base = key.removesuffix("ids").removesuffix("id").removesuffix("name").removesuffix("identifier") or key
        kind = objects().get(base, "light")
        if kind in ("light", "safety"):
            continue
        if kind in ("table", "database", "schema", "bucket") and _LISTS.narrow & keys.keys():
            kind, base = "data", "row"
        return NamedAct(act.kind, act.verb, act.phrase, kind, base, act.beside, act.at)
    return act


def by_params(act: NamedAct, deed: Deed, keys: Mapping[str, Any], traits: set[str]) -> Deed:
    """The deed, or the one that its parameters make of it."""
    if not keys:
        return deed
    if act.verb == "reset" and "git" in (*act.phrase, act.noun):
        traits.discard("permanent")
        hard = str(keys.get("mode", keys.get("hard", ""))).lower()[:10] in _LISTS.hard
        return ("act_delete", ()) if hard else (CHANGE, ())
    if any(map(_tells, keys)) or not english().given.telling["reach"].isdisjoint(traits):
        row = english().given.find(act, _given(deed[0], keys, traits))
        if row is not None:
            return row.effect, row.traits
    if act.verb in ("update", "post", "write") and _deletes_by_query(keys):
        return "act_delete", ("all",)
    return ("act_leak", ()) if act.kind == "leak" and _goes_out(act, keys) else deed


@lru_cache(maxsize=4096)
def _tells(key: str) -> bool:
    """True for a key of which some row for parameters asks what it is given."""
    asked = (key in words for part, words in english().given.telling.items() if part != "reach")
    return (
        key in _LISTS.modes
        or key in _NAMED
        or key.endswith(("protection", "protected"))
        or "retention" in key
        or any(asked)
    )


def _given(deed: str, keys: Mapping[str, Any], traits: set[str]) -> Mapping[str, Collection[str]]:
    """What the parameters say, in the words of the rows: the keys with a yes, a no, a zero, and what modes are given."""
    found: dict[str, set[str]] = {"yes": set(), "no": set(), "zero": set(), "mode": set()}
    kept = any("retention" in str(keys[key])[:80].lower() for key in _NAMED & keys.keys())
    for key, value in keys.items():
        said = truth(value)
        if said is not None:
            found["yes" if said else "no"].add("*protection" if key.endswith(("protection", "protected")) else key)
        if (value is not False and value in (0, "0")) or value in ("0d", "0s"):
            found["zero"].add("*retention" if "retention" in key or kept else key)
        elif isinstance(value, str) and key in _LISTS.modes:
            found["mode"].add(value.strip().lower()[:40])
    return {**found, "has": keys.keys(), "reach": traits, "by_name": (deed,)}


def _deletes_by_query(keys: Mapping[str, Any]) -> bool:
    """`{"delete": {"query": "*:*"}}`: an update that deletes everything it finds."""
    for body in (keys, keys.get("body"), keys.get("payload"), keys.get("data")):
        found = body.get("delete") if isinstance(body, Mapping) else None
        if isinstance(found, Mapping) and found.get("query") in ("*:*", "*", {"match_all": {}}):
            return True
    return False


def _goes_out(act: NamedAct, keys: Mapping[str, Any]) -> bool:
    """export_customers {"to": "https://…"}: people's data, to somewhere else."""
    people = act.object in ("person", "account", "database", "table", "credential") or not _LISTS.people.isdisjoint(
        act.phrase
    )
    to = [keys[key] for key in _LISTS.goes_to & keys.keys() if isinstance(keys[key], str)]
    return people and any("://" in value[:12] or "@" in value or "public" in value for value in to)


def ending(act: NamedAct, key: str, value: object) -> str:
    """The verb for a field whose value ends or deletes what the act is about; nothing for any other."""
    if verb := _ending(key, value):
        if verb == "archive" and act.noun in _LISTS.binned:
            return "delete"
        return verb if verb == "delete" or act.object in _LISTS.owned else ""
    switch = key in _LISTS.switches or key.endswith(("enabled", "active"))
    return "disable" if switch and truth(value) is False and act.object in _LISTS.switched_off else ""


def _ending(key: str, value: object) -> str:
    """The verb for a state or a flag that ends something: status "suspended", trashed true, deleted_at with a date."""
    if key in _LISTS.states and isinstance(value, str):
        words = {word for part in split_name(value[:60]) for word in part}
        return _MAPS.ended.get(squash(value)) or ("delete" if not words.isdisjoint(_LISTS.deleted) else "")
    if truth(value) is False or value in (None, "", 0) or isinstance(value, Mapping):
        return ""
    if key in _LISTS.adds_labels:
        labels = value if isinstance(value, (list, tuple)) else (value,)
        return "delete" if any(squash(label) in _LISTS.bins for label in labels[:50]) else ""
    dated = isinstance(value, (str, int, float)) and key.endswith(("at", "on", "date", "time", "stamp"))
    if truth(value) is not True and not dated:
        return ""
    return "delete" if _PATTERNS.gone.fullmatch(key) else ended_by(key)


def ended_by(key: str) -> str:
    """The verb for a flag that ends something: `is_suspended`, `revoked`."""
    found = _PATTERNS.ended_flag.fullmatch(key)
    return _MAPS.ended.get(found[1], found[1]) if found else ""


def rights_to_all(params: Mapping[str, Any]) -> bool:
    """A policy that lets everybody in, or somebody do everything."""
    found = [(key, value) for key, value, _ in pairs(params) if key in ("effect", "principal", "aws", "action")]
    denies = any(key == "effect" and str(value).lower()[:5] == "deny" for key, value in found)
    return not denies and any(value in ("*", ["*"]) for _, value in found)
