"""A report that remembers what it was told, for the tests of readers."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.read.facts import VERBS, BudgetSpent

Told = tuple[object, ...]


class Recording:
    """Remembers every call as a tuple that begins with its name."""

    def __init__(self, budget: int = 200_000) -> None:
        self.told: list[Told] = []
        self.budget = budget

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        assert verb in VERBS, verb
        self.told.append((verb, target, *sorted(traits)))

    def run(self, argv: Sequence[str]) -> None:
        self.told.append(("run", *argv))

    def shell(self, text: str) -> None:
        self.told.append(("shell", text))

    def code(self, language: str, text: str) -> None:
        self.told.append(("code", language, text))

    def unreadable(self, what: str, *traits: str) -> None:
        self.told.append(("unreadable", what, *traits))

    def step(self, count: int = 1) -> None:
        self.budget -= count
        if self.budget < 0:
            raise BudgetSpent("out of steps")
