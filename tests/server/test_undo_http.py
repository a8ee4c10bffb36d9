"""Snapshots over HTTP: an agent's user sees and brings back its own, an operator everybody's, a stranger nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from daemons import InProcessDaemon, in_process_daemon
from repositories import git, repository
from snapshot_child import tree_contents, until_allowed

ME = f"uid:{os.getuid()}"
PATH = "/api/v1/undo"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessDaemon]:
    folder = tmp_path_factory.mktemp("undo-http")
    with in_process_daemon(folder, policy={"use": "default"}, undo={"ms": 10_000}) as found:
        yield found


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "app")


def cleaned(app: InProcessDaemon, repo: Path, peer: str = ME) -> str:
    """Asked until a look was in time, and run."""
    body = {"command": "git clean -fd", "cwd": str(repo), "agent": {"name": "bot", "session": "s"}}
    found = until_allowed(lambda: app.call("POST", "/api/v1/evaluate", body, peer=peer).json(), itemgetter("allowed"))
    git(repo, "clean", "-fd")
    return str(found["kept"])


def work(repo: Path) -> dict[str, Any]:
    return {name: what for name, what in tree_contents(repo).items() if not name.startswith(".git")}


def test_an_agents_user_lists_looks_at_and_brings_back_its_own(app: InProcessDaemon, repo: Path) -> None:
    before = work(repo)
    id = cleaned(app, repo)
    (first, *_) = app.call("GET", PATH, peer=ME).json()["snapshots"]
    assert (first["id"], first["command"], first["agent"], first["state"]) == (id, "git clean -fd", "bot", "kept")
    plan = app.call("GET", f"{PATH}/newest?diff=true", peer=ME).json()
    assert plan["snapshot"]["id"] == id and plan["total"] > 0 and plan["later"] == 0
    assert any("+notes" in change.get("diff", "") for change in plan["changes"])
    assert not any("diff" in change for change in app.call("GET", f"{PATH}/{id}", peer=ME).json()["changes"])
    done = app.call("POST", f"{PATH}/{id}", {}, peer=ME).json()
    assert done["undone"] is True and done["refused"] is False and done["undoableAs"].startswith("u_")
    assert work(repo) == before


def test_what_is_secret_is_brought_back_and_never_shown(app: InProcessDaemon, repo: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    (repo / ".env").write_text("TOKEN=nobody-else-has-this\n")
    (repo / "deploy.txt").write_text(f"host: example.com\ntoken: {token}\n")
    cleaned(app, repo)
    said = app.call("GET", f"{PATH}/newest?diff=true", peer=ME).text
    assert "nobody-else-has-this" not in said and token not in said and "host: example.com" in said
    app.call("POST", f"{PATH}/newest", {}, peer=ME)
    assert "nobody-else-has-this" in (repo / ".env").read_text() and token in (repo / "deploy.txt").read_text()


def test_later_work_is_refused_and_force_is_said_in_the_body(app: InProcessDaemon, repo: Path) -> None:
    id = cleaned(app, repo)
    (repo / "notes.txt").write_text("since\n")
    done = app.call("POST", f"{PATH}/{id}", {}, peer=ME)
    assert done.status_code == 200 and done.json()["undone"] is False and done.json()["refused"] is True
    assert (repo / "notes.txt").read_text() == "since\n"
    assert app.call("POST", f"{PATH}/{id}", {"force": True}, peer=ME).json()["undone"] is True


def test_an_operator_sees_and_brings_back_what_is_anybodys(app: InProcessDaemon, repo: Path) -> None:
    id, headers = cleaned(app, repo), app.sign_in("bo")
    assert id in [one["id"] for one in app.call("GET", PATH, headers=headers).json()["snapshots"]]
    done = app.call("POST", f"{PATH}/{id}", {}, headers).json()
    assert done["undone"] is True and done["snapshot"]["endedBy"] == "bo"


def test_nobody_else_learns_that_there_is_one(app: InProcessDaemon, repo: Path) -> None:
    id, token = cleaned(app, repo), app.agent("other")
    for how in ({"peer": "uid:4242"}, {"headers": token}):
        assert app.call("GET", PATH, **how).json() == {"snapshots": []}
        for method, path in (("GET", f"{PATH}/{id}"), ("GET", f"{PATH}/newest"), ("POST", f"{PATH}/{id}")):
            answer = app.call(method, path, {} if method == "POST" else None, **how)
            assert answer.status_code == 404 and id not in answer.text.replace(f"'{id}'", "")
    assert app.call("GET", PATH).status_code == 401


def test_nothing_is_kept_for_who_is_not_this_user_or_not_here(app: InProcessDaemon, repo: Path) -> None:
    body = {"command": "git clean -fd", "cwd": str(repo)}
    for how in ({"peer": "uid:4242"}, {"headers": app.agent("far")}):
        answer = app.call("POST", "/api/v1/evaluate", body, **how).json()
        assert answer["allowed"] is False and "kept" not in answer


@pytest.mark.parametrize("id", ["u_aaaaaaaaaa", "..%2f..%2fetc", "u_%00", "%ED%A0%80"])
def test_an_unknown_id_is_not_found(app: InProcessDaemon, id: str) -> None:
    for method in ("GET", "POST"):
        answer = app.call(method, f"{PATH}/{id}", {} if method == "POST" else None, peer=ME)
        assert answer.status_code == 404, answer.text


@pytest.mark.parametrize("body", [{"force": "yes"}, {"forced": True}, [], {"force": None}])
def test_a_body_that_says_something_else_is_refused(app: InProcessDaemon, body: Any) -> None:
    assert app.call("POST", f"{PATH}/u_aaaaaaaaaa", body, peer=ME).status_code == 400


def test_names_that_are_no_text_are_spelled_out(app: InProcessDaemon, repo: Path) -> None:
    odd = os.fsencode(repo) + b"/odd-\xff\xfe.txt"
    with open(odd, "wb") as file:
        file.write(b"odd\n")
    id = cleaned(app, repo)
    plan = app.call("GET", f"{PATH}/{id}?diff=true", peer=ME)
    assert plan.status_code == 200 and "odd-" in plan.text
    assert app.call("POST", f"{PATH}/{id}", {}, peer=ME).json()["undone"] is True
    assert os.path.exists(odd)


def test_where_nothing_can_be_written_the_question_is_asked_as_before(tmp_path: Path, repo: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "undo").write_text("in the way\n")
    body = {"command": "git clean -fd", "cwd": str(repo)}
    with in_process_daemon(tmp_path, policy={"use": "default"}, undo={"ms": 10_000}) as broken:
        asked = partial(broken.call, "POST", "/api/v1/evaluate", body, peer=ME)
        found = until_allowed(lambda: asked().json(), lambda one: "No snapshot was taken: " in one["reason"])
        assert found["decision"] == "confirm" and broken.call("GET", PATH, peer=ME).json() == {"snapshots": []}
    assert (repo / "notes.txt").exists()
