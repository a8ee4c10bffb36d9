"""An agent's own hook: what it destroys is kept before the answer, it is told so, and what it left counts as its doing once it has run."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hook_client import HookedDaemon, HookOutput, claude_input, hooked_daemon
from repositories import files, git, repository
from snapshot_child import until_allowed

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
PATIENT = "[undo]\nms = 10000\n"


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HookedDaemon]:
    with hooked_daemon(tmp_path_factory.mktemp("keeps"), more=PATIENT) as found:
        yield found


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    found = repository(tmp_path / "app")
    files(found, {"src/a.py": "three days of work\n"})
    return found


def passes(fired: Callable[[], HookOutput]) -> HookOutput:
    return until_allowed(fired, lambda said: said.decision in ("", "allow"))


def kept(here: HookedDaemon) -> list[dict[str, Any]]:
    return list(here.daemon.here().get("/api/v1/undo").json()["snapshots"])


def test_what_the_action_left_is_its_doing_and_no_later_work(here: HookedDaemon, repo: Path) -> None:
    command = "git checkout -- src/a.py"
    said = passes(lambda: here.claude(command, "toolu_kept", cwd=str(repo)))
    told = said.json["hookSpecificOutput"]["additionalContext"]
    id = kept(here)[0]["id"]
    assert f"`interlock undo {id}` brings it back" in told and said.json["systemMessage"] == told
    files(repo, {"src/a.py": "what no Git knows, left by the action itself\n"})
    path = f"/api/v1/undo/{id}"
    assert here.daemon.here().get(path).json()["later"] == 1
    here.claude(command, "toolu_kept", "PostToolUse", cwd=str(repo), tool_response={"stdout": ""})
    assert here.daemon.here().get(path).json()["later"] == 0
    assert here.daemon.here().post(path, json={}).json()["undone"] is True
    assert (repo / "src/a.py").read_text() == "three days of work\n"


def test_what_is_kept_is_the_file_of_the_home_that_the_agents_process_has(here: HookedDaemon, tmp_path: Path) -> None:
    settings = tmp_path / "another home" / ".gitconfig"
    files(settings.parent, {settings.name: "[user]\n"})
    given = claude_input("echo x > ~/.gitconfig", "at_home", cwd=str(tmp_path))
    passes(lambda: here.fire("claude-code", "PreToolUse", given, home=str(settings.parent)))
    settings.write_text("x\n")
    here.fire("claude-code", "PostToolUse", {**given, "hook_event_name": "PostToolUse"}, home=str(settings.parent))
    assert here.daemon.here().post(f"/api/v1/undo/{kept(here)[0]['id']}", json={}).json()["undone"] is True
    assert settings.read_text() == "[user]\n"


def test_a_home_that_is_not_the_users_own_is_no_reason_to_pass(here: HookedDaemon, tmp_path: Path) -> None:
    given = claude_input("echo x > ~/.gitconfig", "not_at_home", cwd=str(tmp_path), permission_mode="bypassPermissions")
    assert here.fire("claude-code", "PreToolUse", given, home="/proc/1/root/nowhere").decision == "deny"


def test_several_calls_of_one_event_are_each_kept_and_told(here: HookedDaemon, repo: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    before = len(kept(here))
    given = {"commands": [f"git -C {repo} checkout -- src/a.py", f"git -C {other} clean -fd"]}
    said = passes(lambda: here.claude("", "several", tool_input=given, cwd=str(tmp_path)))
    told = said.json["hookSpecificOutput"]["additionalContext"]
    taken = kept(here)[: len(kept(here)) - before]
    assert len(taken) == 2 and all(f"`interlock undo {one['id']}`" in told for one in taken)


def test_beside_a_call_that_is_held_nothing_is_let_through_or_kept(here: HookedDaemon, repo: Path) -> None:
    before = kept(here)
    given = {"commands": ["git checkout -- src/a.py", "git push --force origin main"]}
    said = here.claude("", "beside", tool_input=given, cwd=str(repo), permission_mode="bypassPermissions")
    assert said.decision == "deny" and kept(here) == before


def test_what_passes_because_nothing_would_be_lost_is_told(here: HookedDaemon, repo: Path) -> None:
    git(repo, "branch", "merged")
    said = passes(lambda: here.claude("git branch -D merged", "told", cwd=str(repo)))
    told = said.json["hookSpecificOutput"]["additionalContext"]
    assert told.startswith("Allowed, for nothing would be lost:") and "merged" in told


@pytest.fixture
def lasting() -> Iterator[Path]:
    """A repository in a place where what is written over is not temporary."""
    home = Path.home() / f"kept-{secrets.token_hex(4)}"
    found = repository(home / "app")
    files(found, {"src/a.py": "three days of work\n"})
    yield found
    shutil.rmtree(home)


def overwrites(here: HookedDaemon, fired: Callable[[], HookOutput]) -> str:
    """The snapshot that was taken of what is written over; a look that was too slow on a busy machine is asked for again."""
    before = len(kept(here))
    until_allowed(lambda: passes(fired), lambda _: len(kept(here)) > before)
    return str(kept(here)[0]["id"])


def test_what_git_does_not_have_is_kept_before_everyday_work_writes_over_it(here: HookedDaemon, lasting: Path) -> None:
    files(lasting, {".gitignore": ".env*\n", ".env": "KEY=nowhere else\n", ".env.example": "KEY=\n"})
    written = {"file_path": str(lasting / ".env"), "content": "KEY=\n"}
    for fired in (
        lambda: here.claude("cp .env.example .env", "copied", cwd=str(lasting)),
        lambda: here.claude("", "written", tool_name="Write", tool_input=written, cwd=str(lasting)),
        lambda: here.claude("echo KEY= > .env", "redirected", cwd=str(lasting)),
    ):
        id = overwrites(here, fired)
        (lasting / ".env").write_text("KEY=\n")
        assert here.daemon.here().post(f"/api/v1/undo/{id}", json={"force": True}).json()["undone"] is True
        assert (lasting / ".env").read_text() == "KEY=nowhere else\n"


def test_everyday_work_on_what_git_has_or_nobody_had_is_not_kept(here: HookedDaemon, lasting: Path) -> None:
    git(lasting, "checkout", "--", "src/a.py")
    files(lasting, {"notes.txt": "mine", "node_modules/x.js": "x", "package-lock.json": "{}"})
    before = kept(here)
    for number, command in enumerate(
        ["cp src/a.py src/new.py", "echo x > src/a.py", "echo x > /tmp/out", "echo x >> notes.txt", "rm -rf node_modules", "rm -rf build"]
    ):  # fmt: skip
        assert here.claude(command, f"everyday{number}", cwd=str(lasting)).decision in ("", "allow")
    assert kept(here) == before


def test_whatever_name_a_file_has_and_whoever_writes_it_it_is_kept_first(here: HookedDaemon, lasting: Path) -> None:
    files(lasting, {"notes.txt": "mine", "build/thesis.txt": "mine", "debug.log": "mine", "to/notes.txt": "other"})
    for number, command in enumerate(
        [
            "echo x > src/a.py", "sed -i s/i/b/ notes.txt", "rm -rf build", "rm -f debug.log", "cp notes.txt to/", "for f in no*; do mv $f to/; done",
            "find . -name notes.txt -exec cp src/b.py {} +", """python3 -c "open('notes.txt','w').write('x')" """, "echo x > no*.txt",
        ]
    ):  # fmt: skip
        overwrites(here, lambda: here.claude(command, f"kept{number}", cwd=str(lasting)))  # noqa: B023


def test_everyday_work_on_files_that_only_the_shell_can_name_is_asked_about(here: HookedDaemon, lasting: Path) -> None:
    files(lasting, {"notes.txt": "mine"})
    for number, command in enumerate(
        ["cat list | xargs sed -i s/a/b/", "cp src/b.py $(ls | sed s/a/b/)", "for f in $(ls); do mv src/b.py $f; done"]
    ):
        said = here.claude(command, f"guess{number}", cwd=str(lasting), permission_mode="bypassPermissions")
        assert said.decision == "deny", command
