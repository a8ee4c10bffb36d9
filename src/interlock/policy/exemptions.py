"""Exemptions from a requirement: grants, relief by impact, operators' patterns, trusted agents (R-5, R-6, R-14), and an operator's pause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from interlock.model import Assessment, Category, Human, Level, Loss, Requirement
from interlock.policy.circumstances import Circumstances, Contribution, level_words
from interlock.policy.impact import RELIEF_PREFIX, count_words, size_words
from interlock.policy.match_names import MatchNames
from interlock.policy.patterns import covers
from interlock.policy.policy import Policy
from interlock.problems import Problems

# What an auto-approving pattern can take away, what a trusted agent skips, what relief takes away.
_WAIVED = frozenset({"level", "tier", "severity", "tolerance", "always_ask"})  # GK-04: a confirm pattern outranks it
_RELIEVED = frozenset({"level", "irreversible", "tier", "tolerance"})
_NEVER_GRANTED = frozenset(
    {"deny", "blocked", "allowlist", "steps", "outcome", "start", "never", "matrix_deny", "match_failure", "pause"}
)
_UNREADABLE = "unreadable"
CONFIRM_PATTERN = "confirm_pattern"
SNAPSHOT = "a snapshot was taken first"
_NO_RELIEF = frozenset({
    Category.PRIVILEGE_ESCALATION, Category.REMOTE_CODE_EXECUTION, Category.EXFILTRATION, Category.CREDENTIAL_INVALIDATION,
    Category.ACCOUNT_ACTION, Category.FINANCIAL_ACTION, Category.ACCESS_REVOCATION, Category.COMMUNICATION_BLOCK,
})  # fmt: skip


def apply_exemptions(
    parts: list[Contribution], assessment: Assessment, named: MatchNames, policy: Policy, at: Circumstances
) -> tuple[list[Contribution], list[str]]:
    """What is left of the parts, and a factor for each thing that took some away."""
    kept, waivers = parts, []
    unreadable = any(_UNREADABLE in finding.rule for finding in assessment.findings)
    if at.granted and max(assessment.level, at.claimed_level or 0) <= at.grant_ceiling and not unreadable:
        kept, gone = _without(kept, lambda part: part.name not in _NEVER_GRANTED and not part.requirement.blocked)
        waivers += [f"granted: {at.granted}"] if gone else []
    if at.confirmed_patterns and named.single and assessment.level <= Level.DESTRUCTIVE and not unreadable:
        kept, gone = _without(kept, lambda part: part.name == CONFIRM_PATTERN and part.pattern in at.confirmed_patterns)
        waivers += [f"confirmed for this session: {', '.join(sorted(at.confirmed_patterns))}"] if gone else []
    harmless = at.loss in (Loss.NONE, Loss.RECOVERABLE)
    seen = (harmless or at.snapshot is not None) and not unreadable and not _beyond_looking(assessment, at)
    if seen and at.snapshot is not None and at.snapshot.verified and _on_disk(assessment):
        kept, gone = _relieved(kept, assessment, policy.control(assessment.level).kept, "kept first")
        what = f"{at.snapshot.id}, {count_words(at.snapshot.files, 'file')}, {size_words(at.snapshot.bytes)}"
        waivers += [f"{RELIEF_PREFIX}{SNAPSHOT} ({what})"] if gone else []
    if seen and harmless:
        kept, gone = _relieved(kept, assessment, policy.control(assessment.level).relief, "nothing would be lost")
        waivers += [f"{RELIEF_PREFIX}what would be lost is {at.loss.value}"] if gone else []
    allowed = covers((*policy.patterns.allow, *policy.restriction.patterns.allow), named)
    if allowed and assessment.level <= Level.DESTRUCTIVE and not assessment.irreversible:
        kept, gone = _without(kept, _auto_approved)
        waivers += [f"auto-approved by pattern {allowed[0].said}"] if gone else []
    if (
        at.trust_tier
        and at.trust_tier in policy.severities.bypass_for_trust_tiers
        and assessment.level < Level.FORBIDDEN
    ):
        kept, gone = _without(kept, _only_waits)
        waivers += [f"trust tier {at.trust_tier} skips cooling-off and confirmation"] if gone else []
    return kept, waivers


def _beyond_looking(assessment: Assessment, at: Circumstances) -> bool:
    """What no look and no copy can answer for: rights, other machines, secrets, the guard itself; of what is forbidden, all but databases to be thrown away (R-23)."""
    from interlock.analysis.targets.ephemeral import RULES  # whoever only weighs does not load what looks

    return any(
        finding.category in _NO_RELIEF
        or finding.rule.startswith("self_protection.")
        or (finding.level >= Level.FORBIDDEN and not (at.ephemeral and finding.rule in RULES))
        for finding in assessment.findings
        if finding.level >= Level.DESTRUCTIVE
    )


def _on_disk(assessment: Assessment) -> bool:
    """Whether everything that is held against it is done to files, or databases that are one, which a snapshot can bring back."""
    from interlock.analysis.targets.ephemeral import RULES
    from interlock.policy.impact import INSPECTABLE_RULES

    kept = INSPECTABLE_RULES | {rule for rule in RULES if rule.startswith("data.")}
    return all(finding.rule in kept for finding in assessment.findings if finding.level >= Level.DESTRUCTIVE)


def _auto_approved(part: Contribution) -> bool:
    """R-6: confirmation, tier and cooling; a registry pattern that asks for an approval is an approval pattern."""
    approval = part.name == "severity" and part.requirement.human > Human.CONFIRM
    return part.name in _WAIVED and not part.requirement.blocked and not approval


def _only_waits(part: Contribution) -> bool:
    """R-14: cooling-off and confirmation; a new sign-in is neither."""
    asked = part.requirement
    return not asked.blocked and not asked.reauth and asked.human <= Human.CONFIRM and part.name not in _NEVER_GRANTED


def _relieved(
    parts: list[Contribution], assessment: Assessment, relief: Requirement | None, why: str
) -> tuple[list[Contribution], bool]:
    if relief is None:
        return parts, False
    kept, gone = _without(parts, lambda part: part.name in _RELIEVED)
    if gone and relief != Requirement():
        kept = [*kept, Contribution("level", relief, f"{level_words(assessment)} ({why})")]
    return kept, gone


def _without(parts: list[Contribution], goes: Callable[[Contribution], bool]) -> tuple[list[Contribution], bool]:
    kept = [part for part in parts if not goes(part)]
    return kept, len(kept) != len(parts)


PAUSE_KEYS = frozenset({"max_minutes"})
MOST_MINUTES = 1_440
PAUSED = "paused_by_operator"  # the factor's name, and the record's
GUARD = "self_protection."  # rules about the guard itself


@dataclass(frozen=True, slots=True)
class PauseSettings:
    """The table `[pause]`."""

    max_minutes: int = 60  # of one pause; 0 allows none


@dataclass(frozen=True, slots=True)
class OperatorPause:
    """One pause: who, why, from when to when, and up to which level it lets pass."""

    by: str
    reason: str
    since: float
    until: float
    ceiling: Level = Level.DANGEROUS  # an admin's reaches further, as their approval does

    def at(self, now: float) -> bool:
        """Whether it counts; not before it began, whatever the clock was set to."""
        return self.since <= now < self.until


def pause_of(table: Mapping[str, Any], problems: Problems) -> PauseSettings:
    """The settings that a table describes; what is wrong with it goes to `problems`."""
    most = problems.number(table, "max_minutes", ("pause",), 0, MOST_MINUTES, whole=True)
    return PauseSettings(PauseSettings().max_minutes if most is None else int(most))


def reason_to_hold(assessment: Assessment, ceiling: Level, tampers: bool = False) -> str:
    """Why a pause does not free it, in words; empty where it does."""
    if not assessment.approvable:
        return "nobody may approve this"
    if tampers or any(f.rule.startswith(GUARD) and f.level >= Level.DESTRUCTIVE for f in assessment.findings):
        return "it touches the guard itself"
    if assessment.level > ceiling:
        return f"{assessment.level.word} actions take an admin"
    return ""
