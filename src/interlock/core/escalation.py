"""What was done before raises what is asked: repetition, a declared count, the sum of risk, the step limit; and says so (DL-13, R-13)."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.circumstances import RAISED, Circumstances, Part
from interlock.core.model import Assessment, Human, Requirement, Tier
from interlock.core.policy import Policy
from interlock.core.titles import Titles

TIERS = {
    Tier.ADVISORY: Human.NONE,
    Tier.CONFIRM: Human.CONFIRM,
    Tier.VERIFY: Human.VERIFY,
    Tier.DANGER_ZONE: Human.VERIFY,
}
# The tier that an adapter's escalation or a caller's own word raises to, under every policy (DL-13).
RAISED_TO = (Human.NONE, Human.NONE, Human.CONFIRM, Human.VERIFY, Human.VERIFY)
RAISING = frozenset({"repetition", "cumulative", "escalation", "steps"})  # parts that speak of what was done before


def tier_of(score: int) -> Tier:
    """AE-06: the tier of a score, by the normative cuts."""
    return next(
        t
        for cut, t in ((30, Tier.ADVISORY), (60, Tier.CONFIRM), (85, Tier.VERIFY), (1000, Tier.DANGER_ZONE))
        if score <= cut
    )


def escalation(assessment: Assessment, named: Titles, policy: Policy, at: Circumstances) -> list[Part]:
    """Repetition, count and cumulative risk raise what is asked, not the level."""
    parts = []
    if at.escalated is not None:
        level, message = at.escalated
        asked = policy.control(level).requirement.join(Requirement(human=RAISED_TO[level]))
        words = message or f"counts as {level.word} after {at.hourly:,} of the same in an hour"
        parts.append(Part("escalation", asked, words))
    often = policy.escalate.repetition
    if often is not None and at.repeats >= often:
        human = Human(min(TIERS[assessment.tier] + 1, Human.VERIFY))
        words = f"the same operation {at.repeats} times in this execution, and from {often} on more is asked"
        parts.append(Part("repetition", Requirement(human=human), words))
    most = policy.escalate.cumulative
    if most is not None and at.cumulative >= most:
        words = cumulative_words(at.cumulative, most, at.steps_left is not None)
        parts.append(Part("cumulative", Requirement(human=Human.CONFIRM), words))
    return parts


def cumulative_words(points: int, most: int, execution: bool = False) -> str:
    """How much risk an agent has taken, and from where on everything is asked about that is more than reversible."""
    where = "in this execution" if execution else "within an hour"
    return f"this agent's actions add up to {points:,} points of risk {where}, and from {most:,} on somebody is asked"


def raised(parts: Iterable[Part]) -> Iterable[str]:
    """A factor for each thing done before, where the action alone asks for less."""
    usual, whole = Requirement(), Requirement()
    for part in parts:
        whole = whole.join(part.requirement)
        usual = usual if part.name in RAISING else usual.join(part.requirement)
    if whole != usual:
        lead = "asked about this time" if usual == Requirement() else "more is asked this time"
        yield from (f"{RAISED}{lead}: {part.words}" for part in parts if part.name in RAISING)
