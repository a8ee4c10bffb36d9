"""What was kept is listed, looked at and brought back by whoever may; who did it and what came of it is on record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gate import AGENT, Gate
from interlock.engine import undoing
from interlock.error_codes import AnswerRefused
from interlock.journal.store import JournalStore
from interlock.model import command
from interlock.policy.impact import Impact
from interlock.snapshots import PruneResult, SnapshotUsage
from repositories import PATIENT, files, git, inspector, repository
from snapshot_child import PatientSnapshotter, patient_snapshotter, tree_contents

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
def desk(gate: Gate, keeps: PatientSnapshotter) -> Gate:
    gate.state.snapshots.taker = keeps
    return gate


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def work(repo: Path) -> dict[str, Any]:
    """Only the work tree."""
    return {name: what for name, what in tree_contents(repo).items() if not name.startswith(".git")}


def cleaned(desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter, text: str = "git clean -fd") -> str:
    """An agent's action that was let through, and ran."""
    found = desk.ask(command(text, str(repo)), inspect_impact=look, take_snapshot=keeps.take)
    assert found.kept, found
    git(repo, *text.split()[1:])
    return found.kept


def recorded(desk: Gate, event: str) -> list[dict[str, Any]]:
    return [json.loads(row.body) for row in desk.records() if row.event == event]


def test_the_newest_action_is_brought_back_and_the_record_says_so(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    before = work(repo)
    id = cleaned(desk, repo, look, keeps)
    plan = undoing.plan_undo(desk.state)
    assert plan.snapshot.id == id and not plan.plan.problem and work(repo) != before
    found = undoing.undo(desk.state, "ann")
    assert found.undone.done and found.snapshot.state == "undone" and work(repo) == before
    (done,) = recorded(desk, "undo.done")
    assert (done["by"], done["snapshot"], done["undoable_as"]) == ("ann", id, found.undone.as_id)


def test_an_undo_is_undone_in_turn_and_then_counts_again(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    before = work(repo)
    id = cleaned(desk, repo, look, keeps)
    after = work(repo)
    back = undoing.undo(desk.state, "ann").undone.as_id
    with pytest.raises(AnswerRefused, match=f"was undone already; `interlock undo {back}` takes that back"):
        undoing.undo(desk.state, "ann", id)
    with pytest.raises(
        AnswerRefused, match="there is no snapshot here"
    ):  # what an undo took is not undone without its name
        undoing.undo(desk.state, "ann")
    assert undoing.undo(desk.state, "ann", back).undone.done and work(repo) == after
    assert undoing.undo(desk.state, "ann", id).undone.done and work(repo) == before


def test_later_work_is_refused_on_record_and_only_force_overwrites_it(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    id = cleaned(desk, repo, look, keeps)
    files(repo, {"notes.txt": "written since\n"})
    found = undoing.undo(desk.state, "ann", id)
    assert found.undone.refused and found.snapshot.state == "kept"
    assert (repo / "notes.txt").read_text() == "written since\n"
    (refused,) = recorded(desk, "undo.refused")
    assert (refused["snapshot"], refused["reason"]) == (id, "somebody worked on it since")
    assert undoing.undo(desk.state, "ann", id, force=True).undone.done
    assert (repo / "notes.txt").read_text() == "notes\n"


def test_nobody_brings_back_or_learns_of_what_is_another_principals(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    id = cleaned(desk, repo, look, keeps)
    for other in ("uid:1001", "token:ci"):
        assert undoing.list_snapshots(desk.state, other) == []
        for given in ("", id):
            with pytest.raises(AnswerRefused):
                undoing.plan_undo(desk.state, given, other)
            with pytest.raises(AnswerRefused):
                undoing.undo(desk.state, other, given, True, other)
    assert [row.id for row in undoing.list_snapshots(desk.state, AGENT.principal)] == [id]
    assert undoing.undo(desk.state, AGENT.principal, id, principal=AGENT.principal).undone.done


def test_a_snapshot_that_is_not_the_recorded_one_is_not_brought_back(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    id = cleaned(desk, repo, look, keeps)
    manifest = Path(keeps.folder) / "snapshots" / f"{id}.json"
    manifest.chmod(0o600)
    manifest.write_text(manifest.read_text().replace("notes.txt", "other.txt"))
    after = work(repo)
    found = undoing.undo(desk.state, "ann", id)
    assert not found.undone.done and found.undone.problem and work(repo) == after
    assert len(recorded(desk, "undo.refused")) == 1


@pytest.mark.parametrize("id", ["u_aaaaaaaaaa", "../../etc/passwd", "u_", "x" * 500, "\ud800"])
def test_an_id_that_nobody_knows_is_refused(desk: Gate, id: str) -> None:
    with pytest.raises(AnswerRefused) as refused:
        undoing.undo(desk.state, "ann", id)
    assert refused.value.code == "NOT_FOUND_RESOURCE"


def test_what_is_elsewhere_or_gone_says_so(desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter) -> None:
    id = cleaned(desk, repo, look, keeps)
    elsewhere = replace(desk.state, snapshots=replace(desk.state.snapshots, machine="another"))
    with pytest.raises(AnswerRefused, match="is on another machine"):
        undoing.undo(elsewhere, "ann", id)
    with pytest.raises(AnswerRefused, match="there is no snapshot here"):
        undoing.undo(elsewhere, "ann")
    row = undoing.list_snapshots(desk.state)[0]
    desk.store.write(lambda tx: tx.end_snapshot(replace(row, state="pruned"), row))
    with pytest.raises(AnswerRefused, match="was pruned: snapshots last 7 days"):
        undoing.undo(desk.state, "ann", id)


def test_without_a_keeper_it_says_why(gate: Gate) -> None:
    with pytest.raises(AnswerRefused, match="takes no snapshots"):
        undoing.undo(gate.state, "ann")


def test_what_is_too_old_is_let_go_on_record(desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter) -> None:
    id = cleaned(desk, repo, look, keeps)
    assert undoing.prune(desk.state) == 0
    desk.clock.forward(8 * 86_400)
    assert undoing.prune(desk.state) >= 1
    assert undoing.list_snapshots(desk.state)[0].state == "pruned"
    assert id in recorded(desk, "undo.pruned")[0]["snapshots"]
    assert keeps.plan(id).problem == f"there is no snapshot {id}"


def test_what_somebody_deleted_is_said_to_be_gone_in_time(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    id = cleaned(desk, repo, look, keeps)
    manifest = Path(keeps.folder) / "snapshots" / f"{id}.json"
    manifest.unlink()
    assert undoing.undo(desk.state, "ann", id).undone.problem
    desk.clock.forward(9 * 86_400)
    assert undoing.prune(desk.state) >= 1
    assert undoing.list_snapshots(desk.state)[0].state == "pruned" and undoing.prune(desk.state) == 0


def test_what_takes_too_much_room_is_let_go_before_there_is_none(
    desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter
) -> None:
    cleaned(desk, repo, look, keeps)
    assert not undoing.is_crowded(desk.state)
    small = replace(
        desk.state,
        in_force=replace(desk.state.in_force, undo=replace(desk.state.in_force.undo, total_bytes=1)),
        snapshots=replace(desk.state.snapshots, usage=SnapshotUsage({"": 5})),
    )
    assert undoing.is_crowded(small)
    undoing.prune(small)
    assert not undoing.is_crowded(small) and undoing.list_snapshots(desk.state)[0].state == "pruned"


class Broken:
    """A keeper that cannot prune."""

    def prune(self, now: float, days: float, total_bytes: int) -> PruneResult:
        return PruneResult(problem="the snapshot process failed")


def test_a_pruning_that_fails_is_said(desk: Gate, repo: Path, look: Look, keeps: PatientSnapshotter) -> None:
    cleaned(desk, repo, look, keeps)
    desk.state.snapshots.taker = Broken()  # type: ignore[assignment]
    assert undoing.prune(desk.state) == 0
    assert "snapshots cannot be pruned: the snapshot process failed" in desk.state.problems


def test_undos_of_journaled_actions_go_on_record_once_whoever_performed_them(gate: Gate, tmp_path: Path) -> None:
    store = JournalStore(tmp_path)
    gate.state.snapshots.journal = tmp_path
    store.log_undo(
        {"journal": "j_a", "uid": 1000, "changes": 2, "force": False, "undoable_as": "j_b", "event": "start"}
    )
    store.log_undo(
        {"journal": "j_a", "uid": 1000, "changes": 0, "force": True, "reason": "its kept content is missing"}
    )
    store.logged_undos()  # by a daemon that was killed before it recorded them
    store.log_undo({"journal": "j_c", "uid": 0, "changes": 1, "force": False})
    for _ in range(3):
        undoing.record_journal_undos(gate.state)
    done, later = recorded(gate, "undo.done")
    (refused,) = recorded(gate, "undo.refused")
    assert (done["by"], done["journal"], done["undoable_as"]) == ("uid:1000", "j_a", "j_b") and later[
        "journal"
    ] == "j_c"
    assert (refused["by"], refused["reason"]) == ("uid:1000", "its kept content is missing")


def test_journaled_actions_are_pruned_by_age_alone_and_that_goes_on_record(gate: Gate, tmp_path: Path) -> None:
    gate.state.snapshots.journal = tmp_path
    for name in ("j_2222222222", "j_3333333333"):
        (tmp_path / "actions" / name).mkdir(parents=True)
        (tmp_path / "actions" / name / "journal").write_bytes(b"")
    os.utime(tmp_path / "actions/j_2222222222", (0, 0))
    os.utime(tmp_path / "actions/j_3333333333", (gate.state.clock.now(),) * 2)
    assert undoing.prune_journal(gate.state) == 1 and undoing.prune_journal(gate.state) == 0
    assert os.listdir(tmp_path / "actions") == ["j_3333333333"]
    assert [row["journals"] for row in recorded(gate, "undo.pruned")] == [["j_2222222222"]]
