"""What is in force in a process: rules, policy, mode and settings."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.config import Config
from interlock.config.settings import HookSettings, ImpactSettings, PauseSettings, SnapshotSettings
from interlock.policy.overrides import AppliedRules, LoopSettings
from interlock.policy.policy import Policy
from interlock.policy.real_paths import NO_OWN_ASSETS, OwnAssets
from interlock.policy.registry import Registry


class InForce(Struct, frozen=True):
    """The rules, policy, mode and settings that decisions are made by; replaced as a whole."""

    rules: Rulebook
    policy: Policy
    mode: str = "enforcing"
    registry: Registry = field(default_factory=Registry)
    policy_hash: str = ""
    rulebook_hash: str = ""
    own_assets: OwnAssets = NO_OWN_ASSETS  # Interlock's own files, processes and ports
    applied_rules: tuple[AppliedRules, ...] = ()  # rules that tightened the policy for one call
    challenge_seconds: float = 300.0  # OOB-08
    loops: LoopSettings = field(default_factory=LoopSettings)  # AE-08
    hooks: HookSettings = field(default_factory=HookSettings)
    impact: ImpactSettings = field(default_factory=ImpactSettings)
    undo: SnapshotSettings = field(default_factory=SnapshotSettings)
    pauses: PauseSettings = field(default_factory=PauseSettings)


def rules_of(config: Config) -> Rulebook:
    """The shipped rules and the operator's own, with the name patterns in force (R-19)."""
    return replace(load(*config.rule_files), patterns=config.danger_patterns)
