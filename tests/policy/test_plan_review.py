"""What a plan risks: the worse of its planner's word and our reading, and never less than seed 004 says."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.model import Flags, Level, Witness, command
from interlock.plans.draft import SCHEMA, DraftError, parse_draft
from interlock.policy.plan_review import BOXES, PlannerClaims, Risk, plan_mark, risk

# The examples of seed 004, as somebody would type them, and bare where the seed has only a name.
SEED_004 = {
    "low": ("ls", "git status", "pwd", "cat notes.txt", "echo hello", "df", "ps"),
    "medium": ("git checkout main", "npm install", "mv file.txt backup/", "kill 4242", "chmod +x run.sh"),
    "high": ("rm -rf build", "sudo ls", "chmod -R 777 .", "dd if=a of=b", "mkfs.ext4 /dev/sdb1", "DROP TABLE users"),
}


@cache
def rules() -> Rulebook:
    return load()


def risk_of(text: str, claims: PlannerClaims | None = None) -> Risk:
    return risk(text, judge(command(text, "/home/dev/app"), rules()).assessment, claims)


@each(("tier", "text"), [(tier, text) for tier, texts in SEED_004.items() for text in texts])
def test_every_example_of_seed_004_lands_in_its_tier(tier: str, text: str) -> None:
    assert risk_of(text).word == tier


def test_there_are_eighteen_of_them() -> None:
    assert sum(map(len, SEED_004.values())) == 18


@each(
    "text",
    [
        "rm -fr x", "rm -r -f x", "rm --recursive --force x", "/bin/rm -rfv x", "ls; rm -Rf x", "bash -c 'rm -rf x'", "dd", "mkfs",
        'psql -c "DROP TABLE users"', "  drop table users;", "truncate users", "chmod 777 -R .", "env sudo ls", "doas ls",
    ],
)  # fmt: skip
def test_another_spelling_of_what_is_high_is_high(text: str) -> None:
    assert risk_of(text).word == "high"


@pytest.mark.parametrize("text", ["echo 'rm -rf x'", "rm x.tmp && ls", "grep -r dd .", "git commit -m 'drop table'"])
def test_words_are_no_deeds(text: str) -> None:
    assert risk_of(text).word != "high"


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        (PlannerClaims("low"), "low"),
        (PlannerClaims("medium"), "medium"),
        (PlannerClaims("high"), "high"),
        (PlannerClaims("low", Flags(destructive=True)), "high"),
        (PlannerClaims("low", Flags(escalates_privileges=True)), "high"),
        (PlannerClaims("low", Flags(requires_confirmation=True)), "medium"),
        (PlannerClaims("low", Flags(touches_files=True, touches_network=True)), "low"),
    ],
)
def test_a_planner_can_raise_the_risk_of_a_harmless_command(claims: PlannerClaims, word: str) -> None:
    assert risk_of("ls", claims).word == word


def test_a_planner_that_calls_harm_low_is_not_believed() -> None:
    found = risk_of("rm -rf ~", PlannerClaims("low", Flags()))
    assert found.word == "high" and found.flags.destructive and "DESTRUCTIVE_OPERATION" in found.warnings


def test_a_flag_that_was_left_out_counts_as_set_when_our_reading_says_so() -> None:
    said = parse_draft({"command": "sudo curl -O https://example.com/x", "risk": "low", "flags": {}})
    found = risk_of(said.command, said.claims)
    assert found.flags.escalates_privileges and found.flags.touches_network
    assert {"PRIVILEGE_ESCALATION", "NETWORK_ACCESS"} <= set(found.warnings)


@pytest.mark.parametrize(
    ("word", "confirms", "box"),
    [
        ("low", True, ""),
        ("medium", True, "I understand the risks of this medium-risk command."),
        ("medium", False, ""),
        ("high", True, "I understand the risks of this high-risk command."),
        ("high", False, "I understand the risks of this high-risk command."),
    ],
)
def test_the_box_of_a_high_risk_stays_whatever_the_setting(word: str, confirms: bool, box: str) -> None:
    assert Risk(word, Flags()).box(confirms) == box
    assert set(BOXES) == {"medium", "high"}


def test_another_text_folder_risk_or_script_is_another_mark() -> None:
    low, high = Risk("low", Flags()), Risk("high", Flags())
    script = (Witness("/x.sh", "aa"),)
    key = b"k" * 32
    marks = {
        plan_mark(key, "p1", "ls", "/a", low, Level.SAFE, ()),
        plan_mark(key, "p2", "ls", "/a", low, Level.SAFE, ()),
        plan_mark(key, "p1", "ls ", "/a", low, Level.SAFE, ()),
        plan_mark(key, "p1", "ls", "/b", low, Level.SAFE, ()),
        plan_mark(key, "p1", "ls", "/a", high, Level.SAFE, ()),
        plan_mark(key, "p1", "ls", "/a", low, Level.REVERSIBLE, ()),
        plan_mark(key, "p1", "ls", "/a", low, Level.SAFE, script),
        plan_mark(b"x" * 32, "p1", "ls", "/a", low, Level.SAFE, ()),
    }
    assert len(marks) == 8


GOOD = {
    "command": " ls -la ", "explanation": "Lists.", "assumptions": ["here"], "confidence": 0.9, "expectedEffect": "Nothing.", "risk": "low",
    "flags": {"destructive": False, "touchesFiles": True, "touchesNetwork": False, "escalatesPrivileges": False, "requiresConfirmation": False},
}  # fmt: skip


def test_a_whole_answer_becomes_a_draft() -> None:
    found = parse_draft(GOOD)
    assert (found.command, found.explanation, found.assumptions, found.confidence) == (
        "ls -la",
        "Lists.",
        ("here",),
        0.9,
    )
    assert found.notes == () and found.claims == PlannerClaims("low", Flags(touches_files=True))
    assert set(SCHEMA["required"]) == set(GOOD)


@pytest.mark.parametrize(
    "wrong", [None, [], "ls", {}, {"command": ""}, {"command": ["ls"]}, {"command": "x" * 9000}, {"command": "ls\x1b[2J"}, {"command": "ls \u202e"}]
)  # fmt: skip
def test_an_answer_without_a_usable_command_is_no_plan(wrong: Any) -> None:
    with pytest.raises(DraftError):
        parse_draft(wrong)


@pytest.mark.parametrize(
    ("part", "word", "flags"),
    [
        ({"risk": "none at all"}, "high", Flags()),
        ({"risk": 3}, "high", Flags()),
        ({"risk": " LOW "}, "low", Flags()),
        ({"flags": {"destructive": "false"}}, "low", Flags(destructive=True)),
        ({"flags": {"destructive": None, "touchesFiles": 0}}, "low", Flags(destructive=True, touches_files=True)),
        ({"flags": "none"}, "low", Flags()),
    ],
)
def test_what_a_planner_says_unclearly_is_never_read_as_milder(part: dict[str, Any], word: str, flags: Flags) -> None:
    assert parse_draft({"command": "ls", **part}).claims == PlannerClaims(word, flags)


def test_what_is_missing_is_noted_and_odd_words_are_cut() -> None:
    found = parse_draft({"command": "ls", "confidence": 7, "explanation": "x" * 9999, "assumptions": ["a", 3, "b"]})
    assert found.confidence is None and len(found.explanation) == 2000 and found.assumptions == ("a", "b")
    assert any("risk" in note for note in found.notes) and any("flags" in note for note in found.notes)
