"""Whatever Git throws away, an undo brings back: random real repositories x every git command that is looked at, read by Interlock and run by Git."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from file_trees import EXAMPLES, NOW, PATIENT, describe_repository, describe_tree, fresh_snapshot_id, run_git, shell
from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.impact.inspection import inspection_of
from interlock.model import command
from interlock.snapshots.client import WarmSnapshotter
from repositories import files, repository

COMMANDS = [
    "git reset --hard", "git reset --hard HEAD~1", "git reset --hard feature", "git -C src reset -q --hard HEAD~2", "git checkout -f", "git checkout -f feature",
    "git checkout -- .", "git checkout feature -- src", "git checkout HEAD~1 src/a.py", "git restore .", "git restore -S -W .", "git restore -s HEAD~1 src",
    "git restore --source=feature --staged --worktree .", "git switch -f feature", "git switch --discard-changes feature", "git clean -fd", "git clean -fdx",
    "git clean -fX", "git clean -ffdx src", "git stash drop", "git stash drop stash@{1}", "git stash clear", "git branch -D feature", "git branch -D feature other",
    "git worktree remove --force ../tree", "rm -rf src", "rm -rf src data node_modules", "rm -f notes.txt", "rm *.txt", "> kept.txt", "truncate -s 0 src/a.py",
    "cp /dev/null src/b.py", "find . -name '*.py' -delete", "find src -delete", "cd src && rm -f a.py", "rm -rf .git",
    "find . -name '*.py' -exec rm -rf {} +", "find . -type d -name 'da*' -prune -exec rm -rf {} ';'",
]  # fmt: skip
ELSEWHERE = "/home/dev/app"
# Nothing is kept where the command itself would fail, or where what it does is not known.
NOTHING = {
    "there is no stash", "there is no such branch", "the commit is not known here", "there is no such commit", "there is no such work tree",
    "a merge is under way", "there is no repository", "this checkout is not known here", "a.py is no ordinary file",
}  # fmt: skip


def _edit(name: str, text: str) -> Callable[[Path], None]:
    return lambda top: files(top, {name: text}) if not (top / name).is_dir() and (top / name).parent.is_dir() else None


def _sh(text: str) -> Callable[[Path], None]:
    return lambda top: shell(top, text)


STEPS: dict[str, Callable[[Path], None]] = {
    "edit": _edit("src/a.py", "edited\n"),
    "edit again": _edit("src/b.py", "edited again, and longer\n" * 30),
    "new": _edit("src/new.py", "new\n"),
    "stage": _sh("git add -A src"),
    "stage all": _sh("git add -A"),
    "intend": _sh("touch later.txt; git add -N later.txt"),
    "commit": _sh("git commit -qam more"),
    "amend": _sh("git commit -q --amend -m amended"),
    "stash": _sh("git stash -q"),
    "stash all": _sh("echo x > u.txt; git stash -q -u"),
    "delete": _sh("rm -f kept.txt"),
    "run bit": _sh("chmod +x src/b.py"),
    "folder instead": _sh("rm -f src/a.py; mkdir -p src/a.py/deep; echo x > src/a.py/deep/y"),
    "link instead": _sh("rm -rf src/b.py; ln -s ../kept.txt src/b.py"),
    "folder is a link": _sh("mv src moved; ln -s moved src"),
    "empty folders": _sh("mkdir -p data/empty/er src/void"),
    "ignored": _sh("mkdir -p src/__pycache__; echo x > src/__pycache__/a.pyc; echo log > src/b.log"),
    "nested": _sh("mkdir -p inner && cd inner && git init -q && echo x > y"),
    "pack refs": _sh("git pack-refs --all"),
    "gc": _sh("git gc -q"),
    "tree": _sh("git worktree add -q ../tree -b other; echo x > ../tree/kept.txt; echo new > ../tree/new; cd ../tree && git add new"),
    "detach": _sh("git checkout -q --detach"),
    "track": _sh("git config branch.feature.remote origin; git config branch.feature.merge refs/heads/feature"),
    "version 4": _sh("git update-index --index-version 4"),
    "assume": _sh("git update-index --assume-unchanged kept.txt"),
    "conversion": _sh("git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' > src/b.py"),
    "odd names": _sh("echo x > 'src/two words'; echo y > $'src/\\xff'; git add src; echo z > 'src/two words'"),
    "tag": _sh("git tag v1"),
}  # fmt: skip


_book = cache(load)


@cache
def _question(text: str) -> dict[str, Any]:
    """As Interlock reads it in somebody's project: what is below the folder of tests is temporary."""
    action = command(text, ELSEWHERE)
    found = inspection_of(action, judge(action, _book()))
    assert found is not None, text
    return found.body


def _asked(text: str, top: Path) -> dict[str, Any]:
    body = _question(text)
    return {**body, "bases": [base.replace(ELSEWHERE, str(top)) for base in body["bases"]]}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=7), st.sampled_from(COMMANDS), st.booleans(), st.booleans())
def test_a_repository_is_what_it_was_after_an_undo_and_the_undo_can_be_undone(
    keep: WarmSnapshotter, steps: list[str], text: str, settled: bool, collected: bool
) -> None:
    place = Path(tempfile.mkdtemp(prefix="undo"))
    try:
        top = repository(place / "app")
        for step in steps:
            STEPS[step](top)
        body = _asked(text, top)
        before = describe_tree(place), describe_repository(top)
        kept = keep.take(body, fresh_snapshot_id(), NOW, PATIENT)
        event(kept.problem or "kept")
        if not kept.verified:
            assert kept.problem in NOTHING, kept
            return
        shell(top, text)
        after = describe_tree(place), describe_repository(top)
        if settled:
            assert keep.settle(kept.id)
        if collected:
            run_git(top, "gc", "--prune=now", "--quiet")
        undone = keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest)
        assert undone.done, (undone, keep.plan(kept.id))
        assert describe_tree(place) == before[0], text
        assert describe_repository(top) == before[1], text
        if text == "rm -rf .git":
            return  # what Git writes down when it is asked is later work
        assert keep.undo(kept.id, fresh_snapshot_id(), NOW, kept.digest).total == 0
        if undone.as_id:
            again = keep.undo(undone.as_id, fresh_snapshot_id(), NOW, undone.as_digest)
            assert again.done, again
            assert (describe_tree(place), describe_repository(top)) == after, text
    finally:
        shutil.rmtree(place)
