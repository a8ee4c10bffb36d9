"""One past call -> what the gate would have said to it; what a look or a snapshot would have changed is supposed, for nobody looked then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from interlock.core.circumstances import Circumstances
from interlock.core.decide import Judgement, judge
from interlock.core.explain import ALLOW, Answer, answered
from interlock.core.looking import Question, looked, question_of
from interlock.core.loss import Seen
from interlock.core.made import NOTHING_MADE, Made
from interlock.core.model import Action, Level, Loss
from interlock.core.undo import Kept
from interlock.core.weigh import require
from interlock.doors.cli.judging import InForce, Unjudged, matched, unjudged

_SUPPOSED = Kept("u_aaaaaaaaaa", "0" * 64)  # a snapshot as it would have been taken


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was read of a call, and the answer to it."""

    judgement: Judgement
    answer: Answer
    question: Question | None  # what could have been looked at
    kept: bool = False  # it would have passed, with a snapshot taken first

    @property
    def asked(self) -> bool:
        return self.answer.verdict is not ALLOW


def weighed(action: Action, by: InForce, made: Made = NOTHING_MADE) -> Weighed | Unjudged:
    """As if everything that is on a disk were the only copy, and small enough to be kept; scripts are not what they were, so none is read."""
    try:
        return _weighed(action, by, made)
    except Exception as error:
        return unjudged(error)


def _weighed(action: Action, by: InForce, made: Made) -> Weighed:
    judgement = judge(action, by.rules)
    at = Circumstances(mode=by.mode, matched=matched(action, by))
    grave = judgement.assessment.level >= Level.DESTRUCTIVE
    question = question_of(action, judgement, made) if grave else None
    if question is not None:
        at = looked(at, action, judgement, _only_copy, by.relief, made)
    answer = _answer(action, judgement, by, at)
    if (
        answer.verdict is ALLOW
        or question is None
        or not (question.relieves and question.deeds and by.relief and by.keeps)
    ):
        return Weighed(judgement, answer, question)
    kept = _answer(action, judgement, by, replace(at, kept=_SUPPOSED))
    return Weighed(judgement, kept, question, True) if kept.verdict is ALLOW else Weighed(judgement, answer, question)


def _answer(action: Action, judgement: Judgement, by: InForce, at: Circumstances) -> Answer:
    return answered(require(action, judgement, by.policy, at), by.policy, by.mode)


def _only_copy(question: Mapping[str, Any]) -> Seen:
    return Seen(Loss.LOST)
