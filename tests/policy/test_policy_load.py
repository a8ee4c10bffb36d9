"""A policy on disk is read strictly; one that extends another says only what it wants otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.analysis.rules.load import load
from interlock.engine.preview import failed_cases
from interlock.model import Human, Level
from interlock.policy import policy
from interlock.policy.load import load_policy, names, policy_hash
from interlock.policy.policy import PolicyError
from interlock.schema import settings_of

KEYS = {  # promises: changed only on purpose, everywhere at once
    "name", "description", "extends", "levels", "irreversible", "patterns", "restrictions", "externalRestrictions",
    "allowed_operations", "matrix", "trust_policy", "gate", "registry", "severity_replaces_level", "tiers", "tolerance", "escalation", "literal_globs",
    "always_ask", "block_on_danger_zone", "denial_seconds", "open_tickets", "cooling_frees_irreversible", "loop", "case",
}  # fmt: skip
TEAM = """
extends = "default"
open_tickets = 2

[levels]
dangerous = { require = "approve", approvers = ["team:data"] }

[patterns]
deny  = ["terraform destroy*"]
allow = ["git branch -D tmp/*"]

[gate]
autoExpireMs = 60000

[[case]]
command = "terraform destroy -auto-approve"
expect = "block"

[[case]]
command = "git branch -D tmp/x"
expect = "allow"

[[case]]
command = "rm -rf ~/"
expect = "verify"
approvers = ["role:admin"]
"""


def write(folder: Path, text: str, name: str = "team.toml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_the_keys_are_these() -> None:
    assert {one.key for one in settings_of(policy.Policy)} | {"externalRestrictions"} == KEYS


def test_a_policy_that_extends_another_says_only_what_it_wants_otherwise(tmp_path: Path) -> None:
    made, base = load_policy(write(tmp_path, TEAM)), load_policy("default")
    assert (made.name, made.extends, made.open_tickets) == ("team", "default", 2)
    assert made.levels[Level.DANGEROUS].requirement.approvers == {"team:data"}
    for level in (Level.SAFE, Level.REVERSIBLE, Level.DESTRUCTIVE, Level.FORBIDDEN):
        assert made.levels[level] == base.levels[level]
    assert (made.irreversible, made.escalate, made.matrix) == (base.irreversible, base.escalate, base.matrix)
    assert made.severities.auto_expire_ms == 60_000
    assert made.severities.max_cooling_off_ms == base.severities.max_cooling_off_ms
    assert failed_cases(made, load()) == []


def test_patterns_add_up_along_the_line(tmp_path: Path) -> None:
    write(tmp_path, TEAM)
    text = 'extends = "team.toml"\nirreversible = "verify"\n[patterns]\ndeny = ["psql*"]\n[restrictions]\ndenyPatterns = ["Bash:su *"]\n'
    made = load_policy(write(tmp_path, text, "night.toml"))
    assert [glob.text for glob in made.patterns.deny] == ["terraform destroy*", "psql*"]
    assert [glob.text for glob in made.patterns.allow] == ["git branch -D tmp/*"]
    assert [glob.text for glob in made.restriction.patterns.deny] == ["Bash:su *"]
    assert (made.open_tickets, made.irreversible) == (2, Human.VERIFY)
    assert made.cases == ()  # another policy's promises are not this one's


@pytest.mark.parametrize("shipped", names())
def test_a_policy_that_only_extends_a_shipped_one_is_that_one(tmp_path: Path, shipped: str) -> None:
    made, base = load_policy(write(tmp_path, f'extends = "{shipped}"\n')), load_policy(shipped)
    apart = {"name", "description", "extends", "cases", "source"}
    same = [name for name in policy.Policy.__struct_fields__ if name not in apart]
    assert {name: getattr(made, name) for name in same} == {name: getattr(base, name) for name in same}


def test_the_hash_covers_what_is_extended(tmp_path: Path) -> None:
    base = 'extends = "default"\n[patterns]\ndeny = ["a_*"]\n'
    write(tmp_path, base, "base.toml")
    path = write(tmp_path, 'extends = "base.toml"\n')
    before = policy_hash(load_policy(path))
    assert before == policy_hash(load_policy(path))
    write(tmp_path, base.replace("a_*", "b_*"), "base.toml")
    assert policy_hash(load_policy(path)) != before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('extends = "defualt"', "extends: no policy 'defualt'; did you mean 'default'?"),
        ('extends = "gone.toml"', "extends: no file 'gone.toml'"),
        ('extends = "team.toml"', "leads back here: team.toml -> team.toml"),
        ('extends = "other.toml"', "leads back here: team.toml -> other.toml -> team.toml"),
        ("extends = 3", "extends: expected text"),
        ('extends = ""', "extends is empty"),
        ('extends = "default"\nlevles = {}', "did you mean 'levels'"),
        ('[levels]\nsafe = "allow"', 'reversible is missing; say what it asks for, or extends = "default"'),
        ("open_tickets = 10000000", "expected a whole number from 1 to 1000, got 10000000"),
    ],
)
def test_what_cannot_be_extended_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    write(tmp_path, 'extends = "team.toml"', "other.toml")
    with pytest.raises(PolicyError) as found:
        load_policy(write(tmp_path, text))
    assert said in str(found.value)


def test_seed_001s_json_can_be_extended_as_well(tmp_path: Path) -> None:
    write(tmp_path, '{"deny": ["drop_*"], "riskTolerance": "conservative"}', "esl.json")
    made = load_policy(write(tmp_path, 'extends = "esl.json"\n[patterns]\napprove = ["deploy_*"]\n'))
    assert made.tolerance == "conservative" and made.levels == load_policy("default").levels
    assert [glob.text for glob in (*made.patterns.deny, *made.patterns.approve)] == ["drop_*", "deploy_*"]
