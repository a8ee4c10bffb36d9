"""Snapshots are thrown away when they are old, the oldest first when they are too much, with everything that they hold in repositories."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from file_trees import NOW, PATIENT, fresh_snapshot_id, run_git, snapshotter
from interlock.snapshots import SnapshotLimits, TakenSnapshot
from interlock.snapshots.client import WarmSnapshotter
from interlock.snapshots.folder import SnapshotFolder
from interlock.snapshots.snapshotter import find_snapshots
from repositories import files, git, repository

DAY = 86_400


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = repository(tmp_path / "work" / "app")
    files(top, {"large": "x" * 400_000})
    return top


def taken(keep: WarmSnapshotter, top: Path, at: float, target: str = "large") -> TakenSnapshot:
    kept = keep.take(
        {"bases": [str(top)], "deeds": [{"verb": "delete", "target": target}]}, fresh_snapshot_id(), at, PATIENT
    )
    assert kept.verified, kept
    return kept


def test_what_is_kept_is_open_to_its_user_alone_and_contents_are_there_once(tmp_path: Path, top: Path) -> None:
    with snapshotter(tmp_path / "state") as keep:
        first, second = taken(keep, top, NOW), taken(keep, top, NOW + 1)
        folder = SnapshotFolder.open(keep.folder)
        held = find_snapshots(folder)
        assert [(one.id, folder.read(folder.place(one.id))[1]) for one in held] == [
            (second.id, second.digest),
            (first.id, first.digest),
        ]
        assert {(one.manifest.files, one.manifest.bytes, one.manifest.bases) for one in held if one.manifest} == {
            (1, 400_000, (str(top),))
        }
    folder = tmp_path / "state" / "undo"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")) if path.is_dir()}
    assert modes == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()} <= {0o400, 0o600}
    assert len([path for path in (folder / "objects").rglob("*") if path.is_file()]) == 1


def test_old_ones_go_then_the_oldest_and_nothing_of_them_is_left(tmp_path: Path, top: Path) -> None:
    with snapshotter(tmp_path / "state") as keep:
        old = taken(keep, top, NOW - 8 * DAY)
        ids = []
        for number in range(3):
            files(top, {"large": f"{number}" * 400_000})
            ids.append(taken(keep, top, NOW - 3 + number).id)
        assert keep.prune(NOW, 7, 10_000_000).ids == (old.id,)
        pruned = keep.prune(NOW, 7, 900_000)
        assert pruned.ids == (ids[0],) and pruned.bytes < 900_000
        assert [one.id for one in find_snapshots(SnapshotFolder.open(keep.folder))] == [ids[2], ids[1]]
        assert not keep.plan(ids[1]).problem
        assert set(keep.prune(NOW, 7, 0).ids) == set(ids[1:])
        assert find_snapshots(SnapshotFolder.open(keep.folder)) == []
        assert {path.name for path in (tmp_path / "state").rglob("*") if path.is_file()} == {"lock"}
        assert keep.plan(old.id).problem == f"there is no snapshot {old.id}"


def test_what_a_repository_holds_for_a_snapshot_goes_with_it_even_where_git_has_packed_it(
    tmp_path: Path, top: Path
) -> None:
    with snapshotter(tmp_path / "state") as keep:
        deed = {"verb": "git", "words": ["branch", "-D", "feature"]}
        kept = [
            keep.take({"bases": [str(top)], "deeds": [deed]}, fresh_snapshot_id(), NOW + n, PATIENT) for n in range(2)
        ]
        name = f"refs/interlock/undo/{kept[0].id}"
        assert name in git(top, "for-each-ref", "--format=%(refname)", "refs/interlock").splitlines()
        tip = git(top, "rev-parse", "feature").strip()
        git(top, "branch", "-qD", "feature")
        git(top, "gc", "-q", "--prune=now")
        assert git(top, "cat-file", "-t", tip) == "commit\n"
        assert keep.prune(NOW + 2, 1 / DAY, 10**9).ids == (kept[0].id,)
        assert name not in run_git(top, "for-each-ref")
        assert keep.undo(kept[1].id, fresh_snapshot_id(), NOW, kept[1].digest).done
        assert git(top, "rev-parse", "feature").strip() == tip
        assert keep.prune(NOW + 100, 0, 0).bytes < 1_000
        assert run_git(top, "for-each-ref", "refs/interlock") == "0 "
        assert run_git(top, "fsck", "--no-dangling") == "0 "


def test_a_repository_that_is_gone_keeps_nobody_from_throwing_away(tmp_path: Path, top: Path) -> None:
    with snapshotter(tmp_path / "state") as keep:
        deed = {"verb": "git", "words": ["branch", "-D", "feature"]}
        kept = keep.take({"bases": [str(top)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT)
        os.rename(top, top.with_name("moved"))
        assert keep.prune(NOW + 1, 7, 0).ids == (kept.id,)


def test_nothing_is_thrown_away_while_a_snapshot_is_taken(tmp_path: Path, top: Path) -> None:
    with snapshotter(tmp_path / "state") as keep:
        taken(keep, top, NOW)
        with open(tmp_path / "state" / "undo" / "lock") as held:
            fcntl.flock(held, fcntl.LOCK_SH)
            assert keep.prune(NOW + 1, 0, 0).problem == "another one is at work on the snapshots"
        assert len(keep.prune(NOW + 1, 0, 0).ids) == 1


def test_a_name_is_used_once(tmp_path: Path, top: Path) -> None:
    with snapshotter(tmp_path / "state") as keep:
        kept = taken(keep, top, NOW)
        question = {"bases": [str(top)], "deeds": [{"verb": "delete", "target": "src"}]}
        assert keep.take(question, kept.id, NOW, PATIENT).problem == "there is such a snapshot already"
        assert not keep.plan(kept.id, kept.digest).problem
        assert keep.take(question, "../../x", NOW, PATIENT).problem
        assert (
            keep.take(question, fresh_snapshot_id(), NOW, SnapshotLimits(files=1, ms=20_000)).problem
            == "it is more than 1 files"
        )
