"""★ Previews an action: the decision on it without an agent's history and without a ticket, or the error that denies it; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from interlock.analysis.assess import Judgement, judge
from interlock.analysis.read import FileReader
from interlock.analysis.targets.provenance import NOTHING_CREATED, Provenance
from interlock.config import load_config
from interlock.engine.assessment import Unjudged
from interlock.engine.decide import Outcome, World, decide, with_snapshot
from interlock.engine.explain import PolicyAnswer
from interlock.impact.inspection import Inspection, inspection_of, with_impact
from interlock.model import Action, AgentRef, Level, Loss, command
from interlock.policy.circumstances import Circumstances
from interlock.policy.load import ProjectFile, load_policy, project_rules
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.overrides import apply_all_rules
from interlock.policy.registry import Registry
from interlock.policy.registry_controls import add_registry_findings, match_registry
from interlock.runtime import Judged, Request
from interlock.runtime.in_force import InForce, rules_of

if TYPE_CHECKING:
    from interlock.analysis.assess import Judgement
    from interlock.policy.impact import Impact
    from interlock.policy.policy import Policy


def local_policy(policy: str | None = None, config: str | None = None) -> InForce:
    """What a daemon with this configuration would have in force, or the same with another policy; raises ConfigError, PolicyError and PackError."""
    found = load_config(Path(config) if config else None)
    registry = Registry()
    for pattern in found.patterns:
        registry.register(pattern)
    return InForce(
        rules_of(found),
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
        return Unjudged.by(error)


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

    policy = apply_all_rules(by.policy, project_rules(project)) if project else by.policy
    own, named = read or (judge(action, by.rules, files), None)
    matched = match_registry(action, by.registry, policy, by.rules)
    judgement = add_registry_findings(own, matched, by.rules)
    at = replace(at or Circumstances(), mode=by.mode, registry_match=matched)
    if judgement.assessment.level <= Level.REVERSIBLE:
        at = replace(at, cumulative=0)  # everyday work is never asked about
    question = None
    if look is not None:
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
    return decide(
        _judged(command(""), judgement, named), World(policy, at)
    )  # without a ticket its text does not matter


def _judged(action: Action, judgement: Judgement, named: MatchNames) -> Judged:
    """The action of an agent that nobody knows."""
    return Judged(Request(action, AgentRef(""), "preview"), judgement, named, None, 0.0)


def _passes_when_kept(judged: Judged, by: InForce, world: World, outcome: Outcome, question: Inspection) -> bool:
    """Whether a snapshot can be taken and would allow the action."""
    seen = world.at.impact
    if outcome.held.outcome == "allow" or seen is None or seen.loss not in (Loss.LOST, Loss.RECOVERABLE):
        return False
    can = (
        by.undo.enabled and by.impact.exempt and by.mode == "enforcing" and question.copyable and question.excuses(seen)
    )
    return can and with_snapshot(judged, world).held.outcome == "allow"
