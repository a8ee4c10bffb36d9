"""★ Past calls -> what a person would have been asked about; judged by the rules and the policy in force, with nothing kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from interlock.core.decide import judge
from interlock.core.explain import ALLOW
from interlock.core.goals import goals
from interlock.core.model import Action, Assessment
from interlock.doors.cli.judging import InForce, Unjudged, decided
from interlock.doors.rehearse.logs import calls
from interlock.doors.rehearse.past import RAN, Past, Tally

DAY = 86_400.0
Tick = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A past call that would not simply have passed."""

    past: Past
    outcome: str
    assessment: Assessment
    goals: tuple[str, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that stand at the level of the whole; what the policy alone asks for has none."""
        findings = self.assessment.findings
        return tuple(dict.fromkeys(one.rule for one in findings if one.level == self.assessment.level)) or ("policy",)

    @property
    def lost(self) -> bool:
        """It ran, and ordinary means do not undo it."""
        return self.past.outcome == RAN and self.assessment.irreversible


@dataclass(slots=True)
class Rehearsal:
    """What was read, and what it comes to."""

    calls: Counter[str] = field(default_factory=Counter)  # by source
    asked: list[Asked] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @property
    def lost(self) -> list[Asked]:
        return [one for one in self.asked if one.lost]

    def by_rule(self) -> list[tuple[str, list[Asked]]]:
        """The rules behind the questions, the busiest first."""
        found: dict[str, list[Asked]] = {}
        for one in self.asked:
            found.setdefault(", ".join(one.rules), []).append(one)
        return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def rehearse(logs: Iterable[Path], since: float, by: InForce, tick: Tick) -> Rehearsal:
    """Every call of these logs once, however many logs it stands in; as if the gate had been enforcing."""
    found, seen = Rehearsal(), set[str]()
    by = replace(by, mode="enforcing")
    for path in logs:
        for past in calls(path, since, found.tally):
            key = f"{past.id} {past.action.text}"  # one call can come to several actions
            if past.id and key in seen:
                continue
            seen.add(key)
            found.calls[past.source] += 1
            asked = _asked(past, by, found.tally)
            if asked is not None:
                found.asked.append(asked)
        tick(path)
    return found


def _asked(past: Past, by: InForce, tally: Tally) -> Asked | None:
    made = decided(past.action, by)  # scripts are not what they were then, so none is read
    if isinstance(made, Unjudged):
        tally.unjudged += 1
        return None
    assessment, answer = made
    if answer.verdict is ALLOW:
        return None
    return Asked(past, answer.outcome, assessment, _goals(past.action, by))


def _goals(action: Action, by: InForce) -> tuple[str, ...]:
    judgement = judge(action, by.rules)
    return goals(action, judgement.facts, judgement.assessment)
