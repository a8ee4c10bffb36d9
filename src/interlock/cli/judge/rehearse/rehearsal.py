"""★ Judges past calls by the rules and policy in force: the questions that would have been asked, and what was really lost."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.assess import Judgement
from interlock.analysis.targets.provenance import NOTHING_CREATED, CreatedThing, Provenance, created_by, removed_by
from interlock.cli.judge.rehearse.logs import FAILED, RAN, LogTally, PastCall, calls
from interlock.engine.assessment import Unjudged
from interlock.engine.explain import ALLOW, PolicyAnswer
from interlock.engine.preview import preview
from interlock.impact import Budget, BudgetExceeded, Unclear
from interlock.impact.git import repository_of
from interlock.impact.inspection import Inspection
from interlock.impact.survey import REGENERABLE, TEMP
from interlock.impact.targets import existing_paths, join_target
from interlock.model import Action, Assessment, Category, Loss
from interlock.policy.effect_key import EffectKey, effect_keys
from interlock.policy.impact import Impact
from interlock.runtime import InForce


def rehearse_call(action: Action, by: InForce, created: Provenance = NOTHING_CREATED) -> PolicyAnswer | Unjudged:
    """As if every file were the only copy and fitted into a snapshot; scripts may have changed since."""
    return preview(action, by, look=lambda question: Impact(Loss.LOST), created=created)


LOST, BACK, OPEN = "lost", "back", "open"
_DATA = frozenset({
    Category.DATA_DELETION, Category.DISK_DESTRUCTION, Category.HISTORY_REWRITE, Category.RESOURCE_TERMINATION,
    Category.CREDENTIAL_INVALIDATION,
})  # fmt: skip
_GLOB = frozenset("*?[{")
_MILLISECONDS, _ENTRIES = 2_000, 20_000


def fate(assessment: Assessment, question: Inspection | None, home: str) -> str:
    """What became of the data: `lost`, `back` (recoverable or worthless) or `open` (unknown)."""
    if not any(one.irreversible and one.category in _DATA for one in assessment.findings):
        return BACK
    if question is None:
        return LOST  # elsewhere: a database, a cloud, another machine
    if not question.deeds:
        return BACK  # a throw-away database, or one of the session's own
    try:
        fates = {_effect_fate(effect, base, home) for base in question.bases[-1:] for effect in question.deeds}
    except (OSError, BudgetExceeded, Unclear, ValueError):
        return OPEN
    return LOST if LOST in fates else OPEN if OPEN in fates else BACK


def _effect_fate(effect: Mapping[str, Any], base: str, home: str) -> str:
    """Unknown for what Git discarded or a file held before it was overwritten."""
    target = effect.get("target")
    if effect.get("verb") != "delete" or not isinstance(target, str):
        return OPEN
    budget = Budget.of(_MILLISECONDS, _ENTRIES)
    if existing_paths(base, target, home, budget):
        return BACK
    path = os.path.normpath(join_target(base, target, home))
    if path.startswith(tuple(f"{folder}/" for folder in TEMP)):
        return BACK
    if _GLOB & set(target) or not os.path.isdir(os.path.dirname(path)):
        return OPEN
    return _git_fate(path, budget)


def _git_fate(path: str, budget: Budget) -> str:
    found = repository_of(os.path.dirname(path), budget)
    if found is None:
        return LOST
    inside = found.inside(path)
    tracked = any(name == inside or name.startswith(f"{inside}/") for name in found.index.entries)
    return BACK if tracked or REGENERABLE.intersection(inside.split("/")) else LOST


DAY = 86_400.0
MOST = 500  # things of one session that are remembered


class RehearsedQuestion(Struct, frozen=True):
    past: PastCall
    outcome: str
    assessment: Assessment
    effect_keys: tuple[EffectKey, ...]
    snapshot: bool = False  # it would have passed, with a snapshot taken first
    fate: str = BACK  # of what it destroyed, if it ran

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules at the call's highest level; `policy` where only the policy asks."""
        findings = self.assessment.findings
        return tuple(dict.fromkeys(one.rule for one in findings if one.level == self.assessment.level)) or ("policy",)


class Rehearsal(Struct):
    calls: Counter[str] = field(default_factory=Counter)  # by source
    asked: list[RehearsedQuestion] = field(default_factory=list)
    with_snapshot: list[RehearsedQuestion] = field(default_factory=list)  # not asked: a snapshot would have been taken
    tally: LogTally = field(default_factory=LogTally)

    def of(self, fate: str) -> list[RehearsedQuestion]:
        """LOST, or OPEN: the calls that ran and whose loss today's disk does not show."""
        questions = (one for one in (*self.asked, *self.with_snapshot) if one.fate == fate)
        return sorted(questions, key=lambda one: one.past.at)

    def by_rule(self) -> list[tuple[str, list[RehearsedQuestion]]]:
        found: dict[str, list[RehearsedQuestion]] = {}
        for one in self.asked:
            found.setdefault(", ".join(one.rules), []).append(one)
        return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))


Sessions = dict[str, list[CreatedThing]]  # the things that each one created


def _record_things(sessions: Sessions, past: PastCall, judged: Judgement) -> None:
    if not past.session or past.outcome == FAILED:
        return
    gone = set(removed_by(judged.facts))
    left = [one for one in sessions.get(past.session, ()) if (one.kind, one.name) not in gone]
    new = created_by(past.action, judged.facts, judged.line) if past.outcome == RAN else []
    if left or new:
        sessions[past.session] = [*left, *new][-MOST:]


def rehearse(logs: Iterable[Path], since: float, by: InForce, tick: Callable[[Path], None]) -> Rehearsal:
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


def _add(found: Rehearsal, past: PastCall, by: InForce, sessions: Sessions) -> None:
    one = rehearse_call(past.action, by, Provenance.of(sessions.get(past.session, ())))
    if isinstance(one, Unjudged):
        found.tally.unjudged += 1
        return
    if one.verdict is not ALLOW:
        assessment, outcome = one.assessment, "allow" if one.keepable else one.outcome
        keys = effect_keys(past.action, one.judgement.facts, assessment)
        became = fate(assessment, one.question, str(Path.home())) if past.outcome == RAN else BACK
        question = RehearsedQuestion(past, outcome, assessment, keys, one.keepable, became)
        (found.with_snapshot if one.keepable else found.asked).append(question)
    _record_things(sessions, past, one.judgement)
