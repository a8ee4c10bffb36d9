"""`interlock scan`: what is found in a repository, how it is told, and the exit code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.cli.main import main

Capture = pytest.CaptureFixture[str]
Found = Callable[..., list[tuple[str, int, str]]]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def found(capsys: Capture) -> Found:
    def hits(*words: str) -> list[tuple[str, int, str]]:
        main(["scan", "--format", "json", "--quiet", *(words or (".",))])
        report = json.loads(capsys.readouterr().out)
        return [(hit["file"], hit["line"], hit["rule"]) for hit in report["findings"]]

    return hits


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "hits"),
    [
        ("a.sh", "ls\ngit push --force\n", [(2, "git.force_push")]),
        ("a.sh", "f() {\n  git push --force\n}\n", []),
        ("a.sh", "f() {\n  git push --force\n}\nf\n", [(4, "git.force_push")]),
        ("a.sh", "# git push --force\necho 'git push --force'\n", []),
        ("a.sh", 'D=/\nls\nrm -rf "$D"\n', [(3, "filesystem.wipe")]),
        ("a.sh", '"$@"\n$CMD x\n', []),
        ("Makefile", "x:\n\techo a\n\t@git push -f\n", [(3, "git.force_push")]),
        ("Makefile", "OBJ = a.o\nclean:\n\t$(RM) $(OBJ)\n\t$(CC) x.c\n", []),
        ("Dockerfile", "FROM a\nRUN apt-get update && \\\n  rm -rf /var/lib/apt/lists/*\n", []),
        ("Dockerfile", "FROM a\nRUN a && \\\n  rm -rf /\n", [(3, "filesystem.wipe")]),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n    - run: sudo apt-get install -y jq\n", []),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n    - run: rm -rf ${{ github.workspace }}/dist\n", []),
        (
            ".github/workflows/a.yml",
            "jobs:\n  a:\n    steps:\n    - run: |\n        ls\n        git push -f\n",
            [(6, "git.force_push")],
        ),
        ("package.json", '{"scripts": {\n"a": "ls",\n"b": "git push -f"}}', [(3, "git.force_push")]),
        ("notes.md", "git push -f\n", []),
    ],
)
def test_what_runs_is_found_and_what_does_not_is_spared(
    repo: Path, found: Found, name: str, text: str, hits: list[tuple[int, str]]
) -> None:
    write(repo / name, text)
    assert found() == [(name, *hit) for hit in hits]


def test_the_answer_does_not_depend_on_where_the_files_are(repo: Path, found: Found) -> None:
    write(repo / "a.sh", "rm -rf src\n")
    there = found(str(repo))
    assert [hit[1:] for hit in there] == [hit[1:] for hit in found(".")] != []


def test_what_should_not_be_opened_is_not(repo: Path, found: Found) -> None:
    for name in (".git/a.sh", "node_modules/x/a.sh", ".venv/a.sh", "ok/a.sh"):
        write(repo / name, "git push -f\n")
    os.mkfifo(repo / "pipe.sh")
    (repo / "link.sh").symlink_to("ok/a.sh")
    (repo / "loop").symlink_to(".")
    (repo / "binary.sh").write_bytes(b"\x7fELF\0git push -f\n")
    (repo / "big.sh").write_text("git push -f\n" + "#" * 2_000_000)
    assert found() == [("ok/a.sh", 1, "git.force_push")]


@pytest.mark.parametrize("glob", ["ok", "ok/*", "a.sh", "*.sh"])
def test_files_can_be_left_out(repo: Path, found: Found, glob: str) -> None:
    write(repo / "ok/a.sh", "git push -f\n")
    assert found(".", "--exclude", glob) == [] != found(".")


@pytest.mark.parametrize(
    ("text", "threshold", "code"),
    [
        ("ls", "dangerous", 0),
        ("git reset --hard", "dangerous", 0),
        ("git reset --hard", "destructive", 1),
        ("git push -f", "dangerous", 1),
        ("git push -f", "forbidden", 0),
        ("rm -rf /", "forbidden", 1),
    ],
)
def test_the_threshold_decides_the_exit_code(repo: Path, text: str, threshold: str, code: int) -> None:
    write(repo / "a.sh", text)
    assert main(["scan", ".", "--fail-on", threshold]) == code


def test_the_table_says_where_and_ends_with_a_summary(repo: Path, capsys: Capture) -> None:
    write(repo / "a.sh", "git push -f")
    main(["scan", "a.sh"])
    said = capsys.readouterr().out
    assert "a.sh:1" in said and "git.force_push" in said
    assert said.endswith("1 file with commands; 1 finding, 1 at dangerous or above.\n")
    main(["scan", "--quiet", "a.sh"])
    assert "with commands" not in capsys.readouterr().out


def test_sarif_names_each_rule_once_and_each_place(repo: Path, capsys: Capture) -> None:
    write(repo / "a b.sh", "git push -f\ngit push --force\nrm -rf /\n")
    main(["scan", ".", "--format", "sarif"])
    log: dict[str, Any] = json.loads(capsys.readouterr().out)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert log["version"] == "2.1.0" and len({rule["id"] for rule in rules}) == len(rules)
    places = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["level"] in ("warning", "error")
        physical = result["locations"][0]["physicalLocation"]
        places.append((physical["artifactLocation"]["uri"], physical["region"]["startLine"]))
    assert sorted(set(places)) == [("a%20b.sh", 1), ("a%20b.sh", 2), ("a%20b.sh", 3)]


@pytest.mark.parametrize("words", [["no-such-file"], [], [".", "--fail-on", "x"], [".", "--format", "xml"]])
def test_wrong_words_are_exit_code_two(repo: Path, words: list[str]) -> None:
    assert main(["scan", *words]) == 2
