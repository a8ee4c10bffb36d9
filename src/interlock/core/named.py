"""The name of an operation -> the level that the specified patterns imply, as the reader of operations sees them."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.model import Level
from interlock.core.read.lexicon import split_name
from interlock.core.read.name_patterns import BUILT_IN, Patterns, is_safe
from interlock.core.read.names import acts_of
from interlock.core.read.operation import read_operation

_MARKS = {"pattern_dangerous": Level.DANGEROUS, "pattern_forbidden": Level.FORBIDDEN}


class _Marks:
    """Keeps the patterns that a reader says it matched, and nothing else."""

    def __init__(self) -> None:
        self.levels: list[Level] = []

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        self.levels += [_MARKS[trait] for trait in traits if trait in _MARKS]

    def run(self, argv: Sequence[str]) -> object:
        return None

    def shell(self, text: str) -> None:
        return None

    def code(self, language: str, text: str) -> None:
        return None

    def unreadable(self, what: str, *traits: str) -> None:
        return None

    def step(self, count: int = 1) -> None:
        return None


def named_level(name: str, category: str, patterns: Patterns = BUILT_IN) -> Level | None:
    """Forbidden or dangerous by a pattern, safe by a safe one, else None; which patterns count is R-8's rule."""
    marks = _Marks()
    read_operation(name, {}, category, marks, patterns)
    if marks.levels:
        return max(marks.levels)
    words, _ = acts_of(split_name(name))
    return Level.SAFE if is_safe(words, patterns) else None
