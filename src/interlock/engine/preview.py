"""★ Previews an action without an agent's history and without a ticket, and a policy's own cases: the decision, or the error that denies; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock.analysis.assess import Judgement, judge
from interlock.analysis.read import FileReader
from interlock.analysis.rules import Rulebook
from interlock.analysis.targets.provenance import NOTHING_CREATED, Provenance
from interlock.config import load_config
from interlock.engine.assessment import Unjudged
from interlock.engine.decide import HYPOTHETICAL, Outcome, World, decide, with_snapshot
from interlock.engine.explain import PolicyAnswer
from interlock.impact.inspection import inspection_of, with_impact
from interlock.model import Action, AgentRef, Level, Loss, command, intent, operation, tool
from interlock.policy.circumstances import Circumstances
from interlock.policy.impact import Impact
from interlock.policy.load import ProjectFile, load_policy, project_rules
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.overrides import apply_all_rules
from interlock.policy.policy import MODES, Policy
from interlock.policy.registry import Registry
from interlock.policy.registry_controls import add_registry_findings, match_registry
from interlock.runtime import InForce, Judged, Request, rules_of


def local_policy(policy: str | None = None, config: str | None = None) -> InForce:
    """What a daemon with this configuration would have in force; raises ConfigError, PolicyError and PackError."""
    found = load_config(Path(config) if config else None)
    chosen, registry = load_policy(policy) if policy is not None else found.effective_policy(), Registry()
    for pattern in found.patterns:
        registry.register(pattern)
    return InForce(rules_of(found), chosen, found.mode, registry, impact=found.impact, undo=found.undo)


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
    """Saves nothing and asks nobody.

    `read` is the judgement of a text that was read already, `at` what is known beforehand, `look` inspects the targets.
    """
    try:
        by = by.under(apply_all_rules(by.policy, project_rules(project)), by.mode) if project else by
        own, named = read or (judge(action, by.rules, files), None)
        matched = match_registry(action, by.registry, by.policy, by.rules)
        judgement = add_registry_findings(own, matched, by.rules)
        at, question = replace(at or Circumstances(), mode=by.mode, registry_match=matched), None
        if judgement.assessment.level <= Level.REVERSIBLE:
            at = replace(at, cumulative=0)  # everyday work is never asked about
        if look is not None:
            question = inspection_of(action, judgement, created or NOTHING_CREATED)
            at = with_impact(at, question, look, by.impact.exempt)
        judged = _judged(action, judgement, named or match_names(action, judgement.facts), by)
        world = World(at, question=question)
        outcome = decide(judged, world)
        word, keepable = outcome.held.outcome, _passes_when_kept(judged, world, outcome)
        return PolicyAnswer(word, outcome.weighed, judgement, by.policy.name, by.mode, at.impact, keepable, question)
    except Exception as error:
        return Unjudged.by(error)


def suppose(judgement: Judgement, named: MatchNames, by: InForce, at: Circumstances) -> Outcome:
    """Under circumstances as a record or a case names them; raises on an error."""
    return decide(_judged(command(""), judgement, named, by), World(at))  # without a ticket no text matters


def _judged(action: Action, judgement: Judgement, named: MatchNames, by: InForce) -> Judged:
    return Judged(Request(action, AgentRef(""), "preview"), judgement, named, None, 0.0, by)


def _passes_when_kept(judged: Judged, world: World, outcome: Outcome) -> bool:
    seen, question, by = world.at.impact, world.question, judged.in_force
    if outcome.held.outcome == "allow" or question is None:
        return False
    if seen is None or seen.loss not in (Loss.LOST, Loss.RECOVERABLE) or by.mode != "enforcing":
        return False
    can = by.undo.enabled and by.impact.exempt and question.copyable and question.excuses(seen)
    return can and with_snapshot(judged, world).held.outcome == "allow"


def preview_json(answer: PolicyAnswer) -> dict[str, Any]:
    assessment = answer.assessment
    return {
        "verdict": answer.verdict.word,
        "outcome": answer.outcome,
        "level": int(assessment.level),
        "levelName": assessment.level.word,
        "irreversible": assessment.irreversible,
        **{name: getattr(assessment.worst, name, "") for name in ("reason", "rule", "instead")},
        "impact": answer.seen.words if answer.seen is not None else "",
    }


CWD = "/home/dev/app"
_KINDS = ("command", "operation", "tool", "hint")
_KEYS = frozenset({*_KINDS, *"params input crude cwd loss kept mode expect cooling approvers".split()})


def failed_cases(policy: Policy, rules: Rulebook) -> list[str]:
    """One line for each failing or malformed case; a policy without cases fails."""
    if not policy.cases:
        return ["there is no [[case]]: a policy says by cases what it promises"]
    said = (_wrong(case, policy, rules) for case in policy.cases)
    return [f"case {number}: {words}" for number, words in enumerate(said, 1) if words]


def _wrong(case: Mapping[str, Any], policy: Policy, rules: Rulebook) -> str:
    if unknown := sorted(set(case) - _KEYS):
        return f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}"
    kinds = [kind for kind in _KINDS if case.get(kind)]
    if len(kinds) != 1:
        return f"expected one of {', '.join(_KINDS)}"
    loss, mode = case.get("loss", "unknown"), case.get("mode", "enforcing")
    if loss not in set(Loss):
        return f"no loss {loss!r}"
    if mode not in MODES:
        return f"no mode {mode!r}"
    if type(case.get("kept", False)) is not bool:
        return f"kept: expected true or false, got {case['kept']!r:.40}"
    action = _action(kinds[0], case)
    kept = HYPOTHETICAL if case.get("kept") else None
    judged = judge(action, rules)
    question = inspection_of(action, judged)
    at = Circumstances(loss=Loss(loss), ephemeral=question is not None and question.throwaway, snapshot=kept)
    found = preview(action, InForce(rules, policy, mode), read=(judged, match_names(action, judged.facts)), at=at)
    if isinstance(found, Unjudged):
        return f"{action.text!r}: {found.error}"
    got, asked, lead = found.outcome, found.weighed.requirement, f"{action.text!r}: expected"
    if got != case["expect"]:
        return f"{lead} {case['expect']}, got {got} ({'; '.join(found.weighed.factors) or 'nothing spoke'})"
    if case.get("cooling", asked.cooling_seconds) != asked.cooling_seconds:
        return f"{lead} {case['cooling']} s of cooling-off, got {asked.cooling_seconds}"
    if "approvers" in case and frozenset(case["approvers"]) != asked.approvers:
        return f"{lead} approvers {sorted(case['approvers'])}, got {sorted(asked.approvers)}"
    return ""


def _action(kind: str, case: Mapping[str, Any]) -> Action:
    text, cwd = str(case[kind]), str(case.get("cwd", CWD))
    if kind == "command":
        return command(text, cwd)
    if kind == "operation":
        return operation(text, case.get("params", {}), str(case.get("crude", "")))
    return tool(text, case.get("input", {}), cwd) if kind == "tool" else intent(text)
