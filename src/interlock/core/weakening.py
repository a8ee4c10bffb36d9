"""Which settings take protection away? Said wherever a configuration or a policy is checked, shown or used (R-14)."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from interlock.core.model import Level, Requirement
from interlock.core.policy import Policy, Severities
from interlock.core.read.name_patterns import BUILT_IN, Patterns

_MODES = MappingProxyType(
    {
        "monitoring": "everything passes, blocked agents included; the record says what would have happened",
        "logging": "everything passes; it is written down, and nothing is weighed",
        "disabled": "everything passes; it is written down, and nothing is weighed",
    }
)


def concerns(policy: Policy, mode: str = "enforcing", patterns: Patterns = BUILT_IN) -> list[str]:
    """Everything that makes this weaker than it could be."""
    return [*_of_mode(mode), *_of_policy(policy), *_of_patterns(patterns), *weakened(policy.severities)]


def weakened(gate: Severities) -> list[str]:
    """What of seed 003's settings does."""
    said = []
    if not gate.enabled:
        said.append("gate.enabled = false: nothing is held")
    if not gate.require_approval_for_critical:
        said.append("gate.requireApprovalForCritical = false: critical actions pass without a human")
    if not gate.block_on_match_failure:
        said.append("gate.blockOnMatchFailure = false: what cannot be matched passes")
    if gate.bypass_for_trust_tiers:
        tiers = ", ".join(sorted(gate.bypass_for_trust_tiers))
        said.append(f"gate.bypassForTrustTiers = [{tiers}]: these agents skip cooling-off and confirmation")
    if gate.default_cooling_off_ms < 30_000 or gate.max_cooling_off_ms < 30_000:
        said.append("cooling-off is under 30 s: hardly time for a veto")
    return said


def _of_mode(mode: str) -> Iterator[str]:
    if mode in _MODES:
        yield f'safetyLoop.mode = "{mode}": {_MODES[mode]}'


def _of_policy(policy: Policy) -> Iterator[str]:
    named = f"policy {policy.name!r}"
    free = [level.word for level in Level if level >= Level.DESTRUCTIVE and _asks_nothing(policy, level)]
    if free:
        yield f"{named}: the levels {', '.join(free)} ask for nothing; only patterns and what cannot be approved stop an action"
    if policy.cooling_frees_irreversible:
        yield f"{named}: time alone frees what cannot be undone"
    off = [
        name for name in ("repetition", "cumulative", "forbidden_attempts") if getattr(policy.escalate, name) is None
    ]
    if off:
        yield f'{named}: escalation.{", escalation.".join(off)} = "off": much of the same asks for nothing more'
    if policy.restriction.scope == "session":
        yield f"{named}: one approval of a confirm pattern answers it for a whole session"


def _asks_nothing(policy: Policy, level: Level) -> bool:
    control = policy.control(level)
    return control.requirement == Requirement() and not control.denies


def _of_patterns(patterns: Patterns) -> Iterator[str]:
    for name in ("dangerous", "forbidden"):
        gone = [glob for glob in getattr(BUILT_IN, name) if glob not in getattr(patterns, name)]
        if gone:
            yield f"danger_patterns.replace = true: {name} lacks the built-in {', '.join(gone)}"
    wide = [glob for glob in patterns.exempt if "*" in glob]
    if wide:
        yield f"danger_patterns.safe: every name that {', '.join(wide)} matches counts as safe, whatever it says"
