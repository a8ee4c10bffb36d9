"""What the journal leaves out: folders that Git ignores whole and that a cache tag or a lock file proves regenerable."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interlock.impact import Budget
from interlock.impact.survey import folders_made_again

TAG = "Signature: 8a477f597d28d172789f06886806bc55\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository that ignores everything that tools make in it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("node_modules/\n.mypy_cache/\nbuild/\n.venv/\n")
    (tmp_path / "sub/deep").mkdir(parents=True)
    return tmp_path


def put(path: Path, text: str = "x\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def found(cwd: Path) -> set[str]:
    return {Path(path).relative_to(cwd).as_posix() for path in folders_made_again(str(cwd), Budget.of(5_000))}


def test_packages_with_a_lock_file_and_tagged_caches_are_left_out(project: Path) -> None:
    put(project / "node_modules/a/index.js")
    put(project / "package-lock.json")
    put(project / ".mypy_cache/CACHEDIR.TAG", TAG)
    assert found(project) == {"node_modules", ".mypy_cache"}


def test_from_below_the_folders_above_are_left_out_too(project: Path) -> None:
    put(project / "sub/node_modules/a.js")
    put(project / "sub/yarn.lock")
    assert folders_made_again(str(project / "sub/deep"), Budget.of(5_000)) == [str(project / "sub/node_modules")]


def test_a_name_or_an_ignore_rule_alone_proves_nothing(project: Path) -> None:
    put(project / "node_modules/a/index.js")  # no lock file
    put(project / "build/thesis.txt")
    put(project / ".venv/notes.txt")
    put(project / "uv.lock")
    put(project / ".env")
    assert found(project) == set()


def test_what_git_tracks_or_does_not_ignore_is_kept(project: Path) -> None:
    put(project / "package-lock.json")
    put(project / "node_modules/patched.js")
    subprocess.run(["git", "-C", project, "add", "-f", "node_modules/patched.js"], check=True)
    put(project / ".pytest_cache/CACHEDIR.TAG", TAG)  # not ignored
    assert found(project) == set()


def test_a_link_and_a_folder_outside_any_repository_are_kept(project: Path, tmp_path: Path) -> None:
    put(project / "elsewhere/a.js")
    put(project / "package-lock.json")
    (project / "node_modules").symlink_to("elsewhere")
    assert found(project) == set()
    put(project.parent / "plain/node_modules/a.js")
    put(project.parent / "plain/package-lock.json")
    assert folders_made_again(str(project.parent / "plain"), Budget.of(5_000)) == []
