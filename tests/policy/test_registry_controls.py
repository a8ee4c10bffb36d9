"""What an operator registers: its severity is a level, and its own controls stand for the level's (R-21)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.audit.decision_entries import inputs_json
from interlock.engine.replay import replay_inputs
from interlock.model import Action, Level, operation
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import evaluate_policy
from interlock.policy.load import load_policy
from interlock.policy.match_names import match_names
from interlock.policy.registry import Pattern, Registry
from interlock.policy.registry_controls import add_registry_findings, own_level

RULES = load()
FLUSH = operation("flush_cdn", {"zone": "eu"})
DELETE = operation("delete_widget", {"id": 4})  # destructive by its name
DROP = operation("drop_widgets", {})  # forbidden by its name


def answer(action: Action, policy: str, **fields: Any) -> tuple[str, int, bool, float]:
    """The word, the level, whether it cannot be undone and the cooling-off, under one registered pattern; a replay says the same."""
    expression = r"flush_cdn|_widgets?$"
    pattern = {"id": "own", "pattern": expression, "category": "config_destruction", **fields}
    matched = Registry([Pattern.of(pattern)]).check(action.text)
    judgement = add_registry_findings(judge(action, RULES), matched, RULES)
    at = Circumstances(registry_match=matched)
    found = evaluate_policy(judgement.assessment, match_names(action, judgement.facts), load_policy(policy), at)
    again = replay_inputs(
        inputs_json(judgement.facts, match_names(action, judgement.facts), at), RULES, load_policy(policy)
    )
    assert (again.judgement.assessment, again.weighed) == (judgement.assessment, found)
    asked = found.requirement
    return asked.word, int(judgement.assessment.level), judgement.assessment.irreversible, asked.cooling_seconds


COOLS: dict[str, Any] = {"coolingOffMs": 30_000}
ASKS: dict[str, Any] = {**COOLS, "requiresHumanApproval": True}


@each(
    ("action", "policy", "fields", "expected"),
    [
        # the severity is the level, and its own controls are all that is asked for
        (FLUSH, "default", {"severity": "low"}, ("cool_off", 1, False, 30)),
        (FLUSH, "default", {"severity": "medium", **COOLS}, ("cool_off", 2, False, 30)),
        (FLUSH, "default", {"severity": "high", **COOLS}, ("cool_off", 3, False, 30)),
        (FLUSH, "default", {"severity": "high", **ASKS}, ("approve", 3, False, 30)),
        (FLUSH, "spec", {"severity": "medium", **COOLS}, ("cool_off", 2, False, 30)),
        (FLUSH, "spec", {"severity": "high", **ASKS}, ("approve", 3, False, 0)),
        (DELETE, "spec", {"severity": "medium", **COOLS}, ("cool_off", 2, True, 30)),
        (FLUSH, "default", {"severity": "critical", **COOLS}, ("approve", 4, False, 30)),
        (FLUSH, "default", {"severity": "critical", "canRollback": False}, ("verify", 4, True, 0)),
        (FLUSH, "spec", {"severity": "critical", **COOLS}, ("approve", 4, False, 0)),
        # only a declared no is irreversible; then time alone frees it in `spec` alone
        (FLUSH, "default", {"severity": "medium", **COOLS, "canRollback": True}, ("cool_off", 2, False, 30)),
        (FLUSH, "default", {"severity": "medium", **COOLS, "canRollback": False}, ("confirm", 2, True, 30)),
        (FLUSH, "default", {"severity": "high", **COOLS, "canRollback": False}, ("verify", 3, True, 30)),
        (FLUSH, "spec", {"severity": "medium", **COOLS, "canRollback": False}, ("cool_off", 2, True, 30)),
        # it takes nothing away from what the rules find
        (DELETE, "default", {"severity": "medium", **COOLS}, ("confirm", 2, True, 30)),
        (DELETE, "default", {"severity": "low", **COOLS}, ("confirm", 2, True, 30)),
        (DROP, "default", {"severity": "medium", **COOLS}, ("verify", 4, True, 30)),
        # a pattern that asks for nothing leaves the level's controls
        (FLUSH, "default", {"severity": "high", "requiresConfirmation": False}, ("verify", 3, False, 0)),
        # where nobody watches, and where everything is asked, the level's controls stay
        (FLUSH, "headless", {"severity": "high", **COOLS}, ("verify", 3, False, 30)),
        (FLUSH, "strict", {"severity": "medium", **COOLS}, ("approve", 2, False, 30)),
    ],
)
def test_the_severity_is_the_level_and_its_controls_replace_the_levels(
    action: Action, policy: str, fields: dict[str, Any], expected: tuple[str, int, bool, float]
) -> None:
    assert answer(action, policy, **fields) == expected


def test_time_alone_frees_nothing_critical() -> None:
    """R-23: where a critical pattern asks for no human, the level's own controls stay."""
    severe = Pattern.of({"id": "x", "pattern": "flush", "category": "data_deletion", "severity": "critical", **COOLS})
    matched, policy = Registry([severe]).check("flush_cdn"), load_policy("default")
    policy = replace(policy, severities=replace(policy.severities, require_approval_for_critical=False))
    judged = add_registry_findings(judge(FLUSH, RULES), matched, RULES)
    asked = evaluate_policy(
        judged.assessment, match_names(FLUSH, judged.facts), policy, Circumstances(registry_match=matched)
    ).requirement
    assert asked.word == "verify" and asked.approvers == {"role:admin"}


def test_what_the_rules_find_is_told_apart_from_what_was_registered() -> None:
    matched = Registry([Pattern.of({"id": "x", "pattern": "flush", "category": "data_deletion", "severity": "high"})])
    judged = add_registry_findings(judge(FLUSH, RULES), matched.check("flush_cdn"), RULES).assessment
    assert (judged.level, own_level(judged)) == (Level.DANGEROUS, Level.SAFE)
    assert [finding.rule for finding in judged.findings] == ["registry.x"]


def test_the_reason_is_what_the_operator_wrote_of_the_pattern_and_not_that_it_cannot_be_undone() -> None:
    own = {"id": "own", "pattern": "flush_cdn", "category": "config_destruction", "severity": "high", **COOLS}
    matched = Registry([Pattern.of({**own, "canRollback": False, "description": "Empties the CDN."})]).check(
        "flush_cdn"
    )
    judgement = add_registry_findings(judge(FLUSH, RULES), matched, RULES)
    at = Circumstances(registry_match=matched)
    found = evaluate_policy(judgement.assessment, match_names(FLUSH, judgement.facts), load_policy("default"), at)
    assert "Empties the CDN" in found.reason()
