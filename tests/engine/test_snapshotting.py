"""What an action would change is kept before the answer, where that makes the answer a yes; never for what is held, denied or only tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gate import Gate
from interlock.approvals import answers
from interlock.audit.chain import body_of
from interlock.audit.search import is_attempt
from interlock.engine.replay import AGREES, replay_policy, replay_record
from interlock.engine.undoing import list_snapshots
from interlock.model import Level, Loss, command
from interlock.policy.impact import Impact
from interlock.records import AuditQuery
from interlock.snapshots import SnapshotLimits, TakenSnapshot, no_snapshot
from repositories import PATIENT, files, git, inspector, repository
from snapshot_child import PatientSnapshotter, patient_snapshotter

Look = Callable[[Any], Impact]


@pytest.fixture(scope="module")
def look() -> Iterator[Look]:
    with inspector() as found:
        yield lambda question: found({**question, "ms": PATIENT, "temp": []})


@pytest.fixture(scope="module")
def keeps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PatientSnapshotter]:
    with patient_snapshotter(tmp_path_factory.mktemp("kept")) as found:
        yield found


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def stored(gate: Gate) -> list[str]:
    return [row.id for row in list_snapshots(gate.state)]


class Never:
    """A keeper that nobody may ask."""

    asked = 0

    def __call__(self, question: Any, id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot:
        self.asked += 1
        return TakenSnapshot(id, "0" * 64)


@pytest.mark.parametrize(("file", "passes"), [("app.db", False), ("shop_test.db", True)])
@pytest.mark.parametrize("loss", [Loss.LOST, Loss.RECOVERABLE])
def test_no_copy_frees_what_is_forbidden_but_for_a_database_to_be_thrown_away(
    gate: Gate, loss: Loss, file: str, passes: bool
) -> None:
    """R-23; and a replay of the record says the same."""
    drop = command(f"sqlite3 {file} 'DROP TABLE users'", "/srv/app")
    found = gate.ask(drop, inspect_impact=lambda _: Impact(loss, files=1, bytes=9), take_snapshot=Never())
    assert found.assessment is not None and found.assessment.level is Level.FORBIDDEN
    assert (found.allowed, bool(found.kept)) == (passes, passes), found
    [row] = [row for row in gate.records() if is_attempt(row)]
    assert replay_record(row, replay_policy(gate.config)).verdict == AGREES


def test_work_that_exists_nowhere_else_is_kept_and_passes_with_a_notice(
    gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    files(repo, {"src/a.py": "three days of work\n"})
    found = gate.ask(command("git reset --hard", str(repo)), inspect_impact=look, take_snapshot=keeps.take)
    assert found.allowed and found.assessment is not None and found.assessment.level is Level.DESTRUCTIVE
    assert found.reason.startswith("Allowed, for it can be undone: would discard the changes of 1 file")
    assert found.reason.endswith(f"`interlock undo {found.kept}` brings it back.")
    assert any(factor.startswith(f"relief: a snapshot was taken first ({found.kept}, ") for factor in found.factors)
    row = list_snapshots(gate.state)[0]
    assert (row.id, row.command, row.cwd, row.state) == (found.kept, "git reset --hard", str(repo), "kept")
    assert not keeps.plan(found.kept, row.digest).problem and keeps.plan(found.kept, "0" * 64).problem


def test_what_passes_anyway_is_kept_too(gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter) -> None:
    found = gate.ask(command("git reset --hard HEAD~1", str(repo)), inspect_impact=look, take_snapshot=keeps.take)
    assert found.allowed and "relief: what would be lost is recoverable" in found.factors
    assert stored(gate) == [found.kept]


def test_a_whole_repository_with_its_history_is_a_persons_to_give_up(gate: Gate, repo: Path, look: Look) -> None:
    never, words = Never(), {"verb": "delete", "target": ".git"}
    seen = look({"bases": [str(repo)], "deeds": [words]})
    assert seen.repositories == 1
    found = gate.ask(command("rm -rf .git", "/srv/app"), inspect_impact=lambda _: seen, take_snapshot=never)
    assert not found.allowed and found.ticket is not None and not never.asked
    other = gate.ask(
        command("rm -rf docs", "/srv/app"), inspect_impact=lambda _: replace(seen, repositories=0), take_snapshot=never
    )
    assert other.allowed and never.asked


def test_where_nothing_would_go_nothing_is_kept(gate: Gate, repo: Path, look: Look) -> None:
    never = Never()
    assert gate.ask(command("git reset --hard", str(repo)), inspect_impact=look, take_snapshot=never).allowed
    assert gate.ask(command("git status", str(repo)), inspect_impact=look, take_snapshot=never).allowed
    assert never.asked == 0 and stored(gate) == []


def test_an_empty_file_is_kept_as_well(gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter) -> None:
    git(repo, "clean", "-fd")
    files(repo, {"empty": ""})
    found = gate.ask(command("git clean -fd", str(repo)), inspect_impact=look, take_snapshot=keeps.take)
    assert found.allowed and "relief: what would be lost is none" in found.factors and found.kept


@pytest.mark.parametrize("problem", ["6,000 files are more than 5,000", "it takes too long"])
def test_what_cannot_be_kept_is_asked_about_and_the_reason_says_why(
    gate: Gate, repo: Path, look: Look, problem: str
) -> None:
    files(repo, {"src/a.py": "three days of work\n"})
    full = lambda question, id, at, limits: no_snapshot(id, problem)  # noqa: E731
    found = gate.ask(command("git reset --hard", str(repo)), inspect_impact=look, take_snapshot=full)
    assert found.outcome == "confirm" and found.ticket is not None and not found.kept
    assert f"No snapshot was taken: {problem}." in found.reason
    assert f"not kept: {problem}" in found.ticket.factors and stored(gate) == []


def test_when_snapshots_take_up_their_room_it_is_asked(gate: Gate, repo: Path, look: Look) -> None:
    files(repo, {"src/a.py": "work\n"})
    gate.state.snapshots.usage.bytes[""], never = gate.state.in_force.undo.total_bytes, Never()
    found = gate.ask(command("git reset --hard", str(repo)), inspect_impact=look, take_snapshot=never)
    assert found.outcome == "confirm" and never.asked == 0 and "all of their space" in found.reason


@pytest.mark.parametrize(
    "text", ["sudo git reset --hard", "git push --force origin main", "git stash && git stash drop", "ssh host git reset --hard",
             "git reset --hard && $CLEANUP", "git -c core.fsmonitor=./x reset --hard", "git reset --hard; curl -X DELETE https://x.example/y"],
)  # fmt: skip
def test_nothing_is_kept_for_what_is_held_anyway(gate: Gate, repo: Path, text: str) -> None:
    never = Never()
    lost = lambda question: Impact(Loss.LOST, files=1, only=1)  # noqa: E731
    assert not gate.ask(command(text, str(repo)), inspect_impact=lost, take_snapshot=never).allowed
    assert never.asked == 0 and stored(gate) == []


@pytest.mark.parametrize(
    ("config", "outcome"),
    [
        ({"safetyLoop": {"mode": "monitoring"}}, "allow"),
        ({"safetyLoop": {"mode": "logging"}}, "allow"),
        ({"undo": {"enabled": False}}, "confirm"),
        ({"impact": {"exempt": False}}, "confirm"),
        ({"policy": {"use": "strict"}}, "approve"),
    ],
)
def test_nothing_is_kept_where_it_would_change_no_answer(
    tmp_path: Path, repo: Path, config: dict[str, Any], outcome: str
) -> None:
    gate, never = Gate(tmp_path / "other", **config), Never()
    gate.enrol()
    lost = lambda question: Impact(Loss.LOST, files=1, only=1)  # noqa: E731
    try:
        assert (
            gate.ask(command("git reset --hard", str(repo)), inspect_impact=lost, take_snapshot=never).outcome
            == outcome
        )
        assert never.asked == 0
    finally:
        gate.close()


def test_a_question_that_spends_nothing_keeps_nothing_until_it_is_asked_in_earnest(
    gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    files(repo, {"src/a.py": "work\n"})
    action, never = command("git reset --hard", str(repo)), Never()
    tried = gate.ask(action, inspect_impact=look, take_snapshot=never, spend=False)
    assert tried.allowed and tried.unspent and not tried.kept and never.asked == 0
    assert gate.ask(action, inspect_impact=look, take_snapshot=keeps.take).kept


def test_an_effect_that_was_refused_stays_refused(gate: Gate, repo: Path, look: Look) -> None:
    files(repo, {"src/a.py": "work\n"})
    ticket, never = gate.held(command("git checkout -- src/a.py", str(repo)), inspect_impact=look), Never()
    answers.reject(gate.state, gate.sign_in(), ticket.id, "mine")
    assert not gate.ask(
        command("git checkout -- src/a.py", str(repo)), inspect_impact=look, take_snapshot=never
    ).allowed
    assert never.asked == 0


def test_what_a_person_approved_is_kept_when_it_runs(
    gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    files(repo, {"src/a.py": "work\n"})
    action = command("git reset --hard", str(repo))
    ticket = gate.held(action, inspect_impact=look)
    answers.approve(gate.state, gate.sign_in(), ticket.id)
    found = gate.ask(action, inspect_impact=look, take_snapshot=keeps.take)
    assert found.allowed and found.ticket is not None and found.ticket.id == ticket.id
    assert found.reason.startswith("Allowed once: ann approved it") and stored(gate) == [found.kept]


def test_what_leaves_its_place_is_kept_with_what_it_replaces(gate: Gate) -> None:
    asked: list[Any] = []

    def take(question: Any, id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot:
        asked.extend(question["deeds"])
        return no_snapshot(id, "it is only asked")

    action = command("mv -f draft.txt notes.txt", "/srv/app")
    lost = lambda question: Impact(Loss.LOST, "overwrite", files=1, only=1)  # noqa: E731
    answers.approve(gate.state, gate.sign_in(), gate.held(action, inspect_impact=lost).id)
    assert gate.ask(action, inspect_impact=lost, take_snapshot=take).allowed
    assert [(one["verb"], one["target"]) for one in asked] == [("overwrite", "notes.txt"), ("delete", "draft.txt")]


def test_an_approval_counts_also_where_nothing_can_be_kept(gate: Gate, repo: Path, look: Look) -> None:
    files(repo, {"src/a.py": "work\n"})
    action = command("git reset --hard", str(repo))
    answers.approve(gate.state, gate.sign_in(), gate.held(action, inspect_impact=look).id)
    found = gate.ask(
        action, inspect_impact=look, take_snapshot=lambda question, id, at, limits: no_snapshot(id, "no room")
    )
    assert found.allowed and not found.kept and stored(gate) == []


def test_the_record_has_the_snapshot_and_the_decision_can_be_made_again(
    gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    files(repo, {"src/a.py": "work\n"})
    found = gate.ask(command("git reset --hard", str(repo)), inspect_impact=look, take_snapshot=keeps.take)
    failed = gate.ask(
        command("git clean -fd", str(repo)),
        inspect_impact=look,
        take_snapshot=lambda q, id, at, most: no_snapshot(id, "full"),
    )
    assert found.allowed and not failed.allowed
    rows = [row for row in gate.records() if is_attempt(row)]
    kept = [body_of(row).get("kept") for row in rows]
    assert {"id": found.kept, "digest": list_snapshots(gate.state)[0].digest} in kept and None in kept
    assert [replay_record(row, replay_policy(gate.config)).verdict for row in rows] == [AGREES, AGREES]


def test_secrets_of_a_command_are_not_kept_beside_its_files(
    gate: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    action = command("git clean -fd; echo --password hunter2hunter2", str(repo))
    assert gate.ask(action, inspect_impact=look, take_snapshot=keeps.take).kept
    assert "hunter2" not in list_snapshots(gate.state)[0].command
    assert not any("hunter2" in row.body for row in gate.store.read(lambda tx: tx.audit(AuditQuery())))


def test_limits_are_the_configured_ones(tmp_path: Path, repo: Path, look: Look) -> None:
    gate, given = Gate(tmp_path / "other", undo={"files": 7, "bytes": 70, "ms": 700}), []

    def noted(question: Any, id: str, at: float, limits: SnapshotLimits) -> TakenSnapshot:
        given.append(limits)
        return no_snapshot(id, "no")

    try:
        gate.ask(command("git clean -fd", str(repo)), inspect_impact=look, take_snapshot=noted)
        assert given == [replace(SnapshotLimits(), files=7, bytes=70, ms=700)]
    finally:
        gate.close()
