"""Previews an action: its assessment and the answer of the policy in force, or the error that denies it; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from interlock import assess
from interlock.analysis.read import FileReader
from interlock.model import Action, Assessment, Kind, Level, Loss

if TYPE_CHECKING:
    from interlock.analysis.assess import Judgement
    from interlock.analysis.rules.book import Rulebook
    from interlock.engine.explain import PolicyAnswer
    from interlock.policy.circumstances import AdapterContext, Circumstances
    from interlock.policy.impact import Impact
    from interlock.policy.load import ProjectFile
    from interlock.policy.policy import Policy
    from interlock.policy.registry import Pattern, RegistryMatch


class Unjudged(Struct, frozen=True):
    """Why there is no assessment; the caller denies."""

    error: str


def judge(action: Action, files: FileReader | None = None) -> Assessment | Unjudged:
    """Assesses an action; an unexpected error is an Unjudged, never a pass."""
    try:
        if action.kind is Kind.COMMAND:  # by its text, so that the cache serves it
            return assess(action.text, action.cwd, files)
        return assess(action, files=files)
    except Exception as error:
        return unjudged_error(error)


class LocalPolicy(Struct, frozen=True):
    """The rules and policy of a daemon with this configuration, without its history."""

    rules: Rulebook
    policy: Policy
    mode: str = "enforcing"
    patterns: tuple[Pattern, ...] = ()
    relief: bool = True  # whether the inspected impact can lower the requirement
    keeps: bool = True  # whether snapshots are taken


def local_policy(policy: str | None = None, config: str | None = None) -> LocalPolicy:
    """The rules and the policy of a configuration, or another policy; raises ConfigError, PolicyError and PackError."""
    from interlock.analysis.rules.load import load
    from interlock.config import load_config
    from interlock.policy.load import load_policy

    found = load_config(Path(config) if config else None)
    rules = replace(load(*found.rule_files), patterns=found.danger_patterns)
    if policy is not None:
        return LocalPolicy(
            rules, load_policy(policy), found.mode, found.patterns, found.impact.exempt, found.undo.enabled
        )
    return LocalPolicy(
        rules, found.effective_policy(), found.mode, found.patterns, found.impact.exempt, found.undo.enabled
    )


def preview(
    action: Action,
    by: LocalPolicy,
    files: FileReader | None = None,
    adapted: AdapterContext | None = None,
    look: Callable[[Mapping[str, Any]], Impact] | None = None,
    points: int = 0,
    project: Sequence[ProjectFile] = (),
) -> tuple[Assessment, PolicyAnswer] | Unjudged:
    """Runs an action through analysis and policy up to a ticket; saves nothing and asks nobody."""
    from interlock.analysis.assess import judge
    from interlock.engine.explain import policy_answer
    from interlock.policy.circumstances import Circumstances
    from interlock.policy.evaluate import requirement_for
    from interlock.policy.load import project_rules
    from interlock.policy.overrides import apply_all_rules
    from interlock.policy.registry_controls import add_registry_findings

    try:
        found = registry_match(action, by)
        judgement = add_registry_findings(judge(action, by.rules, files), found, by.rules)
        by = replace(by, policy=apply_all_rules(by.policy, project_rules(project)))
        points = points if judgement.assessment.level > Level.REVERSIBLE else 0  # everyday work is never asked about
        at = Circumstances(mode=by.mode, adapter_context=adapted, registry_match=found, cumulative=points)
        if look is not None:
            from interlock.impact.inspection import with_impact

            at = with_impact(at, action, judgement, look, by.relief)
        answer = policy_answer(requirement_for(action, judgement, by.policy, at), by.policy, by.mode)
        keepable = look is not None and _passes_when_kept(action, judgement, by, at, answer)
        return judgement.assessment, replace(answer, seen=at.impact, keepable=keepable)
    except Exception as error:
        return unjudged_error(error)


def _passes_when_kept(
    action: Action, judgement: Judgement, by: LocalPolicy, at: Circumstances, answer: PolicyAnswer
) -> bool:
    """Whether a snapshot can be taken and would allow the action."""
    from interlock.engine.explain import ALLOW, policy_answer
    from interlock.impact.inspection import inspection_of
    from interlock.policy.evaluate import requirement_for
    from interlock.snapshots import TakenSnapshot

    question = inspection_of(action, judgement)
    lost = at.impact is not None and at.impact.loss is Loss.LOST and not at.impact.repositories
    if answer.verdict is ALLOW or question is None or not (lost and question.relieves and by.relief and by.keeps):
        return False
    kept = replace(at, snapshot=TakenSnapshot("u_aaaaaaaaaa", "0" * 64))
    return policy_answer(requirement_for(action, judgement, by.policy, kept), by.policy, by.mode).verdict is ALLOW


def registry_match(action: Action, by: LocalPolicy) -> RegistryMatch | None:
    """The registry's match of an operation or tool name."""
    if action.kind not in (Kind.OPERATION, Kind.TOOL) or not by.policy.registry:
        return None
    from interlock.policy.registry import Registry

    registry, gate = Registry(), by.policy.severities
    for pattern in by.patterns:
        registry.register(pattern)
    return registry.check(action.text, gate.max_cooling_off_ms, gate.block_on_match_failure)


def unjudged_error(error: Exception) -> Unjudged:
    """The error as an answer."""
    return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])
