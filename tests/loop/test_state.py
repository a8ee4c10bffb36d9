"""What a hint's operation is called, what a policy becomes for one agent, and where an execution can go."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.error_codes import LoopProblem
from interlock.loop.state import Pause, move_execution, pause_of, status_of
from interlock.loop.steps import operation_name, repetition_key
from interlock.model import AgentRef, intent
from interlock.policy.match_names import MatchNames, match_names
from interlock.policy.overrides import LoopRules, apply_rules, rules_json, rules_of, step_quota
from interlock.policy.patterns import Glob, PatternSet
from interlock.policy.policy import LoopLimits, Policy
from interlock.problems import Problems
from interlock.records import Execution

rules = cache(load)


@pytest.mark.parametrize(
    ("hint", "operation", "like"),
    [
        ("calling delete_user with id 5", "delete_user", "calling deleteUser with id 6"),
        ("executing shell command: npm install express", "npm_install", "npm install react"),
        ("git push --force origin main", "git_push", "git push origin x"),
        ("rm -rf build", "rm", "rm -r dist"),
        ("export TOKEN=hunter2", "", "export TOKEN=other"),
        ("calling write_file on docs/a_b_c.md", "write_file", "calling write_file on docs/b.md"),
        ("deleting record 5", "", "deleting record 6"),
        ("doing something", "", "doing something"),
        ("calling drop-database on app", "drop_database", "dropDatabase on crm"),
        ("DeleteAllUsers on the admin server", "delete_all_users", "delete_all_users now"),
    ],
)
def test_a_hint_is_called_by_what_it_names_and_counted_with_its_like(hint: str, operation: str, like: str) -> None:
    assert operation_name(hint, _titles(hint)) == operation
    assert (
        repetition_key(hint, _titles(hint))
        == repetition_key(like, _titles(like))
        != repetition_key(OTHER, _titles(OTHER))
    )


OTHER = "reading src/app.py to understand the login flow"


def _titles(hint: str) -> MatchNames:
    action = intent(hint)
    return match_names(action, judge(action, rules()).facts)


def test_AE_08_a_claimed_name_tightens_and_a_proved_one_may_loosen() -> None:
    policy = Policy("x", loop=LoopLimits(max_autonomous_steps=10), patterns=PatternSet((Glob.of("drop_*"),)))
    given = LoopRules(
        30, "conservative", PatternSet((Glob.of("wipe_*"),), (Glob.of("deploy_*"),), (Glob.of("read_*"),))
    )
    claimed, proved = apply_rules(policy, given), apply_rules(policy, replace(given, proved=True))
    assert [glob.text for glob in claimed.patterns.deny] == ["drop_*", "wipe_*"]
    assert claimed.patterns.approve and not claimed.patterns.allow and proved.patterns.allow
    assert (claimed.loop.max_autonomous_steps, proved.loop.max_autonomous_steps) == (10, 30)
    assert claimed.tolerance == proved.tolerance == "conservative"
    assert apply_rules(claimed, LoopRules(2, "aggressive", proved=True)).tolerance == "conservative"
    assert apply_rules(policy, LoopRules(0)).loop.max_autonomous_steps == 0


@pytest.mark.parametrize(("asked", "got"), [(None, 50), (3, 3), (0, 0), (99, 50)])
def test_a_quota_is_never_over_the_ceiling(asked: int | None, got: int) -> None:
    assert step_quota(Policy("x", loop=LoopLimits(max_autonomous_steps=80, step_ceiling=50)), asked) == got


def test_rules_for_one_agent_are_checked_and_shown_as_they_were_written() -> None:
    problems = Problems()
    data = {"maxAutonomousSteps": 5, "riskTolerance": "moderate", "deny": ["drop_*"], "autoApprove": ["read_*"]}
    assert rules_json(rules_of(data, (), problems)) == data and not problems.found
    for wrong in ({"maxAutonomousSteps": 101}, {"riskTolerance": "none"}, {"deny": "x"}, {"denny": []}, 5):
        problems = Problems()
        rules_of(wrong, ("loop",), problems)
        assert problems.found, wrong


def test_a_pause_that_cannot_be_read_still_pauses() -> None:
    pause = Pause("verify", "v1:x", 3, "t", "c", "op", "why", 1.0, True)
    assert pause_of(to_builtins(pause)) == pause
    assert pause_of({}) is None
    garbled = pause_of({"nonsense": 1})
    assert garbled is not None and garbled.human == 3


def test_an_execution_that_ended_goes_nowhere() -> None:
    run = Execution("e", AgentRef("p"), "running", 1.0, 10)
    assert status_of(run, True) == "blocked"
    with pytest.raises(LoopProblem, match="is blocked; it cannot complete"):
        move_execution(Execution("e", AgentRef("p"), "blocked", 1.0, 10), "complete", 2.0)
    done = move_execution(run, "cancel", 2.0)
    assert (done.status, done.finished_at) == ("cancelled", 2.0)
    with pytest.raises(LoopProblem):
        move_execution(done, "resume", 3.0)
