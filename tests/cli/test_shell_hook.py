"""`interlock shell-hook` in real shells at a pseudo-terminal: what destroys is asked about before it runs, the rest is not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import warm_processes
from desk import Desk
from interlock.cli.main import main
from terminals import Screen, person_at

SHELLS = {"bash": ("--norc", "--noprofile", "-i"), "zsh": ("-f", "-i")}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    desk.start()
    yield desk
    desk.stop()


@contextmanager
def guarded(shell: str, config: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Screen]:
    """A shell that has evaluated the snippet; `ready` is its prompt."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    assert main(["shell-hook", shell, "--config", str(config)]) == 0
    (folder / "snippet").write_text(capsys.readouterr().out)
    env = {"HOME": str(folder), "PS1": "ready> ", "TERM": "dumb", "HISTCONTROL": "ignoreboth"}
    script = 'cd "$1"; shift; exec "$@"'
    with person_at("/bin/sh", "-c", script, "sh", str(folder), program, *SHELLS[shell], env=env) as screen:
        screen.type("PS1='ready> '; . ./snippet; echo loaded $((1 + 1))")
        screen.until("loaded 2")
        yield screen


@pytest.mark.parametrize("shell", SHELLS)
def test_a_typed_line_is_asked_about_before_any_of_it_runs(
    shell: str, desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with guarded(shell, desk.config, tmp_path, capsys) as screen:
        screen.type("echo plain $((3 + 4)) | cat")
        screen.until("plain 7")
        screen.type("touch first; git push --force origin main; touch last")
        screen.until("git.force_push(?s:.*)Type yes to agree: ")
        screen.type("y")  # a habit is no agreement
        screen.type("echo next $((4 + 5))")
        screen.until("next 9")
        assert not (tmp_path / "first").exists() and not (tmp_path / "last").exists()
        screen.type("git push --force origin main; touch agreed; echo end $((5 + 6))")
        screen.until("Type yes to agree: ")
        screen.type("yes")
        screen.until("end 11")
        assert (tmp_path / "agreed").exists()
        screen.type("for one in 1 2; do")
        screen.type("rm -rf --no-preserve-root /; done")
        screen.until("Not run")
        screen.type("interlock_off")
        screen.type("touch off; git push --force --help >/dev/null 2>&1; echo off $((6 + 7))")
        screen.until("off 13")


def test_bash_judges_aliases_and_lines_that_history_does_not_keep(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with guarded("bash", desk.config, tmp_path, capsys) as screen:
        screen.type("alias publish='git push --force'")
        screen.type("publish origin main")
        screen.until("Type yes to agree: ")
        screen.type("no")
        screen.type(" git push --force origin main")  # a leading blank keeps it out of the history
        screen.until("Type yes to agree: ")
        screen.type("no")
        screen.type("while :; do git push --force; done")  # a refusal ends the line, and not only one command of it
        screen.until("Type yes to agree: ")
        screen.type("no")
        screen.type("echo end $((1 + 1))")
        screen.until("end 2")


@pytest.mark.slow("reads all rules for a line, without a daemon")
def test_without_a_daemon_the_same_rules_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "interlock.toml"
    config.write_text(f'[store]\nurl = "sqlite://{tmp_path}/state"\n')
    with guarded("bash", config, tmp_path, capsys) as screen:
        screen.type("git push --force origin main")
        screen.until("git.force_push(?s:.*)Type yes to agree: ")
        screen.type("no")
        screen.type("echo end $((1 + 1))")
        screen.until("end 2")


def test_a_shell_with_a_debug_trap_of_its_own_keeps_it(tmp_path: Path) -> None:
    snippet = warm_processes.run("shell-hook", "bash").stdout
    script = f"trap 'true' DEBUG\n{snippet}\ntrap -p DEBUG\n"
    done = subprocess.run(["bash", "--norc", "-i"], input=script, text=True, capture_output=True, timeout=60)
    assert "not guarded" in done.stderr and "trap -- 'true' DEBUG" in done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_what_is_printed_parses(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    snippet = warm_processes.run("shell-hook", shell).stdout
    assert subprocess.run([shell, "-n"], input=snippet, text=True, timeout=60).returncode == 0


def test_what_a_prompt_waits_for_does_not_import_the_analysis() -> None:
    code = (
        "import sys, interlock.cli.guard.typed_command; print([m for m in sys.modules if m.startswith('interlock.')])"
    )
    said = subprocess.run([sys.executable, "-I", "-c", code], text=True, capture_output=True, timeout=60).stdout
    assert "socket_peers" in said and not any(word in said for word in ("analysis", "config", "policy"))
