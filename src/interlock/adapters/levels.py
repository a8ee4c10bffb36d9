"""Chooses the effective level of an operation from its declaration, its name, its category and the adapter's trust (C-13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from interlock.adapters.danger import DangerBlock, declared_danger
from interlock.adapters.trust import Trust
from interlock.model import Level


@dataclass(frozen=True, slots=True)
class NameLevel:
    """The level that an operation's name implies, and the pattern that says so."""

    level: Level
    pattern: str


Named = Callable[[str, str], NameLevel | None]  # (operation, category) -> what its name implies, if anything

CATEGORY_LEVELS = MappingProxyType(  # DL-04
    {
        "create": Level.REVERSIBLE,
        "read": Level.SAFE,
        "update": Level.REVERSIBLE,
        "delete": Level.DESTRUCTIVE,
        "execute": Level.REVERSIBLE,
    }
)

_INFERRED = MappingProxyType(  # what an unlabelled operation's level is taken from
    {
        "name": "its name implies",
        "maps_to": "the request behind it is",
        "category": "operations of its category are",
        "category and name": "its category and its name say",
        "default": "without one it counts as",
    }
)


@dataclass(frozen=True, slots=True)
class Notice:
    """What a caller is told about a level, and the audit keeps."""

    code: str
    message: str
    severity: str
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "severity": self.severity,
            "details": dict(self.details),
        }


@dataclass(frozen=True, slots=True)
class EffectiveLevel:
    """The level that counts, and where it came from."""

    level: Level
    source: str  # operator, declared, conditions[n], score_factors, name, category, maps_to, default
    reasons: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons that were declared, and where else the level comes from."""
        said = (*self.reasons, *(notice.message for notice in self.warnings))
        words = _INFERRED.get(self.source)
        return said or ((f"It declares no danger level; {words} {self.level.word}",) if words else ())


@dataclass(frozen=True, slots=True)
class LevelClaims:
    """What an operation's level is made from; `mapped` is what the request behind it implies."""

    name: str
    category: str = ""
    block: DangerBlock | None = None
    mapped: Level | None = None


def effective_level(
    claims: LevelClaims,
    named: Named,
    trust: Trust = Trust.UNTESTED,
    operator: Level | None = None,
    variables: Mapping[str, Any] | None = None,
) -> EffectiveLevel:
    """The operation's level; a declaration raises freely, and lowers only as C-13 allows for that trust."""
    by_name = named(claims.name, claims.category)
    pattern = by_name.level if by_name else None
    implied, source = _implied(claims, pattern)
    if operator is not None:
        return _by_operator(claims, operator, implied)
    if claims.block is None:
        warnings = (
            (inferred_notice(claims.name, by_name),) if by_name and source == "name" and implied > Level.SAFE else ()
        )
        return EffectiveLevel(implied, source, warnings=warnings)
    said = declared_danger(claims.block, variables)
    floor = _stated_floor(claims, pattern)
    if said.level >= floor:
        return EffectiveLevel(said.level, said.source, said.reasons)
    return _lowered(claims.name, said.level, said.reasons, floor, source, trust, pattern)


def _implied(claims: LevelClaims, pattern: Level | None) -> tuple[Level, str]:
    """The level of an unlabelled operation: never below reversible, unless category and name both say safe (C-01)."""
    default = CATEGORY_LEVELS.get(claims.category, Level.REVERSIBLE)
    agreed = default is Level.SAFE and pattern is Level.SAFE
    candidates = [
        (pattern or Level.SAFE, "name"),
        (claims.mapped or Level.SAFE, "maps_to"),
        (default, "category" if claims.category in CATEGORY_LEVELS else "default"),
        (Level.SAFE if agreed else Level.REVERSIBLE, "default"),
    ]
    worst = max(level for level, _ in candidates)
    if worst is Level.SAFE:
        return worst, "category and name"
    return worst, next(source for level, source in _by_weight(candidates) if level is worst)


def _by_weight(candidates: list[tuple[Level, str]]) -> list[tuple[Level, str]]:
    """An ordinary default is better explained by the category than by a name that says no more."""
    return sorted(candidates, key=lambda item: ("category", "maps_to", "name", "default").index(item[1]))


def _stated_floor(claims: LevelClaims, pattern: Level | None) -> Level:
    """What a declaration has to answer to: an explicit `safe` is enough for a read without a safe name (C-01)."""
    default = CATEGORY_LEVELS.get(claims.category, Level.REVERSIBLE)
    return max(default, pattern or Level.SAFE, claims.mapped or Level.SAFE)


def _lowered(
    name: str, said: Level, reasons: tuple[str, ...], floor: Level, source: str, trust: Trust, pattern: Level | None
) -> EffectiveLevel:
    """C-13: lowering needs trust, and a forbidden name keeps at least destructive without an operator's word."""
    details = {"operation": name, "declared": said.word, "implied": floor.word, "adapter_trust": trust.word}
    if trust < Trust.VALIDATED:
        words = f"{name} declares {said.word}, but its {source} says {floor.word}; trust {trust.word} may not lower it"
        return EffectiveLevel(floor, source, reasons, (Notice("DANGER_LEVEL_KEPT", words, "high", details),))
    kept = max(said, Level.DESTRUCTIVE) if pattern is Level.FORBIDDEN else said
    words = f"{name} is {floor.word} by its {source}; its adapter (trust {trust.word}) lowers it to {kept.word}"
    if kept > said:
        words += f", not {said.word}: that takes an operator's entry"
    return EffectiveLevel(kept, "declared", reasons, (Notice("DANGER_LEVEL_LOWERED", words, "medium", details),))


def _by_operator(claims: LevelClaims, level: Level, implied: Level) -> EffectiveLevel:
    reasons = claims.block.reasons if claims.block else ()
    before = max(implied, claims.block.level) if claims.block else implied
    if level >= before:
        return EffectiveLevel(level, "operator", reasons)
    details = {"operation": claims.name, "implied": before.word, "danger_level": level.word}
    words = f"{claims.name} would be {before.word}; an operator's entry makes it {level.word}"
    return EffectiveLevel(level, "operator", reasons, (Notice("DANGER_LEVEL_LOWERED", words, "medium", details),))


def inferred_notice(name: str, found: NameLevel) -> Notice:
    """DL-11: a level taken from the name is told to whoever calls."""
    severity = "high" if found.level >= Level.DANGEROUS else "medium"
    words = f"{name} declares no danger level; its name implies {found.level.word} ({found.pattern})"
    details = {"pattern": found.pattern, "danger_level": found.level.word}
    return Notice("DANGER_LEVEL_INFERRED", words, severity, details)
