"""Infers an operation's level and facts from its name and parameters, with the analyser of named operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interlock.adapters.levels import NameLevel, Notice, inferred_notice
from interlock.analysis.lexicon import ALL_WORDS, BULK_WORDS, is_plural, names_production, split_name
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns, is_safe
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.operation import read_operation
from interlock.analysis.operations.params import scope_of, walk
from interlock.model import Level

_MARKS = {"pattern_dangerous": Level.DANGEROUS, "pattern_forbidden": Level.FORBIDDEN}


class _TraitCollector:
    """A report that collects the traits of effects, and nothing else."""

    def __init__(self) -> None:
        self.traits: set[str] = set()

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.traits.update(traits)

    def run(self, argv: Sequence[str]) -> object:
        return None

    def shell(self, text: str, *traits: str) -> None:
        return None

    def code(self, language: str, text: str) -> None:
        return None

    def unreadable(self, what: str, *traits: str) -> None:
        return None

    def step(self, count: int = 1) -> None:
        return None


def level_from_name(name: str, category: str, patterns: NamePatterns = BUILT_IN_PATTERNS) -> NameLevel | None:
    """Forbidden or dangerous by a pattern, safe by a safe one, else None; which patterns count is R-8's rule."""
    level = _pattern_level(name, category, patterns)
    if level is not None:
        globs = patterns.forbidden if level is Level.FORBIDDEN else patterns.dangerous
        return NameLevel(level, next((glob for glob in globs if _counts(name, category, level, glob)), ""))
    words, _ = parse_name(split_name(name))
    safe = next((glob for glob in patterns.safe if is_safe(words, NamePatterns((), (), (glob,)))), None)
    return NameLevel(Level.SAFE, safe) if safe else None


def name_level_notice(
    name: str, category: str, level: Level, patterns: NamePatterns = BUILT_IN_PATTERNS
) -> Notice | None:
    """2.11: the notice of an operation that is dangerous or forbidden by a pattern of its name, where nothing raises it further."""
    found = level_from_name(name, category, patterns)
    if found is None or not found.pattern or not Level.DANGEROUS <= found.level == level:
        return None
    return inferred_notice(name, found)


def _pattern_level(name: str, category: str, patterns: NamePatterns) -> Level | None:
    """The worst level that the reader takes from these patterns."""
    marks = _TraitCollector()
    read_operation(name, {}, category, marks, patterns)
    return max((_MARKS[trait] for trait in marks.traits & _MARKS.keys()), default=None)


def _counts(name: str, category: str, level: Level, glob: str) -> bool:
    """Whether the name has this level by this pattern alone."""
    single = NamePatterns((), (glob,), ()) if level is Level.FORBIDDEN else NamePatterns((glob,), (), ())
    return _pattern_level(name, category, single) is level


def call_facts(name: str, params: Mapping[str, Any], category: str = "") -> dict[str, bool]:
    """The facts that a score may count (R-13), of any call, also with a harmless name."""
    words, acts = parse_name(split_name(name))
    scope, marks = scope_of(walk(params)), _TraitCollector()
    read_operation(name, params, category, marks)
    traits = marks.traits | scope.traits
    loose = not scope.filtered and ("many" in traits or (acts and is_plural(acts[0].noun) and not scope.single))
    return {
        "production_env": "production" in traits or names_production(words),
        "bulk_operation": bool(traits & {"all", "bulk"} or loose or (ALL_WORDS | BULK_WORDS) & set(words)),
        "no_backup": "no_backup" in traits,
    }
