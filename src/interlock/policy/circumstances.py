"""Circumstances of a decision beyond the action itself, and how repetition, counts and cumulative risk escalate it (DL-13, R-13)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, field

from interlock.model import Assessment, Finding, Human, Json, Level, Loss, Requirement, Tier, nothing
from interlock.policy.impact import Impact
from interlock.policy.match_names import MatchNames
from interlock.policy.policy import Policy
from interlock.policy.registry import RegistryMatch
from interlock.policy.trust_matrix import AdapterCall
from interlock.redaction import redact_text

if TYPE_CHECKING:
    from interlock.adapters.danger import DangerBlock
    from interlock.snapshots import TakenSnapshot


class Contribution(Struct, frozen=True):
    """One part of a requirement: its name, the requirement, and the reason for a person."""

    name: str
    requirement: Requirement
    words: str
    denies: bool = False  # the answer is no, though a ticket is open
    code: str = ""
    details: Json = field(default_factory=nothing)  # of the code (1.9)
    pattern: str = ""  # the operator's, where one matched
    explanation: str = ""  # for people and agents, where `words` are only for the factors

    @property
    def reason(self) -> str:
        return self.explanation or self.words


class AdapterContext(Struct, frozen=True):
    """An operation of a loaded adapter or a proxied server; only these meet the matrix (R-1)."""

    call: AdapterCall
    block: DangerBlock | None = None
    override: bool = False  # an admin's, with step-up
    note: str = ""  # for the caller: what is wrong, and what an operator can do about it
    missing: bool = False  # the adapter is known and has no such operation
    notices: tuple[str, ...] = ()  # where its level came from, if that is not what it declares (C-13)
    warnings: tuple[Json, ...] = ()  # the same for the wire (2.11)


class EarlierDenial(Struct, frozen=True):
    """The denial that matches an action (R-22): its ticket, the reason, the requirement, and the retries in other words."""

    ticket: str
    words: str
    requirement: Requirement = field(default_factory=Requirement)
    denies: bool = True  # False while its ticket only waits
    tries: int = 0


class Circumstances(Struct, frozen=True):
    """The input of a decision beyond the action itself; gathered by the engine."""

    mode: str = "enforcing"
    blocked: str = ""  # why the principal is blocked
    trust_tier: str = ""
    loss: Loss = Loss.UNKNOWN
    impact: Impact | None = None  # of its targets, inspected for this decision
    ephemeral: bool = False  # everything forbidden in it targets ephemeral databases
    unkept: str = ""  # why something may be lost though the action is everyday work; empty where nothing is
    journaled: bool = False  # it runs below the journal, which can restore all harm that it does
    snapshot: TakenSnapshot | None = None  # of everything that it changes; only where a snapshot exempts it
    adapter_context: AdapterContext | None = None
    registry_match: RegistryMatch | None = None
    repeats: int = 0  # the same operation in this execution
    hourly: int = 0  # the same operation by this agent in an hour
    cumulative: int = 0  # points of score so far
    claimed_risk: int | None = None  # the agent's own; it can only raise
    claimed_level: Level | None = None  # the caller's own; it can only raise
    steps_left: int | None = None
    previous: str = ""  # outcome of the step before
    starting: bool = False  # an execution, which takes a person
    pause: str = ""  # what the agent waits for, in words
    pause_human: Human = Human.NONE  # required for the held step; none where this is another step
    earlier_denial: EarlierDenial | None = None  # the same effect on the same target is held or was rejected
    granted: str = ""  # the grant that covers this action
    grant_ceiling: Level = Level.SAFE
    escalated: tuple[Level, str] | None = None  # by a declared after_count
    tampering: str = ""  # what it does to the guard itself, in words
    confirmed_patterns: frozenset[str] = frozenset()  # restriction patterns that a human confirmed for this session
    mismatch: Contribution | None = None  # from what the agent reported to the loop
    paused_by: str = ""  # the operator whose pause is in force
    paused_to: Level = Level.SAFE  # the highest level that it lets pass
    paused_short: str = ""  # why it does not reach this action, in words


ESCALATION_PREFIX = "raised: "  # of the factor that explains why more is required than for the action itself
_HINT_LENGTH = 120  # characters of a hint


def escalation_reasons(factors: Iterable[str]) -> tuple[str, ...]:
    """The reasons for an escalation, from the factors of a decision or a ticket; a sentence each."""
    return tuple(factor.removeprefix(ESCALATION_PREFIX) for factor in factors if factor.startswith(ESCALATION_PREFIX))


def level_words(assessment: Assessment) -> str:
    worst = max(assessment.findings, key=lambda finding: finding.level, default=None)
    return f"{assessment.level.word}: {finding_words(worst)}" if worst else f"{assessment.level.word} action"


def finding_words(finding: Finding) -> str:
    """The reason of a finding, and the part of the hint that it concerns, where the hint has several."""
    act = finding.rule.startswith("acts.") and finding.span is not None and (finding.span[0] or " " in finding.subject)
    quote = redact_text(finding.subject) if (act or finding.quoted) and finding.subject else ""
    return f'{finding.reason.rstrip(".")}: "{quote[:_HINT_LENGTH]}".' if quote else finding.reason


TIERS = {
    Tier.ADVISORY: Human.NONE,
    Tier.CONFIRM: Human.CONFIRM,
    Tier.VERIFY: Human.VERIFY,
    Tier.DANGER_ZONE: Human.VERIFY,
}
# The tier that an adapter's escalation or a caller's own word raises to, under every policy (DL-13).
RAISED_TO = (Human.NONE, Human.NONE, Human.CONFIRM, Human.VERIFY, Human.VERIFY)
RAISING = frozenset({"repetition", "cumulative", "escalation", "steps"})  # parts that come from earlier actions


def escalation(assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances) -> list[Contribution]:
    """Repetition, count and cumulative risk raise the requirement, not the level."""
    parts = []
    if at.escalated is not None:
        level, message = at.escalated
        requirement = policy.levels[level].requirement.join(Requirement(human=RAISED_TO[level]))
        words = message or f"counts as {level.word} after {at.hourly:,} of the same in an hour"
        parts.append(Contribution("escalation", requirement, words))
    often = policy.escalate.repetition
    if often is not None and at.repeats >= often:
        human = Human(min(TIERS[assessment.tier] + 1, Human.VERIFY))
        words = f"the same operation {at.repeats} times in this execution, and from {often} on more is asked"
        parts.append(Contribution("repetition", Requirement(human=human), words))
    most = policy.escalate.cumulative
    if most is not None and at.cumulative >= most:
        words = cumulative_words(at.cumulative, most, at.steps_left is not None)
        parts.append(Contribution("cumulative", Requirement(human=Human.CONFIRM), words))
    return parts


def cumulative_words(points: int, most: int, execution: bool = False) -> str:
    """An agent's risk so far, and the bound from which everything above reversible needs a person."""
    where = "in this execution" if execution else "within an hour"
    return f"this agent's actions add up to {points:,} points of risk {where}, and from {most:,} on somebody is asked"


def escalation_factors(parts: Iterable[Contribution]) -> Iterable[str]:
    """A factor for each earlier action that raises the requirement."""
    usual, whole = Requirement(), Requirement()
    for part in parts:
        whole = whole.join(part.requirement)
        usual = usual if part.name in RAISING else usual.join(part.requirement)
    if whole != usual:
        lead = "asked about this time" if usual == Requirement() else "more is asked this time"
        yield from (f"{ESCALATION_PREFIX}{lead}: {part.words}" for part in parts if part.name in RAISING)
