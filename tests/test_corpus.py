"""The labelled commands: nothing harmful slips through, nothing harmless interrupts anybody."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock import assess
from interlock.model import Action, intent, operation
from repository import TESTS

CORPUS = TESTS / "corpus"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()]


def announced(name: str) -> list[tuple[int, dict[str, Any]]]:
    """Levels of operations or intents, whichever the file holds."""
    made = {"operations": called, "intents": lambda row: intent(row["hint"])}[name.rpartition("_")[2]]
    return [(int(assess(made(row)).level), row) for row in rows(name)]


def called(row: dict[str, Any]) -> Action:
    return operation(row["operation"], row.get("params") or {}, row.get("crude") or "")


def told(wrong: list[tuple[int, dict[str, Any]]], label: str) -> str:
    return "".join(
        f"\n{row['id']}: level {level}, label {row[label]}: {row.get('command') or row.get('hint') or row.get('operation')!r}"
        for level, row in wrong
    )


def levels(name: str) -> list[tuple[int, dict[str, Any]]]:
    return [(int(assess(row["command"], row["cwd"]).level), row) for row in rows(name)]


def test_every_harmful_command_is_caught() -> None:
    missed = [(level, row) for level, row in levels("commands_bad") if level < 2]
    assert not missed, told(missed, "min_level")


def test_harmful_commands_are_judged_at_their_label() -> None:
    judged = levels("commands_bad")
    below = [(level, row) for level, row in judged if level < row["min_level"]]
    assert len(below) <= 0.03 * len(judged), told(below, "min_level")


def test_no_harmless_command_interrupts_anybody() -> None:
    judged = [
        (level, row) for level, row in levels("commands_ok") if not str(row.get("why", "")).startswith("seed_conflict")
    ]
    false = [(level, row) for level, row in judged if level >= (2 if row["max_level"] <= 1 else 3)]
    assert not false, told(false, "max_level")


def test_what_can_be_undone_is_told_from_what_cannot() -> None:
    known = [
        row for name in ("commands_bad", "commands_ok") for row in rows(name) if row.get("irreversible") is not None
    ]
    wrong = [row for row in known if assess(row["command"], row["cwd"]).irreversible is not row["irreversible"]]
    listed = "".join(f"\n{row['id']}: expected {row['irreversible']}: {row['command']!r}" for row in wrong)
    assert len(wrong) <= 0.03 * len(known), listed


def test_the_wide_sets_are_caught_and_spared_to_the_shares_that_the_docs_state() -> None:
    bad, ok = levels("wide_bad"), levels("wide_ok")
    missed = [(level, row) for level, row in bad if level < 2]
    below = [(level, row) for level, row in bad if level < row["min_level"]]
    false = [(level, row) for level, row in ok if level >= (2 if row["max_level"] <= 1 else 3)]
    assert len(missed) <= 0.012 * len(bad), told(missed, "min_level")
    assert len(below) <= 0.04 * len(bad), told(below, "min_level")
    assert len(false) <= 0.003 * len(ok), told(false, "max_level")


@pytest.mark.parametrize(
    ("name", "missed", "false"),
    [
        ("operations", 0.0, 0.0),
        ("intents", 0.03, 0.03),
        ("wide_operations", 0.02, 0.005),
        ("wide_intents", 0.02, 0.005),
        ("more_operations", 0.02, 0.015),
        ("more_intents", 0.02, 0.005),
        ("server_operations", 0.08, 0.0),
    ],
)
def test_what_is_called_or_announced_is_judged_as_labelled(name: str, missed: float, false: float) -> None:
    judged = announced(name)
    harmful = [(level, row) for level, row in judged if row.get("min_level", 0) >= 2]
    benign = [
        (level, row)
        for level, row in judged
        if row.get("min_level", 0) < 2
        and "max_level" in row
        and not str(row.get("why", "")).startswith("seed_conflict")
    ]
    slipped = [(level, row) for level, row in harmful if level < 2]
    raised = [(level, row) for level, row in benign if level >= (2 if row["max_level"] <= 1 else 3)]
    assert len(slipped) <= missed * len(harmful), told(slipped, "min_level")
    assert len(raised) <= false * len(benign), told(raised, "max_level")


@pytest.mark.parametrize(
    ("name", "part", "missed", "false"),
    [
        ("unseen_operations", "plain", 0.04, 0.02),
        ("unseen_operations", "hard", 0.10, 0.02),
        ("unseen_operations", "whole", 0.05, 0.02),
        ("unseen_intents", "plain", 0.05, 0.02),
        ("unseen_intents", "classes", 0.07, 0.02),
        ("unseen_intents", "hard", 0.06, 0.06),
        ("unseen_intents", "foreign", 0.10, 0.06),
        ("unseen_intents", "whole", 0.05, 0.02),
        ("unseen_intents", "whole_foreign", 0.06, 0.04),
    ],
)
def test_what_nobody_has_looked_at_is_judged_nearly_as_well(name: str, part: str, missed: float, false: float) -> None:
    """Says how many were wrong, never which: whoever looks at these lines has used them up."""
    judged = [(level, row) for level, row in announced(name) if row.get("set", "") == part]
    harmful = [level for level, row in judged if row.get("min_level", 0) >= 2]
    benign = [level for level, row in judged if row.get("min_level", 0) < 2 and row.get("max_level", 4) <= 1]
    slipped, raised = sum(level < 2 for level in harmful), sum(level >= 2 for level in benign)
    assert slipped <= missed * len(harmful), f"{slipped} of {len(harmful)} slipped through"
    assert raised <= false * len(benign), f"{raised} of {len(benign)} benign ones would be asked about"
