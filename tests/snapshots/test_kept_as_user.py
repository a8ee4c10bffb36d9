"""A daemon with a user of its own: root's helper keeps and brings back as the user whose agent asks, and with that user's rights alone."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec.structs import replace

from file_trees import NOW, describe_tree, fresh_snapshot_id
from file_trees import PATIENT as LIMITS
from gate import Gate
from interlock.engine import undoing
from interlock.error_codes import AnswerRefused
from interlock.impact.privileged_helper import TargetUser, UserTask, answer
from interlock.impact.user_access import UserHelper
from interlock.model import AgentRef, Json, command
from interlock.server.impact_helper import answer_as_user
from interlock.snapshots import SnapshotLimits
from interlock.snapshots.client import REQUEST_KIND, SnapshotClient, clients_by_principal, request_seconds
from repositories import repository

AGENTS = {65_534: "nobody", 1: "daemon"}  # users of every machine, who differ
NOBODY, OTHER = "uid:65534", "uid:1"
WORDS = "stopped here"  # in a question: its child does as its user could make it do


@dataclass(frozen=True)
class World:
    """Two users with a home each, and the helper."""

    top: Path
    place: str
    helper: int

    def home(self, principal: str) -> Path:
        return self.top / principal.removeprefix("uid:")

    def keeper(self, principal: str) -> SnapshotClient:
        return self.keepers()[principal]

    def keepers(self) -> dict[str, SnapshotClient]:
        return clients_by_principal(self.place, {f"uid:{uid}": uid for uid in AGENTS})

    def work(self, principal: str, name: str) -> Path:
        """A new repository of that user's, with files that it does not know."""
        folder, uid = self.home(principal) / name, int(principal.removeprefix("uid:"))
        repository(folder)
        (folder / "notes.txt").write_text("the only copy\n")
        (folder / "data/run7.csv").chmod(0o640)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, uid, uid)
        return folder


def answered(top: str, question: Any, _: str) -> Json:
    """As the helper does it, with homes that only this test has; and a child whose user stops it."""
    if WORDS in str(question):
        os.kill(os.getpid(), signal.SIGSTOP)
    if "round and round" in str(question):
        while True:
            pass
    return answer_as_user(question, f"{top}/{os.getuid()}")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    if os.geteuid() != 0:
        pytest.skip("root is missing")
    with TemporaryDirectory(prefix="asuser") as name:
        top = Path(name)
        top.chmod(0o755)
        for uid in AGENTS:
            (top / str(uid)).mkdir(mode=0o700)
            os.chown(top / str(uid), uid, uid)
        place = str(top / "s")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(place)
            listening.listen(16)
            helper = os.fork()
            if helper == 0:
                try:
                    more = {REQUEST_KIND: UserTask(partial(answered, name), request_seconds)}
                    answer(listening, 0, {uid: TargetUser(uid, uid, (uid,)) for uid in AGENTS}, lambda: True, more)
                finally:
                    os._exit(0)
        try:
            yield World(top, place, helper)
        finally:
            os.kill(helper, signal.SIGKILL)
            os.waitpid(helper, 0)


def deleted(work: Path, *names: str) -> dict[str, Any]:
    return {"bases": [str(work)], "deeds": [{"verb": "delete", "target": name} for name in names]}


def test_what_the_agents_user_loses_comes_back_as_theirs_from_a_folder_of_their_own(world: World) -> None:
    work, keep = world.work(NOBODY, "one"), world.keeper(NOBODY)
    before = describe_tree(work)
    found = keep.take(deleted(work, "data", "notes.txt", "empty"), fresh_snapshot_id(), NOW, LIMITS)
    assert found.verified and found.files == 3, found
    folder = world.home(NOBODY) / ".local/state/interlock/undo"
    for part in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        seen = part.stat()
        assert (seen.st_uid, stat.S_IMODE(seen.st_mode)) == (65_534, 0o700), part
    ran(work)
    assert keep.settle(found.id)
    plan = keep.plan(found.id, found.digest, diff=True)
    assert (plan.total, plan.later, plan.problem) == (4, 0, "") and any("the only copy" in one.diff for one in plan.changes)  # fmt: skip
    undone = keep.undo(found.id, fresh_snapshot_id(), NOW, found.digest)
    assert undone.done and undone.as_id and describe_tree(work) == before
    assert {path.stat().st_uid for path in work.rglob("*")} == {65_534}
    assert keep.undo(undone.as_id, fresh_snapshot_id(), NOW, undone.as_digest).done and not (work / "data").exists()
    assert found.id in keep.prune(NOW + 10 * 86_400, 7, 1 << 30).ids and keep.plan(found.id).problem


def test_what_their_user_cannot_reach_is_neither_kept_nor_changed(world: World) -> None:
    work, keep = world.work(NOBODY, "reach"), world.keeper(NOBODY)
    secret = work / "roots.txt"
    secret.write_text("root's\n")
    secret.chmod(0o600)
    theirs = world.work(OTHER, "theirs")
    for question in (deleted(work, "roots.txt"), deleted(theirs, "notes.txt"), deleted(Path("/etc"), "shadow")):
        found = keep.take(question, fresh_snapshot_id(), NOW, LIMITS)
        assert not found.verified and found.problem, question
    # A list of their own making: they may write what they could write anyway, and nothing else.
    id = fresh_snapshot_id()
    found = keep.take(deleted(work, "notes.txt"), id, NOW, LIMITS)
    manifest = world.home(NOBODY) / f".local/state/interlock/undo/snapshots/{id}.json"
    forged = manifest.read_text().replace(str(work / "notes.txt"), str(theirs / "notes.txt"))
    manifest.chmod(0o600)
    manifest.write_text(forged)
    (theirs / "notes.txt").write_text("later\n")
    assert (
        keep.undo(id, fresh_snapshot_id(), NOW, found.digest, True).problem
        == "the snapshot's manifest is not the one on record"
    )
    assert keep.undo(id, fresh_snapshot_id(), NOW, "", True).problem  # even if nobody compared it
    assert (theirs / "notes.txt").read_text() == "later\n"
    manifest.unlink()
    assert keep.undo(id, fresh_snapshot_id(), NOW, found.digest).problem == f"there is no snapshot {id}"


def test_a_folder_that_leads_elsewhere_is_no_place_to_keep_anything(world: World) -> None:
    work, keep = world.work(OTHER, "led"), world.keeper(OTHER)
    roots = world.top / "roots"
    roots.mkdir()
    roots.chmod(0o777)
    state = world.home(OTHER) / ".local/state/interlock"
    state.mkdir(parents=True)
    for path in (state, state.parent, state.parent.parent):
        os.chown(path, 1, 1)
    os.symlink(roots, state / "undo")
    assert not keep.take(deleted(work, "notes.txt"), fresh_snapshot_id(), NOW, LIMITS).verified and not os.listdir(
        roots
    )
    (state / "undo").unlink()
    assert keep.take(deleted(work, "notes.txt"), fresh_snapshot_id(), NOW, LIMITS).verified


def test_a_child_that_takes_too_long_or_was_stopped_is_ended_from_outside(world: World) -> None:
    work, keep = world.work(NOBODY, "slow"), world.keeper(NOBODY)
    for word in ("round and round", WORDS):
        found = keep.take({**deleted(work, "notes.txt"), "x": word}, fresh_snapshot_id(), NOW, SnapshotLimits(ms=50))
        assert (found.verified, found.problem) == (False, "it takes too long")
    children, end = Path(f"/proc/{world.helper}/task/{world.helper}/children"), time.monotonic() + 20
    while children.read_text().strip():  # the helper leaves none behind
        assert time.monotonic() < end
        time.sleep(0.05)
    assert keep.take(deleted(work, "notes.txt"), fresh_snapshot_id(), NOW, LIMITS).verified


def test_no_helper_or_one_that_knows_nobody_keeps_nothing(world: World) -> None:
    asked = deleted(world.work(NOBODY, "nobody"), "notes.txt")
    for keep in (
        clients_by_principal(world.place, {"uid:2": 2})["uid:2"],
        clients_by_principal(world.place, {"uid:0": 0})["uid:0"],
        clients_by_principal(str(world.top / "none"), {NOBODY: 65_534})[NOBODY],
    ):
        id = fresh_snapshot_id()
        assert (
            keep.take(asked, id, NOW, LIMITS).problem
            == keep.plan(id).problem
            == keep.undo(id, fresh_snapshot_id(), NOW).problem
        )
        assert not keep.settle(id) and keep.prune(NOW, 7, 1).problem
    assert clients_by_principal("", {NOBODY: 65_534}) == {}
    assert (
        UserHelper(world.place, 65_534).inspect({"bases": [], "deeds": [], "keep": {}}).problem
    )  # one question at a time


GOOD = {"id": "u_aaaaaaaaaa", "digest": "a" * 64, "files": 1, "bytes": 1, "notes": [], "problem": ""}


def _said(answer: object) -> bytes:
    return json.dumps({"answer": answer}).encode() + b"\n"


LIES = {
    "nothing": b"",
    "no": b"null\n",
    "cut off": _said(GOOD)[:-1],
    "more than it says": _said(GOOD) + b"x",
    "two": _said(GOOD) * 2,
    "no json": b"{}}\n",
    "no answer": b"{}\n",
    "a list": _said([]),
    "nothing in it": _said(None),
    "about another": _said({**GOOD, "id": "u_bbbbbbbbbb"}),
    "no name": _said({**GOOD, "id": "../../x"}),
    "no digest": _said({**GOOD, "digest": ""}),
    "half a digest": _said({**GOOD, "digest": "a" * 63}),
    "less than nothing": _said({**GOOD, "bytes": -1}),
    "many": _said({**GOOD, "files": "5"}),
    "deep": b"[" * 400_000 + b"\n",
}


def test_a_helper_that_lies_or_says_nothing_clear_has_kept_nothing(tmp_path: Path) -> None:
    place, given = str(tmp_path / "s"), iter([*LIES.values(), _said(GOOD)])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(1)

        def serve() -> None:
            for said in given:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(said)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        keep = clients_by_principal(place, {NOBODY: 65_534})[NOBODY]
        for name in LIES:
            found = keep.take(deleted(tmp_path, "x"), "u_aaaaaaaaaa", NOW, LIMITS)
            assert (found.verified, found.problem) == (False, "the snapshot process failed"), name
        assert keep.take(deleted(tmp_path, "x"), GOOD["id"], NOW, LIMITS).verified  # type: ignore[arg-type]
        thread.join(20)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Gate]:
    made = Gate(tmp_path / "state")
    yield made
    made.close()


def test_an_operator_brings_back_what_was_kept_of_any_user_and_an_agent_only_its_own(world: World, desk: Gate) -> None:
    work = world.work(NOBODY, "desk")
    desk.state.snapshots.takers = world.keepers()
    before = describe_tree(work)
    id = asked_and_run(desk, world, work)
    assert id.startswith("u_")
    with pytest.raises(AnswerRefused, match="there is no snapshot here"):
        undoing.undo(desk.state, OTHER, principal=OTHER)
    assert undoing.plan_undo(desk.state).plan.total == 4
    assert undoing.undo(desk.state, "ann").undone.done and describe_tree(work) == before
    (body,) = [json.loads(row.body) for row in desk.records("undo.done")]
    assert (body["by"], body["snapshot"]) == ("ann", id)


def test_nobody_makes_another_users_snapshots_pass_for_gone_or_for_their_own(world: World, desk: Gate) -> None:
    desk.state.snapshots.takers = world.keepers()
    theirs = asked_and_run(desk, world, world.work(NOBODY, "gone"))
    mine = asked_and_run(desk, world, world.work(OTHER, "mine"), OTHER)
    folder = world.home(OTHER) / ".local/state/interlock/undo/snapshots"
    old = json.loads((folder / f"{mine}.json").read_text()) | {"id": theirs, "at": 1.0}
    (folder / f"{theirs}.json").write_text(json.dumps(old))  # a list under a name that is not theirs, and too old
    os.chown(folder / f"{theirs}.json", 1, 1)
    assert undoing.prune(desk.state) == 0
    assert {row.id: row.state for row in undoing.list_snapshots(desk.state)} == {theirs: "kept", mine: "kept"}
    assert not (folder / f"{theirs}.json").exists()
    desk.state.snapshots.usage.bytes = {OTHER: desk.state.in_force.undo.total_bytes}
    assert undoing.is_crowded(desk.state)
    asked_and_run(desk, world, world.work(NOBODY, "room"))  # one user's room is no other's
    with pytest.raises(AssertionError, match="use all of their space"):
        asked_and_run(desk, world, world.work(OTHER, "no_room"), OTHER)
    desk.clock.forward(9 * 86_400)
    assert undoing.prune(desk.state) == 3 and not undoing.is_crowded(desk.state)


def asked_and_run(desk: Gate, world: World, work: Path, principal: str = NOBODY) -> str:
    """An agent of that user's deletes a file, and is let through."""
    keep, uid = world.keeper(principal), int(principal.removeprefix("uid:"))

    def look(question: Any) -> Any:
        return UserHelper(world.place, uid).inspect({**question, "ms": 20_000, "temp": []})

    def take(question: Any, id: str, at: float, limits: SnapshotLimits) -> Any:
        return keep.take(question, id, at, replace(limits, ms=LIMITS.ms))

    agent = AgentRef(principal, "claude", "s1")
    found = desk.ask(command("git clean -fd", str(work)), agent, inspect_impact=look, take_snapshot=take)
    assert found.allowed and found.kept, found.reason
    ran(work)
    return found.kept


def ran(work: Path) -> None:
    """As `git clean -fd` does."""
    for name in ("notes.txt", "empty", "data/run7.csv"):
        (work / name).unlink(missing_ok=True)
    (work / "data").rmdir()
