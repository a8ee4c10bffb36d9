"""The parameters of an operation -> its scope: everything, many, production, permanent, or dry run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct, field

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import names_production
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps

_PATTERNS = Patterns("params")
_LISTS = WordLists("params")
_MAPS = WordMaps("params")

MAX_DEPTH, MAX_VALUES, MAX_TEXT = 32, 2000, 200_000
_SHORT = 200  # characters: longer text is content, not a name


PLAIN = (str, int, float, type(None))  # holds no further values
_HOLDING = (Mapping, list, tuple)
# A key without case and separators, as it was written, its value, its depth, and the key above.
Entry = tuple[str, str, Any, int, str]


@lru_cache(maxsize=4096)
def _squash(text: str) -> str:
    lowered = text[:100].lower()
    return lowered if lowered.isalnum() and lowered.isascii() else _PATTERNS.separators.sub("", lowered)


def squash(key: object) -> str:
    """A key without case and separators: `skipFinalSnapshot` and `skip_final_snapshot` are one; the name of its type where it is no text."""
    return _squash(key) if isinstance(key, str) else type(key).__name__.lower()


class Keys(dict[str, Any]):
    """Parameters by their squashed names."""

    def text(self, *names: str) -> str:
        """The first of these parameters that is text, and not empty."""
        for name in names:
            if (value := self.get(name)) and isinstance(value, str):
                return value
        return ""

    def texts(self, names: Iterable[str]) -> list[str]:
        return [value for name in names if isinstance(value := self.get(name), str)]

    def mappings(self, *names: str) -> list[Mapping[str, Any]]:
        return [self[name] for name in names if name in self and isinstance(self[name], Mapping)]


def short_keys(params: Mapping[str, Any]) -> Keys:
    return Keys(islice(zip(map(squash, params), params.values()), MAX_VALUES))


def held_params(keys: Keys) -> Sequence[Mapping[str, Any]]:
    return () if _LISTS.holders.isdisjoint(keys) else keys.mappings(*_LISTS.in_order("holders"))


def spelled_twice(params: Mapping[str, Any], keys: Keys) -> bool:
    """Whether a parameter has two spellings with different values: which of them counts, only the callee knows."""
    for held in (params, *held_params(keys)):
        short = keys if held is params else short_keys(held)
        if len(short) < len(held) and any(short.get(squash(key)) != value for key, value in held.items()):
            return True
    return False


def bounded(text: str, out: Report) -> str:
    """The text as far as it is read; more than that asks a human."""
    if len(text) > MAX_TEXT:
        out.unreadable("longer text than is read", "budget")
    return text[:MAX_TEXT]


def parse_json(text: str) -> Any:
    """The value of a text in JSON; None for any other text."""
    try:
        return json.loads(text) if len(text) <= MAX_TEXT else None
    except (ValueError, RecursionError):
        return None


def parsed(value: Any) -> Any:
    """A text that is an object or a list in JSON as such; None for one that only looks so, and any other value as it is."""
    return parse_json(value) if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") else value


def each(value: object) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else (value,)


def walk(params: Mapping[str, Any]) -> list[Entry]:
    """Every key and value at any depth, outer ones first, within bounds; a depth of -1 says that there was more."""
    found: list[Entry] = []
    level: list[tuple[Any, str]] = [(params, "")]
    for depth in range(MAX_DEPTH + 1):
        below: list[tuple[Any, str]] = []
        for held, above in level:
            listed = isinstance(held, (list, tuple))
            items = ((above, item) for item in held if isinstance(item, _HOLDING)) if listed else held.items()
            if not listed and "op" in held and "value" in held and isinstance(path := held.get("path"), str):
                items = (*items, (path.rpartition("/")[2], held["value"]))  # {"op": "replace", "path": "/status", …}
            for raw, value in islice(items, MAX_VALUES + 1 - len(found)):
                key = raw[:100] if isinstance(raw, str) else type(raw).__name__
                found.append((_squash(key), key, value, depth, above))
                if not isinstance(value, PLAIN) and isinstance(value, _HOLDING):
                    below.append((value, key))
        if not below or len(found) > MAX_VALUES:
            break
        level = below
    return [*found[:MAX_VALUES], ("", "", None, -1, "")] if below or len(found) > MAX_VALUES else found


def truth(value: object) -> bool | None:
    """Whether a value says yes or no; None when it says neither."""
    if isinstance(value, str):
        word = value.strip().lower()[:8]
        return True if word in _LISTS.true else False if word in _LISTS.false else None
    return (True if value == 1 else False if value == 0 else None) if isinstance(value, (int, float)) else None


@lru_cache(maxsize=4096)
def _names_one(key: str) -> bool:
    return key in _LISTS.single or key.endswith(("id", "name", "key", "identifier", "arn"))


class ParamScope(Struct):
    traits: set[str] = field(default_factory=set)
    dry_run: bool = False
    filtered: bool = False  # something narrows it down
    single: bool = False  # one thing is named

    def add_filter(self, value: object) -> None:
        """Text, a list or an object that narrows an operation down; one that matches everything widens it."""
        wide = not value or (isinstance(value, Mapping) and set(map(squash, value)) <= {"matchall"})
        if isinstance(value, str):
            wide = value.strip().lower() in ("", *_LISTS.matches_all) or _PATTERNS.always.fullmatch(value) is not None
        self.traits.update(("all", "unfiltered") if wide else ())
        self.filtered = self.filtered or not (wide or (isinstance(value, str) and len(value) > _SHORT))

    def add_target(self, key: str, value: str | Sequence[Any]) -> None:
        """A text or a list that names what is acted on: everything, everybody, several things, one, or a part of production."""
        listed = not isinstance(value, str)
        if key in _LISTS.not_targets or (not listed and len(value) > _SHORT):
            return
        base = key.rstrip("s")
        placed = not _LISTS.places.isdisjoint((key, base)) or base.endswith(_LISTS.in_order("placed"))
        for item in each(value):
            word = item.strip().lower() if isinstance(item, str) else ""
            if word in _LISTS.everything or ("@" in word and word.partition("@")[0] in _LISTS.everybody):
                self.traits.add("all")
            elif not listed and word and _names_one(key):
                self.single = True
            if key.startswith("ref") and word[:1] == "+":
                self.traits.add("forced")
            if key == "mode" and word in _LISTS.final_modes:
                self.traits.add("permanent")
            if ("pr" in word or "live" in word) and placed:
                known = key in _LISTS.environments
                said = [one for one in _PATTERNS.words.findall(word[:_SHORT]) if one != "live" or known]
                self.traits.update(("production",) if names_production(said) else ())
        if listed and len(value) > 1:
            self.traits.add("bulk")
        elif listed and value:
            self.single = True


def scope_of(entries: Iterable[Entry]) -> ParamScope:
    scope = ParamScope()
    yes, no = _MAPS.flags, _MAPS.flags_off
    for key, _, value, depth, _ in entries:
        said = truth(value) if key in yes or key in no else None
        trait = yes.get(key) if said else no.get(key) if said is False else None
        if key in _LISTS.tried and depth <= 1 and value:  # dryRun ["All"], mode "plan"
            scope.traits.update({"dry"} if f"{key}={str(each(value)[0]).strip().lower()}" in _LISTS.trials else ())
        if trait and (trait != "dry" or depth <= 1):
            scope.traits.add(trait)
        elif key in _LISTS.filters and not isinstance(value, (int, float)):
            scope.add_filter(value)
        elif isinstance(value, (str, list, tuple)):
            scope.add_target(key, value)
        elif key in _LISTS.many and isinstance(value, int) and value > 1:
            scope.traits.add("many")
        elif value is not None and _names_one(key):
            scope.single = True
    scope.dry_run = "dry" in scope.traits and "real" not in scope.traits
    scope.traits -= {"dry", "real"}
    return scope
