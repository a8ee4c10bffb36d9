"""Calls against what was reported before them: which differ, which do not, and what need not be reported at all."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import Action, Human, command, intent, tool
from interlock.policy.declared_steps import (
    MISMATCH,
    UNDECLARED,
    compare_with_declared,
    declared_step,
)
from interlock.policy.overrides import DeclarationRules
from interlock.problems import Problems
from interlock.schema import read_table

RULES, PLAIN = load(), DeclarationRules()
CWD = "/home/dev/app"
EDIT = tool("Edit", {"file_path": f"{CWD}/src/app.py", "old_string": "a", "new_string": "b"}, CWD)
FORGET = tool("delete_entities", {"entityNames": ["x"]}, CWD)
FORGET_ALL = tool("delete_entities", {"entityNames": ["customer-list"]}, CWD)


def found(hints: list[str], call: str | Action, rules: DeclarationRules = PLAIN) -> str:
    action = command(call, CWD) if isinstance(call, str) else call
    said = [declared_step(hint, judge(hint, RULES)) for hint in (intent(text, CWD) for text in hints)]
    part = compare_with_declared(action, judge(action, RULES), said, rules)
    return part.name if part is not None else ""


SAME: list[tuple[str, str | Action]] = [
    ("run the tests", "pytest -q"),
    ("run the tests", "npm test"),
    ("run the tests", EDIT),
    ("look at the logs", "cat /var/log/app.log | tail -50"),
    ("look at the logs", "pytest -q"),
    ("look at the logs", "grep -rn error . > /tmp/found.txt"),
    ("edit src/app.py to fix the login bug", EDIT),
    ("install the dependencies", "npm install"),
    ("delete the data folder", "rm -rf /srv/data"),
    ("supprimer le dossier /srv/data", "rm -rf /srv/data"),
    ("rm -rf /srv", "rm -rf /srv/data"),
    ("drop the users table in staging", "psql -c 'drop table users'"),
    ("force-push the branch to rewrite history", "git push --force origin main"),
    ("discard my local changes", "git reset --hard"),
    ("discard my local changes", "git checkout -- ."),
    ("tear down the staging stack", "terraform destroy"),
    ("run `terraform destroy -auto-approve`", "terraform destroy -auto-approve"),
    ("stop the web container", "docker rm -f web"),
    ("remove the old entity x from memory", FORGET),
    ("commit and push my changes", "git add -A && git commit -m x && git push origin main"),
]
DIFFERENT: list[tuple[str, str | Action]] = [
    ("run the tests", "rm -rf /srv/data"),
    ("look at the logs", "echo hi > settings.py"),
    ("look at the logs", EDIT),
    ("delete the data folder", "rm -rf /srv/uploads"),
    ("delete the data folder", "git push --force"),
    ("rm -rf /srv/data/tmp", "rm -rf /srv/data"),
    ("rm -rf build", "rm -rf /srv"),
    ("clean the build folder", "rm -rf /srv"),
    ("drop the users table in staging", "psql -c 'drop table orders'"),
    ("drop the orders table", "psql -c 'drop table users'"),
    ("tear down the staging stack", "kubectl delete ns prod"),
    ("commit and push my changes", "git push --force origin main"),
    ("fix the typo in README", "psql -c 'delete from users'"),
    ("remove the old entity x from memory", FORGET_ALL),
]


@each(("hint", "call"), SAME, ids=str)
def test_a_call_that_was_announced_is_no_finding(hint: str, call: str | Action) -> None:
    assert found([hint], call) == ""


@each(("hint", "call"), DIFFERENT, ids=str)
def test_a_materially_different_call_is_a_mismatch(hint: str, call: str | Action) -> None:
    assert found([hint], call) == MISMATCH


@pytest.mark.parametrize(
    "call", ["ls -la", "cat README.md", "git status", "pytest -q", "npm install", "git log | head"]
)
def test_what_only_reads_or_runs_needs_no_report(call: str) -> None:
    assert found([], call) == ""


@pytest.mark.parametrize("call", [EDIT, "rm -rf /srv/data", "git push --force"], ids=str)
def test_a_change_without_any_report_is_undeclared(call: str | Action) -> None:
    assert found([], call) == UNDECLARED


def test_a_call_may_belong_to_one_of_the_last_steps() -> None:
    assert found(["delete the data folder", "run the tests"], "rm -rf /srv/data") == ""


@pytest.mark.parametrize(
    ("word", "human", "blocked"),
    [("note", Human.NONE, False), ("pause", Human.APPROVE, False), ("block", Human.NONE, True)],
)
def test_what_it_costs_is_a_setting_by_level(word: str, human: Human, blocked: bool) -> None:
    action = command("rm -rf /srv/data", CWD)
    part = compare_with_declared(action, judge(action, RULES), [], DeclarationRules(everyday="off", destructive=word))
    assert part is not None and (part.requirement.human, part.requirement.blocked) == (human, blocked)
    assert found([], EDIT, DeclarationRules(everyday="off", destructive=word)) == ""


def test_a_wrong_word_in_the_settings_is_refused() -> None:
    problems = Problems()
    assert (
        read_table(DeclarationRules, {"everyday": "shout", "never": 1}, ("loop", "mismatch"), problems)
        == DeclarationRules()
    )
    assert len(problems.found) == 2
