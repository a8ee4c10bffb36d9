"""Rows that say what an operation does where its name, or its parameters, say more than the kinds of its verb and its object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.analysis.packs import PackError, only_keys

_NAME = ("nouns", "objects", "phrase", "first", "last", "beside", "said", "lacks", "verbs", "kinds")
# Parts of a row for parameters: keys with a yes, a no, a zero, or any value; what a mode says; how far it goes; its effect by name alone.
_GIVEN = ("yes", "no", "zero", "has", "mode", "reach", "by_name")
_REST = frozenset({"effect", "match", "raises", "spare", "traits"})
ANY, NONE = "*", "none"
_Words = tuple[str, ...]


class NamedAct(Struct, frozen=True):
    """One clause of a name: a verb of some kind, and the noun phrase that it acts on."""

    kind: str  # of verb, in the lexicon's words; empty when no verb is known
    verb: str
    phrase: _Words  # the words of the object
    object: str  # its kind
    noun: str  # its head
    beside: _Words = ()  # what stands behind a preposition
    at: int = 0  # which word of the whole name the verb is


class NamedEffect(Struct, frozen=True):
    """One row: what has to be in a name, and its effect then."""

    parts: Mapping[str, frozenset[str]]
    effect: str
    traits: _Words
    match: str  # a name that has the effect
    spare: str  # one that has not


Given = Mapping[str, Collection[str]]


def _applies(row: NamedEffect, act: NamedAct, given: Given) -> bool:
    """True when each part is in the name, or in what it is given; the verb is in the name already."""
    for part, words in row.parts.items():
        if part == "lacks":
            found = words.isdisjoint((act.object, *act.phrase))
        else:
            found = part == "verbs" or not words.isdisjoint(given[part] if part in _GIVEN else _IN_NAME[part](act))
        if not found:
            return False
    return True


_IN_NAME: Mapping[str, Callable[[NamedAct], Iterable[str]]] = {
    "nouns": lambda act: (act.noun,),
    "objects": lambda act: (act.object or NONE,),
    "phrase": lambda act: act.phrase,
    "first": lambda act: act.phrase[:1],
    "last": lambda act: act.phrase[-1:],
    "said": lambda act: (*act.phrase, act.noun, *act.beside),
    "beside": lambda act: (*act.beside, ANY) if act.beside else (),
    "kinds": lambda act: (act.kind or NONE, ANY),
}


class NamedEffects:
    """Rows in their order, found by the verb of a name or its kind."""

    def __init__(self, rows: Iterable[NamedEffect]) -> None:
        self.rows = tuple(rows)
        self.by_verb: dict[str, _Rows] = {}
        self.by_kind: dict[str, _Rows] = {}
        self.telling: dict[str, frozenset[str]] = {}  # the first part of every row that is given
        for number, row in enumerate(self.rows):
            part = next(iter(row.parts))
            if part in _GIVEN:
                self.telling[part] = row.parts[part].union(self.telling.get(part, ()))
            table = self.by_verb if "verbs" in row.parts else self.by_kind
            for word in row.parts.get("verbs") or row.parts["kinds"]:
                table[word] = (*table.get(word, ()), (number, row))

    def find(self, act: NamedAct, given: Given = MappingProxyType({})) -> NamedEffect | None:
        """The first row that applies."""
        found = None
        by_kind = self.by_kind
        for rows in (self.by_verb.get(act.verb, ()), by_kind.get(act.kind or NONE, ()), by_kind.get(ANY, ())):
            for number, row in rows:
                if found is not None and found[0] < number:
                    break
                if _applies(row, act, given):
                    found = number, row
                    break
        return found[1] if found is not None else None


_Rows = tuple[tuple[int, NamedEffect], ...]


def build_named(rows: Iterable[Mapping[str, Any]], effects: Iterable[str]) -> tuple[NamedEffects, NamedEffects]:
    """The rows that are asked first, and those that raise a harmless verb; raises PackError on anything wrong."""
    found = [(data, _row(f"english: named {number}", data, _NAME, effects)) for number, data in enumerate(rows, 1)]
    first, raising = ([row for data, row in found if bool(data.get("raises")) is raises] for raises in (False, True))
    return NamedEffects(first), NamedEffects(raising)


def build_given(rows: Iterable[Mapping[str, Any]], effects: Iterable[str]) -> NamedEffects:
    """The rows for names with parameters; raises PackError on anything wrong."""
    parts = (*_GIVEN, *_NAME)  # what is given tells most
    return NamedEffects([_row(f"english: given {number}", data, parts, effects) for number, data in enumerate(rows, 1)])


def _row(where: str, data: Mapping[str, Any], allowed: Sequence[str], effects: Iterable[str]) -> NamedEffect:
    only_keys(where, data, _REST.union(allowed))
    parts = {part: frozenset(data[part].split()) for part in allowed if part in data}
    if not all(parts.values()) or len(parts) < 2 or not ("verbs" in parts or "kinds" in parts):
        raise PackError(f"{where}: expected verbs or kinds, and something else that has to be there")
    if data["effect"] not in effects:
        raise PackError(f"{where}: unknown effect {data['effect']!r}")
    if not data.get("match") or not data.get("spare"):
        raise PackError(f"{where}: expected a name for `match` and one for `spare`")
    effect = data["effect"] if data["effect"] == "read" else f"act_{data['effect']}"
    return NamedEffect(parts, effect, tuple(data.get("traits", "").split()), data["match"], data["spare"])
