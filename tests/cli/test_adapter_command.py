"""`interlock adapter check`: levels and where they came from, problems and where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.cli.main import main
from repository import ROOT

Capture = pytest.CaptureFixture[str]
EXAMPLES = ROOT / "examples"
GITHUB, STRIPE = str(EXAMPLES / "github-adapter.md"), str(EXAMPLES / "stripe-adapter.yaml")
ADAPTER = """\
name: demo
type: adapter
version: "1.0"
description: A demonstration
target: { base_url: "https://demo.example" }
trust: TRUST
operations:
  execute:
    - name: drop_cache
      maps_to: "POST /cache/drop"
      danger: { level: safe, reason: It fills again }
"""


def checked(capsys: Capture, *words: str) -> tuple[int, list[dict[str, Any]]]:
    code = main(["adapter", "check", *words, "--json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return code, found


def levels(file: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {row["name"]: (row["level_name"], row["source"], row["passes"]) for row in file["operations"]}


def test_the_github_example_has_the_levels_it_says(capsys: Capture) -> None:
    code, (file,) = checked(capsys, GITHUB)
    assert code == 0 and file["usable"] and file["trust"] == "community_reviewed"
    found = levels(file)
    assert found["get_repo"] == ("safe", "category and name", "allow")
    assert found["compare_commits"] == ("safe", "declared", "allow")
    assert found["create_issue"] == ("reversible", "category", "allow")
    assert found["delete_branch"] == ("destructive", "declared", "confirm")
    assert found["delete_repo"] == ("dangerous", "declared", "verify")
    assert found["force_push"] == ("dangerous", "name", "verify")
    assert found["force_sync"] == ("reversible", "declared", "allow")
    codes = {row["name"]: [notice["code"] for notice in row["warnings"]] for row in file["operations"]}
    assert codes["force_push"] == ["DANGER_LEVEL_INFERRED"] and codes["force_sync"] == ["DANGER_LEVEL_LOWERED"]


def test_the_stripe_example_has_the_levels_it_says(capsys: Capture) -> None:
    code, (file,) = checked(capsys, STRIPE)
    assert code == 0
    found = levels(file)
    assert found["balance"] == ("reversible", "default", "allow")
    assert found["create_payout"] == ("dangerous", "declared", "deny")
    assert found["cancel_subscription"] == ("destructive", "declared", "confirm")
    assert found["bulk_delete_test_data"] == ("dangerous", "name", "deny")
    highest = {row["name"]: row["highest"] for row in file["operations"]}
    assert highest["create_refund"] == highest["update_subscriptions"] == "dangerous"


@pytest.mark.parametrize(
    ("trust", "level", "passes"),
    [
        ("untested", "forbidden", "deny"),
        ("generated", "forbidden", "deny"),
        ("validated", "destructive", "confirm"),
        ("high", "forbidden", "deny"),
    ],
)
def test_what_an_adapter_claims_counts_by_its_trust(
    trust: str, level: str, passes: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "demo.yaml"
    path.write_text(ADAPTER.replace("TRUST", trust))
    code, (file,) = checked(capsys, str(path))
    assert code == 0
    assert (levels(file)["drop_cache"][0], levels(file)["drop_cache"][2]) == (level, passes)


def test_the_listing_is_for_people(capsys: Capture) -> None:
    assert main(["adapter", "check", GITHUB, STRIPE]) == 0
    said = capsys.readouterr().out
    assert "github 1.2.0, trust community_reviewed" in said
    assert "stripe 0.9.1, trust validated" in said
    assert "declared, by its parameters up to dangerous" in said
    assert "notice: force_push declares no danger level; its name implies dangerous" in said
    assert said.count("0 errors, 0 warnings: can be used") == 2


def test_problems_are_printed_with_their_lines_and_fail(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "demo.yaml"
    path.write_text(ADAPTER.replace("TRUST", "high").replace("safe, reason", "saef, reason"))
    assert main(["adapter", "check", str(path)]) == 1
    said = capsys.readouterr().out
    assert f"{path}:6: warning: no trust level 'high', so untested" in said
    assert f"{path}:11: error: level 'saef'; did you mean 'safe'?  [operations.execute[0].danger.level]" in said
    assert "1 operations, 1 error, 1 warning: must not be used" in said
    code, (file,) = checked(capsys, str(path))
    assert code == 1 and not file["usable"]
    assert [(item["line"], item["severity"]) for item in file["problems"]] == [(6, "warning"), (11, "error")]


def test_a_file_that_is_not_there_fails_and_the_others_are_still_checked(tmp_path: Path, capsys: Capture) -> None:
    code, (missing, folder, good) = checked(capsys, str(tmp_path / "none.yaml"), str(tmp_path), GITHUB)
    assert code == 1 and good["usable"] and not missing["usable"] and not folder["usable"]
    assert missing["problems"][0]["message"] == "cannot be read: No such file or directory"


def test_hostile_text_is_spelled_out(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "demo.yaml"
    path.write_text(ADAPTER.replace("drop_cache", '"drop\\e[2J\\u202e"'))
    assert main(["adapter", "check", str(path)]) == 1
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\u202e" not in said


def test_usage(capsys: Capture) -> None:
    assert main(["adapter"]) == 0
    assert "interlock adapter check" in capsys.readouterr().out
    assert main(["adapter", "check"]) == 2
    assert main(["adapter", "chek"]) == 2
    assert main(["--help"]) == 0
    assert "adapter" in capsys.readouterr().out
