"""The path of one action: read, classify, assess, weigh, hold. Everything that judges walks it, and nothing else does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.assess import assess
from interlock.core.classify import Rulebook, classify
from interlock.core.model import Action, Assessment, Kind, Witness
from interlock.core.read import BUDGET, FileReader, read
from interlock.core.read.facts import Effect, Fact

if TYPE_CHECKING:  # whoever only judges does not load what decides
    from interlock.core.circumstances import Circumstances
    from interlock.core.hold import Held
    from interlock.core.policy import Policy
    from interlock.core.read.prose.learned import Opinion
    from interlock.core.records import Ticket
    from interlock.core.weigh import Weighed


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


def require(action: Action, judged: Judgement, policy: Policy, at: Circumstances) -> Weighed:
    """What must happen before a judged action may run, under this policy and these circumstances."""
    from interlock.core.titles import titles
    from interlock.core.weigh import weigh

    return weigh(judged.assessment, titles(action, judged.facts), policy, at)


def decide(weighed: Weighed, ticket: Ticket | None, agreed: str, now: float, policy: Policy) -> Held:
    """The answer to a weighed action, given the ticket that may meet it."""
    from interlock.core.hold import hold

    return hold(weighed.requirement, weighed.denies, ticket, agreed, now, policy.denial_seconds)
