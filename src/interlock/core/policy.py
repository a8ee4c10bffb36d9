"""What an operator's policy is, as values: per level, per pattern, per severity, and what may lower it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from interlock.core.model import Human, Level, Requirement
from interlock.core.patterns import PatternSet
from interlock.core.trust_gate import TrustPolicy

MODES = ("enforcing", "monitoring", "logging", "disabled")
TOLERANCES = MappingProxyType({"conservative": 25, "moderate": 50, "aggressive": 75})  # AE-07
DEFAULT_APPROVERS = frozenset({"human"})  # any signed-in operator
ADMIN = "role:admin"


@dataclass(frozen=True, slots=True)
class Control:
    """What one level asks for, what is left of it when nothing would be lost or all of it was kept, and whether a held action is denied at once."""

    requirement: Requirement = field(default_factory=Requirement)
    relief: Requirement | None = None  # instead of `requirement`, when the looker saw that nothing would be lost
    kept: Requirement | None = None  # instead of `requirement`, when everything that it changes was kept first
    irreversible: Requirement | None = None  # instead of `requirement`, when it cannot be undone
    denies: bool = False  # "deny with ticket": the caller is told no, and an operator can still say yes


@dataclass(frozen=True, slots=True)
class Severities:
    """Seed 003's gate, with its names and its defaults."""

    enabled: bool = True
    default_cooling_off_ms: int = 30_000
    max_cooling_off_ms: int = 300_000
    require_approval_for_critical: bool = True
    allowed_approvers: frozenset[str] = DEFAULT_APPROVERS
    auto_expire_ms: int = 3_600_000
    bypass_for_trust_tiers: frozenset[str] = frozenset()
    block_on_match_failure: bool = True


@dataclass(frozen=True, slots=True)
class Escalate:
    """What repetition does (R-13): how often, how much risk, how many forbidden attempts; None where it does nothing."""

    repetition: int | None = 50
    cumulative: int | None = 2_000  # points of score in one execution or hour
    forbidden_attempts: int | None = 3
    forbidden_window_seconds: int = 600


@dataclass(frozen=True, slots=True)
class Restriction:
    """Seed 002's externalRestrictions: patterns of tools, and how long one approval lasts."""

    patterns: PatternSet = field(default_factory=PatternSet)
    scope: str = "once"  # once, or session
    ttl_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that decides who must agree."""

    name: str
    description: str = ""
    extends: str = ""  # the policy whose words count where this one says nothing
    levels: Mapping[Level, Control] = field(default_factory=lambda: MappingProxyType({}))
    irreversible: Human = Human.CONFIRM
    patterns: PatternSet = field(default_factory=PatternSet)
    restriction: Restriction = field(default_factory=Restriction)
    allowed_operations: frozenset[str] = (
        frozenset()
    )  # what is not in it is denied; empty when nothing was declared
    matrix: str = "floor"
    trust: TrustPolicy = field(default_factory=TrustPolicy)
    severities: Severities = field(default_factory=Severities)
    registry: bool = True  # whether the registry's patterns speak
    severity_replaces_level: bool = (
        False  # whether those that an operator registered ask for their own controls alone
    )
    tiers: bool = True
    tolerance: str = "moderate"
    escalate: Escalate = field(default_factory=Escalate)
    literal_globs: bool = False  # R-7: seed 002's globs as they stand
    always_ask: bool = False
    block_on_danger_zone: bool = False
    denial_seconds: int = 600  # how long a rejected effect stays rejected
    open_tickets: int = 5
    cooling_frees_irreversible: bool = False  # only `spec`
    start: str = "confirm"  # loop.start
    max_autonomous_steps: int = 10
    step_ceiling: int = 100
    mode: str = ""  # safetyLoop.mode of seed 001's JSON (R-12); empty where it says nothing
    cases: tuple[Mapping[str, Any], ...] = ()
    source: str = ""  # the text it was made from, for its hash

    def control(self, level: Level) -> Control:
        """What the level asks for; a level that the policy does not name is not let through."""
        return self.levels.get(level, Control(Requirement(human=Human.VERIFY)))
