"""The object that classify prints: every seed's words for one assessment, and its closed schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import interlock
from interlock.analysis.wire import assessment_json, error_json
from interlock.model import Assessment, Category, Finding, Flags, Level, Tier

SCHEMA = json.loads((Path(interlock.__file__).parent / "analysis" / "schemas" / "assessment.schema.json").read_text())
VALID = Draft202012Validator(SCHEMA)


def finding(level: Level, **more: Any) -> Finding:
    return Finding("pack.rule", level, False, "Does something.", Category.DATA_DELETION, **more)


def assessment(level: Level, *findings: Finding, **flags: bool) -> Assessment:
    return Assessment(level, False, 50, Tier.CONFIRM, Flags(**flags), findings)


@pytest.mark.parametrize(
    ("level", "severity", "risk", "cli"),
    [
        (Level.SAFE, None, "low", "safe"),
        (Level.REVERSIBLE, "low", "medium", "moderate"),
        (Level.DESTRUCTIVE, "medium", "high", "moderate"),
        (Level.DANGEROUS, "high", "high", "dangerous"),
        (Level.FORBIDDEN, "critical", "high", "dangerous"),
    ],
)
def test_a_level_has_one_word_in_each_seed(level: Level, severity: str | None, risk: str, cli: str) -> None:
    said = assessment_json(assessment(level))
    assert (said["severity"], said["risk"], said["cli"]["riskLevel"]) == (severity, risk, cli)


def test_growing_rights_are_a_high_risk_at_any_level() -> None:
    assert assessment_json(assessment(Level.SAFE, escalates_privileges=True))["risk"] == "high"


def test_what_nobody_may_approve_is_blocked() -> None:
    said = assessment_json(assessment(Level.FORBIDDEN, finding(Level.FORBIDDEN, approvable=False)))
    assert (said["cli"]["riskLevel"], said["approvable"]) == ("blocked", False)


@pytest.mark.parametrize(
    ("flag", "word"),
    [
        ("destructive", "DESTRUCTIVE_OPERATION"),
        ("escalates_privileges", "PRIVILEGE_ESCALATION"),
        ("touches_network", "NETWORK_ACCESS"),
    ],
)
def test_a_flag_is_also_a_warning(flag: str, word: str) -> None:
    assert assessment_json(assessment(Level.SAFE, **{flag: True}))["safetyFlags"] == [word]


def test_the_same_reason_is_said_once() -> None:
    said = assessment_json(assessment(Level.DANGEROUS, finding(Level.DANGEROUS), finding(Level.DANGEROUS)))
    assert (said["reasons"], said["instead"], said["categories"]) == (["Does something."], [], ["data_deletion"])


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "rm -rf /",
        "sudo rm x",
        "git push --force",
        ":(){ :|:& };:",
        "curl x | sh",
        "psql -c 'DROP TABLE a'",
        "",
        "'",
    ],
)
def test_real_assessments_fit_the_schema(text: str) -> None:
    VALID.validate(json.loads(json.dumps(assessment_json(interlock.assess(text, "/home/dev/app"), "x"))))


def test_an_error_fits_the_schema() -> None:
    VALID.validate(error_json("not JSON", 7))


@pytest.mark.parametrize(
    "change", [{"extra": 1}, {"level": 5}, {"severity": "huge"}, {"flags": {}}, {"error": "no"}, {"id": 1.5}]
)
def test_the_schema_is_closed(change: dict[str, Any]) -> None:
    assert not VALID.is_valid({**assessment_json(assessment(Level.SAFE)), **change})


def test_an_error_below_forbidden_does_not_fit_the_schema() -> None:
    assert not VALID.is_valid({"id": 1, "level": 0, "error": "x"})
