"""What a decision needs to know beyond the action itself, and the parts that a requirement is joined from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interlock.core.danger import DangerBlock
from interlock.core.loss import Seen
from interlock.core.model import Assessment, Finding, Human, Level, Loss, Requirement
from interlock.core.records import Json, nothing
from interlock.core.redact import redact_text
from interlock.core.registry import Matched
from interlock.core.trust_gate import Call

if TYPE_CHECKING:
    from interlock.core.undo import Kept


@dataclass(frozen=True, slots=True)
class Part:
    """One contribution: what it is called, what it asks for, and why, in words for a person."""

    name: str
    requirement: Requirement
    words: str
    denies: bool = False  # the answer is no, though a ticket is open
    code: str = ""
    details: Json = field(default_factory=nothing)  # what 1.9 puts beside the code
    pattern: str = ""  # the operator's, where one speaks
    said: str = ""  # the reason that people and agents read, where the words are for the factors

    @property
    def reason(self) -> str:
        return self.said or self.words


@dataclass(frozen=True, slots=True)
class Adapted:
    """An operation of a loaded adapter or a proxied server; only these meet the matrix (R-1)."""

    call: Call
    block: DangerBlock | None = None
    override: bool = False  # an admin's, with step-up
    note: str = ""  # what whoever asks has to know, and what an operator can do about it
    missing: bool = False  # the adapter is known and has no such operation
    notices: tuple[str, ...] = ()  # where its level came from, if that is not what it declares (C-13)
    warnings: tuple[Json, ...] = ()  # the same for the wire (2.11)


@dataclass(frozen=True, slots=True)
class Denied:
    """The denial that an action meets (R-22): its ticket, in words, what is asked for, and how often others words were tried."""

    ticket: str
    words: str
    requirement: Requirement = field(default_factory=Requirement)
    denies: bool = True  # False while its ticket only waits
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the decision needs to know beyond the action itself; gathered by the service."""

    mode: str = "enforcing"
    blocked: str = ""  # why the principal is blocked
    trust_tier: str = ""
    loss: Loss = Loss.UNKNOWN
    seen: Seen | None = None  # what a look at its targets found, for this decision
    throwaway: bool = False  # all that is forbidden in it is done to databases that are there to be thrown away
    kept: Kept | None = None  # everything that it changes, verified; only where that lets it pass
    adapted: Adapted | None = None
    matched: Matched | None = None
    repeats: int = 0  # the same operation in this execution
    hourly: int = 0  # the same operation by this agent in an hour
    cumulative: int = 0  # points of score so far
    claimed_risk: int | None = None  # the agent's own; it can only raise
    claimed_level: Level | None = None  # the caller's own; it can only raise
    steps_left: int | None = None
    previous: str = ""  # outcome of the step before
    starting: bool = False  # an execution, which takes a person
    pause: str = ""  # what the agent waits for, in words
    pause_human: Human = Human.NONE  # what was asked for the step that is held; none where this is another one
    denied: Denied | None = None  # the same effect on the same target is held or was rejected
    granted: str = ""  # the grant that covers this action
    grant_ceiling: Level = Level.SAFE
    escalated: tuple[Level, str] | None = None  # by a declared after_count
    tampering: str = ""  # what it does to the guard itself, in words
    confirmed: frozenset[str] = frozenset()  # restriction patterns that a human confirmed for this session
    differs: Part | None = None  # from what the agent reported to the loop
    paused_by: str = ""  # the operator whose pause is in force
    paused_to: Level = Level.SAFE  # the highest level that it lets pass
    paused_short: str = ""  # why it does not reach this action, in words


RAISED = "raised: "  # begins the factor that says why more is asked this time than the action itself asks for


def raises(factors: Iterable[str]) -> tuple[str, ...]:
    """Why more is asked than usual, out of the factors of a decision or a ticket; a sentence each."""
    return tuple(factor.removeprefix(RAISED) for factor in factors if factor.startswith(RAISED))


def level_words(assessment: Assessment) -> str:
    worst = max(assessment.findings, key=lambda finding: finding.level, default=None)
    return f"{assessment.level.word}: {finding_words(worst)}" if worst else f"{assessment.level.word} action"


def finding_words(finding: Finding) -> str:
    """Why a finding asks, and of which part of a hint that says more than one thing."""
    part = finding.rule.startswith("acts.") and finding.span is not None and (finding.span[0] or " " in finding.subject)
    said = redact_text(finding.subject) if part and finding.subject else ""
    return f'{finding.reason.rstrip(".")}: "{said[:_SAID]}".' if said else finding.reason


_SAID = 120  # characters of a hint
