"""A report that records its calls, for the tests of analysis."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.analysis.facts import BudgetSpent, effect_verbs

Fact = tuple[str, ...]


class Recorder:
    """Remembers each call as a flat tuple: an effect begins with its verb, anything else with the name of the call."""

    def __init__(self, budget: int = 200_000) -> None:
        self.told: list[Fact] = []
        self.budget = budget

    @property
    def facts(self) -> list[Fact]:
        """The recorded calls, without the explanations of unreadable parts."""
        return [(fact[0], *fact[2:]) if fact[0] == "unreadable" else fact for fact in self.told]

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        assert verb in effect_verbs() - {"unreadable"}, verb
        self.told.append((verb, target, *sorted(traits)))  # traits are a set to everyone who reads them

    def run(self, argv: Sequence[str]) -> None:
        self.told.append(("run", *argv))

    def shell(self, text: str, *traits: str) -> None:
        self.told.append(("shell", text))

    def code(self, language: str, text: str) -> None:
        self.told.append(("code", language, text))

    def unreadable(self, what: str, *traits: str) -> None:
        self.told.append(("unreadable", what, *traits))

    def step(self, count: int = 1) -> None:
        self.budget -= count
        if self.budget < 0:
            raise BudgetSpent("out of steps")
