"""An undo brings back what is still as the action left it, says what is not, can be undone, and survives being killed."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from interlock.journal import JournalError
from interlock.journal.entries import read_journal
from interlock.journal.undo import JournalUndo
from journals import Journal, tree, wait_for

LINES = {
    "git": "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm 1 && git checkout -qb x && git rm -q a.txt && git clean -qfdx",
    "sqlite": "sqlite3 data.db 'create table t(a); insert into t values (1)'; sqlite3 data.db 'drop table t; vacuum'",
    "tar": "tar czf all.tgz sub && tar xzf all.tgz --transform s/sub/empty/ && rm -rf sub",
    "sed": "sed -i s/first/other/ a.txt; sed -i --follow-symlinks s/other/third/ link",
    "cp": "cp --remove-destination sub/b.txt link; cp sub/b.txt a.txt; cp -r sub empty/copy; mv -f big.bin sub/c.txt",
    "find": "find . -name '*.txt' -delete; find . -type d -empty -delete",
    "globs": "rm -rf $(ls -A)",
    "node": "node -e \"const f=require('fs'); f.writeFileSync('a.txt','n'); f.rmSync('sub',{recursive:true}); f.promises.writeFile('link','x')\"",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_programs_of_every_kind_are_undone(line: str, journal: Journal, work: Path) -> None:
    before = tree(work)
    done = journal.run("bash", "-c", line)
    assert done.returncode == 0, done.stderr
    assert tree(work) != before
    assert journal.undo().get("undone")
    assert tree(work) == before


def test_a_descriptor_is_marked_by_what_it_is_open_on_and_not_by_what_was_created_before(
    journal: Journal, work: Path
) -> None:
    before = tree(work)
    tick = "import time; time.sleep(0.02); "  # file times tick every few milliseconds; until then a new file may seem older than its action
    made = "import os; old = os.open('a.txt', os.O_RDONLY); new = os.open('new.txt', os.O_CREAT | os.O_WRONLY); "
    code = (
        tick
        + made
        + "os.fchmod(new, 0o600); os.fchmod(old, 0o600); os.rename('new.txt', 'other.txt'); os.utime(new, (1, 1)); os.utime(old, (1, 1))"
    )
    assert journal.python(code).returncode == 0
    assert [one.type for one in journal.read().changes] == ["c", "m", "r"]
    assert journal.undo().get("undone") and tree(work) == before


def test_later_work_is_listed_and_only_force_overwrites_it(journal: Journal, work: Path) -> None:
    before = tree(work)
    journal.run("sh", "-c", "echo agent > a.txt; rm sub/b.txt; echo new > new.txt")
    first = journal.last().id
    (work / "a.txt").write_text("mine\n")
    (work / "sub/b.txt").write_text("mine too\n")
    (work / "new.txt").write_text("and this\n")
    now = tree(work)
    refused = journal.undo()
    assert refused["refused"] and {Path(one["path"]).name for one in refused["changes"] if one["later"]} == {
        "a.txt",
        "b.txt",
        "new.txt",
    }
    assert tree(work) == now
    forced = journal.undo(first, force=True)
    assert forced["undone"] and {**tree(work), "sub": 0} == {**before, "sub": 0}  # somebody changed that folder's time
    assert journal.undo(forced["undoableAs"])["undone"] and tree(work) == now


def test_what_a_user_of_another_namespace_lost_comes_back_as_theirs_here(journal: Journal, work: Path) -> None:
    before = tree(work)
    other = ("unshare", "--user", "--map-user=1234", "--map-group=1234")
    done = subprocess.run([*other, *journal.argv(["sh", "-c", "rm -r sub; echo x > a.txt"])], capture_output=True)
    assert done.returncode == 0, done.stderr
    journal.settle()
    assert journal.undo().get("undone")
    assert tree(work) == before


@pytest.mark.parametrize(
    "later",
    [
        "echo x >> a.txt",
        "rm a.txt",
        "touch a.txt",
        "chmod 600 a.txt",
        "echo agent > n; mv n a.txt",
        "rm a.txt; mkdir a.txt",
    ],
)
def test_any_later_change_is_seen(later: str, journal: Journal, work: Path) -> None:
    journal.run("sh", "-c", "echo agent > a.txt")
    subprocess.run(later, shell=True, check=True)
    assert journal.undo()["refused"]


def test_what_others_put_into_a_new_folder_stays(journal: Journal, work: Path) -> None:
    journal.run("sh", "-c", "mkdir made; echo 1 > made/one; mv sub moved")
    (work / "made/mine").write_text("mine")
    (work / "moved/mine").write_text("mine too")
    found = journal.undo()
    assert found["undone"] and "made stays, since something is in it" in found["say"][0]
    assert sorted(os.listdir(work / "made")) == ["mine"]
    assert (work / "sub/mine").read_text() == "mine too" and (work / "sub/b.txt").exists()


def test_actions_are_undone_one_after_the_other_back_to_the_first(journal: Journal, work: Path) -> None:
    states, ids = [tree(work)], []
    for line in ("echo 1 > a.txt; echo 1 > n", "echo 2 > a.txt; mv n sub", "rm a.txt sub/n", "echo 4 > a.txt"):
        journal.run("sh", "-c", line)
        ids.append(journal.last().id)
        states.append(tree(work))
    for id in reversed(ids):
        states.pop()
        assert journal.undo(id).get("undone"), id
        assert tree(work) == states[-1]


def test_what_an_undo_brought_back_is_no_later_work(
    journal: Journal, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.journal.undo_plan.SLACK", 0.0)
    journal.run("sh", "-c", "mkdir made; echo 1 > made/file; mv made moved; echo 2 > a.txt")
    first = journal.last().id
    again = journal.undo(journal.undo()["undoableAs"])
    assert again["undone"] and (work / "moved/file").exists()
    assert journal.plan(first)["later"] == 0
    (work / "moved/file").write_text("mine")
    assert journal.plan(first)["later"] == 1


def test_an_undone_action_is_marked_and_free_again_when_its_undo_is_undone(journal: Journal, work: Path) -> None:
    journal.run("rm", "a.txt")
    id = journal.last().id
    new = journal.undo()["undoableAs"]
    marks = {action.id: (action.undoes, action.undone_by) for action in journal.store.actions()}
    assert marks == {id: ("", new), new: (id, "")}
    assert journal.store.newest() is None
    journal.undo(new)
    newest = journal.store.newest()
    assert newest is not None and newest.id == id


def test_an_altered_or_missing_content_is_not_brought_back(journal: Journal, work: Path) -> None:
    journal.run("sh", "-c", ": > big.bin; rm a.txt")
    before = tree(work)
    kept = journal.last().object(1)
    data = kept.read_bytes()
    for wrong in (data[:-1], b"x" + data[1:]):
        kept.write_bytes(wrong)
        assert "altered or cut off" in journal.undo(journal.store.ids()[-1])["problem"]
    kept.unlink()
    assert "missing" in journal.undo(journal.store.ids()[-1])["problem"]
    assert tree(work) == before


def test_a_file_kept_by_a_second_name_and_written_to_since_is_not_brought_back(journal: Journal, work: Path) -> None:
    """Not even where it has its size and times again: its hash is taken once the action has ended."""
    times = (work / "big.bin").stat()
    journal.run("rm", "big.bin")
    stored = journal.last()
    wait_for(lambda: stored.sums())
    kept = stored.object(1)
    data = kept.read_bytes()
    assert stored.sums() == {1: hashlib.blake2b(data, digest_size=32).digest()}
    kept.write_bytes(b"x" + data[1:])
    os.utime(kept, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert "altered or cut off" in journal.undo()["problem"]
    kept.write_bytes(data)
    assert "problem" not in journal.undo(stored.id) and (work / "big.bin").read_bytes() == data


def test_a_file_that_its_owner_may_not_read_is_kept_so_that_an_undo_can(journal: Journal, work: Path) -> None:
    before = tree(work)
    (work / "big.bin").chmod(0o200)
    journal.run("rm", "-f", "big.bin")
    assert journal.last().object(1).stat().st_mode & stat.S_IRUSR  # an undo may change nothing in the store
    journal.undo()
    assert (work / "big.bin").stat().st_mode & 0o777 == 0o200
    (work / "big.bin").chmod(0o644)
    assert tree(work) == before


def test_a_file_kept_by_a_second_name_is_watched_by_its_times_until_its_hash_is_there(
    journal: Journal, work: Path
) -> None:
    journal.run("rm", "big.bin")
    stored = journal.last()
    wait_for(lambda: stored.sums())
    (stored.folder / "sums").unlink()
    kept = stored.object(1)
    kept.write_bytes(b"x" + kept.read_bytes()[1:])
    found = journal.undo()
    assert "altered or cut off" in found.get("problem", "altered or cut off") and (
        "problem" in found or journal.read().changes[0].states[0].content.name == "CLONED"
    )


def test_a_journal_that_was_cut_off_is_read_up_to_there(journal: Journal, work: Path) -> None:
    journal.run("sh", "-c", "rm a.txt; rm sub/b.txt")
    data = (journal.last().folder / "journal").read_bytes()
    whole = len(read_journal(data).changes)
    counts = [len(read_journal(data[:end]).changes) for end in range(0, len(data), 7)]
    assert counts == sorted(counts) and counts[-1] <= whole and 1 in counts
    middle = len(data) // 2
    read_journal(data[:middle] + b"\xff" + data[middle + 1 :])


def test_an_action_that_still_runs_is_undone_only_by_force(
    journal: Journal, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(work)
    monkeypatch.setattr("interlock.journal.store._PATIENCE", 0.1)
    process = subprocess.Popen(
        journal.argv(["sh", "-c", "rm a.txt; echo; read x"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline()
    id = journal.last().id
    from interlock.journal.undo import undo

    assert "still runs" in undo(journal.store, journal.supervisor, id, False)["problem"]
    assert undo(journal.store, journal.supervisor, id, True)["undone"]
    process.communicate(b"\n", 20)
    assert tree(work) == before


def test_older_actions_are_listed_behind_the_first_page(journal: Journal, work: Path) -> None:
    for name in ("one", "two", "three"):
        journal.run("touch", name)
    undo = JournalUndo(journal.config)
    newest, second, oldest = undo.snapshots(10)
    assert (
        [one.id for one in undo.snapshots(1, newest.at)]
        == [row["id"] for row in undo.rows(1, newest.at)]
        == [second.id]
    )
    assert undo.snapshots(10, second.at) == [oldest] and not undo.rows(10, oldest.at)


def test_an_id_is_no_path(journal: Journal) -> None:
    for id in ("", "..", "j_../../../x", "u_aaaaaaaaaa", "j_AAAAAAAAAA"):
        with pytest.raises(JournalError):
            journal.store.journal(id)


def test_pruning_takes_what_is_old_and_ended_and_nothing_else(journal: Journal, work: Path) -> None:
    journal.run("rm", "a.txt")
    old = journal.last().id
    journal.run("rm", "sub/b.txt")
    at = next(action.at for action in journal.store.actions() if action.id == old)
    assert journal.store.prune(at + 86_400 * 7 - 1, 7) == []
    assert journal.store.prune(at + 86_400 * 8, 7) == [*journal.store.ids(), old][-2:] or journal.store.ids() == []
    assert int((journal.store.path / "usage").read_text()) == 0


@pytest.mark.parametrize("last", [True, False])
def test_a_prune_killed_at_any_moment_leaves_a_store_that_works(last: bool, journal: Journal, work: Path) -> None:
    before = tree(work)
    journal.run("sh", "-c", ": > big.bin; rm a.txt")
    old = journal.last()
    assert journal.undo(old.id)["undone"] and tree(work) == before
    journal.run("rm", "sub/b.txt")
    kept = journal.last().id
    for path in sorted(old.folder.rglob("*"), reverse=last):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        assert kept in {action.id for action in journal.store.actions()}
        newest = journal.store.newest()
        assert newest is not None and newest.id == kept
        try:
            journal.plan(old.id)
        except JournalError as error:
            assert old.id in str(error)
    assert journal.undo(kept)["undone"] and tree(work) == before
    assert old.id in journal.store.prune(time.time() + 86_400 * 8, 7)


def test_a_removal_that_failed_is_known_for_one_when_folders_were_made_anew(journal: Journal, work: Path) -> None:
    before = tree(work)
    line = "mkdir n n/x; rmdir n 2>/dev/null; mv a.txt n/a"
    assert journal.run("sh", "-c", line).returncode == 0
    first, after = journal.last().id, tree(work)
    again = journal.undo(first)["undoableAs"]
    assert journal.undo(again)["undone"] and tree(work) == after
    assert journal.undo(first)["undone"] and tree(work) == before


def test_a_rename_that_failed_is_not_taken_for_the_one_that_came_later(journal: Journal, work: Path) -> None:
    before = tree(work)
    tried = "try: os.rename('sub', 'full')\nexcept OSError: pass\n"
    code = f"import os, shutil; os.mkdir('full'); open('full/x', 'w').close()\n{tried}"
    assert journal.python(f"{code}shutil.rmtree('full'); os.rename('sub', 'full')").returncode == 0
    assert journal.undo()["undone"] and tree(work) == before


def test_an_action_whose_lock_cannot_be_tried_counts_as_running(
    journal: Journal, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.run("rm", work / "a.txt")
    stored = journal.last()
    (stored.folder / "end").unlink()
    assert stored.wait()  # its supervisor ends a moment after the command

    def unsure(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsure)
    assert stored.is_running()
