"""`interlock journal` runs a command as it is; `interlock undo` brings back what it changed, without a daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warm_processes
from desk import Desk
from interlock.config import load_config
from interlock.journal import store as journal_store
from interlock.journal.build import store_of
from interlock.journal.undo import JournalUndo
from journals import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the journal is Linux's")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def journaled(desk: Desk, *words: str) -> subprocess.CompletedProcess[str]:
    return warm_processes.run("journal", "--config", str(desk.config), *words, timeout=60)


def undo_log(desk: Desk) -> list[dict[str, Any]]:
    return store_of(load_config(Path(desk.config), {})).logged_undos()


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("the only copy\n")
    (folder / ".env").write_text("API_KEY=5f2a9c817be04d61a3e7\n")
    monkeypatch.chdir(folder)
    return folder


def test_a_command_is_run_as_it_is_and_undone_without_a_daemon(desk: Desk, work: Path) -> None:
    done = journaled(desk, "--", "sh", "-c", "rm notes.txt .env; echo out; echo err >&2; exit 6")
    assert (done.returncode, done.stdout, done.stderr) == (6, "out\n", "err\n")
    shown = desk.program("undo", "--dry-run").stdout
    assert "notes.txt comes back" in shown and "+the only copy" in shown and "5f2a9c817be04d61a3e7" not in shown
    assert desk.program("undo").returncode == 2  # no terminal to ask at
    back = desk.program("undo", "--yes")
    assert back.returncode == 0 and "Brought back: 2 changes." in back.stdout
    assert sorted(path.name for path in work.iterdir()) == [".env", "notes.txt"]
    again = desk.program("undo", "--yes")
    assert again.returncode == 1 and "no journaled action here that is not undone" in again.stderr
    (logged,) = undo_log(desk)
    assert logged["changes"] == 2 and logged["uid"] == os.getuid()
    rows = json.loads(desk.program("undo", "--list", "--json").stdout)["snapshots"]
    assert logged["undoable_as"] == rows[0]["id"]
    assert [(row["state"], row["command"].split()[0]) for row in rows] == [("kept", "interlock"), ("undone", "sh")]
    assert desk.program("undo", rows[0]["id"], "--yes").returncode == 0 and list(work.iterdir()) == []


def test_later_work_is_refused_and_named(desk: Desk, work: Path) -> None:
    journaled(desk, "--", "sh", "-c", "echo agent > notes.txt")
    (work / "notes.txt").write_text("mine\n")
    done = desk.program("undo", "--yes")
    assert done.returncode == 1 and "notes.txt" in done.stdout and "worked on since" in done.stderr
    assert desk.program("undo", "--yes", "--force").returncode == 0
    assert (work / "notes.txt").read_text() == "the only copy\n"


def test_with_a_daemon_both_lists_are_one_and_the_newest_of_both_is_undone(desk: Desk, work: Path) -> None:
    desk.start()
    try:
        journaled(desk, "--", "rm", "notes.txt")
        assert "rm notes.txt" in desk.program("undo", "--list").stdout
        assert desk.program("undo", "--yes").returncode == 0 and (work / "notes.txt").exists()
    finally:
        desk.stop()


@pytest.mark.parametrize("words", [[], ["--"], ["--probe", "--", "true"], ["--skip"]])
def test_wrong_usage_runs_nothing(words: list[str], desk: Desk) -> None:
    assert journaled(desk, *words).returncode == 2


def test_it_says_whether_a_journal_is_possible(desk: Desk) -> None:
    done = journaled(desk, "--probe")
    assert (done.returncode, done.stdout) == (0, "A journal is possible here.\n")


def test_a_list_reads_no_entries(desk: Desk, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journaled(desk, "--", "sh", "-c", "for i in 1 2 3; do echo > $i; done")
    undo = JournalUndo(load_config(Path(desk.config), {}))
    wait_for(lambda: undo.rows()[0]["state"] == "kept")
    monkeypatch.setattr(journal_store, "read_journal", None)
    assert [row["command"] for row in undo.rows()] == ["sh -c 'for i in 1 2 3; do echo > $i; done'"]


def test_a_command_in_a_pipe_ends_with_it(desk: Desk, work: Path) -> None:
    program = Path(sys.executable).with_name("interlock")
    line = f"{program} journal --config {desk.config} -- yes | head -1"
    assert subprocess.run(line, shell=True, capture_output=True, timeout=30).stdout == b"y\n"
