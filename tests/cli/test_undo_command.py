"""`interlock undo` by a person at a real terminal and by programs: it shows, asks, brings back, and says what it did not do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pytest

from desk import Desk
from interlock.cli.answer.undo import FEW, describe_later_changes, plan_lines, snapshot_row
from repositories import files, git, repository
from snapshot_child import until_allowed


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = Desk(tmp_path_factory.mktemp("undo"), "[undo]\nms = 10000\n")
    made.start()
    yield made
    made.stop()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def discarded(desk: Desk, repo: Path) -> str:
    """Work that an agent threw away, and the snapshot of it."""
    files(repo, {"src/a.py": "three days of work\n"})
    found = until_allowed(lambda: desk.evaluate("git checkout -- src/a.py", cwd=str(repo)), itemgetter("allowed"))
    git(repo, "checkout", "--", "src/a.py")
    return str(found["kept"])


def test_before_anything_was_kept_it_says_so(tmp_path: Path) -> None:
    empty = Desk(tmp_path)
    assert empty.program("undo").returncode == 3
    empty.start()
    try:
        assert empty.program("undo", "--list").stdout == "There is no snapshot yet.\n"
        done = empty.program("undo", "--yes")
        assert done.returncode == 1 and "there is no snapshot here" in done.stderr
    finally:
        empty.stop()


def test_a_person_sees_what_changes_says_yes_and_has_it_back(desk: Desk, repo: Path) -> None:
    id = discarded(desk, repo)
    shown, code = desk.person("undo", answers=[("Bring this back.*", "n")])
    assert code == 1 and "Nothing was changed." in shown and "+three days of work" in shown and id in shown
    assert (repo / "src/a.py").read_text() != "three days of work\n"
    shown, code = desk.person("undo", answers=[("Bring this back.*", "y")])
    assert code == 0 and "Brought back: " in shown and "takes this back" in shown
    assert (repo / "src/a.py").read_text() == "three days of work\n"


def test_a_program_has_to_say_yes_and_can_look_first(desk: Desk, repo: Path) -> None:
    id = discarded(desk, repo)
    for words in ((), ("--json",)):
        done = desk.program("undo", id, *words)
        assert done.returncode == 2 and "--yes" in done.stderr
    looked = desk.program("undo", id, "--dry-run", "--json")
    plan = json.loads(looked.stdout)
    assert looked.returncode == 0 and plan["snapshot"]["id"] == id and plan["total"] >= 1
    assert (repo / "src/a.py").read_text() != "three days of work\n"
    done = desk.program("undo", id, "--yes", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["undone"] is True
    assert (repo / "src/a.py").read_text() == "three days of work\n"


def test_the_list_names_what_was_kept_and_what_became_of_it(desk: Desk, repo: Path) -> None:
    id = discarded(desk, repo)
    line = next(line for line in desk.program("undo", "--list").stdout.splitlines() if id in line)
    assert "kept" in line and "claude" in line and "git checkout -- src/a.py" in line
    assert desk.program("undo", id, "--yes").returncode == 0
    rows = json.loads(desk.program("undo", "--list", "--json").stdout)["snapshots"]
    found = {row["id"]: row for row in rows}
    assert found[id]["state"] == "undone" and [row["id"] for row in rows if row.get("undoes") == id]


def test_later_work_is_kept_unless_force_is_said(desk: Desk, repo: Path) -> None:
    id = discarded(desk, repo)
    files(repo, {"src/a.py": "written since\n"})
    done = desk.program("undo", id, "--yes")
    assert done.returncode == 1 and describe_later_changes(1) in done.stderr and "(worked on since)" in done.stdout
    assert (repo / "src/a.py").read_text() == "written since\n"
    assert desk.program("undo", id, "--yes", "--force").returncode == 0
    assert (repo / "src/a.py").read_text() == "three days of work\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("u_aaaaaaaaaa", "--yes"), 1, "no snapshot 'u_aaaaaaaaaa'"),
        (("../../etc", "--yes"), 2, "no snapshot is called '../../etc'"),
        (("--list", "--force"), 2, "--list goes with nothing else"),
        (("a", "b"), 2, "unrecognized arguments"),
    ],
)
def test_what_cannot_be_meant_is_refused(desk: Desk, words: tuple[str, ...], code: int, said: str) -> None:
    done = desk.program("undo", *words)
    assert done.returncode == code and said in done.stderr


def test_one_and_many_are_said_as_people_say_them() -> None:
    assert describe_later_changes(1).startswith("one of these was worked on since")
    assert describe_later_changes(1_200).startswith("1,200 of these were worked on since")


def test_among_many_changes_only_what_differs_is_shown_whole() -> None:
    def said(number: int) -> str:
        back = [{"path": f"/app/{n}.txt", "what": "create", "diff": "@@ -0,0 +1 @@\n+new"} for n in range(number)]
        changes = [*back, {"path": "/app/a.py", "what": "replace", "diff": "@@ -1 +1 @@\n-old\n+former"}]
        plan = {"snapshot": {"id": "u_k3v7q2mzpa"}, "changes": changes, "total": len(changes)}
        return "\n".join("".join(part.text for part in line) for line in plan_lines(plan))

    assert said(FEW - 1).count("+new") == FEW - 1
    assert "+new" not in said(FEW) and "+former" in said(FEW) and said(FEW).count("comes back") == FEW


def test_what_happened_between_the_calls_of_an_agent_is_named_so() -> None:
    assert snapshot_row({"id": "j_1", "command": ""})[-1] == "(between its calls)"
    assert any("(between its calls)" in part.text for line in plan_lines({"snapshot": {"id": "j_1"}}) for part in line)
