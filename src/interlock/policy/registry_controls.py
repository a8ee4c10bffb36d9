"""Adds the findings and controls of matching registry patterns to an action (seed 003, R-21)."""

from __future__ import annotations

from msgspec.structs import replace

from interlock.analysis.assess import Judgement, assess
from interlock.analysis.classify import Classified, classify
from interlock.analysis.operations.name_patterns import exemption
from interlock.analysis.rules import Rulebook
from interlock.model import Action, Assessment, Finding, Human, Kind, Level, Requirement
from interlock.policy.circumstances import Contribution, PolicyInput
from interlock.policy.policy import Policy
from interlock.policy.registry import Pattern, Registry, RegistryMatch, Severity, built_in_ids
from interlock.times import milliseconds_to_seconds

RULE = "registry."  # begins the rule of a finding that a registered pattern makes


def match_registry(
    action: Action, registry: Registry, policy: Policy, rules: Rulebook, resource: str = ""
) -> RegistryMatch | None:
    """None where the policy has no registry, or for what is no operation or tool."""
    if action.kind not in (Kind.OPERATION, Kind.TOOL) or not policy.registry or not action.text:
        return None
    called, gate = "_".join(filter(None, (action.text, resource))), policy.severities
    matched = registry.check(called, gate.max_cooling_off_ms, gate.block_on_match_failure)
    return matched.registered() if exemption(action.text, rules.patterns) else matched


def add_registry_findings(own: Judgement, matched: RegistryMatch | None, rules: Rulebook) -> Judgement:
    """A pattern's severity is a level, and only a declared no rolls nothing back."""
    patterns = matched.registered().patterns if matched else ()
    if not patterns:
        return own
    found = classify(own.facts, rules)
    findings = sorted((*map(_finding, patterns), *found.findings), key=lambda finding: -finding.level)
    return replace(own, assessment=assess(own.facts, Classified(findings, found.floor), rules.programs))


def _finding(pattern: Pattern) -> Finding:
    return Finding(
        rule=f"{RULE}{pattern.id}",
        level=pattern.severity.level,
        irreversible=pattern.can_rollback is False,
        reason=pattern.description or f"Matches {pattern.id}, which an operator registered.",
        category=pattern.category,
        undo=pattern.undo,
    )


def own_level(assessment: Assessment) -> Level:
    """Without what an operator registered."""
    found = (finding.level for finding in assessment.findings if not finding.rule.startswith(RULE))
    return max(found, default=Level.SAFE)


def matching_patterns(assessment: Assessment, policy: Policy, matched: RegistryMatch) -> RegistryMatch:
    """`list_purge_jobs` purges nothing, whatever a shipped pattern finds in its name."""
    if own_level(assessment) >= Level.DESTRUCTIVE or policy.literal_globs:
        return matched
    return matched.registered()


def severity_parts(case: PolicyInput) -> list[Contribution]:
    """Seed 003's steps 4 to 9, by the registry's patterns only."""
    policy, matched = case.policy, case.at.registry_match
    gate = policy.severities
    if matched is None or not policy.registry:
        return []
    if matched.failure:
        blocks = gate.block_on_match_failure
        words = f"{'' if blocks else 'matching failed and is ignored: '}{matched.failure}"
        return [Contribution("match_failure", Requirement(blocked=blocks), words)]
    found = matching_patterns(case.assessment, policy, matched)
    if found.severity is None:
        return []
    cooling = milliseconds_to_seconds(min(found.cooling_ms, gate.max_cooling_off_ms))
    critical = found.severity is Severity.CRITICAL and gate.require_approval_for_critical
    if critical or found.requires_approval:
        seconds = 0 if policy.literal_globs else cooling  # the specification's own flow takes approval or cooling
        asked = Requirement(seconds, Human.APPROVE, gate.allowed_approvers)
        words = f"{'Critical action' if critical else 'Action'} requires human approval"
    elif cooling:
        asked, words = Requirement(cooling), f"Action requires {cooling}s cooling-off period"
    elif found.requires_confirmation:
        seconds = milliseconds_to_seconds(min(gate.default_cooling_off_ms, gate.max_cooling_off_ms))
        asked = Requirement(seconds) if seconds else Requirement(human=Human.CONFIRM)  # with no time to object in
        words = f"Action requires confirmation{f', {seconds}s' if seconds else ''}"
    else:
        return []
    names = "" if policy.literal_globs else f" ({'; '.join(map(_named, found.patterns))})"
    return [Contribution("severity", asked, f"{words}{names}")]


def _named(pattern: Pattern) -> str:
    description = pattern.description if pattern.id not in built_in_ids() else ""
    return f"{pattern.id}: {description}" if description else pattern.id


def replaces_level(case: PolicyInput) -> bool:
    """R-21: a severity's own controls stand for the level's, for no less than the rules found; level 4 takes a human (R-23)."""
    matched = case.at.registry_match
    if not matched or not case.policy.severity_replaces_level or not (own := matched.registered()).patterns:
        return False
    worst = own.level
    if own_level(case.assessment) > worst:
        return False
    requirements = [part.requirement for part in severity_parts(case)]
    return any(one.human > Human.NONE or (one.cooling_seconds and worst < Level.FORBIDDEN) for one in requirements)
