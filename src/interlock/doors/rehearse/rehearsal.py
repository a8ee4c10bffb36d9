"""★ Past calls -> what a person would have been asked about; judged by the rules and the policy in force, with nothing kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from interlock.analysis.effect_key import EffectKey, effect_keys
from interlock.core.made import Made, Thing, makings, unmade
from interlock.core.model import Assessment
from interlock.doors.cli.judging import InForce, Unjudged
from interlock.doors.rehearse.logs import calls
from interlock.doors.rehearse.past import FAILED, RAN, Past, Tally
from interlock.doors.rehearse.today import BACK, LOST, OPEN, fate
from interlock.doors.rehearse.weighing import Weighed, weighed

DAY = 86_400.0
MOST = 500  # things of one session that are remembered
Tick = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A past call that would not simply have passed."""

    past: Past
    outcome: str
    assessment: Assessment
    effect_keys: tuple[EffectKey, ...]
    kept: bool = False  # it would have passed, with a snapshot taken first
    fate: str = BACK  # of what it destroyed, if it ran

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that stand at the level of the whole; what the policy alone asks for has none."""
        findings = self.assessment.findings
        return tuple(dict.fromkeys(one.rule for one in findings if one.level == self.assessment.level)) or ("policy",)


@dataclass(slots=True)
class Rehearsal:
    """What was read, and what it comes to."""

    calls: Counter[str] = field(default_factory=Counter)  # by source
    asked: list[Asked] = field(default_factory=list)
    kept: list[Asked] = field(default_factory=list)  # not asked about, as a snapshot would have been taken
    tally: Tally = field(default_factory=Tally)

    @property
    def lost(self) -> list[Asked]:
        """What ran and really took data away, whatever would have been said to it."""
        return self._of(LOST)

    @property
    def open(self) -> list[Asked]:
        """What ran and may have taken something away that today's disk does not tell."""
        return self._of(OPEN)

    def by_rule(self) -> list[tuple[str, list[Asked]]]:
        """The rules behind the questions, the busiest first."""
        found: dict[str, list[Asked]] = {}
        for one in self.asked:
            found.setdefault(", ".join(one.rules), []).append(one)
        return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))

    def _of(self, fate: str) -> list[Asked]:
        return sorted((one for one in (*self.asked, *self.kept) if one.fate == fate), key=lambda one: one.past.at)


@dataclass(slots=True)
class Sessions:
    """What each session of the logs made, so far."""

    things: dict[str, list[Thing]] = field(default_factory=dict)

    def made(self, past: Past) -> Made:
        return Made.of(self.things.get(past.session, ()) if past.session else ())

    def ran(self, past: Past, found: Weighed) -> None:
        """Takes over what the call made, and forgets what it took the name of."""
        if not past.session or past.outcome == FAILED:
            return
        facts = found.judgement.facts
        gone = set(unmade(facts))
        kept = [one for one in self.things.get(past.session, ()) if (one.kind, one.name) not in gone]
        new = makings(past.action, facts) if past.outcome == RAN else []
        if kept or new:
            self.things[past.session] = [*kept, *new][-MOST:]


def rehearse(logs: Iterable[Path], since: float, by: InForce, tick: Tick) -> Rehearsal:
    """Every call of these logs once, however many logs it stands in; as if the gate had been enforcing."""
    found, seen, sessions = Rehearsal(), set[str](), Sessions()
    by = replace(by, mode="enforcing")
    for path in logs:
        for past in calls(path, since, found.tally):
            key = f"{past.id} {past.action.text}"  # one call can come to several actions
            if past.id and key in seen:
                continue
            seen.add(key)
            found.calls[past.source] += 1
            _add(found, past, by, sessions)
        tick(path)
    return found


def _add(found: Rehearsal, past: Past, by: InForce, sessions: Sessions) -> None:
    one = weighed(past.action, by, sessions.made(past))
    if isinstance(one, Unjudged):
        found.tally.unjudged += 1
        return
    if one.asked or one.kept:
        (found.kept if one.kept else found.asked).append(_asked(past, one))
    sessions.ran(past, one)


def _asked(past: Past, one: Weighed) -> Asked:
    assessment = one.judgement.assessment
    after = effect_keys(past.action, one.judgement.facts, assessment)
    became = fate(assessment, one.question, str(Path.home())) if past.outcome == RAN else BACK
    return Asked(past, one.answer.outcome, assessment, after, one.kept, became)
