"""Runs a policy's own cases and reports those that it answers otherwise than promised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.analysis.assess import judge
from interlock.analysis.rules import Rulebook
from interlock.engine.assessment import Unjudged
from interlock.engine.decide import HYPOTHETICAL
from interlock.engine.preview import preview
from interlock.impact.inspection import inspection_of
from interlock.model import Action, Loss, command, intent, operation, tool
from interlock.policy.circumstances import Circumstances
from interlock.policy.match_names import match_names
from interlock.policy.policy import MODES, Policy
from interlock.runtime.in_force import InForce

CWD = "/home/dev/app"  # where the commands of cases run
_KINDS = ("command", "operation", "tool", "hint")
_KEYS = frozenset(
    {*_KINDS, "params", "input", "crude", "cwd", "loss", "kept", "mode", "expect", "cooling", "approvers"}
)


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
    if loss not in set(Loss) or mode not in MODES:
        return f"no loss {loss!r}" if loss not in set(Loss) else f"no mode {mode!r}"
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
    got, asked = found.outcome, found.weighed.requirement
    if got != case["expect"]:
        return f"{action.text!r}: expected {case['expect']}, got {got} ({'; '.join(found.weighed.factors) or 'nothing spoke'})"
    if case.get("cooling", asked.cooling_seconds) != asked.cooling_seconds:
        return f"{action.text!r}: expected {case['cooling']} s of cooling-off, got {asked.cooling_seconds}"
    if "approvers" in case and frozenset(case["approvers"]) != asked.approvers:
        return f"{action.text!r}: expected approvers {sorted(case['approvers'])}, got {sorted(asked.approvers)}"
    return ""


def _action(kind: str, case: Mapping[str, Any]) -> Action:
    text, cwd = str(case[kind]), str(case.get("cwd", CWD))
    if kind == "command":
        return command(text, cwd)
    if kind == "operation":
        return operation(text, case.get("params", {}), str(case.get("crude", "")))
    return tool(text, case.get("input", {}), cwd) if kind == "tool" else intent(text)
