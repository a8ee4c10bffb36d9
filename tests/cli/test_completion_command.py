"""`interlock completion`: what it prints works in the real shells, and the manual page has every command."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.cli.main import COMMANDS, main

ASK = """
. "$1"
COMP_WORDS=(interlock "$2" "$3"); COMP_CWORD=$4; _interlock; echo "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that bash loads, and beside it `interlock` as a program."""
    folder = tmp_path_factory.mktemp("completion")
    program = folder / "interlock"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m interlock "$@"\n')
    program.chmod(0o755)
    file = folder / "interlock.bash"
    file.write_text(subprocess.run([program, "completion", "bash"], capture_output=True, text=True, check=True).stdout)
    return file


def completed(file: Path, *words: str) -> list[str]:
    first, second = (*words, "")[:2]
    run = subprocess.run(
        ["bash", "-c", ASK, "bash", str(file), first, second, str(len(words))],
        env={"PATH": f"{file.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


def test_bash_completes_commands_their_words_and_their_options(bash: Path) -> None:
    assert completed(bash, "und") == ["undo"]
    assert completed(bash, "audit", "ver") == ["verify"]
    assert "--role" in completed(bash, "operator", "--")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_file_for_a_shell_is_one_that_it_can_read(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert all(word in text for word in COMMANDS)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_the_manual_page_has_the_help_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "man"]) == 0
    page = capsys.readouterr().out
    assert [word for word in COMMANDS if f".SH INTERLOCK {word.upper()}\n" not in page] == []
    assert not [line for line in page.splitlines() if line.startswith("'")]
