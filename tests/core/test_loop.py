"""What a hint's operation is called, what a policy becomes for one agent, and where an execution can go."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.core.decide import judge
from interlock.core.loop import LifecycleError, Pause, moved, pause_json, pause_of, status_of
from interlock.core.loop_names import counted_as, operation_named
from interlock.core.loop_rules import LoopRules, quota, rules_json, rules_of, under
from interlock.core.model import AgentRef, intent
from interlock.core.patterns import Glob, PatternSet
from interlock.core.policy import Policy
from interlock.core.problems import Problems
from interlock.core.records import Execution
from interlock.core.titles import Titles, titles
from interlock.rulebook import load

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
    assert operation_named(hint, _titles(hint)) == operation
    assert counted_as(hint, _titles(hint)) == counted_as(like, _titles(like)) != counted_as(OTHER, _titles(OTHER))


OTHER = "reading src/app.py to understand the login flow"


def _titles(hint: str) -> Titles:
    action = intent(hint)
    return titles(action, judge(action, rules()).facts)


def test_AE_08_a_claimed_name_tightens_and_a_proved_one_may_loosen() -> None:
    policy = Policy("x", max_autonomous_steps=10, patterns=PatternSet((Glob.of("drop_*"),)))
    given = LoopRules(
        30, "conservative", PatternSet((Glob.of("wipe_*"),), (Glob.of("deploy_*"),), (Glob.of("read_*"),))
    )
    claimed, proved = under(policy, given, proved=False), under(policy, given, proved=True)
    assert [glob.text for glob in claimed.patterns.deny] == ["drop_*", "wipe_*"]
    assert claimed.patterns.approve and not claimed.patterns.allow and proved.patterns.allow
    assert (claimed.max_autonomous_steps, proved.max_autonomous_steps) == (10, 30)
    assert claimed.tolerance == proved.tolerance == "conservative"
    assert under(claimed, LoopRules(2, "aggressive"), proved=True).tolerance == "conservative"
    assert under(policy, LoopRules(0), proved=False).max_autonomous_steps == 0


@pytest.mark.parametrize(("asked", "got"), [(None, 50), (3, 3), (0, 0), (99, 50)])
def test_a_quota_is_never_over_the_ceiling(asked: int | None, got: int) -> None:
    assert quota(Policy("x", max_autonomous_steps=80, step_ceiling=50), asked) == got


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
    assert pause_of(pause_json(pause)) == pause
    assert pause_of({}) is None
    garbled = pause_of({"nonsense": 1})
    assert garbled is not None and garbled.human == 3


def test_an_execution_that_ended_goes_nowhere() -> None:
    run = Execution("e", AgentRef("p"), "running", 1.0, 10)
    assert status_of(run, True) == "blocked"
    with pytest.raises(LifecycleError, match="is blocked; it cannot complete"):
        moved(run, "complete", 2.0, blocked=True)
    done = moved(run, "cancel", 2.0)
    assert (done.status, done.finished_at) == ("cancelled", 2.0)
    with pytest.raises(LifecycleError):
        moved(done, "resume", 3.0)
