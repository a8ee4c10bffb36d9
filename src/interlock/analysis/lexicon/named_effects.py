"""Rows that say what an operation's name does where its words say more than the kinds of its verb and its object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from interlock.analysis.packs import PackError, only_keys

_PARTS = ("nouns", "objects", "phrase", "first", "last", "beside", "said", "lacks", "verbs", "kinds")
_KEYS = frozenset({*_PARTS, "effect", "match", "raises", "spare", "traits"})
ANY, NONE = "*", "none"
_Words = tuple[str, ...]


class Named(Protocol):
    """A name that was parsed."""

    @property
    def kind(self) -> str: ...
    @property
    def verb(self) -> str: ...
    @property
    def phrase(self) -> _Words: ...
    @property
    def object(self) -> str: ...
    @property
    def noun(self) -> str: ...
    @property
    def beside(self) -> _Words: ...


class NamedEffect(Struct, frozen=True):
    """One row: what has to be in a name, and its effect then."""

    parts: Mapping[str, frozenset[str]]
    effect: str
    traits: _Words
    match: str  # a name that has the effect
    spare: str  # one that has not


def _applies(row: NamedEffect, act: Named) -> bool:
    """True when each part is in a name that has one of the row's verbs, or kinds where it has no verbs."""
    for part, words in row.parts.items():
        if part == "nouns":
            found = act.noun in words
        elif part == "objects":
            found = act.object in words
        elif part == "phrase":
            found = not words.isdisjoint(act.phrase)
        elif part == "first":
            found = not words.isdisjoint(act.phrase[:1])
        elif part == "last":
            found = not words.isdisjoint(act.phrase[-1:])
        elif part == "said":
            found = not words.isdisjoint((*act.phrase, act.noun, *act.beside))
        elif part == "beside":
            found = bool(act.beside) and (ANY in words or not words.isdisjoint(act.beside))
        elif part == "lacks":
            found = words.isdisjoint(act.phrase)
        else:
            found = part == "verbs" or (act.kind or NONE) in words
        if not found:
            return False
    return True


class NamedEffects:
    """Rows in their order, found by the verb of a name or its kind."""

    def __init__(self, rows: Iterable[NamedEffect]) -> None:
        self.rows = tuple(rows)
        self.by_verb: dict[str, _Rows] = {}
        self.by_kind: dict[str, _Rows] = {}
        for number, row in enumerate(self.rows):
            table = self.by_verb if "verbs" in row.parts else self.by_kind
            for word in row.parts.get("verbs") or row.parts["kinds"]:
                table[word] = (*table.get(word, ()), (number, row))

    def find(self, act: Named) -> NamedEffect | None:
        """The first row that applies."""
        found = None
        for rows in (self.by_verb.get(act.verb, ()), self.by_kind.get(act.kind or NONE, ())):
            for number, row in rows:
                if found is not None and found[0] < number:
                    break
                if _applies(row, act):
                    found = number, row
                    break
        return found[1] if found is not None else None


_Rows = tuple[tuple[int, NamedEffect], ...]


def build_named(rows: Iterable[Mapping[str, Any]], effects: Iterable[str]) -> tuple[NamedEffects, NamedEffects]:
    """The rows that are asked first, and those that raise a harmless verb; raises PackError on anything wrong."""
    first: list[NamedEffect] = []
    raising: list[NamedEffect] = []
    for number, data in enumerate(rows, 1):
        where = f"english: named {number}"
        only_keys(where, data, _KEYS)
        parts = {part: frozenset(data[part].split()) for part in _PARTS if part in data}
        if not all(parts.values()) or len(parts) < 2 or not ("verbs" in parts or "kinds" in parts):
            raise PackError(f"{where}: expected verbs or kinds, and something else that has to be in the name")
        if data["effect"] not in effects:
            raise PackError(f"{where}: unknown effect {data['effect']!r}")
        if not data.get("match") or not data.get("spare"):
            raise PackError(f"{where}: expected a name for `match` and one for `spare`")
        effect = data["effect"] if data["effect"] == "read" else f"act_{data['effect']}"
        row = NamedEffect(parts, effect, tuple(data.get("traits", "").split()), data["match"], data["spare"])
        (raising if data.get("raises") else first).append(row)
    return NamedEffects(first), NamedEffects(raising)
