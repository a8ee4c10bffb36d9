"""Standing answers and project files: what people allow and deny by a pattern, and what a repository tightens by itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gate import AGENT, PASSPHRASE, Gate
from interlock.approvals import grants
from interlock.approvals.grants import add_grant, revoke_grant
from interlock.audit.search import is_attempt
from interlock.engine import trials
from interlock.engine.replay import AGREES, replay_record
from interlock.error_codes import AnswerRefused
from interlock.identity import operators
from interlock.impact.files import find_project_files
from interlock.model import Action, Decision, command, operation, tool
from interlock.policy.load import MOST, NAME, ProjectFile

CWD = "/home/dev/app"
BRANCH = command("git branch -D tmp/x", CWD)


def say(gate: Gate, verdict: str, pattern: str, by: str = "ann", **more: Any) -> str:
    return grants.add_answer(gate.state, gate.sign_in(by), verdict, pattern, "tests", **more).id


@pytest.mark.parametrize(
    ("pattern", "action", "outcome"),
    [
        ("git branch -D tmp/*", BRANCH, "allow"),
        ("git branch -D tmp/*", command("git branch -D main", CWD), "confirm"),
        ("git branch -D tmp/*", command("git branch -D tmp/x && git branch -D main", CWD), "confirm"),
        ("git branch -D tmp/*", command("git branch -D tmp/../main", CWD), "confirm"),
        ("git push*", command("git push --force origin main", CWD), "verify"),  # dangerous
        ("rm *", command("rm notes.txt", CWD), "confirm"),  # cannot be undone
        ("rm *", command("rm -rf /", CWD), "verify"),  # forbidden
        ("mkfs*", command("mkfs.ext4 /dev/sda1", CWD), "block"),  # nobody may
    ],
)
def test_a_standing_yes_reaches_single_actions_up_to_level_2_that_can_be_undone(
    gate: Gate, pattern: str, action: Action, outcome: str
) -> None:
    gate.sign_in()
    before = gate.ask(action)
    say(gate, "allow", pattern)
    after = gate.ask(action)
    assert after.outcome == outcome, (before.outcome, after)
    if outcome == "allow":
        assert f"auto-approved by pattern {pattern} (ann, `interlock allow` grant_" in after.reason


def test_a_standing_no_outranks_everything_and_everyday_work_too(gate: Gate) -> None:
    assert gate.ask(command("npm test", CWD)).allowed
    say(gate, "allow", "npm *")
    id = say(gate, "deny", "npm test*")
    denied = gate.ask(command("npm test", CWD))
    assert denied.outcome == "block" and "npm test* is denied by ann, `interlock deny` grant_" in denied.reason
    assert gate.ask(command("npm install left-pad", CWD)).allowed
    gate.restart()
    assert gate.ask(command("npm test", CWD)).outcome == "block"  # before anybody has unlocked anything
    revoke_grant(gate.state, gate.sign_in(), id)
    assert gate.ask(command("npm test", CWD)).allowed
    gate.restart()
    assert gate.ask(command("npm test", CWD)).allowed


def test_a_standing_yes_counts_once_somebody_has_unlocked_and_ends_when_it_is_taken_back(gate: Gate) -> None:
    id = say(gate, "allow", "git branch -D tmp/*")
    assert gate.ask(BRANCH).allowed
    gate.restart()
    assert gate.ask(BRANCH).outcome == "confirm"
    session = gate.sign_in()
    assert gate.ask(BRANCH).allowed
    revoke_grant(gate.state, session, id)
    assert gate.ask(BRANCH).outcome == "confirm"


def test_a_standing_answer_edited_in_the_database_frees_nothing(gate: Gate) -> None:
    yes, no = say(gate, "allow", "git branch -D tmp/*"), say(gate, "deny", "npm test*")
    gone = say(gate, "allow", "git branch -D old/*")
    revoke_grant(gate.state, gate.sign_in(), gone)
    gate.state.recorder.flush()
    gate.store.close()
    with sqlite3.connect(gate.folder / "state.db") as database:
        database.execute("UPDATE grants SET targets = ? WHERE id = ?", ('["git branch -D *"]', yes))
        database.execute("UPDATE grants SET revoked_at = 0 WHERE id = ?", (gone,))
        database.execute("DELETE FROM grants WHERE id = ?", (no,))
    gate.state = gate._open()
    gate.sign_in()
    for action, outcome in (
        (command("git branch -D main", CWD), "confirm"),
        (command("git branch -D old/x", CWD), "confirm"),
        (command("npm test", CWD), "block"),
    ):
        assert gate.ask(action).outcome == outcome, action.text


def test_nobody_allows_alone_what_they_could_not_approve_alone(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text('extends = "default"\n[levels]\ndestructive = { require = "confirm", quorum = 2 }\n')
    gate = Gate(tmp_path / "state", policy={"use": str(path)})
    gate.enrol()
    say(gate, "allow", "git branch -D tmp/*")
    assert not gate.ask(BRANCH).allowed
    gate.close()


def test_who_may_say_what(gate: Gate) -> None:
    gate.add("ben", "approver")
    id = say(gate, "deny", "npm test*")
    with pytest.raises(AnswerRefused, match="ann denied this"):
        revoke_grant(gate.state, gate.sign_in("ben"), id)
    session = gate.sign_in("ben")
    gate.clock.forward(121)
    with pytest.raises(AnswerRefused, match="fresh sign-in"):
        grants.add_answer(gate.state, session, "allow", "git branch -D tmp/*", "")
    for verdict, pattern in (("allow", "*"), ("deny", "**"), ("allow", "Bash:*"), ("allow", ""), ("maybe", "npm *")):
        with pytest.raises(AnswerRefused):
            grants.add_answer(gate.state, gate.sign_in(), verdict, pattern, "")
    with pytest.raises(AnswerRefused, match="with /standing"):
        add_grant(gate.state, gate.sign_in(), {"effect": "allow", "targets": ["git *"], "why": "x"})


def test_it_is_tried_on_the_record_before_it_is_saved(gate: Gate) -> None:
    for at in range(3):
        gate.ask(command(f"git branch -D tmp/{at}", CWD), AGENT)
    gate.ask(command("git branch -D tmp/9 && ls", CWD))
    gate.ask(command("npm test", CWD))
    gate.ask(operation("list_users", {}, cwd=CWD))
    by = gate.sign_in()
    found = trials.try_standing_answer(
        gate.state, grants.parse_answer(gate.state, by, "allow", "git branch -D tmp/*", "")
    )
    assert [(one.before, one.after) for one in found.changed] == [("confirm", "allow")] * 3 and found.records >= 6
    assert {one.title for one in found.changed} == {f"git branch -D tmp/{at}" for at in range(3)}
    assert [(one.title, one.after) for one in found.unchanged] == [("git branch -D tmp/9 && ls", "confirm")]
    assert "only a part of it" in found.unchanged[0].why
    none = trials.try_standing_answer(gate.state, grants.parse_answer(gate.state, by, "allow", "git push*", ""))
    assert not none.changed and not none.unchanged
    no = trials.try_standing_answer(gate.state, grants.parse_answer(gate.state, by, "deny", "npm *", ""))
    assert [(one.title, one.before, one.after) for one in no.changed] == [("npm test", "allow", "block")]
    assert gate.ask(command("npm test", CWD)).allowed and not gate.state.standing.answers


# the project's own file


def asked(gate: Gate, action: Action, files: Sequence[ProjectFile]) -> Decision:
    return gate.ask(action, project=lambda cwd: tuple(files))


@pytest.mark.parametrize(
    ("text", "action", "outcome"),
    [
        ('deny = ["terraform *"]', command("terraform plan", CWD), "block"),
        ('deny = ["terraform *"]', command("cd infra && terraform plan", CWD), "block"),
        ('deny = ["terraform *"]', command("ls", CWD), "allow"),
        ('ask = ["npm publish*"]', command("npm test", CWD), "allow"),
        ('ask = ["kubectl *"]', command("kubectl get pods", CWD), "confirm"),
        ('ask = ["deploy_*"]', operation("deploy_site", {}, cwd=CWD), "confirm"),
        ('deny = ["Write:*/vendor/*"]', tool("Write", {"file_path": f"{CWD}/vendor/x", "content": ""}, CWD), "block"),
        ("", command("npm test", CWD), "allow"),
        ('allow = ["git branch*"]', command("ls -l", CWD), "confirm"),  # would loosen: refused, and everything is asked
        ('denny = ["x"]', command("ls -l", CWD), "confirm"),
        ("deny = [", command("ls -l", CWD), "confirm"),
        ('deny = "x"', command("ls -l", CWD), "confirm"),
        ("mode = 'disabled'", command("git push --force origin main", CWD), "verify"),
    ],
)
def test_a_project_file_only_tightens_and_a_broken_one_asks(
    gate: Gate, text: str, action: Action, outcome: str
) -> None:
    answer = asked(gate, action, [ProjectFile(f"{CWD}/{NAME}", text)])
    assert answer.outcome == outcome, answer
    if outcome in ("block", "confirm"):
        assert f"{CWD}/{NAME}" in answer.reason


def test_what_a_project_file_decided_can_be_decided_again(gate: Gate) -> None:
    asked(gate, command("terraform plan", CWD), [ProjectFile(f"{CWD}/{NAME}", 'deny = ["terraform *"]')])
    asked(gate, command("kubectl get pods", CWD), [ProjectFile(f"{CWD}/{NAME}", 'ask = ["kubectl *"]')])
    say(gate, "allow", "git branch -D tmp/*")
    assert gate.ask(BRANCH).allowed
    state = gate.state
    found = [replay_record(row, state.in_force) for row in gate.records() if is_attempt(row)]
    assert len(found) == 3 and all(one.verdict == AGREES for one in found), found


def test_the_files_from_here_to_the_root_of_the_repository_count(tmp_path: Path) -> None:
    repository, inner = tmp_path / "repo", tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / NAME).write_text("outside")
    (inner / NAME).write_text('deny = ["x *"]')
    assert [one.path for one in find_project_files(str(inner))] == [str(inner / NAME)]  # no repository yet
    assert find_project_files(str(repository / "a")) == ()
    (repository / ".git").write_text("gitdir: /elsewhere")  # as a worktree has it
    (repository / NAME).write_text('ask = ["y *"]')
    assert [one.path for one in find_project_files(str(inner))] == [str(inner / NAME), str(repository / NAME)]
    assert find_project_files("relative") == () and find_project_files("/nowhere/at/all") == ()


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "long", "bytes"])
def test_what_is_no_ordinary_readable_file_is_a_problem_and_not_nothing(tmp_path: Path, kind: str) -> None:
    import os

    place = tmp_path / NAME
    if kind == "link":
        (tmp_path / "real.toml").write_text("")
        place.symlink_to(tmp_path / "real.toml")
    elif kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    else:
        place.write_bytes(b"#" * (MOST + 1) if kind == "long" else b"\xff\xfe")
    (found,) = find_project_files(str(tmp_path))
    assert found.problem and found.rules.asks and not found.text


def test_operators_who_left_allow_nothing(gate: Gate) -> None:
    gate.add("ben", "approver")
    say(gate, "allow", "git branch -D tmp/*", "ben")
    assert gate.ask(BRANCH).allowed
    operators.change_operator(gate.state, gate.sign_in(), "ben", disabled=True)
    assert not gate.ask(BRANCH).allowed
    assert PASSPHRASE
