"""An agent's own hook: what can be had back passes unasked, what exists nowhere else is asked with its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hook_client import HookedDaemon, HookOutput, hooked_daemon, until
from interlock.config.settings import SeparateSettings
from interlock.impact.files import ProjectFileCache
from interlock.impact.user_access import user_access
from interlock.model import Loss
from interlock.policy.impact import Impact
from interlock.ports import NO_ACCESS
from repositories import files, repository


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HookedDaemon, Path]]:
    folder = tmp_path_factory.mktemp("relief")
    with hooked_daemon(
        folder, more="[undo]\nenabled = false\n[impact]\nexempt = true\n"
    ) as running:  # what is kept first passes, too
        yield running, repository(folder / "app")


def _telling(said: HookOutput, words: str) -> HookOutput | None:
    """The answer, where the look was in time for it."""
    return said if words in said.words else None


def test_recoverable_work_is_not_asked_about_and_lost_work_is(world: tuple[HookedDaemon, Path]) -> None:
    running, repo = world
    until(lambda: running.claude("git branch -D feature", cwd=str(repo)).decision in ("", "allow"), "a look in time")
    files(repo, {"src/a.py": "three days of work\n"})
    words = "would discard the changes of 1 file, 19 bytes; it exists nowhere else: src/a.py"
    tries = iter(["git checkout -- .", "git checkout -- src", "git restore .", "git restore src", "git reset --hard"])
    asked = until(lambda: _telling(running.claude(next(tries), cwd=str(repo)), words), words)
    assert asked.decision == "ask"
    assert words in [ticket.get("blast") for ticket in running.tickets()]
    kept = [
        body["factors"] for body in running.records("") if any("relief: " in one for one in body.get("factors", ()))
    ]
    assert len(kept) == 1


def test_targets_are_looked_at_for_whoever_is_on_the_socket(world: tuple[HookedDaemon, Path]) -> None:
    running, repo = world
    body = {"command": "git branch -D feature", "cwd": str(repo)}
    here = running.daemon.here().post("/api/v1/evaluate", json=body).json()
    assert here["allowed"] is True and "relief: what would be lost is recoverable" in here["factors"]


def test_nobody_looks_for_a_caller_who_is_elsewhere_or_somebody_else() -> None:
    def own(question: object) -> Impact:
        return Impact(Loss.NONE)

    plain, found = SeparateSettings(), ProjectFileCache()
    assert user_access(f"uid:{os.getuid()}", plain, found, own).inspect is own
    for principal in ("token:ci", "", "uid:", "uid:x", f"uid:{os.getuid() + 1}"):
        assert user_access(principal, plain, found, own) == NO_ACCESS
    assert user_access(f"uid:{os.getuid()}", plain, found, None).inspect is None


def test_what_the_session_itself_started_can_go_and_what_failed_to_start_cannot(
    world: tuple[HookedDaemon, Path],
) -> None:
    running, repo = world
    ran, failed = {"stdout": ""}, {"stderr": "docker: Error response from daemon: Conflict. The name is already in use"}
    for name, became, result in (
        ("pgtmp", "PostToolUse", ran),
        ("pgold", "PostToolUseFailure", {}),
        ("pgused", "PostToolUse", failed),
    ):
        start = f"docker run -d --name {name} postgres:16"
        assert running.claude(start, id=f"toolu_{name}", cwd=str(repo)).decision in ("", "allow")
        running.claude(start, id=f"toolu_{name}", event=became, cwd=str(repo), tool_response=result)
    gone = until(lambda: running.claude("docker rm -f pgtmp", cwd=str(repo)).decision in ("", "allow"), "what was made")
    assert gone
    stopped = ("ask", "deny")  # the queue may be full
    assert running.claude("docker rm -f pgold", cwd=str(repo)).decision in stopped
    assert running.claude("docker rm -f pgused", cwd=str(repo)).decision in stopped
    assert running.claude("docker rm -f pgtmp pgold", cwd=str(repo)).decision in stopped
    assert running.claude("docker rm -f pgtmp", cwd=str(repo), session_id="s-2").decision in stopped


def hermes(running: HookedDaemon, session: str, cwd: Path, command: str, result: str = "", **more: object) -> str:
    """What Hermes makes of the answer before a command, and after it with a result; it always names the folder of its start."""
    event = "post_tool_call" if result else "pre_tool_call"
    extra = {"tool_call_id": f"{session} {command}", "result": result, "status": "ok"}
    call = {"tool_name": "terminal", "tool_input": {"command": command, **more}, "extra": extra}
    said = running.fire("hermes", event, {"hook_event_name": event, "session_id": session, "cwd": str(cwd), **call})
    return str(said.json.get("decision", ""))


def test_a_command_is_looked_at_where_the_last_one_ended(world: tuple[HookedDaemon, Path]) -> None:
    running, repo = world
    clean, changed = repository(repo.parent / "clean"), repository(repo.parent / "changed")
    files(changed, {"src/a.py": "three days of work\n"})
    done, line = '{"output": "", "exit_code": 0, "error": null}', "git restore src"
    until(lambda: hermes(running, "stayed", clean, line) == "", "a look in time")
    for number, (before, more) in enumerate(
        [(f"cd {changed} && ls", {}), ("ls", {"workdir": str(changed)}), ("cd ../changed", {"unknown": 1})]
    ):
        session = f"moved {number}"
        assert hermes(running, session, clean, before, **more) == ""
        assert hermes(running, session, clean, before, done, **more) == ""
        assert hermes(running, session, clean, line) == "block", before
    failed, background = done.replace("0", "1"), {"background": True}
    for before, result, more in (("cd nowhere && ls", failed, {}), (f"cd {changed} && ls", done, background)):
        hermes(running, "stayed", clean, before, **more)
        hermes(running, "stayed", clean, before, result, **more)
        assert hermes(running, "stayed", clean, line) == "", before
