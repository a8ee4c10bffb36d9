"""Settings among the parameters, at any depth -> effects: deletion, expiry, disabled protection, public access, forwarding."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import object_kind, objects, split_name, verb_kind, verbs
from interlock.analysis.lexicon.english import EFFECTS
from interlock.analysis.lexicon.load import Patterns, Rows, WordLists, WordMaps, pattern_lists
from interlock.analysis.operations.effects import Deed, act_words, as_deed, deed, ended_by, ending
from interlock.analysis.operations.names import NamedAct, Words
from interlock.analysis.operations.params import PLAIN, Entry, each, parse_json, short_keys, squash, truth, walk

_PATTERNS = Patterns("settings")
_KEYS = Patterns("keys")
_LISTS = WordLists("settings")
_MAPS = WordMaps("settings")

SETTINGS = Rows("setting", "value key", "above act words verbs kinds objects", EFFECTS)  # rows for one parameter
SENSES = Rows("sense", "", "verbs objects phrase nouns said about", ("bypasses", "lifts", "guards", "opens"))  # its key
_MOST_TEXT = 20_000
_LONG = 200  # characters: longer text is a document


class OperationSettings:
    def __init__(self, words: Words, act: NamedAct) -> None:
        self.words, self.act = words, act
        self.configures = not act.kind or act.verb in _LISTS.configures

    @cached_property
    def told(self) -> Mapping[str, Collection[str]]:
        act, words, configures = self.act, self.words, self.configures
        tells = {
            "configures": configures,
            "sets_up": act.kind in ("grant", "create", "change"),
            "changes": configures or act.kind in ("change", "grant"),
            "opens": configures or act.kind == "grant",
            "puts_out": act.verb in _LISTS.puts_out or act.noun in _LISTS.out_loud,
            "inward": _LISTS.outward.isdisjoint(words),
            "guards": configures and _sense(words[:8]) == "guards",
        }
        return {**act_words(act), "words": words, "act": [name for name, true in tells.items() if true]}

    def read(self, params: Mapping[str, Any], entries: list[Entry]) -> Iterator[Deed]:
        """Every deed that the settings make of an act which is not one by its name, in the order in which they stand."""
        act, deletions, rows = self.act, 0, SETTINGS.words_of("value")
        if act.kind == verb_kind(act.verb) == "read" or (act.at < 0 and not act.verb):
            return  # but for `purge_history_report`
        keeps, sets = not _LISTS.keeping.isdisjoint(self.words), act.verb in _LISTS.sets
        tells = act.verb in _LISTS.telling or act.object == "audit" or "test" in self.words
        yield from self._pair(params)
        for short, key, value, depth, above in entries:
            about = value if short in ("name", "key") and isinstance(value, str) else short
            keeps = keeps or "reten" in about or "retain" in about or "expir" in short
            if not isinstance(value, PLAIN) and isinstance(value, Mapping):
                yield from self._pair(value)
                if key == above and len(value) <= 2:  # in a list a mapping may be a deletion: {"DeleteRequest": {…}}
                    named = [name for name, held in value.items() if isinstance(held, Mapping)]
                    deletions += sum(str(name).lower().startswith(("delete", "$delete")) for name in named)
                continue
            if depth and (short in _LISTS.deletes or short in _LISTS.changes) and not tells:
                deletions += _deleted(short, value, above)
            for one in each(value) or (value,):
                if said := rows.intersection(_said(one)):
                    yield from self._by_row(said, key_senses(key), above)
                    if "on" in said and act.kind in ("change", ""):
                        yield from self._by_flag(said, key, short)
            sets_it = self.configures and squash(above) in _LISTS.fields if depth else sets
            if (sets_it or not act.verb) and (verb := ending(act, short, value)):
                yield self._ended(verb, act.object, act.noun)
        if deletions:
            yield "act_delete", ("bulk",) if deletions > 1 else ()
        if keeps and (self.configures or (act.kind == "create" and act.noun not in _LISTS.built)):
            yield from expires(self.words, entries)
        if act.object in ("access", "config", "bucket") and "sets_up" in self.told["act"] and rights_to_all(entries):
            yield "act_escalate", ()

    def _by_row(self, value: frozenset[str], key: frozenset[str], above: str) -> Iterator[Deed]:
        asked = value, key & SETTINGS.words_of("key", "not_key")
        if SETTINGS.of(asked) and (said := SETTINGS.first(asked, {**self.told, "above": key_senses(above)})):
            yield as_deed(said)

    def _pair(self, mapping: Mapping[str, Any]) -> Iterator[Deed]:
        """{"key": "require_mfa", "value": false}."""
        keys = short_keys(mapping) if self.configures and 1 < len(mapping) <= 12 else {}
        if _LISTS.names.isdisjoint(keys) or _LISTS.states.isdisjoint(keys):
            return
        texts = ((key, text) for key, text in keys.items() if isinstance(text, str) and text.count(" ") < 3)
        named = [(key, text[:60]) for key, text in texts if key in _LISTS.names]  # more words are a sentence
        states = [one for one in keys.items() if one[0] in _LISTS.states and one not in named and one[1] is not None]
        if named and states and (said := SETTINGS.words_of("value").intersection(_said(states[-1][1]))):
            yield from self._by_row(said, key_senses(named[-1][1]) & {"*guards", "*lifts", "*bypasses"}, "")

    def _by_flag(self, said: frozenset[str], key: str, short: str) -> Iterator[Deed]:
        """{"is_suspended": true}, {"cancel_at_period_end": true}."""
        act = self.act
        if verb := ended_by(short):
            yield self._ended(verb, act.object, act.noun)
        if "yes" in said and "*ends" in key_senses(key):
            verb, *rest = split_name(key)[0]
            kind, noun = object_kind(tuple(rest))
            yield self._ended(verb, kind or act.object, noun if kind else act.noun)

    def _ended(self, verb: str, kind: str, noun: str) -> Deed:
        act = self.act
        return deed(NamedAct(verb_kind(verb), verb, act.phrase, kind, noun, act.beside, act.at))


def _deleted(key: str, value: object, above: str) -> int:
    """How many things a parameter deletes: {"Changes": [{"Action": "DELETE", …}]}, {"delete": [7, 8]}; for a rule of a lifecycle none."""
    if key in _LISTS.deletes:
        named = (isinstance(one, (int, Mapping)) or _PATTERNS.reference.search(str(one)) for one in each(value) if one)
        return sum(map(bool, named)) if value is not True else 0
    words = tuple(chain(*split_name(value[:60]))) if isinstance(value, str) else ()
    upper, typed = squash(above), key in ("kind", "type")
    listed = (upper in _LISTS.orders_in and len(words) > 1) if typed else (upper[-1:] == "s" or key == "verb")
    return listed and upper not in _LISTS.ruled and not _LISTS.erases.isdisjoint(words[:1])


_NUMBERS: Mapping[float, tuple[str, ...]] = {0: ("off", "no", "0"), 1: ("on", "yes"), 100: ("100",)}


def _said(value: object) -> Sequence[str]:
    """What a value says, in the words of the rows: the value itself, and classes of values that begin with `*`."""
    if not isinstance(value, str):
        if isinstance(value, (int, float)):
            return ("off", "no") if value is False else _NUMBERS.get(value, ())
        return ("off",) if value is None else ("empty",) if isinstance(value, (list, tuple)) and not value else ()
    word = value.strip().lower()
    if len(value) > _LONG or word[:1] == "{" or "\n" in word:
        text = value[:_MOST_TEXT]  # rules of a database, a manifest in YAML, a policy in JSON
        if _PATTERNS.open_rules.search(text):
            return ["*rules"]
        if word[:1] != "{":
            return ["*open"] if "RoleBinding" in text and any(right in text for right in _LISTS.bound) else []
        return ["*open"] if isinstance(policy := parse_json(text), dict) and rights_to_all(walk(policy)) else []
    found = [word, *_MAPS.switched.get(word, "").split()]
    if "/" in word and (last := word.rpartition("/")[2]).islower():
        found.append(last)
    if not _LISTS.all_rights.isdisjoint(found):
        found.append("*all_rights")
    if "@" in word and " " not in word:
        found += ["*mail", "*mailbox"][: 1 + word.endswith(_LISTS.in_order("mailboxes"))]
    if _PATTERNS.admin.search(word) and "readonly" not in squash(word):
        found.append("*admin")
    if _PATTERNS.admin_group.match(word):
        found.append("*admin_group")
    if word[:1] == "0" and _PATTERNS.free.fullmatch(word):
        found.append("*free")
    elif (":" in word or "{" in word) and _PATTERNS.open_rules.search(value):
        found.append("*rules")
    return found


def rights_to_all(entries: Iterable[Entry]) -> bool:
    """A policy that lets everybody in, or somebody do everything."""
    found = [(key, value) for key, _, value, _, _ in entries if key in _LISTS.policies]
    denies = any(key == "effect" and str(value).lower()[:5] == "deny" for key, value in found)
    return not denies and any(value in ("*", ["*"]) for _, value in found)


@lru_cache(maxsize=4096)
def key_senses(key: str) -> frozenset[str]:
    """What a key says, in the words of the rows: itself without separators, and senses that begin with `*`."""
    short, words = squash(key), tuple(chain(*split_name(key)))
    found = {f"*{name}": getattr(_KEYS, name).search(short) is not None for name in pattern_lists()["keys"]}
    if 0 < len(words) <= 8:
        own, deletes, row = frozenset(words), _deletes(words), _sense(words)
        stored = not _LISTS.lost.isdisjoint(own) or any(objects().get(word) in _LISTS.stores for word in words)
        found |= {
            f"*{row}": row is not None,
            "*deletes": deletes,
            "*deletes_many": deletes and stored,
            "*destroys": deletes and "destroy" in own,
            "*opens_it": row == "opens" and len(words) > 1,
            "*forwards": "delegate" in own or any(w.startswith(("forward", "redirect", "autoforward")) for w in words),
            "*ends": not deletes and _ends(words),
        }
    return frozenset([short, *(name for name, true in found.items() if true)])


def _sense(words: Words) -> str | None:
    if not words or SENSES.words_of("phrase", "verbs").isdisjoint(words):
        return None
    label = "label" if words[-1] in _LISTS.not_switches and words[-1] != "name" else ""
    return SENSES.first((), act_words(NamedAct("", words[0], words, label, words[-1])))


def _deletes(words: Words) -> bool:
    if not _LISTS.spares.isdisjoint(words):
        return False
    for position, word in enumerate(words[:3]):
        rest = words[position + 1 :]
        if word in _LISTS.erases:
            return object_kind(rest)[0] != "light" if rest else word not in ("format", "scrub", "reformat")
        if word in _LISTS.takes:
            return not _LISTS.lost.isdisjoint(rest)
    return False


def _ends(words: Words) -> bool:
    """cancel_at_period_end, revoke_tokens, terminateInstances: a yes that ends something."""
    first = words[0]
    if first in _LISTS.ends_nothing or (first in _LISTS.mild and len(words) == 1):
        return False
    return verbs().get(first, "") in _LISTS.ending or first in _LISTS.throws_out


_HOUR, _SHORT, _SOON = 3600, 86_400, 8 * 86_400  # seconds: what is deleted within a week was never to be kept
_PER: Mapping[str, float] = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "": 86_400}
_ENDINGS = (("ms", "ms"), ("seconds", "s"), ("secs", "s"), ("minutes", "min"), ("hours", "h"), ("weeks", "w"))


def expires(words: Words, entries: list[Entry]) -> list[Deed]:
    """The deletions that a rule of keeping brings soon."""
    about = not _LISTS.keeping.isdisjoint(words)
    named = deletes = passing = passes = born = False
    told = ""
    soonest = float("inf")
    for short, _, value, _, above in entries:
        told = squash(value) if short in ("name", "key") else told
        short = told if short == "value" and "retention" in told else short  # {"name": "retention.ms", "value": 1}
        keeps = _PATTERNS.retains.search(short) is not None or (about and short in _LISTS.ages)
        amount = _PATTERNS.amount.match(str(value)) if keeps else None
        upper, said = squash(above), value.lower() if isinstance(value, str) else ""
        named = named or (about and short in _LISTS.columns and said.startswith(_LISTS.in_order("born")))
        passing = passing or (short in _LISTS.kept_under and _PATTERNS.passing.search(said[:200]) is not None)
        expires = "expiration" in f"{short} {upper}" or said in ("expire", "purge")
        deletes = deletes or expires or "delete" in (short, said)
        if short.startswith("expireafter") and isinstance(value, (int, float)):
            passes = 0 < value <= _HOUR
        born = born or (upper in ("keys", "key", "fields") and short.startswith(_LISTS.in_order("born")))
        if amount and not any(other in upper for other in ("abort", "transition", "noncurrent")):
            unit = amount[2].lower() or next((unit for ending, unit in _ENDINGS if short.endswith(ending)), "")
            seconds = float(amount[1]) * _PER[unit]
            if seconds <= _SHORT and (_PATTERNS.retains.search(short) or "retention" in words):
                return [("act_delete", ("bulk",))]
            soonest = min(soonest, seconds)
    soon = about and deletes and (soonest < _SHORT or (soonest < _SOON and not passing))
    return [("act_delete", ("bulk",))] if named or (passes and born) or soon else []


def out_of_bounds(name: str, keys: Mapping[str, Any], out: Report) -> None:
    """A call that asks to run without what usually holds it back."""
    for key in keys:
        if key not in _LISTS.unguarded and key not in _LISTS.bounds and not key.startswith(("bypass", "dangerously")):
            continue
        said = truth(keys[key])
        word = str(keys[key]).lower()[:40] if said is None else "yes" if said else "no"
        if f"{key}={word}" in _LISTS.unbound or "escalated" in word or (said and key not in _LISTS.bounds):
            out.effect("act_override", f"sandbox of {name}"[:200], "forced")
