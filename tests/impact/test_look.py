"""What would be gone: files, changes, commits, each looked at in a real repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.impact.warm_child import WarmInspector
from interlock.model import Loss
from repositories import describe_impact, files, git, inspection_request, repository, request_effect


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repository(tmp_path_factory.mktemp("look") / "app")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("rm kept.txt", "recoverable: would delete 1 file, 5 bytes; all of it can be had back"),
        ("rm src", "recoverable: would delete 2 files, 5 bytes; all of it can be had back"),
        ("rm notes.txt", "lost: would delete 1 file, 6 bytes; it exists nowhere else: notes.txt"),
        ("rm data", "lost: would delete 1 file, 2 bytes; it exists nowhere else: data/run7.csv"),
        ("rm x.log", "lost: would delete 1 file, 2 bytes; it exists nowhere else: x.log"),
        ("rm empty", "none: would delete 1 file, 0 bytes"),
        ("rm node_modules", "recoverable: node_modules is ignored by Git and can be regenerated"),
        ("rm .git", "lost: would delete 1 file, 0 bytes; it exists nowhere else: .git (the repository with its history)"),
        ("rm **/*.py", "recoverable: would delete 2 files, 5 bytes; all of it can be had back"),
        ("rm src/*.py", "recoverable: would delete 2 files, 5 bytes; all of it can be had back"),
        ("rm missing", "unknown: what would be lost is not known: nothing of it is there"),
        ("rm ../app/kept.txt", "recoverable: would delete 1 file, 5 bytes; all of it can be had back"),
        ("empty kept.txt", "recoverable: would empty 1 file, 5 bytes; all of it can be had back"),
        ("empty notes.txt", "lost: would empty 1 file, 6 bytes; it exists nowhere else: notes.txt"),
        ("git reset --hard", "none: there are no uncommitted changes"),
        ("git reset --hard HEAD~2", "recoverable: would take 2 commits off; other branches hold all of them; there are no uncommitted changes"),
        ("git reset --hard feature", "none: there are no uncommitted changes"),
        ("git checkout -- .", "none: there are no uncommitted changes"),
        ("git restore src", "none: there are no uncommitted changes"),
        ("git switch -f feature", "none: there are no uncommitted changes"),
        ("git clean -fd", "lost: would delete 3 files, 8 bytes; 2 of them exist nowhere else: notes.txt, data/run7.csv"),
        ("git clean -f src", "none: there is nothing untracked"),
        ("git rm -rf src", "recoverable: would delete 2 files, 5 bytes; all of it can be had back"),
        ("git stash drop", "none: there is no stash"),
        ("git branch -D nowhere", "none: there is no such branch"),
        ("git reset --hard ORIG_HEAD", "none: there is no such commit"),
        ("git reset --hard nowhere", "unknown: what would be lost is not known: the commit is not known here"),
        ("git reset --keep", "unknown: what would be lost is not known: --keep is not known here"),
        ("git -c core.pager=x reset --hard", "unknown: what would be lost is not known: git -c is not known here"),
        ("git gc", "unknown: what would be lost is not known: git gc is not inspected"),
    ],
)  # fmt: skip
def test_what_would_be_gone_is_told_before_it_is(repo: Path, look: WarmInspector, command: str, words: str) -> None:
    assert describe_impact(look(inspection_request(repo, request_effect(command)))) == words


def test_a_branch_that_another_one_holds_can_go_and_one_that_nothing_holds_cannot(
    own: Path, look: WarmInspector
) -> None:
    git(own, "branch", "merged", "main~1")
    assert (
        describe_impact(look(inspection_request(own, request_effect("git branch -D merged"))))
        == "none: the branch is merged"
    )
    logged = look(inspection_request(own, request_effect("git branch -D feature")))
    assert (logged.loss, logged.commits, logged.safe) == (Loss.RECOVERABLE, 1, 0)
    (own / ".git/logs/HEAD").unlink()
    assert look(inspection_request(own, request_effect("git branch -D feature"))).loss is Loss.LOST
    git(own, "update-ref", "refs/remotes/origin/feature", "feature")
    assert look(inspection_request(own, request_effect("git branch -D feature"))).safe == 1
    assert look(inspection_request(own, request_effect("git branch -D feature"))).loss is Loss.RECOVERABLE


@pytest.mark.parametrize("command", ["git reset --hard", "git checkout -- .", "git restore src/a.py", "git switch -f feature", "rm src", "git rm -rf src"])  # fmt: skip
def test_a_change_that_is_not_committed_would_be_lost(own: Path, look: WarmInspector, command: str) -> None:
    (own / "src/a.py").write_text("three days of work\n")
    seen = look(inspection_request(own, request_effect(command)))
    assert (seen.loss, seen.only, seen.names) == (Loss.LOST, 1, ("src/a.py",))


def test_a_change_of_the_same_size_and_time_is_a_change(own: Path, look: WarmInspector) -> None:
    path = own / "src/a.py"
    before = path.stat()
    path.write_text("b3\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert look(inspection_request(own, request_effect("rm src/a.py"))).loss is Loss.LOST
    git(own, "update-index", "--assume-unchanged", "src/a.py")
    assert look(inspection_request(own, request_effect("rm src/a.py"))).loss is Loss.LOST


def test_what_is_only_staged_is_lost_by_a_reset_and_kept_by_a_deletion(own: Path, look: WarmInspector) -> None:
    git(own, "add", "notes.txt")
    assert look(inspection_request(own, request_effect("git reset --hard"))).names == ("notes.txt",)
    assert look(inspection_request(own, request_effect("rm notes.txt"))).loss is Loss.RECOVERABLE


def test_an_untracked_file_that_another_commit_would_replace_is_lost(own: Path, look: WarmInspector) -> None:
    files(own, {"src/f.py": "mine\n"})
    for command in ("git reset --hard feature", "git checkout -f feature", "git checkout feature -- src"):
        assert look(inspection_request(own, request_effect(command))).names == ("src/f.py",), command


def test_a_stash_is_told_by_its_name(own: Path, look: WarmInspector) -> None:
    (own / "src/a.py").write_text("x\n")
    git(own, "stash")
    seen = look(inspection_request(own, request_effect("git stash drop")))
    assert seen.loss is Loss.LOST and "would discard 1 stash: WIP on main" in seen.words


def test_links_mean_what_they_will_mean(own: Path, look: WarmInspector, tmp_path: Path) -> None:
    files(tmp_path, {"thesis/one.txt": "x\n"})
    (own / "link").symlink_to(tmp_path / "thesis")
    (own / "to_kept").symlink_to("kept.txt")
    assert look(inspection_request(own, request_effect("rm link/*"))).only == 1
    assert (
        look(inspection_request(own, request_effect("rm link/../thesis"))).only == 1
    )  # the kernel goes through the link first
    assert look(inspection_request(own, request_effect("empty to_kept"))).loss is Loss.RECOVERABLE
    assert look(inspection_request(own, request_effect("rm link"))).bytes < 200  # the link, not what it points at


def test_where_it_may_run_in_two_folders_both_are_looked_at(own: Path, look: WarmInspector) -> None:
    files(own, {"src/notes.txt": ""})
    assert look(inspection_request([own, own / "src"], request_effect("rm notes.txt"))).only == 1
    assert look(inspection_request([own.parent, own], request_effect("git reset --hard"))).loss is Loss.NONE


def test_a_linked_work_tree_is_a_work_tree(own: Path, look: WarmInspector) -> None:
    tree = own.parent / "tree"
    git(own, "worktree", "add", "-q", str(tree), "feature")
    assert look(inspection_request(own, request_effect("git worktree remove --force ../tree"))).loss is Loss.RECOVERABLE
    assert look(inspection_request(own.parent, request_effect("rm tree"))).loss is Loss.RECOVERABLE
    files(tree, {"new.txt": "x\n"})
    assert look(inspection_request(own, request_effect("git worktree remove --force ../tree"))).names == (
        str(tree / "new.txt"),
    )


def test_a_submodule_is_another_repository(own: Path, look: WarmInspector) -> None:
    other = repository(own.parent / "other")
    git(own, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
    assert look(inspection_request(own, request_effect("git reset --hard"))).loss is not Loss.NONE
    assert look(inspection_request(own, request_effect("rm sub/src"))).loss is Loss.RECOVERABLE
    files(own, {"sub/mine.txt": "x\n"})
    assert look(inspection_request(own, request_effect("rm sub"))).names == ("sub/mine.txt",)


def test_what_is_no_repository_exists_nowhere_else(tmp_path: Path, look: WarmInspector) -> None:
    files(tmp_path, {"a/b.txt": "x\n"})
    assert look(inspection_request(tmp_path, request_effect("rm a"))).loss is Loss.LOST
    assert look(inspection_request(tmp_path, request_effect("rm a"), temp=[str(tmp_path)])).loss is Loss.RECOVERABLE
    assert look(inspection_request(tmp_path, request_effect("git reset --hard"))).loss is Loss.UNKNOWN


def test_a_tracked_file_whose_object_is_gone_is_the_only_copy(own: Path, look: WarmInspector) -> None:
    oid = git(own, "rev-parse", "HEAD:kept.txt").strip()
    path = own / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.unlink()
    assert look(inspection_request(own, request_effect("rm kept.txt"))).loss is Loss.LOST


def test_a_packed_repository_reads_the_same(own: Path, look: WarmInspector) -> None:
    git(own, "gc", "-q", "--aggressive")
    git(own, "pack-refs", "--all")
    assert look(inspection_request(own, request_effect("rm src"))).loss is Loss.RECOVERABLE
    assert look(inspection_request(own, request_effect("git reset --hard main~2"))).commits == 2


def test_an_untracked_file_in_the_place_of_a_folder_of_tracked_ones_is_lost_by_a_clean(
    own: Path, look: WarmInspector
) -> None:
    (own / "src").rename(own.parent / "aside")
    (own / "src").write_text("what I wrote instead\n")
    seen = look(inspection_request(own, request_effect("git clean -f src")))
    assert seen.names == ("src",) and seen.loss is Loss.LOST


def test_a_path_of_a_git_command_is_meant_as_it_is_written_through_no_link(own: Path, look: WarmInspector) -> None:
    (own / "src").rename(own / "moved")
    (own / "src").symlink_to("moved")
    (own / "moved/a.py").write_text("changed\n")
    assert (
        "no uncommitted changes"
        not in look(inspection_request(own, request_effect("git checkout HEAD~1 src/a.py"))).words
    )


def test_what_an_undo_holds_is_no_branch_that_holds_anything(own: Path, look: WarmInspector) -> None:
    git(own, "update-ref", "refs/interlock/undo/u_aaaaaaaaaa", "feature")
    assert "no other branch holds" in look(inspection_request(own, request_effect("git branch -D feature"))).words
