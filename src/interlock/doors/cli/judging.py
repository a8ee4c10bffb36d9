"""An action -> its assessment, and what the policy in force makes of it; or the error that stands for both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interlock import assess
from interlock.core.model import Action, Assessment, Kind, Level, Loss
from interlock.core.read import FileReader

if TYPE_CHECKING:
    from interlock.core.circumstances import Adapted, Circumstances
    from interlock.core.classify import Rulebook
    from interlock.core.decide import Judgement
    from interlock.core.explain import Answer
    from interlock.core.loss import Seen
    from interlock.core.policy import Policy
    from interlock.core.project import ProjectFile
    from interlock.core.registry import Matched, Pattern


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Why there is no assessment; whoever gets this denies."""

    error: str


def judge(action: Action, files: FileReader | None = None) -> Assessment | Unjudged:
    """What the action would do; an unexpected error is an answer too, and never a pass."""
    try:
        if action.kind is Kind.COMMAND:  # by its text, so that the cache serves it
            return assess(action.text, action.cwd, files)
        return assess(action, files=files)
    except Exception as error:
        return unjudged(error)


@dataclass(frozen=True, slots=True)
class InForce:
    """What a daemon of this configuration would decide by, as far as it does not depend on what happened before."""

    rules: Rulebook
    policy: Policy
    mode: str = "enforcing"
    patterns: tuple[Pattern, ...] = ()
    relief: bool = True  # whether what a look sees can lower what is asked for
    keeps: bool = True  # whether snapshots are taken


def in_force(policy: str | None = None, config: str | None = None) -> InForce:
    """The rules and the policy of a configuration, or another policy; raises ConfigError, PolicyError and RuleError."""
    from interlock.config import load_config
    from interlock.policybook import load_policy
    from interlock.rulebook import load

    found = load_config(Path(config) if config else None)
    rules = replace(load(*found.rule_files), patterns=found.danger_patterns)
    if policy is not None:
        return InForce(rules, load_policy(policy), found.mode, found.patterns, found.looker.relief, found.undo.keep)
    return InForce(rules, found.effective_policy(), found.mode, found.patterns, found.looker.relief, found.undo.keep)


def decided(
    action: Action,
    by: InForce,
    files: FileReader | None = None,
    adapted: Adapted | None = None,
    look: Callable[[Mapping[str, Any]], Seen] | None = None,
    points: int = 0,
    project: Sequence[ProjectFile] = (),
) -> tuple[Assessment, Answer] | Unjudged:
    """The path of an action up to a ticket: read, classify, assess, weigh, decide; nothing is kept, and nobody is asked."""
    from interlock.core.circumstances import Circumstances
    from interlock.core.decide import judge
    from interlock.core.explain import answered
    from interlock.core.loop_rules import ruled
    from interlock.core.project import project_rules
    from interlock.core.registered import with_registered
    from interlock.core.weigh import require

    try:
        found = matched(action, by)
        judgement = with_registered(judge(action, by.rules, files), found, by.rules)
        by = replace(by, policy=ruled(by.policy, project_rules(project)))
        points = points if judgement.assessment.level > Level.REVERSIBLE else 0  # everyday work is never asked about
        at = Circumstances(mode=by.mode, adapted=adapted, matched=found, cumulative=points)
        if look is not None:
            from interlock.core.looking import looked

            at = looked(at, action, judgement, look, by.relief)
        answer = answered(require(action, judgement, by.policy, at), by.policy, by.mode)
        keepable = look is not None and _passes_when_kept(action, judgement, by, at, answer)
        return judgement.assessment, replace(answer, seen=at.seen, keepable=keepable)
    except Exception as error:
        return unjudged(error)


def _passes_when_kept(action: Action, judgement: Judgement, by: InForce, at: Circumstances, answer: Answer) -> bool:
    """Whether what would be lost can be kept, and keeping it is all that this is held for."""
    from interlock.core.explain import ALLOW, answered
    from interlock.core.looking import question_of
    from interlock.core.undo import Kept
    from interlock.core.weigh import require

    question = question_of(action, judgement)
    lost = at.seen is not None and at.seen.loss is Loss.LOST and not at.seen.repositories
    if answer.verdict is ALLOW or question is None or not (lost and question.relieves and by.relief and by.keeps):
        return False
    kept = replace(at, kept=Kept("u_aaaaaaaaaa", "0" * 64))
    return answered(require(action, judgement, by.policy, kept), by.policy, by.mode).verdict is ALLOW


def matched(action: Action, by: InForce) -> Matched | None:
    """What the registry says of a name."""
    if action.kind not in (Kind.OPERATION, Kind.TOOL) or not by.policy.registry:
        return None
    from interlock.core.registry import Registry

    registry, gate = Registry(), by.policy.severities
    for pattern in by.patterns:
        registry.register(pattern)
    return registry.check(action.text, gate.max_cooling_off_ms, gate.block_on_match_failure)


def unjudged(error: Exception) -> Unjudged:
    """The error as an answer."""
    return Unjudged(f"could not be judged: {type(error).__name__}: {error}"[:300])
