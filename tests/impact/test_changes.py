"""Lists every local change of an action, and says whether the list is exact."""

from __future__ import annotations

from pathlib import Path
from subprocess import run

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.read import read
from interlock.analysis.rules.load import load
from interlock.analysis.targets.provenance import NOTHING_CREATED
from interlock.impact import Budget
from interlock.impact.inspection import change_inspection, local_changes
from interlock.impact.inspector import inspect_targets
from interlock.impact.targets import existing_paths
from interlock.model import Action, Kind, Loss, command

HERE = "/home/dev/app"


def changes(text: str) -> tuple[list[str], bool]:
    action = Action(Kind.COMMAND, {"command": text}, cwd=HERE)
    found = local_changes(read(action).facts, HERE)
    return [f"{deed['verb']} {deed.get('target', '')}".strip() for deed in found.deeds], found.exact


@each(
    "text, deeds",
    [
        ("rm -rf build && rm -rf docs", ["delete build", "delete docs"]),
        ("for d in build docs; do rm -rf $d; done", ["delete build", "delete docs"]),
        ("eval 'echo x > notes.txt'", ["overwrite notes.txt"]),
        ("cp a.txt to/", ["overwrite to/a.txt"]),
        ("mv a.txt b.txt", ["overwrite b.txt"]),
        ("mv a build && rm -rf build", ["delete a", "overwrite build", "delete build", f"delete {HERE}/a"]),
        ("rm part-{08..10}.o", ["delete part-08.o", "delete part-09.o", "delete part-10.o"]),
        ("cd sub && rm a.log", ["delete a.log", f"delete {HERE}/sub/a.log"]),
        ("echo x > out-$V.txt", ["overwrite out-*.txt"]),
        ("rm $(printf 'f%02d ' 7 8)", ["delete f07", "delete f08"]),
        ("rm $(basename docs/a.txt)", ["delete a.txt"]),
        ("shred -u a.txt", ["truncate a.txt", "delete a.txt"]),
        ("zip all.zip src", ["overwrite all.zip"]),
        ("sqlite3 a.db '.backup b.db'", ["overwrite b.db"]),
        ("git switch other", ["replaced"]),
        ("git tag -d v1", ["git"]),
        ("echo x >> notes.txt", []),
        ("ls > /tmp/list", []),
        ("ssh host 'rm -rf build'", ["overwrite host"]),
    ],
)
def test_the_changes_of_a_line_are_listed_exactly(text: str, deeds: list[str]) -> None:
    assert changes(text) == (deeds, True)


@each(
    "text",
    [
        "rm -rf $(ls -A)",
        "rm $(printf 'f%d ' 010)",
        "rm $(basename -s .bak a.bak)",
        "i=1; while [ $i -le 9 ]; do rm f$i; i=$((i+1)); done",
        'cd "$(git rev-parse --show-toplevel)" && rm -rf docs',
        "git ls-files | xargs sed -i s/a/b/",
        "find . -path './d/*' -delete",
        "shopt -s dotglob; rm -rf *",
        "x='a*'; rm ${x:0:1}",
        "echo x > $OUT",
    ],
)
def test_a_list_that_only_the_shell_can_make_is_not_exact(text: str) -> None:
    assert changes(text)[1] is False


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_pattern_names_at_least_what_bash_makes_of_it(tmp_path: Path, locale: str) -> None:
    for name in ("a1", "b1", "B1", "01", "-x", "a]", "[a]", "^a", "!a", "a*", ".hid", "\u00e41", "a b"):
        (tmp_path / name).write_text("x")
    patterns = "* ? [^a]* [!a]* [[:lower:]]1 [[:alnum:]_]1 [^[:digit:]]* [a-b]1 []a]* [[]* .* [.h]* *1 [[:upper:]]* [^-]x".split()
    for pattern in patterns:
        said = run(
            ["bash", "-c", f"printf '%s\\0' {pattern}"], cwd=tmp_path, env={"LC_ALL": locale}, capture_output=True, check=True
        )  # fmt: skip
        bash = {one.decode() for one in said.stdout.split(b"\0") if one} - {".", "..", pattern}
        found = {Path(one).name for one in existing_paths(str(tmp_path), pattern, "", Budget.of(5_000))}
        assert bash <= found, pattern


def inspected(text: str, folder: Path) -> tuple[Loss, tuple[str, ...]]:
    """The loss and the lost files of everyday work in a folder."""
    action = command(text, HERE)
    question = change_inspection(action, judge(action, load()), NOTHING_CREATED)
    assert question is not None
    found = inspect_targets({**question.body, "bases": [str(folder)], "temp": [], "ms": 5_000}, "")
    return found.loss, found.names


@each(
    "text, lost",
    [
        ("find out -name 'o*' -exec rm -rf {} +", "out/thesis.txt"),
        ("find out -name 'o*' -mtime -1 -exec rm -rf {} +", "out/thesis.txt"),
        ("find run.log -mtime -1 -exec rm -rf {} +", "run.log"),
        ("find run.log -newer out -delete", "run.log"),
    ],
)
def test_a_search_may_delete_the_path_that_it_starts_from(text: str, lost: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(exist_ok=True)
    for name in ("out/thesis.txt", "run.log"):
        (tmp_path / name).write_text("x")
    assert inspected(text, tmp_path) == (Loss.LOST, (lost,))


@each(
    "text, lost",
    [
        ("cp f f.bak && ln -sf x f", ()),
        ("cp -p f f.bak && echo x > f", ()),
        ("cp f f.bak; ln -sf x f", ("f",)),
        ("ln -sf x f && cp f f.bak", ("f",)),
        ("cp -n f f.bak && ln -sf x f", ("f",)),
        ("cp f f.bak && ln -sf x f && ln -sf y f.bak", ("f",)),
        ("cp f /tmp/f && ln -sf x f", ("f",)),
    ],
)
def test_a_file_that_is_copied_first_is_not_lost(text: str, lost: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert inspected(text, tmp_path)[1] == lost
