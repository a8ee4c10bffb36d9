"""SQLite databases are kept and brought back by SQLite, and the old value of a remote branch can be pushed back."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from file_trees import NOW, PATIENT, fresh_snapshot_id, shell
from interlock.snapshots.client import WarmSnapshotter
from repositories import files, git, repository


def rows(path: Path) -> list[tuple[int]]:
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT x FROM t ORDER BY x").fetchall()


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_that_somebody_has_open_is_what_it_was(keep: WarmSnapshotter, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "app.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode={mode}")
        db.execute("CREATE TABLE t (x INTEGER, y BLOB)")
        db.execute("BEGIN")
        db.executemany("INSERT INTO t VALUES (?, randomblob(900))", [(number,) for number in range(500)])
        db.execute("COMMIT")
        deed = {"verb": "database", "target": "app.db"}
        kept = keep.take({"bases": [str(tmp_path)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT)
        assert kept.verified and kept.files == 1, kept
        assert keep.plan(kept.id).total == 0
        db.execute("DELETE FROM t")
        db.execute("DROP TABLE t")
        db.execute("CREATE TABLE other (z)")
        assert [(one.what, one.later) for one in keep.plan(kept.id).changes] == [("database", True)]
        assert keep.settle(kept.id)
        undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
        assert undone.done, undone
        assert rows(path) == [(number,) for number in range(500)]
        assert db.execute("SELECT count(*) FROM t").fetchone() == (500,)
        assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).total == 0
        assert keep.undo(undone.as_id, fresh_snapshot_id(), NOW, undone.as_digest).done
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("other",)]


def test_a_database_that_is_gone_comes_back_and_what_is_none_is_not_kept(keep: WarmSnapshotter, tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (1)")
    deed = {"verb": "database", "target": str(path)}
    kept = keep.take({"bases": [str(tmp_path)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT)
    path.unlink()
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).done and rows(path) == [(1,)]
    path.write_text("no database at all")
    assert (
        keep.take({"bases": [str(tmp_path)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT).problem
        == "it is no SQLite database"
    )


def test_a_branch_that_was_overwritten_with_a_lease_can_be_pushed_back(keep: WarmSnapshotter, tmp_path: Path) -> None:
    top, remote = repository(tmp_path / "app"), tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    git(top, "remote", "add", "origin", str(remote))
    git(top, "push", "-q", "origin", "main")
    old = git(top, "rev-parse", "main").strip()
    git(top, "commit", "-q", "--amend", "-m", "rewritten")
    deed = {"verb": "git", "words": ["push", "--force-with-lease", "origin", "main"]}
    kept = keep.take({"bases": [str(top)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT)
    assert kept.verified, kept
    git(top, "push", "-q", "--force-with-lease", "origin", "main")
    git(top, "reflog", "expire", "--expire=now", "--all")
    git(top, "gc", "-q", "--prune=now")
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    (said,) = undone.say
    shell(top, said.partition(": ")[2])
    assert git(remote, "rev-parse", "main").strip() == old


@pytest.mark.parametrize("words", ["push --force origin main", "push --force-with-lease origin +main", "push --force-with-lease origin nothing"])  # fmt: skip
def test_a_remote_whose_value_nothing_proves_is_not_kept(keep: WarmSnapshotter, tmp_path: Path, words: str) -> None:
    top = repository(tmp_path / "app")
    files(top, {".git/refs/remotes/origin/main": git(top, "rev-parse", "main")})
    deed = {"verb": "git", "words": words.split()}
    assert keep.take({"bases": [str(top)], "deeds": [deed]}, fresh_snapshot_id(), NOW, PATIENT).problem
