"""An agent that reports to the loop while its calls pass the hook: the compiled client, a real daemon, and both ends of one session."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from hook_client import HookedDaemon, hooked_daemon, until
from loop_agents import FREE

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
LOOP = "mcp_intentAndDeed0000001"  # the session of the MCP connection


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    folder = tmp_path_factory.mktemp("deeds")
    (folder / "free.toml").write_text(FREE.format(steps=50, ceiling=100))
    with hooked_daemon(folder, policy=str(folder / "free.toml")) as found:
        yield found


def loop(here: HookedDaemon, session: str, operation: str, **params: Any) -> dict[str, Any]:
    """A call to the loop, as the agent makes it: the hook sees it, and then the daemon answers it."""
    given = {"operation": operation, "params": {"element_name": f"builder-{session}", **params}}
    endpoint = "execute" if operation == "execute_agent" else "create"
    told = {"tool_name": f"mcp__interlock__mcp_aql_{endpoint}", "tool_input": given, "session_id": session}
    assert here.claude("", f"loop-{operation}", **told).stdout == ""
    body = {"endpoint": endpoint, "session": LOOP, "arguments": given}
    answer = here.daemon.here().post("/api/v1/aql", json=body).json()["envelope"]
    assert answer["success"], answer
    return dict(answer["data"])


def noted(here: HookedDaemon, rule: str, session: str) -> list[dict[str, Any]]:
    found = [body for event in ("OPERATION_ALLOWED", "CONFIRMATION_REQUIRED") for body in here.records(event)]
    return [body for body in found if rule in body.get("findings", ()) and body["session"] == session]


def test_a_call_that_differs_from_the_reported_step_is_held_and_says_so(here: HookedDaemon) -> None:
    loop(here, "a", "execute_agent")
    loop(here, "a", "record_execution_step", next_action_hint="run the tests")
    assert here.claude("pytest -q", "a1", session_id="a").stdout == ""
    said = here.claude("git reset --hard", "a2", session_id="a")
    assert (
        said.decision == "deny" and "had reported: 'run the tests'" in said.words
    )  # the client's prompt is not enough
    assert len(noted(here, "loop.mismatch", "a")) == 1


def test_another_window_of_the_same_agent_is_not_measured_by_it(here: HookedDaemon) -> None:
    loop(here, "b", "execute_agent")
    said = here.claude("git reset --hard HEAD~1", "b1", session_id="another window")
    assert said.decision == "ask" and not noted(here, "loop.undeclared", "another window")


def test_a_change_before_the_first_report_is_noted(here: HookedDaemon) -> None:
    loop(here, "c", "execute_agent")
    assert here.claude("echo x > settings.py", "c1", session_id="c").stdout == ""
    assert until(lambda: noted(here, "loop.undeclared", "c"), "the note")


def test_what_was_reported_passes_as_it_always_does(here: HookedDaemon) -> None:
    loop(here, "d", "execute_agent")
    loop(here, "d", "record_execution_step", next_action_hint="discard my local changes")
    assert here.claude("git reset --hard HEAD~2", "d1", session_id="d").decision == "ask"


def test_a_call_that_failed_is_told_with_the_next_step(here: HookedDaemon) -> None:
    loop(here, "f", "execute_agent")
    here.claude("make check", "f1", session_id="f")
    here.claude("make check", "f1", "PostToolUseFailure", session_id="f", error="exit 1")
    until(lambda: [one for one in here.records("executed") if one["session"] == "f"], "that it failed")
    told = loop(here, "f", "record_execution_step", next_action_hint="look at the logs", outcome="success")
    assert any("A call failed since the last step: Bash make check" in said for said in told["autonomy"]["factors"])
    again = loop(here, "f", "record_execution_step", next_action_hint="look at the logs")
    assert not any("failed since" in said for said in again["autonomy"]["factors"])


def test_a_step_that_was_approved_approves_no_other_call(here: HookedDaemon) -> None:
    loop(here, "e", "execute_agent")
    held = loop(here, "e", "record_execution_step", next_action_hint="delete the folder /srv/data")
    here.approve(next(one["id"] for one in here.tickets("open") if one["agent"]["name"] == "builder-e"))
    assert not held["autonomy"]["continue"]
    for command in ("rm -rf /srv/data", "rm -rf /srv/uploads"):
        assert here.claude(command, f"e-{command}", session_id="e").decision == "deny"
