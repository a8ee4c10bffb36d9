"""Chooses the effective level of an operation from its declaration, its name, its category and the adapter's trust (C-13); infers level and facts from a name and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from interlock.adapters.danger import DangerBlock, declared_danger
from interlock.analysis.lexicon import is_plural, names_production, reaches, split_name
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns, is_safe
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.params import scope_of, walk
from interlock.model import Level, Trust


class NameLevel(Struct, frozen=True):
    level: Level
    pattern: str


Named = Callable[[str, str], NameLevel | None]  # (operation, category) -> the level that its name implies, if any

CATEGORY_LEVELS = {  # DL-04
    "create": Level.REVERSIBLE,
    "read": Level.SAFE,
    "update": Level.REVERSIBLE,
    "delete": Level.DESTRUCTIVE,
    "execute": Level.REVERSIBLE,
}

_INFERRED = {  # the source of an unlabelled operation's level
    "name": "its name implies",
    "maps_to": "the request behind it is",
    "category": "operations of its category are",
    "category and name": "its category and its name imply",
    "default": "without one it counts as",
}


class Notice(Struct, frozen=True):
    code: str
    message: str
    severity: str
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class EffectiveLevel(Struct, frozen=True):
    level: Level
    source: str  # declared, conditions[n], score_factors, name, category, maps_to, default
    reasons: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        reasons = (*self.reasons, *(notice.message for notice in self.warnings))
        words = _INFERRED.get(self.source)
        return reasons or ((f"It declares no danger level; {words} {self.level.word}",) if words else ())


class LevelClaims(Struct, frozen=True):
    """`mapped` is the level of the request behind an operation."""

    name: str
    category: str = ""
    block: DangerBlock | None = None
    mapped: Level | None = None


def effective_level(
    claims: LevelClaims,
    named: Named,
    trust: Trust = Trust.UNTESTED,
    variables: Mapping[str, Any] | None = None,
) -> EffectiveLevel:
    """A declaration raises freely, and lowers only as C-13 allows for that trust."""
    by_name = named(claims.name, claims.category)
    pattern = by_name.level if by_name else None
    implied, source = _implied(claims, pattern)
    if claims.block is None:
        said = by_name if source == "name" and implied > Level.SAFE else None
        return EffectiveLevel(implied, source, warnings=(inferred_notice(claims.name, said),) if said else ())
    declared = declared_danger(claims.block, variables)
    # An explicit `safe` is enough for a read without a safe name (C-01).
    default = CATEGORY_LEVELS.get(claims.category, Level.REVERSIBLE)
    floor = max(default, pattern or Level.SAFE, claims.mapped or Level.SAFE)
    if declared.level >= floor:
        return EffectiveLevel(declared.level, declared.source, declared.reasons)
    return _lower(claims.name, declared.level, declared.reasons, floor, source, trust, pattern)


def _implied(claims: LevelClaims, pattern: Level | None) -> tuple[Level, str]:
    """Never below reversible, unless category and name both imply safe (C-01)."""
    default = CATEGORY_LEVELS.get(claims.category)
    agreed = default is Level.SAFE and pattern is Level.SAFE
    candidates = [  # by how well they explain a level: the category before a name that implies no more
        (default or Level.SAFE, "category"),
        (claims.mapped or Level.SAFE, "maps_to"),
        (pattern or Level.SAFE, "name"),
        (Level.SAFE if agreed else Level.REVERSIBLE, "default"),
    ]
    level, source = max(candidates, key=itemgetter(0))
    return level, source if level else "category and name"


def _lower(
    name: str, declared: Level, reasons: tuple[str, ...], floor: Level, source: str, trust: Trust, pattern: Level | None
) -> EffectiveLevel:
    """C-13: lowering needs trust, and a forbidden name stays at least destructive without an operator's entry."""
    details = {"operation": name, "declared": declared.word, "implied": floor.word, "adapter_trust": trust.word}
    if trust < Trust.VALIDATED:
        words = f"{name} declares {declared.word}, but its {source} implies {floor.word}; trust {trust.word} may not lower it"
        return EffectiveLevel(floor, source, reasons, (Notice("DANGER_LEVEL_KEPT", words, "high", details),))
    lowered = max(declared, Level.DESTRUCTIVE) if pattern is Level.FORBIDDEN else declared
    words = f"{name} is {floor.word} by its {source}; its adapter (trust {trust.word}) lowers it to {lowered.word}"
    if lowered > declared:
        words += f", not {declared.word}: that takes an operator's entry"
    return EffectiveLevel(lowered, "declared", reasons, (Notice("DANGER_LEVEL_LOWERED", words, "medium", details),))


def inferred_notice(name: str, found: NameLevel) -> Notice:
    """DL-11: the notice to the caller about a level that was taken from the name."""
    severity = "high" if found.level >= Level.DANGEROUS else "medium"
    words = f"{name} declares no danger level; its name implies {found.level.word} ({found.pattern})"
    details = {"pattern": found.pattern, "danger_level": found.level.word}
    return Notice("DANGER_LEVEL_INFERRED", words, severity, details)


_MARKS = {"pattern_dangerous": Level.DANGEROUS, "pattern_forbidden": Level.FORBIDDEN}


class _TraitCollector:
    def __init__(self) -> None:
        self.traits: set[str] = set()

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.traits.update(traits)

    def _ignore(self, *given: Any, **named: Any) -> None:
        return None

    run = shell = code = unreadable = step = _ignore


def level_from_name(name: str, category: str, patterns: NamePatterns = BUILT_IN_PATTERNS) -> NameLevel | None:
    """Forbidden or dangerous by a pattern, safe by a safe one, else None; which patterns count is R-8's rule."""
    if (level := _pattern_level(name, category, patterns)) is not None:
        forbidden = level is Level.FORBIDDEN
        for glob in patterns.forbidden if forbidden else patterns.dangerous:
            alone = NamePatterns((), (glob,), ()) if forbidden else NamePatterns((glob,), (), ())
            if _pattern_level(name, category, alone) is level:
                return NameLevel(level, glob)
        return NameLevel(level, "")
    words, _ = parse_name(split_name(name))
    safe = next((glob for glob in patterns.safe if is_safe(words, NamePatterns((), (), (glob,)))), None)
    return NameLevel(Level.SAFE, safe) if safe else None


def name_level_notice(
    name: str, category: str, level: Level, patterns: NamePatterns = BUILT_IN_PATTERNS
) -> Notice | None:
    """2.11: where a pattern of the name makes it dangerous or forbidden, and nothing raises it further."""
    found = level_from_name(name, category, patterns)
    if found is None or not found.pattern or not Level.DANGEROUS <= found.level == level:
        return None
    return inferred_notice(name, found)


def _pattern_level(name: str, category: str, patterns: NamePatterns) -> Level | None:
    marks = _TraitCollector()
    read_operation(name, {}, category, marks, patterns)
    return max((_MARKS[trait] for trait in marks.traits & _MARKS.keys()), default=None)


def call_facts(name: str, params: Mapping[str, Any], category: str = "") -> dict[str, bool]:
    """The facts that a score may count (R-13), of any call, also with a harmless name."""
    words, acts = parse_name(split_name(name))
    scope, marks = scope_of(walk(params)), _TraitCollector()
    read_operation(name, params, category, marks)
    traits = marks.traits | scope.traits
    loose = not scope.filtered and ("many" in traits or (acts and is_plural(acts[0].noun) and not scope.single))
    return {
        "production_env": "production" in traits or names_production(words),
        "bulk_operation": bool(loose or not {"all", "bulk"}.isdisjoint((*traits, *map(reaches().get, words)))),
        "no_backup": "no_backup" in traits,
    }
