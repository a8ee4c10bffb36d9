"""A hook fires: the agent's own input through the compiled client to a real daemon, and its own words back."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hook_client import CWD, GOLDEN, BackgroundWork, HookedDaemon, claude_input, golden_input, hooked_daemon, until
from interlock.analysis.display_text import short_id
from interlock.config import load_config
from interlock.journal.wrapping import Wrapper, front_of

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
FORCED = "git push --force origin main"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path_factory.mktemp("hooks")) as found:
        yield found


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path) as found:
        yield found


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path, wait=60) as found:
        yield found


# What each agent gets when nobody has to be asked, and when somebody does.
AGENTS = {
    "claude-code": ("before-shell", lambda said: said.exit == 0 and said.decision == "deny", ""),
    "codex": ("before-shell", lambda said: said.exit == 0 and said.decision == "deny", ""),
    "gemini": ("before-shell", lambda said: said.json.get("decision") == "deny", "{}"),
    "cursor": (
        "before-tool-shell",
        lambda said: said.exit == 2 and said.json["permission"] == "deny",
        '{"permission":"allow"}',
    ),
    "copilot": ("before-shell", lambda said: said.json.get("permissionDecision") == "deny", "{}"),
    "windsurf": ("before-command", lambda said: said.exit == 2 and not said.stdout and "ticket" in said.stderr, ""),
}


def with_command(given: dict[str, Any], command: str) -> dict[str, Any]:
    """The same input about another command."""
    text = json.dumps(given)
    assert FORCED in text
    return dict(json.loads(text.replace(FORCED, command)))


@pytest.mark.parametrize("word", AGENTS)
def test_each_agent_is_denied_in_its_own_shape_with_the_ticket_and_how_it_is_approved(
    here: HookedDaemon, word: str
) -> None:
    name, denied, _ = AGENTS[word]
    event, given = golden_input(word, name)
    said = here.fire(word, event, given)
    assert denied(said), said
    assert "interlock approve pdact_" in said.words
    assert "silence is not consent" in said.words


@pytest.mark.parametrize("word", AGENTS)
def test_each_agent_hears_nothing_that_it_would_mistake_when_all_is_well(here: HookedDaemon, word: str) -> None:
    name, _, silence = AGENTS[word]
    event, given = golden_input(word, name)
    said = here.fire(word, event, with_command(given, "git status"))
    assert said.exit == 0
    assert said.stdout.strip() == silence
    assert said.stderr == ""


@pytest.mark.parametrize("word", AGENTS)
def test_a_retry_passes_once_after_an_operator_approved_and_only_unchanged(here: HookedDaemon, word: str) -> None:
    name, denied, _ = AGENTS[word]
    event, given = golden_input(word, name)
    command = f"git push --force origin retry-{word}"
    assert denied(here.fire(word, event, with_command(given, command)))
    (ticket,) = [one for one in here.tickets("open") if f"retry-{word}" in one["title"]]
    here.approve(ticket["id"])
    assert denied(here.fire(word, event, with_command(given, f"{command} other")))
    passed = here.fire(word, event, with_command(given, command))
    assert passed.exit == 0 and not denied(passed), passed
    if word != "cursor":  # whose second event is the same call
        assert denied(here.fire(word, event, with_command(given, command)))


def test_a_held_call_is_answered_as_soon_as_the_operator_does(patient: HookedDaemon) -> None:
    waiting = BackgroundWork(lambda: patient.claude("rm -rf src"))
    (ticket,) = until(lambda: patient.tickets("open"), "a ticket")
    patient.approve(ticket["id"])
    said = waiting.result()
    assert (said.exit, said.stdout) == (0, "")
    assert patient.tickets()[0]["state"] == "approved"


def test_what_became_of_an_approved_call_goes_on_its_ticket(patient: HookedDaemon) -> None:
    waiting = BackgroundWork(lambda: patient.claude("rm -rf src"))
    (ticket,) = until(lambda: patient.tickets("open"), "a ticket")
    patient.approve(ticket["id"])
    waiting.result()
    patient.claude("rm -rf src", event="PostToolUse", tool_response={"stdout": ""})
    found = until(lambda: [one for one in patient.tickets() if one["state"] == "executed"], "executed")
    assert found[0]["outcome"] == "ran"


def test_a_rejection_ends_the_waiting_with_the_operators_words(patient: HookedDaemon) -> None:
    waiting = BackgroundWork(lambda: patient.claude("rm -rf src"))
    (ticket,) = until(lambda: patient.tickets("open"), "a ticket")
    path = f"/api/v1/tickets/{ticket['id']}/reject"
    patient.daemon.here().post(path, json={"reason": "use a branch"}, headers=patient.daemon.sign_in())
    said = waiting.result()
    assert said.decision == "deny"
    assert "use a branch" in said.stdout


def test_a_late_approval_reaches_the_agent_in_its_next_answer(fresh: HookedDaemon) -> None:
    session = {"session_id": "late"}
    fresh.claude("git push --force origin late", "l1", **session)
    (ticket,) = [one for one in fresh.tickets("open") if one["title"].endswith("origin late")]
    fresh.approve(ticket["id"])
    news = until(lambda: fresh.claude("git status", "l2", **session).stdout, "news of the approval")
    context = json.loads(news)["hookSpecificOutput"]["additionalContext"]
    assert f"Ticket {short_id(ticket['id'])} " in context and "run exactly `git push --force origin late`" in context
    assert fresh.claude("git status", "l3", **session).stdout == ""


def test_a_clients_own_prompt_is_good_for_level_two_and_is_recorded_as_unattested(fresh: HookedDaemon) -> None:
    first = fresh.claude("rm notes.txt", "a1", session_id="asks")
    assert first.decision == "ask" and "Held as destructive" in first.stdout
    assert "interlock approve" not in first.stdout, "whoever is asked here is sent nowhere else"
    fresh.claude("rm notes.txt", "a1", "PostToolUse", session_id="asks", tool_response={})
    found = until(lambda: fresh.records("elicited"), "the answer on record")
    assert found[0]["attested"] is False and found[0]["channel"] == "prompt"
    again = fresh.claude("rm notes.txt", "a2", session_id="asks")
    assert again.decision == "ask", "a yes is good for one run"


# What no prompt of a client may answer, whatever its user says.
UNASKED = [
    ("rm notes2.txt", "bypassPermissions"),
    ("rm notes2.txt", "dontAsk"),
    ("rm notes2.txt", "auto"),
    ("rm /srv/data.db", "default"),  # not of the project
    ("rm -rf ~/work", "default"),  # above level 2
    ('eval "$(cat x)"', "default"),  # nobody can read it
    ("interlock mode disabled", "default"),  # the guard itself
]


def test_no_prompt_of_a_client_answers_what_it_may_not(fresh: HookedDaemon) -> None:
    for number, (command, mode) in enumerate(UNASKED):
        said = fresh.claude(command, f"n{number}", session_id=f"no {number}", permission_mode=mode)
        assert said.decision == "deny" and "pdact_" in said.stdout, (command, mode, said)


def test_cursors_second_event_of_a_call_is_the_same_call(fresh: HookedDaemon) -> None:
    first, given = golden_input("cursor", "before-tool-shell")
    second, alike = golden_input("cursor", "before-shell")
    command = "git push --force origin pair"
    assert fresh.fire("cursor", first, with_command(given, command)).exit == 2
    (ticket,) = [one for one in fresh.tickets("open") if one["title"].endswith("origin pair")]
    fresh.approve(ticket["id"])
    assert fresh.fire("cursor", first, with_command(given, command)).json["permission"] == "allow"
    assert fresh.fire("cursor", second, with_command(alike, command)).json["permission"] == "allow"
    assert fresh.fire("cursor", first, with_command(given, command)).exit == 2, "one approval, one run"


def test_whatever_is_malformed_is_denied_in_every_agents_own_shape(here: HookedDaemon) -> None:
    tried = 0
    for path in sorted(GOLDEN.glob("*/malformed-*.json")):
        told = json.loads(path.read_text())
        if told["decoded"]["kind"] != "before" or "stdin" not in told:
            continue
        said = here.fire(path.parent.name, told["event"], told["stdin"])
        denied = told["replies"]["deny"]
        assert said.exit == denied.get("exit", 0), path
        assert shape(json.loads(said.stdout or "{}")) == shape(denied["stdout"] or {}), path
        tried += 1
    assert tried > 10


def shape(value: Any) -> Any:
    """The same without words for people."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return value if isinstance(value, str) and " " not in value else type(value).__name__


def test_a_call_that_was_wrapped_earlier_is_judged_by_its_inner_text(here: HookedDaemon) -> None:
    front, text = front_of(load_config(here.daemon.folder / "interlock.toml", {})), "git push --force origin wrapped"
    assert here.claude(Wrapper(str(front)).wrap(text, "claude-code", "c1"), "toolu_w").decision == "deny"
    assert text in [one["title"] for one in here.tickets("open")]


def test_garbage_and_huge_input_are_denied(here: HookedDaemon) -> None:
    assert here.fire("claude-code", "PreToolUse", b"\x00\xff\xfe garbage").decision == "deny"
    assert here.fire("claude-code", "PreToolUse", b"").decision == "deny"
    assert here.claude("echo " + "x" * 3_000_000).decision == "deny"
    assert here.fire("claude-code", "PreToolUse", b"{" + b" " * (17 << 20)).decision == "deny"
    assert here.fire("windsurf", "pre_run_command", b"[]").exit == 2


def test_fifty_calls_at_once_are_all_answered(here: HookedDaemon) -> None:
    with ThreadPoolExecutor(50) as pool:
        said = list(pool.map(lambda number: here.claude(f"git log -n {number}", f"c{number}"), range(50)))
    assert {(one.exit, one.stdout) for one in said} == {(0, "")}


def test_a_client_that_is_called_wrongly_exits_with_two(here: HookedDaemon) -> None:
    import subprocess

    for words in ([], ["claude-code"], ["nobody", "PreToolUse"], ["claude-code", "Pre\r\nToolUse"]):
        assert subprocess.run([here.client, *words], capture_output=True, stdin=subprocess.DEVNULL).returncode == 2


def test_an_agent_that_posts_gets_its_own_json_and_the_kernel_says_who_it_is(fresh: HookedDaemon) -> None:
    path = "/api/v1/hook/claude-code?event=PreToolUse"
    fine = fresh.daemon.tcp().post(path, json=claude_input("git status", session_id="http"))
    assert (fine.status_code, fine.json()) == (200, {})
    held = fresh.daemon.tcp().post(path, json=claude_input("git push --force origin http", session_id="http"))
    assert held.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    found = [one for one in fresh.tickets("open") if one["title"].endswith("origin http")]
    assert found and found[0]["agent"]["principal"] == f"uid:{os.getuid()}", held.text
    foreign = fresh.daemon.tcp().post(path, json=claude_input("git status"), headers={"origin": "http://evil.example"})
    assert foreign.json()["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_was_written_is_judged_when_something_runs_it(fresh: HookedDaemon) -> None:
    session = {"session_id": "writes"}
    harm = "import shutil\ndef test_it():\n    shutil.rmtree('/home/u')\n"
    written = {"tool_name": "Write", "tool_input": {"file_path": f"{CWD}/tests/test_it.py", "content": harm}}
    assert fresh.claude("", "w1", **session, **written).stdout == "", "nothing is said about writing it"
    assert fresh.claude("git status", "w2", **session).stdout == ""
    held = fresh.claude("pytest -q", "w3", **session)
    assert held.decision == "deny" and "home" in held.stdout
    assert fresh.claude("pytest -q", "w4", session_id="another").stdout == ""


def test_a_test_that_cleans_up_after_itself_is_no_reason_to_hold_the_tests(here: HookedDaemon) -> None:
    session = {"session_id": "cleans"}
    tidy = "import shutil\ndef test_it(tmp_path):\n    shutil.rmtree(tmp_path)\n"
    written = {"tool_name": "Write", "tool_input": {"file_path": f"{CWD}/tests/test_it.py", "content": tidy}}
    here.claude("", "w1", **session, **written)
    assert here.claude("pytest -q", "w2", **session).stdout == ""


def test_cursor_asks_its_user_by_the_event_that_can_once_that_is_known_to_come(fresh: HookedDaemon) -> None:
    first, given = golden_input("cursor", "before-tool-shell")
    second, alike = golden_input("cursor", "before-shell")
    after, ended = golden_input("cursor", "after-tool")

    def at_root(told: dict[str, Any], command: str) -> dict[str, Any]:
        found = with_command(told, command)
        found.get("tool_input", {}).pop("working_directory", None)
        return found

    fresh.fire("cursor", second, at_root(alike, "git status"))  # from now on it is known to come
    command = "rm notes.txt"
    assert fresh.fire("cursor", first, at_root(given, command)).json["permission"] == "allow"
    assert fresh.fire("cursor", second, at_root(alike, command)).json["permission"] == "ask"
    fresh.fire("cursor", after, at_root(ended, command))
    assert until(lambda: fresh.records("elicited"), "the answer on record")[0]["attested"] is False
    other = "rm others.txt"
    assert fresh.fire("cursor", first, at_root(given, other)).json["permission"] == "allow"
    fresh.fire("cursor", after, at_root(ended, other))  # ran, and nobody was asked
    found = until(lambda: fresh.records("block"), "a block")
    assert "hook.bypassed" in found[0]["reason"]


def test_a_call_that_is_broken_off_takes_its_ticket_with_it(patient: HookedDaemon) -> None:
    import subprocess

    process = subprocess.Popen([patient.client, "claude-code", "PreToolUse"], stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(claude_input("rm -rf src")).encode())
    process.stdin.close()
    (ticket,) = until(lambda: patient.tickets("open"), "a ticket")
    process.kill()
    process.wait()
    (gone,) = until(lambda: [one for one in patient.tickets("expired") if one["id"] == ticket["id"]], "its end")
    assert "went away" in gone["decisionReason"] and not patient.tickets("open")
