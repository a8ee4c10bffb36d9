"""A call that ran and was never asked about is noticed; hook files that change are, too."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hook_client import HookedDaemon, golden_input, hooked_daemon, until
from interlock.agents import HookClient
from interlock.agents import agent as agent_of

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path) as found:
        yield found


def blocks(here: HookedDaemon) -> list[dict[str, str]]:
    found = here.daemon.here().get("/api/v1/blocks", headers=here.daemon.sign_in())
    return list(found.json()["blocks"])


def test_calls_that_were_asked_about_are_seen(here: HookedDaemon) -> None:
    here.claude("git status", "t1")
    here.claude("git status", "t1", "PostToolUse", tool_response={})
    found = here.daemon.here().get("/api/v1/coverage").json()
    assert (found["calls"], found["seen"], found["missed"]) == (1, 1, 0)
    assert until(lambda: here.records("executed"), "the outcome")[0]["outcome"] == "ran"


def test_coverage_is_counted_for_each_session(here: HookedDaemon) -> None:
    for session, id in (("one", "t1"), ("two", "t2"), ("two", "t3")):
        here.claude("git status", id, session_id=session)
        here.claude("git status", id, "PostToolUse", tool_response={}, session_id=session)
    found = here.daemon.here().get("/api/v1/coverage").json()["sessions"]
    assert [(row["session"], row["asked"], row["seen"], row["missed"]) for row in found] == [
        ("two", 2, 2, 0),
        ("one", 1, 1, 0),
    ]


def test_a_call_that_went_around_the_hook_blocks_its_principal(here: HookedDaemon) -> None:
    here.claude("git status", "t1")
    here.claude("touch x", "t2", "PostToolUse", tool_response={})
    assert "hook.bypassed" in blocks(here)[0]["reason"]
    assert here.records("alert")[0]["kind"] == "hook.bypassed"
    assert here.claude("touch y", "t3").decision == "deny"
    assert here.daemon.here().get("/api/v1/coverage").json()["missed"] == 1


def test_a_bypass_is_only_noted_where_the_operator_wants_that(tmp_path: Path) -> None:
    with hooked_daemon(tmp_path, more='bypassed = "note"\n') as here:
        here.claude("git status", "t1")
        here.claude("touch x", "t2", "PostToolUse", tool_response={})
        assert here.records("alert")[0]["kind"] == "hook.bypassed"
        assert blocks(here) == []


def test_nobody_is_blocked_where_calls_cannot_be_told_apart_or_the_session_is_new(here: HookedDaemon) -> None:
    here.claude("touch x", "t2", "PostToolUse", tool_response={}, session_id="never seen before")
    event, given = golden_input("gemini", "after-shell")
    here.fire("gemini", event, given)
    assert blocks(here) == []
    assert here.daemon.here().get("/api/v1/coverage").json()["unsure"] == 2


def test_a_restart_forgets_no_call(here: HookedDaemon) -> None:
    import signal

    from daemons import start_daemon

    here.claude("git status", "t1")
    here.daemon.stop(signal.SIGKILL)
    again = start_daemon(here.daemon.folder)
    try:
        back = HookedDaemon(again, here.client)
        back.claude("git status", "t2")
        back.claude("git status", "t1", "PostToolUse", tool_response={})
        assert blocks(back) == []
        assert again.here().get("/api/v1/coverage").json()["seen"] == 1
    finally:
        again.stop(signal.SIGKILL)
        for client in again.clients:
            client.close()
        assert again.process.stdout is not None
        again.process.stdout.close()


def test_a_script_that_was_swapped_between_judgement_and_run_goes_on_record(here: HookedDaemon, tmp_path: Path) -> None:
    script = tmp_path / "go.sh"
    script.write_text("echo fine\n")
    here.claude(f"bash {script}", "t1")
    script.write_text("rm -rf ~\n")
    here.claude(f"bash {script}", "t1", "PostToolUse", tool_response={})
    found = until(lambda: [one for one in here.records("alert") if one["kind"] == "script.raced"], "script.raced")
    assert found[0]["scripts"] == [str(script)]


def test_a_hook_file_that_loses_the_hook_is_noticed_on_the_next_call(here: HookedDaemon, tmp_path: Path) -> None:
    project = tmp_path / "project"
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    agent = agent_of("claude-code")
    place = agent.places("project", Path("/nonexistent"), project)[0]
    settings.write_text(agent.installed(place, None, HookClient(here.client)))
    here.claude("git status", "t1", cwd=str(project))
    settings.write_text("{}")
    here.claude("git status", "t2", cwd=str(project))
    found = until(lambda: [one for one in here.records("alert") if one["kind"] == "hook.changed"], "hook.changed")
    assert "no longer runs Interlock's hook" in found[0]["words"]


def test_settings_that_switch_the_hooks_off_are_refused_where_the_agent_asks(
    here: HookedDaemon, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude" / "settings.json").write_text(json.dumps({"disableAllHooks": True}))
    given = {"session_id": "s", "cwd": str(project), "hook_event_name": "ConfigChange", "source": "project_settings"}
    said = here.fire("claude-code", "ConfigChange", given)
    assert said.json["decision"] == "block"
    assert "switches Interlock's hooks off" in said.words


def test_nobody_looks_into_the_daemon() -> None:
    code = (
        "import ctypes; from interlock.identity import make_undumpable;"
        "make_undumpable(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "0\n"


def test_a_call_that_only_the_agents_transcript_knows_of_is_noticed(here: HookedDaemon, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"

    def result(id: str, **more: object) -> str:
        block = {"type": "tool_result", "tool_use_id": id, "content": "ok", **more}
        return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}}) + "\n"

    def ran(id: str) -> None:
        here.claude("git status", id, transcript_path=str(transcript))
        here.claude("git status", id, "PostToolUse", tool_response={}, transcript_path=str(transcript))

    transcript.write_text(result("before the hooks"))
    ran("t1")
    until(lambda: here.records("executed"), "the first look")
    with transcript.open("a") as file:
        file.write(result("t1") + "{ garbage\n" + result("refused", is_error=True) + result("unasked"))
    ran("t2")
    found = until(lambda: here.records("alert"), "the call that nobody asked about")
    assert [one["call"] for one in found] == ["unasked"]
    assert blocks(here) == []
