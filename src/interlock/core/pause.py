"""An operator's pause: for how long at most, and what is held all the same while enforcement is off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.model import Assessment, Level
from interlock.core.problems import Problems

KEYS = frozenset({"max_minutes"})
MOST_MINUTES = 1_440
PAUSED = "paused_by_operator"  # the factor's name, and the record's
GUARD = "self_protection."  # rules about the guard itself


@dataclass(frozen=True, slots=True)
class PauseSettings:
    """The table `[pause]`."""

    max_minutes: int = 60  # of one pause; 0 allows none


@dataclass(frozen=True, slots=True)
class Pausing:
    """One pause: who, why, from when to when, and up to which level it lets pass."""

    by: str
    reason: str
    since: float
    until: float
    ceiling: Level = Level.DANGEROUS  # an admin's reaches further, as their approval does

    def at(self, now: float) -> bool:
        """Whether it counts; not before it began, whatever the clock was set to."""
        return self.since <= now < self.until


def pause_of(table: Mapping[str, Any], problems: Problems) -> PauseSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    most = problems.number(table, "max_minutes", ("pause",), 0, MOST_MINUTES, whole=True)
    return PauseSettings(PauseSettings().max_minutes if most is None else int(most))


def held_anyway(assessment: Assessment, ceiling: Level, tampers: bool = False) -> str:
    """Why a pause does not free it, in words; empty where it does."""
    if not assessment.approvable:
        return "nobody may approve this"
    if tampers or any(f.rule.startswith(GUARD) and f.level >= Level.DESTRUCTIVE for f in assessment.findings):
        return "it touches the guard itself"
    if assessment.level > ceiling:
        return f"{assessment.level.word} actions take an admin"
    return ""
