"""Looks up the effect of a verb on an object, with the traits that the object adds; parameters refine what a name leaves open."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import chain

from msgspec.structs import astuple, replace

from interlock.analysis.lexicon import deed_nouns, object_kind, objects, split_name, verb_forms, verb_kind
from interlock.analysis.lexicon.english import EFFECTS, READS
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists, WordMaps, english
from interlock.analysis.operations.names import NamedAct
from interlock.analysis.operations.params import Keys, each, squash, truth

_PATTERNS = Patterns("effects")
_LISTS = WordLists("effects")
_MAPS = WordMaps("effects")

Deed = tuple[str, tuple[str, ...]]
CHANGE, READ = "act_change", "act_read"
HARMLESS = frozenset({CHANGE, READ, "act_send", "act_vague"})
_TELLING = frozenset({"deployed", "published"})  # traits that make harm of a harmless verb

# Rows for what a name says beyond the kinds of its verb and its object: before the table, and for verbs that do no harm by it.
_PARTS = "nouns phrase first last said beside about whole"
NAMED = Rows("named", "verbs kinds objects", _PARTS, EFFECTS | {READS})
RAISING = Rows("raising", "verbs kinds objects", _PARTS, EFFECTS | {READS})
# With parameters.
GIVEN = Rows("given", "verbs kinds objects by_name", f"{_PARTS} yes no zero empty has mode reach", EFFECTS | {READS})


@lru_cache(maxsize=4096)
def act_words(act: NamedAct) -> Mapping[str, Collection[str]]:
    kind, verb, phrase, thing, noun, beside, _, owner = astuple(act)
    return {
        "verbs": (verb,),
        "kinds": (kind,),
        "objects": (thing,),
        "nouns": (noun,),
        "phrase": phrase,
        "first": phrase[:1],
        "last": phrase[-1:],
        "said": (*phrase, noun, *beside),
        "beside": beside or ("",),
        "about": (thing, *phrase),
        "whole": (*owner, *phrase, noun, *beside),
    }


def answer(rows: Rows, act: NamedAct) -> Deed | None:
    key = act.verb, act.kind, act.object
    return as_deed(said) if rows.of(key) and (said := rows.first(key, act_words(act))) else None


@lru_cache(maxsize=512)
def as_deed(said: str) -> Deed:
    effect, *traits = said.split()
    return effect if effect == READS else f"act_{effect}", tuple(traits)


@lru_cache(maxsize=4096)
def deed(act: NamedAct, reach: frozenset[str] = frozenset()) -> Deed:
    """The act's verb among the rules' words, and its traits; `reach` says how far it goes."""
    if act.kind in ("stop", "cancel") and act.noun in deed_nouns() and act.noun not in _LISTS.wanted:
        return CHANGE, ()  # cancel_deletion, disable_delete
    known = english()
    kind = known.senses.get(act.verb) or known.named_nouns.get(act.verb) or _MAPS.kinds.get(act.kind, "")
    thing, _, trait = _MAPS.things.get(act.object, act.object).partition(" ")
    verb, more = answer(NAMED, act) or (_looked_up(act, kind, thing, reach | {trait} if trait else reach), ())
    if verb in HARMLESS:  # but for make_admin, rewrite_history, enable_bypass
        return answer(RAISING, act) or (("act_send", ()) if is_broadcast(act) else (verb, ()))
    traits = [*([trait] if trait else ()), *more]
    adds = known.kinds[kind or "destroy"].adds
    if act.verb in _LISTS.gentle or adds == "undoable":
        traits.append("undoable")
    elif adds == "shared":
        traits.append(adds)
    if act.verb in _LISTS.total and verb == "act_delete" and (act.object in _LISTS.emptied or not act.object):
        traits.append("all")
    return verb, tuple(traits)


def _looked_up(act: NamedAct, kind: str, thing: str, traits: frozenset[str]) -> str:
    """The effect by the table that sentences ask as well."""
    if act.kind == "delete" and act.beside and not act.phrase:
        return _MAPS.out_of.get(object_kind(act.beside)[0], CHANGE)
    if act.kind == "read" or not kind:
        return READ if act.kind == "read" else CHANGE
    if kind == "send" and act.noun in _LISTS.messages:
        thing = "message"
    effect = english().effect(kind, thing, traits, named=True)[0]
    if effect == CHANGE and act.kind == "send" and thing != "message" and act.object in ("", *_LISTS.sent):
        return "act_send"  # several of these are a mass mailing
    return READ if effect == CHANGE and act.kind == "leak" else effect


def is_harm(deed: Deed) -> bool:
    """True for a deed that somebody has to know of."""
    return deed[0] not in HARMLESS or not _TELLING.isdisjoint(deed[1])


def is_broadcast(act: NamedAct, words: tuple[str, ...] = ()) -> bool:
    """publish_post, post_to_linkedin, linkedin_share_post, create_tweet: said to everybody, in somebody's name."""
    if act.verb in _LISTS.puts or (not act.kind and act.noun == "post"):
        loud = act.noun in _LISTS.out_loud
        where = (*act.phrase, *act.beside, *(words if loud else ()))
        return (loud and act.verb == "publish") or not _LISTS.social.isdisjoint(where)
    return act.verb in ("tweet", "broadcast", "blast")


def with_object(act: NamedAct, keys: Keys) -> NamedAct:
    """Where the name has no object, the parameters may: {"kind": "deployment"}, {"table": "users"}."""
    if act.kind in ("read", "create") or not keys or (act.object and act.kind != "restore"):
        return act
    if (entity := keys.text("entityid")) and (kind := _MAPS.entities.get(entity.partition(".")[0])):
        return replace(act, object=kind, noun=entity[:40])  # lock.unlock {"entity_id": "lock.front_door"}
    if act.object:
        return act
    for value in keys.texts(_LISTS.in_order("kinds")):
        kind, noun = object_kind(tuple(chain(*split_name(value)))) if 0 < len(value) < 60 else ("", "")
        if kind:
            return replace(act, object=kind, noun=noun)
    for key in () if act.phrase and act.phrase[-1] not in _LISTS.generic else keys:
        base = _PATTERNS.naming.sub("", key)
        kind = objects().get(base, "light")
        if kind in _LISTS.narrowed and _LISTS.narrow & keys.keys():
            return replace(act, object="data", noun="row")
        if kind not in ("light", "safety"):
            return replace(act, object=kind, noun=base)
    return act


def by_params(act: NamedAct, deed: Deed, keys: Keys, traits: set[str]) -> Deed:
    if act.verb == "reset" and "git" in (*act.phrase, act.noun):
        traits.discard("permanent")
    key = act.verb, act.kind, act.object, deed[0]
    if GIVEN.of(key) and (said := GIVEN.first(key, {**act_words(act), "reach": traits, **_given(keys)})):
        return as_deed(said)
    if act.kind == "leak" and (act.object in _LISTS.personal or not _LISTS.people.isdisjoint(act.phrase)):
        to = [str(keys[key]) for key in _LISTS.goes_to & keys.keys()]  # people's data, to somewhere else
        return ("act_leak", ()) if any("://" in one[:12] or "@" in one or "public" in one for one in to) else deed
    return deed


def _given(keys: Keys) -> dict[str, Collection[str]]:
    """What the parameters say, in the words of the rows: keys with a yes, a no, a zero or any value, and what modes are given."""
    found: dict[str, list[str]] = {"yes": [], "no": [], "zero": [], "empty": [], "mode": []}
    for key, value in keys.items():
        if (said := truth(value)) is not None:
            protects = key.endswith(("protection", "protected"))
            found["yes" if said else "no"].append("*protection" if protects else key)
        if value is not False and (value == 0 or value in ("0", "0d", "0s")):
            named = (text[:80].lower() for text in keys.texts(("key", "setting", "name")))
            kept = "retention" in key or any("retention" in text for text in named)
            found["zero"].append("*retention" if kept else key)
        elif value is None or value == "":
            found["empty"].append(key)
        elif isinstance(value, str) and key in _LISTS.modes:
            found["mode"].append(value.strip().lower()[:40])
    return {**found, "has": keys.keys()}


def ending(act: NamedAct, key: str, value: object) -> str:
    """The verb for a field that ends or deletes what the act is about: status "suspended", trashed true, deleted_at with a date."""
    kind, said, verb = _field(key), truth(value), ""
    if kind == "switch":
        return "disable" if said is False and act.object in _LISTS.switched_off else ""
    if kind == "state" and isinstance(value, str):
        base, form, _ = verb_forms().get(value.strip().lower()[:30], ("", "", ""))
        past = base if form == "past" and verb_kind(base) in _LISTS.halts else ""  # `disconnected`
        deletes = not _LISTS.deleted.isdisjoint(chain(*split_name(value[:60])))
        verb = _MAPS.ended.get(squash(value)) or past or ("delete" if deletes else "")
    elif kind == "labels" and value and not isinstance(value, Mapping):
        verb = "delete" if any(squash(label) in _LISTS.bins for label in each(value)) else ""
    elif kind not in ("state", "") and said is not False and value not in (None, ""):
        dated = isinstance(value, (str, int, float)) and key.endswith(("at", "on", "date", "time", "stamp"))
        verb = kind if said or dated else ""
    if verb == "delete" or (verb == "archive" and act.noun in _LISTS.binned):
        return "delete"
    final = act.object and verb_kind(verb) in (_LISTS.final if act.object != "physical" else _LISTS.halts)
    ends = verb in _LISTS.for_good and squash(value) != "expired" and act.noun not in _LISTS.passing
    return verb if act.object in _LISTS.owned or final or ends else ""


@lru_cache(maxsize=4096)
def _field(key: str) -> str:
    """What a field says that may end something: a state, the labels of a thing, that it is on, or that and when it ended."""
    if key in _LISTS.states or key.endswith("status"):
        return "state"
    if key in _LISTS.adds_labels:
        return "labels"
    if key in _LISTS.switches or key.endswith(("enabled", "active")):
        return "switch"
    return "delete" if _PATTERNS.gone.fullmatch(key) else ended_by(key)


def ended_by(key: str) -> str:
    """The verb for a flag that ends something: `is_suspended`, `revoked`."""
    found = _PATTERNS.ended_flag.fullmatch(key)
    return _MAPS.ended.get(found[1], found[1]) if found else ""
