"""A danger block in any of its forms is read whole, and each problem in it is named."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from cases import each
from interlock.adapters.conditions import FACTS
from interlock.adapters.danger import (
    DangerBlock,
    declared_danger,
    message,
    prose_form,
    reached_escalation,
    read_danger,
)
from interlock.model import Level
from interlock.problems import Problems, WrittenTable

SAFE, REVERSIBLE, DESTRUCTIVE, DANGEROUS, FORBIDDEN = Level


def read(**operation: Any) -> tuple[DangerBlock | None, list[str], list[str]]:
    """The block, its errors and its warnings."""
    problems = Problems()
    block = read_danger(WrittenTable(operation, (), problems))
    errors = [f"{found.place}: {found.message}" for found in problems.found if found.error]
    return block, errors, [f"{found.place}: {found.message}" for found in problems.found if not found.error]


def good(danger: Any) -> DangerBlock:
    block, errors, warnings = read(danger=danger)
    assert (errors, warnings) == ([], []) and block is not None
    return block


# The blocks of the published document, as they stand.
REPO = {
    "level": "destructive",
    "reasons": ["Permanently removes repository and all contents", "Affects forks and dependent projects"],
    "confirmation_message": "Delete repository '{owner}/{repo}'? This cannot be undone.",
    "cooldown_seconds": 5,
}
RECORDS = {
    "default_level": "reversible",
    "conditions": [
        {"when": "params.count > 100", "level": "dangerous", "reason": "Bulk delete of more than 100 records"},
        {"when": "params.permanent == true", "level": "destructive", "reason": "Permanent deletion requested"},
    ],
}
APPROVED = {
    "level": "dangerous",
    "approval": {"required": True, "approvers": [{"role": "admin"}, {"team": "security"}], "timeout_hours": 24},
}
ESCALATING = {
    "level": "reversible",
    "escalation": [
        {"after_count": 10, "level": "destructive", "message": "You've performed this operation 10 times this hour"},
        {"after_count": 50, "level": "dangerous", "message": "Unusual activity detected"},
    ],
}
SCORED = {
    "score_factors": [
        {"base_level": "reversible"},
        {"production_env": 1},
        {"bulk_operation": "+1"},
        {"no_backup": 1},
    ],
    "computed_level": "dangerous",
}


def test_the_prose_form_is_read() -> None:
    block = good({**REPO, "requires_reauth": True, "audit_context": ["source"]})
    assert (block.level, block.cooldown_seconds, block.requires_reauth) == (DESTRUCTIVE, 5, True)
    assert block.reasons == tuple(REPO["reasons"]) and block.audit_context == ("source",)


def test_the_short_form_is_read() -> None:
    block = good({"level": "dangerous", "reason": "Bulk", "requires_confirmation": True, "hook_blockable": False})
    assert block == DangerBlock(DANGEROUS, ("Bulk",), requires_confirmation=True, hook_blockable=False)
    assert good({"level": "safe", "reason": "Reads"}).hook_blockable


def test_the_flat_form_is_read() -> None:
    block, errors, _ = read(name="x", danger_level="destructive", requires_confirmation=True)
    assert block == DangerBlock(DESTRUCTIVE, requires_confirmation=True) and not errors
    assert read(name="x") == (None, [], [])


def test_the_highest_of_several_true_conditions_counts() -> None:
    block = good(RECORDS)
    assert declared_danger(block).level is REVERSIBLE and block.highest is DANGEROUS
    for params, level, source in [
        ({"count": 1, "permanent": False}, REVERSIBLE, "declared"),
        ({"count": 100, "permanent": False}, REVERSIBLE, "declared"),  # not more than 100
        ({"count": 101, "permanent": False}, DANGEROUS, "conditions[0]"),
        ({"count": 1, "permanent": True}, DESTRUCTIVE, "conditions[1]"),
        ({"count": 101, "permanent": True}, DANGEROUS, "conditions[0]"),
        ({"permanent": False}, DANGEROUS, "conditions[0]"),  # no count: an error, so true
    ]:
        answer = declared_danger(block, {"params": params})
        assert (answer.level, answer.source) == (level, source), params
    assert "counts as true: there is no 'count'" in declared_danger(block, {"params": {"permanent": False}}).reasons[0]


def test_a_condition_never_lowers() -> None:
    data = {"default_level": "dangerous", "conditions": [{"when": "params.dry_run == true", "level": "safe"}]}
    block, errors, warnings = read(danger=data)
    assert block is not None and errors == []
    assert warnings == ["danger.conditions[0].level: never matters: the operation is dangerous without it"]
    assert declared_danger(block, {"params": {"dry_run": True}}).level is DANGEROUS


def test_approvers_are_roles_and_teams() -> None:
    approval = good(APPROVED).approval
    assert approval is not None and approval.required and approval.timeout_hours == 24
    assert approval.approvers == {"role:admin", "team:security"}


# The four blocks of the document's last chapter, letter for letter.
PRINTED = """
conditional:
  danger:
    default_level: reversible
    conditions:
      - when: "params.count > 100"
        level: dangerous
        reason: "Bulk delete of more than 100 records"
      - when: "params.permanent == true"
        level: destructive
        reason: "Permanent deletion requested"
approved:
  danger:
    level: dangerous
    approval:
      required: true
      approvers:
        - role: "admin"
        - team: "security"
      timeout_hours: 24
escalating:
  danger:
    level: reversible
    escalation:
      - after_count: 10
        level: destructive
        message: "You've performed this operation 10 times this hour"
      - after_count: 50
        level: dangerous
        message: "Unusual activity detected"
scored:
  danger:
    score_factors:
      - base_level: reversible
      - production_env: +1
      - bulk_operation: +1
      - no_backup: +1
    computed_level: dangerous  # Sum exceeds threshold
"""


def test_the_printed_blocks_are_read_as_they_stand() -> None:
    blocks = {name: good(operation["danger"]) for name, operation in yaml.safe_load(PRINTED).items()}
    assert blocks["conditional"] == good(RECORDS) and blocks["approved"] == good(APPROVED)
    assert blocks["escalating"] == good(ESCALATING) and blocks["scored"] == good(SCORED)
    assert [case.reason for case in blocks["conditional"].conditions] == [
        "Bulk delete of more than 100 records",
        "Permanent deletion requested",
    ]
    last = reached_escalation(blocks["escalating"], 50)
    assert last is not None and last.message == "Unusual activity detected"


def test_an_approval_that_is_not_required_asks_nobody() -> None:
    approval = good({"level": "dangerous", "approval": {"required": False}}).approval
    assert approval is not None and not approval.required and approval.timeout_hours is None


@pytest.mark.parametrize("fact", FACTS)
def test_each_factor_adds_one_and_only_when_it_is_true(fact: str) -> None:
    block = good(SCORED)
    assert declared_danger(block, {fact: True}).level is DESTRUCTIVE
    assert (
        declared_danger(block, {fact: False}).level is declared_danger(block, {"moon_phase": True}).level is REVERSIBLE
    )
    assert declared_danger(block, {fact: True}).reasons == (f"Score: {fact}.",)


def test_a_computed_level_caps_what_would_sum_to_more() -> None:
    every = dict.fromkeys(FACTS, True)
    assert declared_danger(good(SCORED), every).level is DANGEROUS
    assert declared_danger(good({"score_factors": SCORED["score_factors"]}), every).level is FORBIDDEN


@pytest.mark.parametrize(("count", "level"), [(0, None), (9, None), (10, 2), (49, 2), (50, 3), (500, 3)])
def test_repetition_escalates(count: int, level: int | None) -> None:
    step = reached_escalation(good(ESCALATING), count)
    assert (step.level if step else None) == level
    assert declared_danger(good(ESCALATING), {}).level is REVERSIBLE  # the declared level stays


@pytest.mark.parametrize(
    ("true", "level"),
    [((), 1), (("no_backup",), 2), (("no_backup", "production_env"), 3), (FACTS, 3)],
)
def test_factors_add_up_to_the_computed_level_at_most(true: tuple[str, ...], level: int) -> None:
    block = good(SCORED)
    answer = declared_danger(block, dict.fromkeys(true, True))
    assert answer.level == level and answer.source == ("score_factors" if true else "declared")
    uncapped = good({"score_factors": SCORED["score_factors"]})
    assert uncapped.highest is FORBIDDEN


BAD = [
    ({}, ["danger: danger is empty"]),
    ([], ["danger: expected a table, got a list"]),
    ("destructive", ["danger: expected a table, got 'destructive'"]),
    ({"reasons": ["x"]}, ["danger: level is missing"]),
    ({"reason": "x"}, ["danger: level is missing"]),
    ({"level": "high"}, ["danger.level: level 'high'; known: safe, reversible, destructive, dangerous, forbidden"]),
    ({"level": "Destructive"}, ["danger.level: level 'Destructive'; did you mean 'destructive'?"]),
    ({"level": 2}, ["danger.level: level 2; levels are words: destructive"]),
    ({"level": True}, ["danger.level: level True; known: safe, reversible, destructive, dangerous, forbidden"]),
    ({"level": None}, ["danger.level: level None; known: safe, reversible, destructive, dangerous, forbidden"]),
    ({"levle": "safe", "level": "safe"}, ["danger.levle: unknown key 'levle'; did you mean 'level'?"]),
    ({"level": "safe", "reasons": []}, ["danger.reasons: reasons is empty"]),
    ({"level": "safe", "reasons": "x"}, ["danger.reasons: reasons: expected a list, got 'x'"]),
    ({"level": "safe", "reasons": ["a", 1]}, ["danger.reasons[1]: reasons[1]: expected text, got 1"]),
    ({"level": "safe", "confirmation_message": 3}, ["danger.confirmation_message: confirmation_message: expected text, got 3"]),
    ({"level": "safe", "cooldown_seconds": -1}, ["danger.cooldown_seconds: cooldown_seconds: expected a number from 0 to 86400, got -1"]),
    ({"level": "safe", "cooldown_seconds": float("nan")}, ["danger.cooldown_seconds: cooldown_seconds: expected a number from 0 to 86400, got nan"]),
    ({"level": "safe", "cooldown_seconds": True}, ["danger.cooldown_seconds: cooldown_seconds: expected a number from 0 to 86400, got True"]),
    ({"level": "safe", "requires_reauth": "yes"}, ["danger.requires_reauth: requires_reauth: expected true or false, got 'yes'"]),
    ({"level": "safe", "reason": "x", "cooldown_seconds": 1}, ["danger.cooldown_seconds: 'cooldown_seconds' belongs to the long form; with reason only these are known: hook_blockable, level, reason, requires_confirmation"]),
    ({"level": "safe", "reason": "x", "colour": 1}, ["danger.colour: unknown key 'colour'"]),
    ({"level": "safe", "default_level": "dangerous", "conditions": RECORDS["conditions"]}, ["danger: names several levels to start from: safe, dangerous"]),
    ({"default_level": "safe", "conditions": []}, ["danger.conditions: conditions is empty"]),
    ({"level": "safe", "conditions": [{"when": "true"}]}, ["danger.conditions[0]: level is missing"]),
    ({"level": "safe", "conditions": [{"level": "dangerous"}]}, ["danger.conditions[0]: when is missing"]),
    ({"level": "safe", "conditions": [{"when": "a b", "level": "dangerous"}]}, ["danger.conditions[0].when: when is no CEL expression"]),
    ({"level": "safe", "conditions": [{"when": "true", "level": "dangerous", "else": 1}]}, ["danger.conditions[0].else: unknown key 'else'"]),
    ({"level": "safe", "approval": {"required": True}}, ["danger.approval: approvers is missing: without them the operation cannot be approved"]),
    ({"level": "safe", "approval": {"approvers": []}}, ["danger.approval.approvers: approvers is empty"]),
    ({"level": "safe", "approval": {"approvers": [{"user": "x"}]}}, ["danger.approval.approvers[0]: an approver is `role: NAME` or `team: NAME`, got a table"]),
    ({"level": "safe", "approval": {"approvers": [{"role": "a"}], "timeout_hours": 0}}, ["danger.approval.timeout_hours: timeout_hours: expected a number from 0.01 to 720, got 0"]),
    ({"level": "safe", "escalation": [{"level": "dangerous"}]}, ["danger.escalation[0]: after_count is missing"]),
    ({"level": "safe", "escalation": [{"after_count": 1.5, "level": "dangerous"}]}, ["danger.escalation[0].after_count: after_count: expected a whole number from 1 to 1000000, got 1.5"]),
    ({"level": "safe", "escalation": [{"after_count": 1, "level": "dangerous"}, {"after_count": 1, "level": "forbidden"}]}, ["danger.escalation[1].after_count: after_count 1 is there twice"]),
    ({"score_factors": [{"no_backup": 1}]}, ["danger.score_factors: score_factors need a base_level to start from"]),
    ({"score_factors": [{"base_level": "safe"}, {"moon_phase": 1}]}, ["danger.score_factors[1].moon_phase: no factor 'moon_phase'; known: base_level, production_env, bulk_operation, no_backup"]),
    ({"score_factors": [{"base_level": "safe"}, {"no_backup": -1}]}, ["danger.score_factors[1].no_backup: no_backup: expected +1 to +4, got -1"]),
    ({"score_factors": [{"base_level": "safe"}, {"no_backup": 1}, {"no_backup": 1}]}, ["danger.score_factors[2].no_backup: no_backup is there twice"]),
    ({"score_factors": [{"base_level": "dangerous"}], "computed_level": "safe"}, ["danger.computed_level: computed_level safe is below the start, dangerous"]),
    ({"level": "safe", "computed_level": "safe"}, ["danger.computed_level: computed_level without score_factors caps nothing"]),
    ({"level": "x", "reasons": [], "cooldown_seconds": "5", "bogus": 1}, ["danger.bogus: unknown key 'bogus'", "danger.level: level 'x'", "danger.reasons: reasons is empty", "danger.cooldown_seconds: cooldown_seconds: expected a number"]),
]  # fmt: skip


@each(("danger", "said"), BAD)
def test_every_problem_of_a_block_is_named(danger: Any, said: list[str]) -> None:
    _, errors, _ = read(danger=danger)
    assert len(errors) == len(said), errors
    for got, expected in zip(errors, said, strict=True):
        assert got.startswith(expected), got


def test_a_flat_demand_to_confirm_counts_beside_a_block() -> None:
    block, errors, _ = read(danger={"level": "reversible"}, requires_confirmation=True)
    assert block == DangerBlock(REVERSIBLE, requires_confirmation=True) and not errors


def test_flat_keys_may_not_contradict_the_block() -> None:
    assert read(danger={"level": "safe"}, danger_level="forbidden")[1] == [
        "danger_level: danger_level 'forbidden' contradicts danger.level 'safe'"
    ]
    assert read(requires_confirmation=True)[1][0].startswith("requires_confirmation: requires_confirmation needs")
    assert read(danger_level="high")[1][0].startswith("danger_level: danger_level 'high'; known")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"owner": "acme", "repo": "widgets"}, "Delete 'acme/widgets'?"),
        ({"owner": "acme"}, "Delete 'acme/(no repo)'?"),
        ({"owner": "{repo}", "repo": "x"}, "Delete '{repo}/x'?"),
        ({"owner": "a'? Harmless. '", "repo": "x"}, "Delete 'a\\'? Harmless. \\'/x'?"),
        ({"owner": "a\\", "repo": "x"}, "Delete 'a\\\\/x'?"),
        ({"owner": 7, "repo": True}, "Delete '7/true'?"),
        ({"owner": [1, 2], "repo": {"a": 1}}, "Delete '(2 values)/(a table)'?"),
        ({"owner": 10**5000, "repo": None}, "Delete '(a huge number)/None'?"),
    ],
)
def test_params_are_filled_in_and_cannot_break_out(params: dict[str, Any], said: str) -> None:
    assert message("Delete '{owner}/{repo}'?", params) == said


def test_a_filled_in_value_is_short_and_printable() -> None:
    said = message("Delete {x}?", {"x": "a\n\x1b[2J\u202e" + "b" * 500})
    assert "\n" not in said and "\x1b" not in said and "\u202e" not in said and len(said) < 200
    assert message("{a.b} {a.c} {} { x }", {"a": {"b": 1}}) == "1 (no a.c) {} { x }"


def test_a_block_is_shown_in_the_full_form() -> None:
    block = good(REPO)
    assert prose_form(block, block.level) == REPO
