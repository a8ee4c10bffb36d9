"""What a session made: remembered once a call has succeeded, for that session alone, and for nothing that was there before."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.analysis.targets.provenance import MOST, Provenance
from interlock.hooks.provenance import MOST_SESSIONS, NAME, SECONDS, SessionProvenance, may_change_provenance
from interlock.impact.inspector import inspect_targets
from interlock.model import Action, AgentRef, Loss, command, tool

RULES = load()
WORD = "claude-code"
ME = AgentRef(f"uid:{os.getuid()}", WORD, "s1")
CODEX = AgentRef(ME.principal, "codex", "s1")


def ran(things: SessionProvenance, action: Action, who: AgentRef = ME, ok: bool = True, now: float = 1.0) -> None:
    """A call that was let through, and what became of it."""
    before(things, action, who)
    things.finish(who, "call", ok, now)


def before(things: SessionProvenance, action: Action, who: AgentRef = ME) -> None:
    if may_change_provenance(action):
        things.expect(who, "call", action, judge(action, RULES))


def made(things: SessionProvenance, who: AgentRef = ME, now: float = 2.0) -> set[tuple[str, str]]:
    return {(one.kind, one.name) for one in things.of(who, now).things}


RUN = command("docker run -d --name db -p 5555:5432 postgres", "/w")


def test_a_call_that_succeeded_has_made_what_it_names() -> None:
    things = SessionProvenance()
    ran(things, RUN)
    assert made(things) == {("container", "db"), ("inside", "db"), ("port", "5555")}


def test_a_call_that_failed_or_never_ended_has_made_nothing() -> None:
    things = SessionProvenance()
    ran(things, RUN, ok=False)
    before(things, RUN)
    assert made(things) == set()
    things.finish(ME, "another call", True, 1.0)
    assert made(things) == set()


@each(
    "who",
    [
        AgentRef(ME.principal, WORD, "s2"),
        AgentRef("uid:12345", WORD, "s1"),
        AgentRef("token:ci", WORD, "s1"),
        AgentRef(ME.principal, WORD, ""),
    ],
)
def test_nobody_else_has_made_it_by_claiming_the_session(who: AgentRef) -> None:
    things = SessionProvenance()
    ran(things, RUN)
    assert things.of(who, 2.0) == Provenance() and things.of(CODEX, 2.0) == Provenance()


def test_an_agent_that_does_not_tell_failures_makes_nothing() -> None:
    things = SessionProvenance()
    ran(things, RUN, CODEX)
    assert things.of(CODEX, 2.0) == Provenance()


def test_a_name_that_was_given_to_something_else_is_forgotten_even_where_that_failed() -> None:
    things = SessionProvenance()
    ran(things, RUN)
    ran(things, command("docker rename other db", "/w"), ok=False)
    assert ("container", "db") not in made(things)


@each(
    "text",
    [
        "docker stop db",
        "docker rm db",
        "docker compose down",
        "docker system prune -f",
        "docker ps -q | xargs docker rm",
    ],
)
def test_a_port_that_somebody_else_may_listen_to_is_forgotten(text: str) -> None:
    things = SessionProvenance()
    ran(things, RUN)
    ran(things, command(text, "/w"))
    assert ("port", "5555") not in made(things)


def test_it_is_forgotten_after_a_day_and_bounded(tmp_path: Path) -> None:
    things = SessionProvenance()
    ran(things, RUN)
    assert made(things, now=SECONDS + 2) == set()
    for number in range(MOST + 5):
        ran(things, command(f"createdb x{number}", "/w"))
    assert len(things.of(ME, 2.0).things) == MOST
    for number in range(MOST_SESSIONS + 5):
        ran(things, RUN, AgentRef(ME.principal, WORD, f"other{number}"))
    assert made(things) == set()


def _write(path: Path) -> Action:
    return tool("Write", {"file_path": str(path), "content": "x\n"}, str(path.parent))


def _edit(path: Path) -> Action:
    return tool("Edit", {"file_path": str(path), "old_string": "x", "new_string": "y"}, str(path.parent))


def lost(things: SessionProvenance, path: Path) -> Loss:
    body = {"bases": [str(path.parent)], "deeds": [{"verb": "delete", "target": path.name}], "ms": 20_000, "temp": []}
    return inspect_targets({**body, "made": things.of(ME, 2.0).local()}).loss


def _written(things: SessionProvenance, path: Path, action: Action, text: str) -> None:
    before(things, action)
    path.write_text(text)
    things.finish(ME, "call", True, 1.0)


def test_a_file_is_made_where_there_was_none_and_stays_so_while_only_the_session_writes_to_it(tmp_path: Path) -> None:
    things, path = SessionProvenance(), tmp_path / "new.py"
    _written(things, path, _write(path), "x\n")
    assert lost(things, path) is Loss.RECOVERABLE
    _written(things, path, _edit(path), "yy\n")
    assert lost(things, path) is Loss.RECOVERABLE
    path.write_text("a person's own\n")
    assert lost(things, path) is Loss.LOST
    _written(things, path, _edit(path), "edited behind that\n")
    assert lost(things, path) is Loss.LOST


@each("action", [_write, _edit])
def test_a_file_that_was_there_is_not_made_by_writing_to_it(tmp_path: Path, action: object) -> None:
    things, path = SessionProvenance(), tmp_path / "old.py"
    path.write_text("years\n")
    _written(things, path, action(path), "x\n")  # type: ignore[operator]
    assert lost(things, path) is Loss.LOST


def test_a_copy_is_made_and_what_was_moved_is_not(tmp_path: Path) -> None:
    things, precious, path = SessionProvenance(), tmp_path / "precious", tmp_path / "x"
    precious.write_text("years\n")
    _written(things, path, command("cp precious x", str(tmp_path)), "years\n")
    assert lost(things, path) is Loss.RECOVERABLE and lost(things, precious) is Loss.LOST
    before(things, command("mv precious x", str(tmp_path)))
    precious.rename(path)
    things.finish(ME, "call", True, 1.0)
    assert lost(things, path) is Loss.LOST


def test_another_users_files_are_never_known() -> None:
    things, who = SessionProvenance(), AgentRef("uid:12345", WORD, "s1")
    ran(things, _write(Path("/nonexistent/new.py")), who)
    assert things.of(who, 2.0) == Provenance()


def test_a_restart_remembers_what_this_daemon_wrote_and_believes_nobody_else(tmp_path: Path) -> None:
    things = SessionProvenance(tmp_path, b"key")
    ran(things, RUN)
    ran(things, command("cd sub && ls", "/w"))
    again = SessionProvenance(tmp_path, b"key")
    again.load()
    assert again.of(ME, 2.0) == things.of(ME, 2.0) and again.of(ME, 2.0).strayed == ("/w/sub",)
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
    mark, _, text = (tmp_path / NAME).read_text().partition("\n")
    for forged in (f"{mark}\n{text.replace('db', 'prod')}", json.dumps([]), "", "\n", f"{mark}"):
        (tmp_path / NAME).write_text(forged)
        other = SessionProvenance(tmp_path, b"key")
        other.load()
        assert other.of(ME, 2.0) == Provenance()


@pytest.mark.parametrize("text", ["ls", "git status", "pytest -q", "echo x > y"])
def test_everyday_work_is_not_even_read_again(text: str) -> None:
    assert not may_change_provenance(command(text, "/w"))


def test_a_migration_that_a_call_added_is_the_sessions_and_may_be_rolled_back_once_applied(tmp_path: Path) -> None:
    folder, things = tmp_path / "alembic/versions", SessionProvenance()
    folder.mkdir(parents=True)
    (folder / "0001_init.py").write_text("old")

    def loss(session: SessionProvenance = things) -> Loss:
        made = session.of(ME, 2.0)
        last = next((one.source for one in made.things if one.kind == "migrated"), "nothing was applied")
        deed = {"verb": "migrations", "target": "alembic/versions", "applied": last}
        return inspect_targets({"bases": [str(tmp_path)], "deeds": [deed], "made": made.local()}).loss

    upgrade = command("alembic upgrade head", str(tmp_path))
    ran(things, upgrade)
    assert loss() is Loss.UNKNOWN  # the last one was there before
    before(things, command("uv run alembic revision -m x | tail -2", str(tmp_path)))
    (folder / "0002_x.py").write_text("new")
    things.finish(ME, "call", True, 1.0)
    assert ("file", str(folder / "0002_x.py")) in made(things) and loss() is Loss.UNKNOWN  # it is not applied yet
    ran(things, upgrade)
    assert loss() is Loss.RECOVERABLE
    ran(things, tool("Write", {"file_path": str(folder / "0003_y.py"), "content": "1"}, str(tmp_path)))
    (folder / "0003_y.py").write_text("made since, and not applied")
    assert loss() is Loss.UNKNOWN
    (folder / "0003_y.py").unlink()
    ran(things, command("alembic downgrade -1", str(tmp_path)))
    assert loss() is Loss.UNKNOWN  # the next one back is older
