"""Finds the files that an everyday git command may replace, in real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import each
from interlock.impact import Budget
from interlock.impact.git.replaced import replaced_files
from interlock.impact.survey import FileSurvey
from repositories import files, git, repository


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose branch `old` has a file that is ignored on `main`, where another one of that name is."""
    found = repository(tmp_path_factory.mktemp("replaced") / "app")
    main = git(found, "branch", "--show-current").strip()
    git(found, "switch", "-q", "-c", "old")
    files(found, {".env": "OLD=1\n"})
    git(found, "add", "-f", ".env")
    git(found, "commit", "-qm", "env")
    git(found, "switch", "-q", main)
    files(found, {".gitignore": ".env\n"})
    git(found, "add", ".gitignore")
    git(found, "commit", "-qm", "ignore")
    files(found, {".env": "SECRET=only\n", "src/a.py": "changed\n"})
    return found


def replaced(repo: Path, words: str) -> list[str]:
    budget = Budget.of(10_000)
    found = replaced_files(str(repo), words.split(), FileSurvey(budget, base=str(repo)))
    return sorted(str(Path(one).relative_to(repo)) for one in found)


@each(
    "words",
    [
        "checkout old",
        "checkout -m old",
        "switch --detach old",
        "switch -",
        "merge old",
        "cherry-pick old",
        "rebase --onto old HEAD~1",
        "pull",
        "-C src/.. merge old",
    ],
)
def test_an_ignored_file_in_the_way_of_a_commit_is_found(repo: Path, words: str) -> None:
    assert ".env" in replaced(repo, words)


@each(
    "words", ["checkout -b new", "switch -c new", "status", "log old", "stash list", "merge nosuch", "checkout --help"]
)
def test_nothing_is_replaced_where_no_other_commit_comes(repo: Path, words: str) -> None:
    assert replaced(repo, words) == []


@each("words", ["apply -R", "rebase --abort", "rebase --skip", "checkout --ours src/a.py", "restore src/a.py"])
def test_changes_that_are_taken_back_are_found(repo: Path, words: str) -> None:
    assert replaced(repo, words) == ["src/a.py"]
