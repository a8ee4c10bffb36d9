"""Links swapped in, altered snapshots, odd files, no room: nothing is written anywhere else, and what is not sure is not kept."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from file_trees import NOW, PATIENT, describe_tree, fresh_snapshot_id, run_git, shell, snapshotter
from interlock.snapshots import SnapshotLimits, TakenSnapshot
from interlock.snapshots.client import WarmSnapshotter
from repositories import files, git, repository


@pytest.fixture
def work(tmp_path: Path) -> Path:
    files(tmp_path / "work", {"a/b/one.txt": "one\n", "a/b/two.txt": "two\n", "c.txt": "c\n"})
    return tmp_path / "work"


def taken(keep: WarmSnapshotter, work: Path, *deeds: dict[str, Any], limits: SnapshotLimits = PATIENT) -> TakenSnapshot:
    return keep.take({"bases": [str(work)], "deeds": list(deeds)}, fresh_snapshot_id(), NOW, limits)


def deleted(target: str) -> dict[str, Any]:
    return {"verb": "delete", "target": target}


def test_nothing_is_written_through_a_link_that_came_into_a_path(keep: WarmSnapshotter, work: Path) -> None:
    kept = taken(keep, work, deleted("a/b/one.txt"))
    shell(work, "rm a/b/one.txt; mv a/b elsewhere; ln -s ../elsewhere a/b")
    for force in (False, True):
        undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force)
        assert undone.problem and not undone.done, undone
    assert os.listdir(work / "elsewhere") == ["two.txt"]


def test_a_folder_that_was_swapped_for_a_link_comes_back_as_a_folder_where_it_was_kept(
    keep: WarmSnapshotter, work: Path
) -> None:
    (work / "private").mkdir()
    kept = taken(keep, work, deleted("a"))
    before = describe_tree(work)
    shell(work, "rm -rf a; ln -s private a")
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).refused
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=True).done
    assert describe_tree(work) == before and not os.listdir(work / "private")


def test_a_manifest_that_was_altered_is_refused(keep: WarmSnapshotter, work: Path) -> None:
    kept = taken(keep, work, deleted("c.txt"))
    shell(work, "rm c.txt")
    place = Path(keep.folder) / "snapshots" / f"{kept.id}.json"
    body = json.loads(place.read_text())
    body["entries"][0]["path"] = str(work / "elsewhere.txt")
    place.chmod(0o600)
    place.write_text(json.dumps(body))
    assert keep.plan(kept.id, kept.digest).problem == "the snapshot's manifest is not the one on record"
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=True).problem
    assert sorted(os.listdir(work)) == ["a"]


@pytest.mark.parametrize(
    "path", ["relative", "/a/../b", "//a", "/a/./b", "/a\0b", "OWN/undo/snapshots/x", "OWN", "/"]
)  # fmt: skip
def test_a_manifest_that_names_what_no_snapshot_holds_is_refused(keep: WarmSnapshotter, work: Path, path: str) -> None:
    kept = taken(keep, work, deleted("c.txt"))
    place = Path(keep.folder) / "snapshots" / f"{kept.id}.json"
    body = json.loads(place.read_text())
    body["entries"][0]["path"] = path.replace("OWN", str(Path(keep.folder).parent))
    place.chmod(0o600)
    place.write_text(json.dumps(body))
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, force=True).problem  # even by somebody who knows no digest


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("spoil", ["altered", "cut off", "missing"])
def test_contents_that_were_altered_are_refused_before_anything_is_changed(
    keep: WarmSnapshotter, work: Path, large: bool, spoil: str
) -> None:
    (work / "c.txt").write_bytes((spoil + fresh_snapshot_id()).encode() * (40_000 if large else 3))
    kept = taken(keep, work, deleted("c.txt"), deleted("a"))
    folder = Path(keep.folder)
    sha = next(
        one["sha256"]
        for one in json.loads((folder / "snapshots" / f"{kept.id}.json").read_text())["entries"]
        if one["path"].endswith("c.txt")
    )
    place = folder / "objects" / sha[:2] / sha[2:] if large else folder / "packs" / f"{kept.id}.pack"
    shell(work, "rm -rf a c.txt")
    data = place.read_bytes()
    place.chmod(0o600)
    if spoil == "missing":
        place.unlink()
    else:
        place.write_bytes(data[:-1] if spoil == "cut off" else data[:-1] + b"!")
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    assert "of the snapshot" in undone.problem and not os.listdir(work)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path)[-100:] if len(str(path)) < 100 else path.name)


def _device(path: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


@pytest.mark.parametrize("make", [_fifo, _socket, _device])
def test_what_is_no_file_is_not_kept_and_hangs_nobody(keep: WarmSnapshotter, work: Path, make: Any) -> None:
    try:
        make(work / "odd")
    except PermissionError:
        pytest.skip("only root makes devices")
    assert taken(keep, work, deleted("odd")).problem == "odd is no ordinary file"
    assert taken(keep, work, {"verb": "truncate", "target": "odd"}).problem == "odd is no ordinary file"


def test_a_file_that_grows_is_not_kept(keep: WarmSnapshotter, work: Path) -> None:
    (work / "log").write_bytes(b"x" * 50_000_000)
    stop = threading.Event()

    def grow() -> None:
        with open(work / "log", "ab", buffering=0) as out:
            while not stop.is_set():
                out.write(b"y")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        assert "while it is copied" in taken(keep, work, deleted("log")).problem
    finally:
        stop.set()
        thread.join()


_AS_NOBODY = """
import json, os, shutil, sys
from interlock.snapshots import SnapshotLimits
from interlock.snapshots.folder import SnapshotFolder
from interlock.snapshots.restore import undo
from interlock.snapshots.take import take
question, place = json.loads(sys.argv[1]), sys.argv[2]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
folder = SnapshotFolder.open(place + "/state/undo", place + "/state")
kept = take(question, folder, sys.argv[3], 1.0, SnapshotLimits(ms=20000), "")
if kept.verified:
    shutil.rmtree(place + "/work/own")
    os.chmod(place + "/work", 0o500)
    print(undo(folder, kept.id, sys.argv[4], 2.0, kept.digest, False).problem or "undone")
else:
    print(kept.problem)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="a user who may read less is needed")
def test_a_user_gets_back_what_is_theirs_and_nothing_else_is_kept(tmp_path: Path, work: Path) -> None:
    files(work, {"own/closed/f": "mine\n"})
    (tmp_path / "state").mkdir()
    for folder in (tmp_path, work, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    for path in (tmp_path / "state", work, work / "c.txt", work / "own", work / "own/closed", work / "own/closed/f"):
        os.chown(path, 65534, 65534)
    (work / "c.txt").chmod(0)
    (work / "own/closed").chmod(0o700)
    before, said = describe_tree(work), {}
    for name in ("c.txt", "a", "own"):
        asked = json.dumps({"bases": [str(work)], "deeds": [deleted(name)]})
        words = [sys.executable, "-c", _AS_NOBODY, asked, str(tmp_path), fresh_snapshot_id(), fresh_snapshot_id()]
        said[name] = subprocess.run(words, capture_output=True, text=True).stdout.strip()
    assert said == {
        "c.txt": "it cannot be copied (Permission denied)",
        "a": "a belongs to another user",
        "own": "undone",
    }
    assert describe_tree(work) == before and stat.S_IMODE(work.stat().st_mode) == 0o500
    assert (work / "own/closed/f").stat().st_uid == 65534


def test_too_much_is_not_kept_and_said_in_time(keep: WarmSnapshotter, tmp_path: Path, work: Path) -> None:
    many = work / "many"
    many.mkdir()
    for number in range(300):
        (many / str(number)).write_bytes(b"")
    (many / "huge").touch()
    os.truncate(many / "huge", 1 << 40)
    assert (
        taken(keep, work, deleted("many"), limits=SnapshotLimits(files=200, ms=20_000)).problem
        == "it is more than 200 files"
    )
    assert taken(keep, work, deleted("many"), limits=SnapshotLimits(files=500, ms=20_000)).problem == "it is too large"
    assert taken(keep, work, deleted("many"), limits=SnapshotLimits(ms=0)).problem
    system = taken(keep, work, deleted("/usr"), limits=SnapshotLimits(files=500, ms=20_000)).problem
    assert system == ("usr belongs to another user" if os.geteuid() else "it is more than 500 files")
    assert not keep.prune(NOW, 7, 1 << 40).problem
    assert not list((Path(keep.folder) / "tmp").iterdir())


def test_what_can_be_made_again_is_left_out_where_it_is_too_much(keep: WarmSnapshotter, tmp_path: Path) -> None:
    top = repository(tmp_path / "app")
    files(top, {f"node_modules/m{number}/i.js": "1\n" for number in range(40)})
    kept = taken(keep, top, {"verb": "git", "words": ["clean", "-fdx"]}, limits=SnapshotLimits(files=20, ms=20_000))
    assert kept.verified and kept.notes == ("node_modules can be regenerated and was not saved",)
    git(top, "clean", "-qfdx")
    undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    assert undone.done and undone.say == kept.notes
    assert (top / "notes.txt").read_text() == "notes\n" and not (top / "node_modules").exists()


@pytest.mark.parametrize("target", ["STATE", "STATE/undo", "STATE/undo/lock", "STATE/state.db", "STATE/.."])
def test_what_is_interlocks_own_is_neither_kept_nor_changed(tmp_path: Path, target: str) -> None:
    with snapshotter(tmp_path / "state") as keep:
        keep.settle(fresh_snapshot_id())
        files(tmp_path / "state", {"state.db": "x"})
        path = os.path.normpath(target.replace("STATE", str(tmp_path / "state")))
        assert taken(keep, tmp_path, deleted(path)).problem == "it is Interlock's own"


def test_where_there_is_no_room_nothing_is_kept_and_nothing_is_left(tmp_path: Path, work: Path) -> None:
    """A limit on the size of files stands for a disk that is full."""
    (work / "big").write_bytes(os.urandom(3_000_000))
    script = (
        "import sys, json, resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "from interlock.snapshots.folder import SnapshotFolder; from interlock.snapshots.take import take; from interlock.snapshots import SnapshotLimits\n"
        "print(take(json.loads(sys.argv[1]), SnapshotFolder.open(sys.argv[2]), 'u_aaaaaaaaaa', 1.0, SnapshotLimits(ms=20000), '').problem)"
    )
    asked = json.dumps({"bases": [str(work)], "deeds": [deleted("big"), deleted("a")]})
    run = subprocess.run([sys.executable, "-c", script, asked, str(tmp_path / "s")], capture_output=True, text=True)
    assert run.stdout == "it cannot be copied (File too large)\n", run.stderr
    assert [path.name for path in (tmp_path / "s").rglob("*") if path.is_file()] == ["lock"]


def test_later_work_is_not_overwritten_unless_forced(keep: WarmSnapshotter, work: Path) -> None:
    kept = taken(keep, work, deleted("a"), {"verb": "truncate", "target": "c.txt"})
    shell(work, "rm -rf a; : > c.txt; mkdir -p a/b; echo later > a/b/one.txt")
    later = describe_tree(work)
    refused = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
    assert refused.refused and [change.path for change in refused.changes if change.later] == [
        str(work / "a/b/one.txt")
    ]
    assert describe_tree(work) == later
    forced = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=True)
    assert forced.done and (work / "a/b/one.txt").read_text() == "one\n"
    assert keep.undo(forced.as_id, fresh_snapshot_id(), NOW, forced.as_digest).done
    assert (work / "a/b/one.txt").read_text() == "later\n"


def test_work_in_git_that_came_later_is_not_overwritten(keep: WarmSnapshotter, tmp_path: Path) -> None:
    top = repository(tmp_path / "app")
    kept = taken(keep, top, {"verb": "git", "words": ["reset", "--hard", "HEAD~1"]})
    git(top, "reset", "-q", "--hard", "HEAD~1")
    assert not keep.plan(kept.id).later
    for later in ("echo new > new.py; git add new.py", "git commit -qm new", "git switch -qc elsewhere"):
        shell(top, later)
        refused = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
        assert refused.refused, later
    forced = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest, force=True)
    assert forced.done
    assert keep.undo(forced.as_id, fresh_snapshot_id(), NOW, forced.as_digest).done
    assert git(top, "log", "-1", "--format=%s", "elsewhere") == "new\n" and run_git(top, "status", "-s") == run_git(
        top, "status", "-s"
    )


def test_a_stash_that_was_made_since_stays_on_top(keep: WarmSnapshotter, tmp_path: Path) -> None:
    top = repository(tmp_path / "app")
    for text in ("first", "second"):
        files(top, {"src/a.py": text})
        git(top, "stash", "push", "-qm", text)
    kept = taken(keep, top, {"verb": "git", "words": ["stash", "clear"]})
    git(top, "stash", "clear")
    files(top, {"src/a.py": "third"})
    git(top, "stash", "push", "-qm", "third")
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).done
    assert [line.rpartition(" ")[2] for line in git(top, "stash", "list").splitlines()] == ["third", "second", "first"]
    assert git(top, "stash", "show", "-p", "stash@{1}").endswith("+second\n\\ No newline at end of file\n")


def test_where_git_is_at_work_nothing_is_changed(keep: WarmSnapshotter, tmp_path: Path) -> None:
    top = repository(tmp_path / "app")
    kept = taken(keep, top, {"verb": "git", "words": ["rm", "-rf", "src"]})
    git(top, "rm", "-rfq", "src")
    (top / ".git/index.lock").touch()
    assert (
        keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).problem
        == "another git command is at work in the repository"
    )
    (top / ".git/index.lock").unlink()
    assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).done
    assert run_git(top, "status", "-s", "src") == "0 "
