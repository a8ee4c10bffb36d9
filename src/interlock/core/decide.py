"""Judges an action by the rules: reads it, classifies its facts and assesses the findings. Nothing else judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.assess import assess
from interlock.core.classify import Rulebook, classify
from interlock.core.model import Action, Assessment, Kind, Witness
from interlock.core.read import BUDGET, FileReader, read
from interlock.core.read.facts import Effect, Fact

if TYPE_CHECKING:
    from interlock.core.read.prose.learned import Opinion


@dataclass(frozen=True, slots=True)
class Judgement:
    """An assessment, the facts it rests on, and the scripts whose content it depends on."""

    assessment: Assessment
    witnesses: tuple[Witness, ...] = ()
    facts: tuple[Fact, ...] = field(default=(), compare=False)


def judge(action: Action, rules: Rulebook, files: FileReader | None = None, budget: int = BUDGET) -> Judgement:
    """What an action would do, by these rules; pure, and the same for the same arguments."""
    reading = read(action, files, rules.patterns, budget)
    facts = reading.facts
    if rules.opinion is not None and action.kind is Kind.INTENT:
        facts = second_opinion(facts, rules.opinion())
    return Judgement(assess(facts, classify(facts, rules), rules.programs), reading.witnesses, facts)


def joined(own: Judgement, more: Judgement, rules: Rulebook) -> Judgement:
    """What an action would do together with what it starts that was judged by itself."""
    facts = tuple(dict.fromkeys((*own.facts, *more.facts)))
    witnesses = tuple(dict.fromkeys((*own.witnesses, *more.witnesses)))
    return Judgement(assess(facts, classify(facts, rules), rules.programs), witnesses, facts)


def second_opinion(facts: tuple[Fact, ...], opinion: Opinion) -> tuple[Fact, ...]:
    """The facts of a sentence in which nothing harmful was read, and one more where its wording resembles announced harm."""
    for fact in facts:
        if isinstance(fact, Effect) and fact.traits & {"plain", "plain_foreign"}:
            if opinion.resembles_harm(fact.target, "plain_foreign" in fact.traits):
                return (*facts, Effect("act_resembles", fact.target, span=fact.span))
    return facts
