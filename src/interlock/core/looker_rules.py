"""What operators can set about looking: whether targets are looked at, and whether what was seen can let something pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.problems import Problems

KEYS = frozenset({"look", "relief"})


@dataclass(frozen=True, slots=True)
class LookerSettings:
    """The table `[looker]`."""

    look: bool = True  # whether anything is looked at
    relief: bool = True  # whether what was seen lowers what is asked for, where the policy says so


def looker_of(table: Mapping[str, Any], problems: Problems) -> LookerSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    plain = LookerSettings()
    return LookerSettings(
        problems.flag(table, "look", ("looker",), plain.look),
        problems.flag(table, "relief", ("looker",), plain.relief),
    )
