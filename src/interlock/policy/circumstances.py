"""Circumstances of a decision beyond the action itself, as values, and the contributions that a requirement is joined from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.model import NOTHING, Assessment, Human, Json, Level, Loss, Requirement

if TYPE_CHECKING:
    from interlock.adapters.danger import DangerBlock
    from interlock.policy.impact import Impact
    from interlock.policy.match_names import MatchNames
    from interlock.policy.policy import Policy
    from interlock.policy.registry import RegistryMatch
    from interlock.policy.trust_matrix import AdapterCall
    from interlock.snapshots import TakenSnapshot


class Contribution(Struct, frozen=True):
    name: str
    requirement: Requirement
    words: str
    denies: bool = False  # the answer is no, though a ticket is open
    code: str = ""
    details: Json = NOTHING
    pattern: str = ""
    explanation: str = ""  # for people and agents, where `words` are only for the factors


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
    """The denial that matches an action (R-22), and the retries in other words."""

    ticket: str
    words: str
    requirement: Requirement = Requirement()
    denies: bool = True  # False while its ticket only waits
    tries: int = 0


class Circumstances(Struct, frozen=True):
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


class PolicyInput(Struct, frozen=True):
    assessment: Assessment
    named: MatchNames
    policy: Policy
    at: Circumstances


RAISING = frozenset({"repetition", "cumulative", "escalation", "steps"})  # parts that come from earlier actions
