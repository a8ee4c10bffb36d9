"""What is in force in a process: rules, policy, mode and settings."""

from __future__ import annotations

from msgspec import Struct, field

from interlock.analysis.rules.book import Rulebook
from interlock.policy.policy import Policy
from interlock.policy.registry import Registry


class InForce(Struct, frozen=True):
    """The rules, policy, mode and settings that a decision is made by; replaced as a whole."""

    rules: Rulebook
    policy: Policy
    mode: str = "enforcing"
    registry: Registry = field(default_factory=Registry)
    relief: bool = True  # whether the inspected impact can lower the requirement
    keeps: bool = True  # whether snapshots are taken
