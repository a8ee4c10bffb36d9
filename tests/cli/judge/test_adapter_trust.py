"""Operators say how far adapters are trusted, through a real daemon; and a broken file is told before anything starts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapter_files import LEVELS, adapter_file
from desk import Desk
from interlock.model import Trust


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    file = adapter_file(folder, LEVELS, Trust.CERTIFIED)
    desk = Desk(folder, f'[adapters]\nfiles = ["{file.name}"]\n')
    desk.open()
    yield desk
    desk.stop()


def listed(desk: Desk) -> tuple[str, str]:
    (found,) = json.loads(desk.program("adapter", "list", "--json").stdout)["adapters"]
    return found["trust"], found["why"]


@pytest.mark.slow("four sign-ins, each with a slow hash")
def test_an_operator_raises_and_lowers_trust_on_the_record(desk: Desk) -> None:
    assert listed(desk) == ("validated", "its file says certified, which counts once an operator agrees")
    assert "validated" in desk.program("adapter", "list").stdout
    shown, code = desk.signed("adapter", "trust", "things", "certified", "--reason", "no")
    assert code == 1 and "skips a level" in shown
    shown, code = desk.signed("adapter", "trust", "things", "community_reviewed", "--reason", "read by two")
    assert code == 0 and "Adapter things is community_reviewed now." in shown
    assert listed(desk)[0] == "community_reviewed"
    assert "ana: read by two" in desk.program("adapter", "list").stdout
    asked = desk.daemon.ask("POST", "/evaluate", {"operation": "sync_dangerous", "adapter": "things"})
    assert asked.body["decision"] == "verify"
    shown, code = desk.signed("adapter", "trust", "things", "untested", "--reason", "it lied")
    assert code == 0 and listed(desk)[0] == "untested"
    asked = desk.daemon.ask("POST", "/evaluate", {"operation": "sync_safe", "adapter": "things"})
    assert asked.body["decision"] == "block"
    told = desk.signed("audit", "search", "--event", "adapter_trust", "--json")[0]
    assert "read by two" in told and "it lied" in told


def test_a_program_without_a_terminal_changes_no_trust(desk: Desk) -> None:
    run = desk.program("adapter", "trust", "things", "certified", "--reason", "x")
    assert run.returncode != 0 and "terminal" in run.stderr


def test_a_reason_is_needed(desk: Desk) -> None:
    assert desk.program("adapter", "trust", "things", "certified").returncode == 2


@pytest.mark.parametrize("word", ["serve", "config check"])
def test_a_broken_or_missing_adapter_file_is_said_with_its_line(tmp_path: Path, word: str) -> None:
    file = adapter_file(tmp_path, LEVELS.replace("level: dangerous", "level: deadly"))
    config = tmp_path / "interlock.toml"
    config.write_text(
        f'[daemon]\nport = 0\n[store]\nurl = "sqlite://{tmp_path}/state"\n[adapters]\nfiles = ["{file.name}", "gone.yaml"]\n'
    )
    run = subprocess.run(
        [sys.executable, "-m", "interlock", *word.split(), "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode in (1, 2)
    assert f"{file}:15: level 'deadly'" in run.stderr and "gone.yaml: cannot be read: No such file" in run.stderr


def test_what_is_odd_about_an_adapter_file_is_a_warning(tmp_path: Path) -> None:
    file = adapter_file(tmp_path, LEVELS)
    file.write_text(file.read_text().replace("https://", "http://"))
    config = tmp_path / "interlock.toml"
    config.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n[adapters]\nfiles = ["{file.name}"]\n')
    run = subprocess.run(
        [sys.executable, "-m", "interlock", "config", "check", str(config)], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 0 and f"warning: {file}:5: base_url is not encrypted" in run.stdout
