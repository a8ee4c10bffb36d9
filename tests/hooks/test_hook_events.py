"""Events beside the plain one before a call: permission requests, calls announced twice, subagents, silence."""

from __future__ import annotations

import asyncio
import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from daemons import InProcessDaemon, in_process_daemon
from hook_client import HookedDaemon, claude_input, golden_input, hooked_daemon
from interlock.agents import ROUTE, HookClient
from interlock.agents import agent as agent_of
from interlock.analysis.display_text import short_id
from interlock.hooks.route import CHECK_SECONDS

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
FORCED = "git push --force origin main"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path_factory.mktemp("events")) as found:
        yield found


def permission(here: HookedDaemon, command: str, **more: Any) -> dict[str, Any]:
    """The decision in Claude Code's words; empty where nothing was said, so that it asks its user."""
    said = here.claude(command, event="PermissionRequest", **more)
    assert said.exit == 0
    found: dict[str, Any] = said.json.get("hookSpecificOutput", {}).get("decision", {})
    return found


def test_a_permission_request_is_left_to_the_user_or_denied_and_never_approved(here: HookedDaemon) -> None:
    assert permission(here, "git status") == {}
    assert permission(here, "git reset --hard HEAD~9") == {}  # level 2: the client's own prompt may answer
    denied = permission(here, FORCED)
    assert denied["behavior"] == "deny" and "silence is not consent" in denied["message"]
    assert permission(here, "git reset --hard HEAD~9", permission_mode="dontAsk")["behavior"] == "deny"


def test_the_person_at_the_agent_is_shown_once_that_something_waits_and_how_to_answer(here: HookedDaemon) -> None:
    said = here.claude("bash -c 'rm -rf /srv/shown'", "n1").json
    (ticket,) = [one for one in here.tickets("open") if "/srv/shown" in one["title"]]
    line = said["systemMessage"]
    assert "waits for an answer: rm -rf /srv/shown" in line and f"interlock approve {short_id(ticket['id'])}," in line
    assert "systemMessage" not in here.claude("bash -c 'rm -rf /srv/shown'", "n2").json


@pytest.mark.parametrize("word", ["codex", "copilot", "devin"])
def test_each_agents_permission_request_is_denied_in_its_own_shape(here: HookedDaemon, word: str) -> None:
    event, given = golden_input(word, "permission-shell")
    said = here.fire(word, event, given)
    decision = said.json.get("hookSpecificOutput", {}).get("decision", said.json)
    assert said.exit == 2 or decision["behavior"] == "deny"
    assert "interlock approve" in said.words


def test_a_permission_request_for_what_passed_a_moment_ago_says_nothing(here: HookedDaemon) -> None:
    assert here.claude("touch seen", "p1").decision == ""
    assert permission(here, "touch seen") == {}


def test_clines_two_scripts_for_one_call_spend_one_approval(here: HookedDaemon) -> None:
    event, given = golden_input("cline", "before-commands")

    def fire(id: str) -> bool:
        call = {"id": id, "name": "run_commands", "input": {"commands": ["rm -rf /srv/cline"]}}
        told = {key: value for key, value in given.items() if key != "preToolUse"}
        return not here.fire("cline", event, {**told, "tool_call": call}).json["cancel"]

    assert not fire("c1") and not fire("c1")
    (ticket,) = [one for one in here.tickets("open") if "/srv/cline" in one["title"]]
    here.approve(ticket["id"])
    assert fire("c2") and fire("c2")  # the same call, announced by the script of each folder
    assert not fire("c2") and not fire("c3")


def test_a_block_stops_every_agent_subagent_and_session_of_the_principal(here: HookedDaemon) -> None:
    me = here.daemon.here()
    blocked = {"principal": here.tickets()[0]["agent"]["principal"], "reason": "a test"}
    assert me.post("/api/v1/blocks", json=blocked, headers=here.daemon.sign_in()).status_code == 200
    try:
        asks: list[dict[str, Any]] = [{}, {"agent_id": "sub", "agent_type": "Explore"}, {"session_id": "another"}]
        for more in asks:
            said = here.claude("touch x", "b1", **more)
            assert said.decision == "deny" and "blocked" in said.words
        event, given = golden_input("gemini", "before-write")
        assert here.fire("gemini", event, given).json["decision"] == "deny"
    finally:
        gone = me.delete(f"/api/v1/blocks/{blocked['principal']}?reason=done", headers=here.daemon.sign_in())
        assert gone.status_code == 200, gone.text


def test_a_subagents_call_finds_the_ticket_of_its_parents(here: HookedDaemon) -> None:
    how = {"permission_mode": "bypassPermissions"}
    said = here.claude("rm -rf /srv/subagent", "s1", agent_id="sub", **how)
    assert said.decision == "deny" and "interlock approve" in said.words
    (ticket,) = [one for one in here.tickets("open") if "/srv/subagent" in one["title"]]
    here.approve(ticket["id"])
    assert here.claude("rm -rf /srv/subagent", "s2", **how).decision == ""


def test_the_client_is_linked_statically_and_no_environment_changes_its_answer(here: HookedDaemon) -> None:
    program = Path(here.client).read_bytes()
    start, size, count = (struct.unpack_from(form, program, at)[0] for form, at in (("<Q", 32), ("<H", 54), ("<H", 56)))
    kinds = [struct.unpack_from("<I", program, start + number * size)[0] for number in range(count)]
    assert program[:4] == b"\x7fELF" and 3 not in kinds  # no interpreter: nothing is loaded into it
    foul = {"HOME": "/x", "LD_PRELOAD": "/x.so", "INTERLOCK_SOCKET": "/x", "XDG_STATE_HOME": "/x", "PATH": "/x"}
    done = subprocess.run(
        [here.client, "claude-code", "PreToolUse"],
        input=json.dumps(claude_input(FORCED)).encode(),
        env=foul,
        capture_output=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert b"interlock approve" in done.stdout  # the daemon's answer, not the fallback's


def test_what_cannot_be_noted_of_one_call_leaves_the_notes_and_the_files_of_others(tmp_path: Path) -> None:
    agent, project = agent_of("claude-code"), tmp_path / "project"
    place = agent.places("project", Path("/nonexistent"), project)[0]
    place.path.parent.mkdir(parents=True)
    place.path.write_text(agent.installed(place, None, HookClient("/opt/interlock-hook")))
    noted: list[str] = []

    def fails() -> None:
        raise RuntimeError

    async def calls(app: InProcessDaemon, headers: dict[str, str]) -> None:
        given = {"session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse", "tool_name": "Bash"}
        given |= {"tool_input": {"command": "git status"}, "tool_use_id": "t1"}
        while not app.daemon.hooks._watched:  # its own notes are kept, its files not checked yet
            await app.acall("POST", f"{ROUTE}claude-code", given, headers)
            await asyncio.sleep(CHECK_SECONDS / 10)
        app.daemon.context.hooks.notes += [fails, lambda: noted.append("of another call")]
        await asyncio.sleep(4 * CHECK_SECONDS)
        place.path.write_text("{}")
        await app.acall("POST", f"{ROUTE}claude-code", given, headers)
        await asyncio.sleep(4 * CHECK_SECONDS)

    with in_process_daemon(tmp_path / "daemon") as app:
        asyncio.run(calls(app, app.agent()))
        assert noted == ["of another call"]
        assert "no longer runs Interlock's hook" in app.state.alerts["hook.changed"]
