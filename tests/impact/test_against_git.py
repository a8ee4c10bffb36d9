"""What is read of a repository is what Git itself says of it."""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path

import pytest

from interlock.impact import Budget
from interlock.impact.git import Repository, repository_of
from interlock.impact.git.ignore import IgnoreRules
from interlock.impact.privileged_helper import TargetUser, answer
from interlock.impact.user_access import UserHelper
from interlock.model import Loss
from repositories import PATIENT, files, git, inspection_request, repository, request_effect

LINES = [
    "*.log", "!keep.log", "/build", "docs/", "a/**/b", "**/x.txt", "src/*.o", "*.py[co]", "# no", r"\#yes", "!", "/", "foo/*", "!foo/bar",
    "[ab].txt", "**/deep/", "sub/**", "*.tmp/", "spaced ", "te?t", "/*.cfg", "a/b", "[!a]z",
]  # fmt: skip
PARTS = ["a", "b", "docs", "src", "foo", "bar", "deep", "sub", "build", "az", "bz", "test"]
LEAVES = ["x.txt", "keep.log", "o.log", "m.o", "m.pyc", "#yes", "a.txt", "c.txt", "spaced", "one.cfg", "b", "t.tmp"]


def opened(folder: Path) -> Repository:
    found = repository_of(str(folder.resolve()), Budget.of(PATIENT))
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_same_files_are_ignored(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    git(tmp_path, "init", "-q")
    names = {"/".join([*chance.choices(PARTS, k=chance.randint(0, 3)), chance.choice(LEAVES)]) for _ in range(40)}
    for name in sorted(names):
        path = tmp_path / name
        if not any(one.is_file() for one in path.parents) and not path.exists():
            files(tmp_path, {name: ""})
    for place in ("", "src/", "a/", "foo/"):
        if (tmp_path / place).is_dir():
            files(tmp_path, {f"{place}.gitignore": "\n".join(chance.sample(LINES, 6)) + "\n"})
    said = IgnoreRules(str(tmp_path), str(tmp_path / ".git"), Budget.of(PATIENT))
    here = [
        str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file() and ".git/" not in f"{path}/"
    ]
    spared = set(git(tmp_path, "ls-files", "-z", "--others", "--exclude-standard").split("\0"))
    assert {name for name in here if not said(name)} == spared - {""}


def test_the_same_files_are_in_a_commit_and_in_the_index(tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    for packed in (False, True):
        if packed:
            git(repo, "gc", "-q", "--aggressive")
        found = opened(repo)
        for name in ("main", "feature", "main~2"):
            oid = found.history.resolve(name)
            assert oid is not None and oid.hex() == git(repo, "rev-parse", name).strip()
            listed = [line.split() for line in git(repo, "ls-tree", "-r", name).splitlines()]
            assert {path: one.hex() for path, (_, one) in found.tree(oid).items()} == {row[3]: row[2] for row in listed}
        staged = [line.split() for line in git(repo, "ls-files", "-s").splitlines()]
        assert {path: entry.oid.hex() for path, entry in found.index.entries.items()} == {
            row[3]: row[1] for row in staged
        }
        git(repo, "update-index", "--index-version", "4")


def test_the_same_commits_are_beyond_others(tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    git(repo, "merge", "-q", "--no-ff", "-m", "merged", "feature")
    git(repo, "checkout", "-q", "-b", "side", "main~2")
    git(repo, "commit", "-q", "--allow-empty", "-m", "side")
    found = opened(repo).history
    for tip, kept in (("main", "side"), ("side", "main"), ("feature", "main"), ("main", "feature"), ("main", "main~1")):
        one, other = found.resolve(tip), found.resolve(kept)
        assert one is not None and other is not None
        said = git(repo, "rev-list", tip, f"^{kept}").split()
        assert {oid.hex() for oid in found.beyond([one], [other])} == set(said), (tip, kept)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_the_helper_looks_as_the_user_who_asks(tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    place, nobody = str(tmp_path / "s"), 65_534
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(700)]  # of whoever starts it: none of them goes along
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        helper = os.fork()
        if helper == 0:
            answer(listening, 0, {nobody: TargetUser(nobody, nobody, ())}, lambda: True)
            os._exit(0)
        try:
            assert (
                UserHelper(place, nobody).inspect(inspection_request(repo, request_effect("rm src"))).loss
                is Loss.RECOVERABLE
            )
            made = [{"kind": "file", "base": str(repo), "name": f"{number}" * 40} for number in range(500)]
            long = {**inspection_request(repo, request_effect("rm src")), "made": made}
            assert UserHelper(place, nobody).inspect(long).loss is Loss.RECOVERABLE
            (repo / "src").chmod(0o700)
            closed = UserHelper(place, nobody).inspect(inspection_request(repo, request_effect("rm src")))
            assert (closed.loss, "Permission denied" in closed.problem) == (Loss.UNKNOWN, True)
            assert (
                UserHelper(place, 12_345).inspect(inspection_request(repo, request_effect("rm src"))).problem
                == "the inspection failed"
            )
        finally:
            os.kill(helper, 9)
            os.waitpid(helper, 0)
            for one in held:
                os.close(one)
