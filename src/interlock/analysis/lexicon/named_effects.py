"""Rows that say what an operation does where its name, or its parameters, say more than the kinds of its verb and its object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.analysis.lexicon.strict import Words, decode, known
from interlock.analysis.packs import PackError

# Parts of a row for parameters: keys with a yes, a no, a zero, or any value; what a mode says; how far it goes; its effect by name alone.
_GIVEN = ("yes", "no", "zero", "has", "mode", "reach", "by_name")
# Parts of which the first in a row leads to it -> what stands before the word there.
_LEADS = {"value": "", **{part: f"{part}:" for part in _GIVEN[:-1]}, "verbs": "", "kinds": ":"}
_NAME = ("nouns", "objects", "phrase", "first", "last", "beside", "said", "lacks", "verbs", "kinds")
# Parts of a row for one setting: what its value says, what its key says, the key above, what the act is, and the words of the whole name.
_SETTING = ("value", "key", "above", "act", "words")
ANY, NONE = "*", "none"
Given = Mapping[str, Collection[str]]


class NamedAct(Struct, frozen=True):
    """One clause of a name: a verb of some kind, and the noun phrase that it acts on."""

    kind: str  # of verb, in the lexicon's words; empty when no verb is known
    verb: str
    phrase: tuple[str, ...]  # the words of the object
    object: str  # its kind
    noun: str  # its head
    beside: tuple[str, ...] = ()  # what stands behind a preposition
    at: int = 0  # which word of the whole name the verb is


class NamedEffect(Struct, frozen=True, forbid_unknown_fields=True):
    """One row: what has to be in a name, or in what it is given, and its effect then."""

    effect: str
    match: str  # a name that has the effect
    spare: str  # one that has not
    traits: Words = Words()
    raises: bool = False  # only a verb that does no harm by the table
    parts: Mapping[str, frozenset[str]] = {}  # the most telling first


_Asked = Callable[[NamedAct, Given], Iterable[str]]
_PARTS: Mapping[str, _Asked] = {
    "nouns": lambda act, _: (act.noun,),
    "objects": lambda act, _: (act.object or NONE,),
    "phrase": lambda act, _: act.phrase,
    "first": lambda act, _: act.phrase[:1],
    "last": lambda act, _: act.phrase[-1:],
    "said": lambda act, _: (*act.phrase, act.noun, *act.beside),
    "beside": lambda act, _: (*act.beside, ANY) if act.beside else (),
    "kinds": lambda act, _: (act.kind or NONE, ANY),
    "lacks": lambda act, _: (act.object, *act.phrase),
    "verbs": lambda act, _: (act.verb,),
} | {part: partial(lambda part, _, given: given[part], part) for part in ("reach", "by_name", *_SETTING[1:])}


_Check = tuple[_Asked, frozenset[str], bool]  # what is asked, the words, whether they have to lack


class NamedEffects:
    """Rows in their order, found by the verb of a name or its kind, by what is given, or by what the value of a setting says."""

    def __init__(self, rows: Iterable[NamedEffect]) -> None:
        self.rows = tuple(rows)
        self.checks: list[list[_Check]] = []  # of each row
        # what leads to rows -> a noun, or the key of a setting -> their numbers
        self.by_word: dict[str, dict[str, list[int]]] = {}
        for number, row in enumerate(self.rows):
            by = next(part for part in _LEADS if part in row.parts)
            checked = [part for part in row.parts if part not in (by, "key") or by == "kinds"]
            self.checks.append([(_PARTS[part], row.parts[part], part == "lacks") for part in checked])
            seconds = row.parts.get("key" if by == "value" else "nouns", ("",))
            for word, second in product(row.parts[by], seconds):
                self.by_word.setdefault(_LEADS[by] + word, {}).setdefault(second, []).append(number)

    def find(
        self,
        act: NamedAct,
        given: Given = MappingProxyType({}),
        leads: Iterable[str] = (),
        keys: Iterable[str] = (),
    ) -> NamedEffect | None:
        """The first row that applies; without leads, those of the act itself, and without keys, those for its noun."""
        found = len(self.rows)
        for led in leads or (act.verb, f":{act.kind or NONE}", f":{ANY}"):
            rows = self.by_word.get(led)
            if not rows:
                continue
            named = rows.get(act.noun, ()) if not keys else [one for key in keys for one in rows.get(key, ())]
            for number in (*named, *rows.get("", ())):
                if number < found:
                    for asked, words, lack in self.checks[number]:
                        if words.isdisjoint(asked(act, given)) is not lack:
                            break
                    else:
                        found = number
        return self.rows[found] if found < len(self.rows) else None


# Kinds of rows -> the parts that they may have, the most telling first.
_ALLOWED = {"named": _NAME, "given": (*_GIVEN, *_NAME), "setting": (*_SETTING, *_NAME), "sense": _NAME}
SENSES = frozenset({"bypasses", "lifts", "guards", "opens"})  # what a yes or a no does under a key


def build_rows(kind: str, rows: Iterable[Mapping[str, Any]], effects: Collection[str]) -> list[NamedEffect]:
    """Rows for names, for names with parameters, for single settings, or for the words of a key; raises PackError on anything wrong."""
    return [_row(f"english: {kind} {number}", data, _ALLOWED[kind], effects) for number, data in enumerate(rows, 1)]


def _row(where: str, data: Mapping[str, Any], allowed: Iterable[str], effects: Collection[str]) -> NamedEffect:
    parts = {part: frozenset(data[part].split()) for part in allowed if part in data}
    if not all(parts.values()) or len(parts) < 2 or _LEADS.keys().isdisjoint(parts):
        raise PackError(f"{where}: expected a value, verbs or kinds, and something else that has to be there")
    rest = {key: value for key, value in data.items() if key not in parts}
    effect = known(where, data.get("effect", ""), effects)
    effect = effect if effect == "read" else f"*{effect}" if effects is SENSES else f"act_{effect}"
    row = decode(where, {**rest, "effect": effect, "parts": parts}, NamedEffect)
    if not row.match or not row.spare:
        raise PackError(f"{where}: expected a name for `match` and one for `spare`")
    return row
