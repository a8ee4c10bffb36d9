"""What operators can set about hooks: how long a call waits, what passes without a daemon, what a bypass costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from interlock.core.model import Level
from interlock.core.problems import Problems, shown

KEYS = frozenset({"wait_seconds", "without_daemon", "bypassed", "start_daemon"})
NOTHING_PASSES = "none"
PASSES = (NOTHING_PASSES, "safe", "reversible", "destructive", "dangerous")
_CAREFUL = frozenset({NOTHING_PASSES, "safe", "reversible"})
BYPASSED = ("block", "note")
MOST_WAIT = 3_600


@dataclass(frozen=True, slots=True)
class HookSettings:
    """The table `[hooks]`."""

    wait_seconds: int = 300  # that a held call waits for a person; an agent's own limit counts too
    without_daemon: str = "reversible"  # the highest level that passes while no daemon answers
    bypassed: str = "block"  # what a call costs that ran and was never asked about
    start_daemon: bool = False  # whether a hook that finds no daemon starts one

    @property
    def passes(self) -> int:
        """The highest level that passes without a daemon; -1 for none."""
        return _LEVELS[self.without_daemon]

    @property
    def warnings(self) -> tuple[str, ...]:
        found = []
        if self.without_daemon not in _CAREFUL:
            found.append(f"hooks.without_daemon: {self.without_daemon} actions pass while no daemon answers")
        if self.bypassed == "note":
            found.append("hooks.bypassed: an agent whose calls go around its hook is noted, and goes on")
        return tuple(found)


_LEVELS = MappingProxyType({NOTHING_PASSES: -1, **{level.word: int(level) for level in Level}})


def hooks_of(table: Mapping[str, Any], problems: Problems) -> HookSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    plain = HookSettings()
    wait = problems.number(table, "wait_seconds", ("hooks",), 0, MOST_WAIT, whole=True)
    return HookSettings(
        plain.wait_seconds if wait is None else int(wait),
        _word(table, "without_daemon", PASSES, plain.without_daemon, problems),
        _word(table, "bypassed", BYPASSED, plain.bypassed, problems),
        problems.flag(table, "start_daemon", ("hooks",), plain.start_daemon),
    )


def _word(table: Mapping[str, Any], key: str, known: tuple[str, ...], default: str, problems: Problems) -> str:
    value = table.get(key, default)
    if value in known:
        return str(value)
    problems.error(("hooks", key), f"{key}: expected one of {', '.join(known)}, got {shown(value)}")
    return default
