"""★ Previews an action: the decision on it without an agent's history and without a ticket, or the error that denies it; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from interlock import assess
from interlock.analysis.read import FileReader
from interlock.model import Action, AgentRef, Assessment, Kind, Level, Loss, command

if TYPE_CHECKING:
    from interlock.analysis.assess import Judgement
    from interlock.analysis.targets.provenance import Provenance
    from interlock.engine.decide import Outcome, World
    from interlock.engine.explain import PolicyAnswer
    from interlock.impact.inspection import Inspection
    from interlock.policy.circumstances import Circumstances
    from interlock.policy.impact import Impact
    from interlock.policy.load import ProjectFile
    from interlock.policy.match_names import MatchNames
    from interlock.policy.policy import Policy
    from interlock.runtime import Judged
    from interlock.runtime.in_force import InForce


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
        return _unjudged(error)


def local_policy(policy: str | None = None, config: str | None = None) -> InForce:
    """What a daemon with this configuration would have in force, or the same with another policy; raises ConfigError, PolicyError and PackError."""
    from interlock.analysis.rules.load import load
    from interlock.config import load_config
    from interlock.policy.load import load_policy
    from interlock.policy.registry import Registry
    from interlock.runtime.in_force import InForce

    found = load_config(Path(config) if config else None)
    registry = Registry()
    for pattern in found.patterns:
        registry.register(pattern)
    return InForce(
        replace(load(*found.rule_files), patterns=found.danger_patterns),
        load_policy(policy) if policy is not None else found.effective_policy(),
        found.mode,
        registry,
        impact=found.impact,
        undo=found.undo,
    )


def preview(
    action: Action,
    by: InForce,
    files: FileReader | None = None,
    read: tuple[Judgement, MatchNames] | None = None,
    at: Circumstances | None = None,
    look: Callable[[Mapping[str, Any]], Impact] | None = None,
    created: Provenance | None = None,
    project: Sequence[ProjectFile] = (),
) -> PolicyAnswer | Unjudged:
    """The answer to an action; saves nothing and asks nobody.

    `read` is the judgement of a text that was read already, `at` what is known beforehand, `look` inspects the targets.
    """
    try:
        return _preview(action, by, files, read, at, look, created, project)
    except Exception as error:
        return _unjudged(error)


def _preview(
    action: Action,
    by: InForce,
    files: FileReader | None,
    read: tuple[Judgement, MatchNames] | None,
    at: Circumstances | None,
    look: Callable[[Mapping[str, Any]], Impact] | None,
    created: Provenance | None,
    project: Sequence[ProjectFile],
) -> PolicyAnswer:
    from interlock.analysis.assess import judge
    from interlock.engine.decide import World, decide
    from interlock.engine.explain import PolicyAnswer
    from interlock.policy.circumstances import Circumstances
    from interlock.policy.load import project_rules
    from interlock.policy.match_names import match_names
    from interlock.policy.overrides import apply_all_rules
    from interlock.policy.registry_controls import add_registry_findings, match_registry

    policy = apply_all_rules(by.policy, project_rules(project)) if project else by.policy
    own, named = read or (judge(action, by.rules, files), None)
    matched = match_registry(action, by.registry, policy, by.rules)
    judgement = add_registry_findings(own, matched, by.rules)
    at = replace(at or Circumstances(), mode=by.mode, registry_match=matched)
    if judgement.assessment.level <= Level.REVERSIBLE:
        at = replace(at, cumulative=0)  # everyday work is never asked about
    question = None
    if look is not None:
        from interlock.analysis.targets.provenance import NOTHING_CREATED
        from interlock.impact.inspection import inspection_of, with_impact

        question = inspection_of(action, judgement, created or NOTHING_CREATED)
        at = with_impact(at, question, look, by.impact.exempt)
    judged = _judged(action, judgement, named or match_names(action, judgement.facts))
    world = World(policy, at)
    outcome = decide(judged, world)
    keepable = question is not None and _passes_when_kept(judged, by, world, outcome, question)
    return PolicyAnswer(
        outcome.held.outcome, outcome.weighed, policy.name, by.mode, judgement, at.impact, keepable, question
    )


def suppose(judgement: Judgement, named: MatchNames, policy: Policy, at: Circumstances) -> Outcome:
    """The outcome for a judged action under these circumstances, as a record or a case names them; raises on an error."""
    from interlock.engine.decide import World, decide

    return decide(
        _judged(command(""), judgement, named), World(policy, at)
    )  # without a ticket its text does not matter


def _judged(action: Action, judgement: Judgement, named: MatchNames) -> Judged:
    """The action of an agent that nobody knows."""
    from interlock.runtime import Judged, Request

    return Judged(Request(action, AgentRef(""), "preview"), judgement, named, None, 0.0)


def _passes_when_kept(judged: Judged, by: InForce, world: World, outcome: Outcome, question: Inspection) -> bool:
    """Whether a snapshot can be taken and would allow the action."""
    from interlock.engine.decide import with_snapshot

    seen = world.at.impact
    if outcome.held.outcome == "allow" or seen is None or seen.loss not in (Loss.LOST, Loss.RECOVERABLE):
        return False
    can = (
        by.undo.enabled and by.impact.exempt and by.mode == "enforcing" and question.copyable and question.excuses(seen)
    )
    return can and with_snapshot(judged, world).held.outcome == "allow"


def _unjudged(error: Exception) -> Unjudged:
    return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])
